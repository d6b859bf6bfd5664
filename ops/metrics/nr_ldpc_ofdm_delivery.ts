/**
 * Delivery of NR transport blocks over OFDM: payload bits of the blocks whose CRC passed, over the resource elements of
 * the symbols and their transmitted energy. Every symbol takes one element, with or without power. Filler after the
 * payload does not count.
 *
 * The CRC decides, as in a receiver; the report counts blocks whose CRC passed although they differ from the reference
 * (undetected_error_block_count).
 */
import {
  BITS,
  OFDM_STATE,
  PAYLOAD_BITS,
  POWER_ALLOCATION,
  REPORT,
  RX_SYMBOLS,
  SYMBOLS,
} from "../../lib/contract/kinds.ts";
import { type InputArtifact, isNumber, SvcError, toNumber } from "../api.ts";
import { bitsOf, symbolsOf } from "../../lib/artifact/values.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { allocatedState, checkPlaced } from "./_ofdm_allocation.ts";
import { defineReport } from "../_report.ts";

const PAYLOAD = [PAYLOAD_BITS, BITS] as const;

export default defineReport({
  id: "metrics.nr_ldpc_ofdm_delivery",
  name: "NR LDPC OFDM delivery score",
  description: "Counts payload bits of transport blocks whose CRC passed, and their resource elements",
  inputs: {
    actual_state: [OFDM_STATE],
    allocation: [POWER_ALLOCATION],
    decoded_payload: PAYLOAD,
    decoder_report: [REPORT],
    reference_payload: PAYLOAD,
    tx_symbols: [SYMBOLS],
  },
  optionalInputs: { rx_symbols: [RX_SYMBOLS] },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  equivalence: { type: "exact" },
  formats: { artifact: "json", tensor: "none" },
  run({ inputs }) {
    const allocated = allocatedState(inputs.actual_state, inputs.allocation);
    const sent = symbolsOf(inputs.tx_symbols);
    const occupied = sent.length / 2;
    checkPlaced(allocated, occupied);
    if (inputs.rx_symbols) checkReceived(symbolsOf(inputs.rx_symbols).length / 2, occupied);
    const reference = bitsOf(inputs.reference_payload), decoded = bitsOf(inputs.decoded_payload);
    const passed = crcOutcomes(inputs.decoder_report);
    const size = blockSize(inputs.decoder_report, passed.length, reference.length);

    let delivered = 0, undetected = 0;
    passed.forEach((good, block) => {
      if (!good) return;
      const start = block * size, end = Math.min(start + size, reference.length);
      delivered += Math.max(end - start, 0);
      if (reference.subarray(start, end).some((bit, i) => decoded[start + i] !== bit)) undetected++;
    });
    const count = (value: number) => BigInt(value);
    const blocks = passed.length, failures = passed.filter((good) => !good).length;
    const elements = allocated.power.length, spent = energy(sent);
    const name = (part: string) => `channel.nr_ldpc_ofdm.${part}`;
    const counts = rateCounts(passed.map((good) => good ? 0 : 1), inputs.decoded_payload.metadata, "transport_block");
    const metrics = {
      [name("transport_block_count")]: count(blocks),
      [name("delivered_block_count")]: count(blocks - failures),
      [name("crc_failure_count")]: count(failures),
      ...(blocks > 0 ? { [name("block_error_rate")]: failures / blocks } : {}),
      [name("offered_payload_bit_count")]: count(reference.length),
      [name("delivered_payload_bit_count")]: count(delivered),
      [name("occupied_data_resource_element_count")]: count(occupied),
      ...(elements > 0 ? { [name("data_resource_element_utilization")]: occupied / elements } : {}),
      ...(occupied > 0 ? { [name("goodput_bits_per_resource_element")]: delivered / occupied } : {}),
      ...(delivered > 0 ? { [name("energy_per_delivered_bit")]: spent / delivered } : {}),
    };
    const facts = { transport_block_size_bits: size, undetected_error_block_count: undetected };
    return { metrics, facts, rates: { [name("block_error_rate")]: counts } };
  },
});

function checkReceived(received: number, sent: number): void {
  if (received === sent) return;
  throw new SvcError("boundary_count_mismatch", `Cannot compare ${received} received with ${sent} sent symbols`);
}

/** Whether the CRC of each block passed, from the decoder's report. */
function crcOutcomes(report: InputArtifact): boolean[] {
  const outcomes = report.json().crc_passed;
  if (Array.isArray(outcomes) && outcomes.every((one) => typeof one === "boolean" || one === 0 || one === 1)) {
    return outcomes.map(Boolean);
  }
  throw new SvcError("boundary_value_invalid", "Cannot find which transport blocks passed their CRC in the report", {
    hint: "Wire decoder_report to the report of channel.nr_ldpc_decoder",
  });
}

/** Payload bits of a transport block, from the decoder's report. */
function blockSize(report: InputArtifact, blocks: number, payload: number): number {
  const told = report.json().transport_block_size_bits;
  const size = isNumber(told) ? toNumber(told) : NaN;
  if (Number.isSafeInteger(size) && size > 0 && Math.ceil(payload / size) === blocks) return size;
  throw new SvcError(
    "boundary_count_mismatch",
    `Cannot split ${payload} payload bits into ${blocks} transport blocks of ${size} bits`,
    { hint: "Wire reference_payload to the input of channel.nr_ldpc_encoder" },
  );
}
