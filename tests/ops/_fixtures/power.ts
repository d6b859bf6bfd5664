/** Conformance cases of power allocation and its scores. */
import { ofdmStateArtifact } from "../../../lib/artifact/ofdm_state.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import type { JsonObject, Value } from "../../../lib/contract/value.ts";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { type Described, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const STATE = "channel.ofdm_channel_state.numpy";
const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 0 };

/** A state with gains without a visible pattern, or the given interleaved ones. */
export function ofdmState(
  shape: [grids: number, symbols: number, subcarriers: number],
  more: { h?: ArrayLike<number>; noiseVariance?: number; budget?: number; metadata?: JsonObject } = {},
): Described {
  const [grids, symbols, subcarriers] = shape;
  const h = Float32Array.from(
    more.h ?? Float64Array.from({ length: 2 * grids * symbols * subcarriers }, (_, i) => Math.cos(5 * i * i + 1)),
  );
  const state = { grids, symbols, subcarriers, h };
  const { noiseVariance = 0.1, budget: averagePowerBudget = 1 } = more;
  return { kind: STATE, ...ofdmStateArtifact({ ...state, noiseVariance, averagePowerBudget }, more.metadata) };
}

/** Reports of a channel, as wireless.ofdm_delayed_csi labels them. */
export const reports = (
  shape: [number, number, number],
  { delay = 2, used = 3, ...more }: Parameters<typeof ofdmState>[1] & { delay?: number; used?: number } = {},
) =>
  ofdmState(shape, {
    ...more,
    metadata: {
      csi_role: "transmitter",
      feedback_delay_ofdm_symbols: delay,
      allocation_ofdm_symbols: used,
      ofdm_symbol_interval_s: 7.142857142857142e-5,
    },
  });

/** Powers in the shape of an allocation, and bits per symbol where there are any. */
export function powerAllocation(
  power: ArrayLike<number>,
  shape: [states: number, subcarriers: number],
  metadata: JsonObject = {},
  loading?: ArrayLike<number>,
): Described {
  return {
    kind: "channel.power_allocation.numpy",
    array: ndarray("float64", Float64Array.from(power), shape),
    companions: loading ? { bits_per_symbol: ndarray("uint8", Uint8Array.from(loading), shape) } : {},
    metadata,
  };
}

/** A small checkpoint: two reports, three hidden values. */
export function checkpoint(): Uint8Array {
  const layer = (name: string, inputs: number, outputs: number) => ({
    [`${name}_weight`]: ndarray(
      "float32",
      Float32Array.from({ length: inputs * outputs }, (_, i) => Math.cos(3 * i + inputs)),
      [inputs, outputs],
    ),
    [`${name}_bias`]: ndarray("float64", Float64Array.from({ length: outputs }, (_, i) => 0.1 * i)),
  });
  return writeNpz({
    metadata_json: '{"format":"svc_csi_power_deepset_npz_v1"}',
    ...layer("phi_0", 2, 4),
    ...layer("phi_1", 4, 3),
    ...layer("rho_0", 6, 3),
    ...layer("rho_1", 3, 1),
  });
}

const symbols = (count = 40) => symbolsInput(count, { ...QPSK, source_item_counts: [12, count - 12] });
const known = () => ({ symbols: symbols(), channel_state: ofdmState([2, 3, 8]) });
const old = () => ({ symbols: symbols(), channel_state: reports([2, 4, 8]) });

/** Scores that are the real part of the oldest report, or the gains where those are given. */
function firstGains(history: NdArray | undefined, gains: NdArray | undefined): NdArray {
  if (history === undefined) return gains!;
  const [rows, reports, subcarriers] = history.shape;
  const scores = Float32Array.from({ length: rows * subcarriers }, (_, i) => {
    const row = Math.floor(i / subcarriers);
    return Number(history.data[2 * (row * reports * subcarriers + i % subcarriers)]);
  });
  return ndarray("float32", scores, [rows, subcarriers]);
}

const GRID: [number, number] = [4, 8];
const powers = Float64Array.from({ length: 32 }, (_, i) => (i % 4) / 1.5);
const scored = () => ({ state: ofdmState([2, 2, 8]), allocation: powerAllocation(powers, GRID) });

/** A decoder's report of two blocks. */
export const decoderReport = (crcPassed: Value[], more: JsonObject = {}): Described => ({
  kind: "metrics.report",
  json: {
    kind: "metrics.report",
    schema_version: 1,
    operation: "channel.nr_ldpc_decoder",
    metrics: {},
    block_count: crcPassed.length,
    crc_pass_count: crcPassed.filter(Boolean).length,
    crc_passed: crcPassed,
    ...more,
  },
});

export const POWER_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    symbols: () => ({ symbols: symbols() }),
    known,
    old,
    "known with bits": () => ({
      ...known(),
      bits: payloadInput(someBits(31), { source_item_counts: [11, 20] }),
    }),
    scored,
    "scored with bits": () => ({
      ...scored(),
      symbols: symbolsInput(20),
      reference: payloadInput(someBits(40)),
      candidate: payloadInput([...someBits(39), 1 - someBits(40)[39]]),
    }),
    "states and allocation": () => ({
      actual_state: ofdmState([2, 2, 8]),
      transmitter_csi: reports([2, 3, 8], { used: 2 }),
      allocation: powerAllocation(powers, GRID),
    }),
    delivery: () => ({
      actual_state: ofdmState([2, 2, 8]),
      allocation: powerAllocation(powers, GRID),
      decoded_payload: payloadInput(someBits(40)),
      decoder_report: decoderReport([true, false], { transport_block_size_bits: 24 }),
      reference_payload: payloadInput(someBits(40)),
      tx_symbols: symbolsInput(20),
      rx_symbols: symbolsInput(20, {}, { kind: "channel.rx_symbols.complex_numpy" }),
    }),
  },
  files: {
    "policy.npz": () => ({ "policy.npz": checkpoint() }),
  },
  model: {
    scores: ({ csi_history, channel_gain }) => ({ allocation_scores: firstGains(csi_history, channel_gain) }),
  },
});
