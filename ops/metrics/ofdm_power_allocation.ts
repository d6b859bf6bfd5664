/**
 * Scores a power allocation on its channel state. With p and g = |h|² of an element, r = log2(1 + p·g/N0):
 *
 *     spectral efficiency    mean of r; of a state: mean over its subcarriers; of a subcarrier: mean over the states
 *     outage                 states whose efficiency is below the target
 *     oracle                 water-filling of each state with its mean power budget; gap, distance of the powers, and the
 *                            residual of the optimality conditions (lib/numeric/water_filling.ts), the largest of any state
 *     fairness               Jain's index (sum r)²/(n·sum r²) over the subcarriers of a state, mean over the states
 *     power constraint       mean power of what shares a budget (a state for per_subcarrier, else everything) against it
 *     gain lift              sum p·g / sum p over the mean of g
 *
 * With the symbols that were sent: the elements they take (scheduled) and those that carry data, with power and, under bit
 * loading, bits. With reference and candidate bits: blocks of transport_block_size_bits, delivered when no bit differs,
 * and the delivered bits over elements, energy and Shannon efficiency.
 *
 * Source: Cover and Thomas, Elements of Information Theory, 2nd ed., 2006, 9.4; Jain, Chiu and Hawe, 1984.
 */
import { BITS, OFDM_STATE, PAYLOAD_BITS, POWER_ALLOCATION, REPORT, SYMBOLS } from "../../lib/contract/kinds.ts";
import type { InputArtifact, Metrics, ParameterProblem } from "../../lib/contract/operation.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsOf, metadataText, reportResult, symbolsOf } from "../../lib/artifact/values.ts";
import { energy } from "../../lib/numeric/complex.ts";
import { linearToDb } from "../../lib/numeric/decibel.ts";
import { mean, quantile, standardDeviation, sum } from "../../lib/numeric/statistics.ts";
import { noiseFloors, waterFill, waterFillingResidual } from "../../lib/numeric/water_filling.ts";
import { type AllocatedState, allocatedState, checkPlaced, rowOf, shannonRates } from "./_ofdm_allocation.ts";

const PAYLOAD = [PAYLOAD_BITS, BITS] as const;

