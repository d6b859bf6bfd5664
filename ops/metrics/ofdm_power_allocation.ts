/**
 * Scores a power allocation on its channel state. With p and g = |h|² of an element, r = log2(1 + p·g/N0):
 *
 *     spectral efficiency    mean of r; of a state: mean over its subcarriers; of a subcarrier: mean over the states
 *     outage                 states whose efficiency is below the target
 *     oracle                 water-filling of each state with its mean power budget; gap, distance of the powers, and the
 *                            residual of the optimality conditions (lib/numeric/link/water_filling.ts), the largest of any state
 *     fairness               Jain's index (sum r)²/(n·sum r²) over the subcarriers of a state, mean over the states
 *     power constraint       mean power of each budget (a state for per_subcarrier, else everything) against it
 *     gain lift              sum p·g / sum p over the mean of g
 *
 * With the sent symbols: the elements they take (scheduled) and those with data, that is with power and, under bit
 * loading, bits. With reference and candidate bits: blocks of transport_block_size_bits, delivered if no bit differs,
 * and the delivered bits over elements, energy and Shannon efficiency.
 *
 * Source: Cover and Thomas, Elements of Information Theory, 2nd ed., 2006, 9.4; Jain, Chiu and Hawe, 1984.
 */
import { BITS, OFDM_STATE, PAYLOAD_BITS, POWER_ALLOCATION, SYMBOLS } from "../../lib/contract/kinds.ts";
import { type InputArtifact, type Metrics, type ParameterProblem, z } from "../api.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { bitsOf, metadataText, symbolsOf } from "../../lib/artifact/values.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import {
  type AllocatedState,
  allocatedState,
  budgetMetrics,
  checkPlaced,
  oracleMetrics,
  outageMetrics,
  powerMetrics,
  rateMetrics,
  shannonRates,
} from "./_ofdm_allocation.ts";
import { defineReport } from "../_report.ts";

const PAYLOAD = [PAYLOAD_BITS, BITS] as const;

export default defineReport({
  id: "metrics.ofdm_power_allocation",
  name: "OFDM allocation scores",
  description: "Scores a power allocation with its channel state, and the delivered bits",
  inputs: { allocation: [POWER_ALLOCATION], state: [OFDM_STATE] },
  optionalInputs: { candidate: PAYLOAD, reference: PAYLOAD, symbols: [SYMBOLS] },
  params: z.strictObject({
    outage_target_spectral_efficiency_bps_hz: z.number().nonnegative().default(2)
      .describe("a state below this Shannon efficiency is in outage"),
    transport_block_size_bits: z.int().positive().default(1024)
      .describe("payload bits of a block, delivered as a whole"),
  }),
  check(_params, connected) {
    return (["candidate", "reference"] as const).flatMap((port, i, both): ParameterProblem[] =>
      connected.has(port) || !connected.has(both[1 - i]) ? [] : [{
        code: "input_missing",
        message: `Cannot count delivered blocks without ${port}`,
        input: port,
        hint: "Wire both reference and candidate, or neither",
      }]
    );
  },
  twin: true,
  run({ inputs, params }) {
    const allocated = allocatedState(inputs.state, inputs.allocation);
    if (allocated.power.length === 0) return { metrics: {} };
    const rates = shannonRates(allocated);
    const efficiency = mean(rates);
    const target = params.outage_target_spectral_efficiency_bps_hz;
    // The OFDM symbols of a grid are one realisation, unless the state declares a larger one.
    const { metadata } = inputs.state, grid = { size: allocated.state.symbols, total: allocated.states };
    const unit = { ...metadata, ...declareUnit(metadata, "fading_block", grid) };
    const { pooled, metrics } = oracleMetrics(allocated, efficiency, unit);
    return {
      pooled,
      metrics: {
        ...rateMetrics(allocated, rates),
        ...outageMetrics(allocated, rates, target),
        ...metrics,
        ...powerMetrics(allocated, metadataText(inputs.allocation.metadata, "granularity") ?? "per_subcarrier"),
        ...budgetMetrics(allocated),
        ...linkMetrics(allocated, efficiency, inputs, params.transport_block_size_bits),
      },
      facts: { state_count: allocated.states, subcarrier_count: allocated.subcarriers },
    };
  },
});

interface Sent {
  readonly candidate?: InputArtifact;
  readonly reference?: InputArtifact;
  readonly symbols?: InputArtifact;
}

function linkMetrics(
  allocated: AllocatedState,
  efficiency: number,
  { candidate, reference, symbols }: Sent,
  blockSize: number,
): Metrics {
  const sent = symbols && symbolsOf(symbols);
  const scheduled = sent ? sent.length / 2 : allocated.power.length;
  const metrics: Metrics = {};
  if (sent) {
    checkPlaced(allocated, scheduled);
    const { power, loading } = allocated;
    let used = 0;
    for (let i = 0; i < scheduled; i++) if (power[i] > 0 && (loading === undefined || loading[i] > 0)) used++;
    metrics["channel.scheduled_resource_element_count"] = BigInt(scheduled);
    metrics["channel.data_bearing_resource_element_count"] = BigInt(used);
    if (scheduled > 0) metrics["channel.resource_element_utilization"] = used / scheduled;
  }
  if (!candidate || !reference) return metrics;
  const { blocks, failed, offered, delivered } = deliveredBlocks(bitsOf(reference), bitsOf(candidate), blockSize);
  if (blocks === 0 || scheduled === 0) return metrics;
  const spent = sent ? energy(sent) : 0;
  return {
    ...metrics,
    "channel.payload_delivery_block_error_rate": failed / blocks,
    "channel.payload_delivery_success": failed === 0 ? 1 : 0,
    "channel.offered_payload_goodput_bits_per_resource_element": offered / scheduled,
    "channel.achieved_payload_goodput_bits_per_resource_element": delivered / scheduled,
    ...(efficiency > 0
      ? { "channel.goodput_to_theoretical_shannon_efficiency_ratio": delivered / scheduled / efficiency }
      : {}),
    ...(spent > 0 ? { "channel.payload_energy_efficiency_bits_per_normalized_energy": delivered / spent } : {}),
    ...(spent > 0 && delivered > 0 ? { "channel.tx_energy_per_delivered_payload_bit": spent / delivered } : {}),
  };
}

/** Blocks of the reference, the last one possibly shorter; a block that is not fully present has failed. */
function deliveredBlocks(reference: Uint8Array, candidate: Uint8Array, size: number) {
  let blocks = 0, failed = 0, delivered = 0;
  for (let start = 0; start < reference.length; start += size) {
    const end = Math.min(start + size, reference.length);
    let at = start;
    while (at < end && candidate[at] === reference[at]) at++;
    blocks++;
    if (at < end) failed++;
    else delivered += end - start;
  }
  return { blocks, failed, offered: reference.length, delivered };
}