export default defineOperation({
  id: "metrics.ofdm_power_allocation",
  name: "OFDM allocation scores",
  description: "Scores a power allocation on its channel state, and what was delivered with it",
  inputs: { allocation: [POWER_ALLOCATION], state: [OFDM_STATE] },
  optionalInputs: { candidate: PAYLOAD, reference: PAYLOAD, symbols: [SYMBOLS] },
  outputs: { report: REPORT },
  params: z.strictObject({
    outage_target_spectral_efficiency_bps_hz: z.number().nonnegative().default(2)
      .describe("a state below this Shannon efficiency is in outage"),
    transport_block_size_bits: z.int().positive().default(1024).describe("payload bits that arrive or fail together"),
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
  threadSafe: true,
  run({ inputs, params }) {
    const allocated = allocatedState(inputs.state, inputs.allocation);
    if (allocated.power.length === 0) return reportResult("metrics.ofdm_power_allocation", {});
    const { state } = allocated;
    const rates = shannonRates(allocated);
    const efficiency = mean(rates);
    const target = params.outage_target_spectral_efficiency_bps_hz;
    return reportResult("metrics.ofdm_power_allocation", {
      ...rateMetrics(allocated, rates, target),
      ...oracleMetrics(allocated, efficiency),
      ...powerMetrics(allocated, metadataText(inputs.allocation.metadata, "granularity") ?? "per_subcarrier"),
      "resource.average_transmit_power_budget": state.averagePowerBudget,
      "resource.nominal_snr_db": linearToDb(state.averagePowerBudget / state.noiseVariance),
      ...linkMetrics(allocated, efficiency, inputs, params.transport_block_size_bits),
    }, { facts: { state_count: allocated.states, subcarrier_count: allocated.subcarriers } });
  },
});

function rateMetrics(allocated: AllocatedState, rates: Float64Array, target: number): Metrics {
  const { states, subcarriers } = allocated;
  const rows = Array.from({ length: states }, (_, row) => rowOf(rates, row, allocated));
  const stateRates = rows.map(mean);
  const subcarrierRates = Array.from({ length: subcarriers }, (_, k) => mean(rows.map((row) => row[k])));
  const name = (part: string) => `resource.theoretical_shannon_${part}`;
  return {
    [name("sum_bits_per_ofdm_symbol")]: mean(rows.map(sum)),
    [name("spectral_efficiency_bps_hz")]: mean(rates),
    [name("min_subcarrier_spectral_efficiency_bps_hz")]: Math.min(...subcarrierRates),
    [name("min_state_spectral_efficiency_bps_hz")]: quantile(stateRates, 0),
    [name("p05_state_spectral_efficiency_bps_hz")]: quantile(stateRates, 0.05),
    "resource.theoretical_outage_probability": stateRates.filter((rate) => rate < target).length / states,
    "resource.theoretical_outage_target_bps_hz": target,
    "resource.fairness_jain": mean(rows.map(jain)),
  };
}

/** (sum r)²/(n·sum r²); 1 when all are zero. */
function jain(rates: Float64Array): number {
  const squares = sum(rates.map((rate) => rate * rate));
  return squares === 0 ? 1 : sum(rates) ** 2 / (rates.length * squares);
}

function oracleMetrics(allocated: AllocatedState, efficiency: number): Metrics {
  const { state, states, subcarriers, power, gain } = allocated;
  const budget = state.averagePowerBudget * subcarriers;
  const best = new Float64Array(power.length);
  let residual = 0;
  for (let row = 0; row < states; row++) {
    const floors = noiseFloors(rowOf(gain, row, allocated), state.noiseVariance);
    best.set(waterFill(floors, budget), row * subcarriers);
    residual = Math.max(residual, waterFillingResidual(rowOf(power, row, allocated), floors, budget));
  }
  const oracle = mean(shannonRates({ ...allocated, power: best }));
  const rmse = Math.sqrt(mean(power.map((p, i) => (p - best[i]) ** 2)));
  return {
    "resource.water_filling_oracle_spectral_efficiency_bps_hz": oracle,
    "resource.water_filling_optimality_gap_bps_hz": oracle - efficiency,
    ...(oracle > 0
      ? {
        "resource.water_filling_relative_optimality_gap": (oracle - efficiency) / oracle,
        "task.score": Math.min(efficiency / oracle, 1),
      }
      : {}),
    "resource.water_filling_power_rmse": rmse,
    "resource.water_filling_power_normalized_rmse": rmse / state.averagePowerBudget,
    "resource.water_filling_kkt_normalized_residual": residual,
  };
}

function powerMetrics(allocated: AllocatedState, granularity: string): Metrics {
  const { state: { averagePowerBudget: budget }, states, power, gain } = allocated;
  const means = granularity === "per_subcarrier"
    ? Array.from({ length: states }, (_, row) => mean(rowOf(power, row, allocated)))
    : [mean(power)];
  const miss = means.reduce((most, average) => Math.max(most, Math.abs(average - budget)), 0);
  const average = mean(power), averageGain = mean(gain);
  return {
    "resource.power_constraint.max_abs_error": miss,
    "resource.power_constraint.max_relative_error": miss / budget,
    "resource.power_constraint.max_negative_violation": power.reduce((most, p) => Math.max(most, -p), 0),
    "resource.active_resource_element_fraction": power.filter((p) => p > 0).length / power.length,
    ...(average > 0
      ? { "resource.allocation_power_coefficient_of_variation": standardDeviation(power, 0) / average }
      : {}),
    ...(average > 0 && averageGain > 0
      ? {
        "resource.allocated_power_weighted_channel_gain_lift": mean(power.map((p, i) => p * gain[i])) /
          (average * averageGain),
      }
      : {}),
  };
}

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
    let bearing = 0;
    for (let i = 0; i < scheduled; i++) if (power[i] > 0 && (loading === undefined || loading[i] > 0)) bearing++;
    metrics["channel.scheduled_resource_element_count"] = BigInt(scheduled);
    metrics["channel.data_bearing_resource_element_count"] = BigInt(bearing);
    if (scheduled > 0) metrics["channel.resource_element_utilization"] = bearing / scheduled;
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

/** Blocks of the reference, the last one possibly shorter; a block that is not fully there has failed. */
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
