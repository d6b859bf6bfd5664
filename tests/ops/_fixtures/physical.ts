/** Conformance cases of the physical layer: channels, states and receivers. */
import { writeNpz } from "../../../lib/artifact/npz.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const QPSK = { modulation: "qpsk", bits_per_symbol: 2, modulation_padding_bits: 0 };
const ITEMS = { source_item_counts: [12, 20] };
const symbols = () => ({ symbols: symbolsInput(32, { ...QPSK, ...ITEMS }) });
const RX = { kind: "channel.rx_symbols.complex_numpy" };
const received = (more: JsonObject = {}) => ({
  rx_symbols: symbolsInput(32, { ...QPSK, ...ITEMS, noise_variance: 0.1, ...more }, RX),
});
const FRONT_END = {
  gain_imbalance_db: 5,
  quadrature_error_deg: 12,
  phase_offset_deg: 20,
  dc_offset_i: 0.18,
  dc_offset_q: -0.12,
};
const linearCheckpoint = () =>
  writeNpz({
    metadata_json: '{"format":"svc_linear_receiver_npz_v1"}',
    weight: ndarray("float32", Float32Array.of(3, 0.1, -0.2, 2), [2, 2]),
    bias: ndarray("float64", Float64Array.of(0.5, -0.5)),
  });

/** Two frames of 12 and 20 symbols, two pilots each. */
const framed = () => ({
  ...received(),
  pilot_context: {
    ...arrayInput("channel.qpsk_pilot_context.numpy", "int32", Int32Array.of(0, 11, 12, 31), [4], {
      frame_symbol_counts: [12, 20],
      frame_bit_counts: [20, 35],
      preamble_symbols: 1,
    }),
    companions: { values: ndarray("complex64", symbolsInput(4).array!.data) },
  },
  phase_truth: arrayInput("channel.carrier_phase_truth.numpy", "float64", new Float64Array(32).fill(0.1), [32]),
});
const bits = () => ({ bits: payloadInput(someBits(64), { source_item_counts: [24, 40] }) });

/** Two grids of 3 OFDM symbols on 6 subcarriers. */
function state() {
  const gains = Float32Array.from({ length: 2 * 36 }, (_, i) => Math.cos(5 * i));
  return arrayInput("channel.ofdm_channel_state.numpy", "complex64", gains, [2, 3, 6], {
    noise_variance: 0.1,
    average_power_budget: 1,
  });
}

/** Eight points without a symmetry. */
const RING = Array.from({ length: 8 }, (_, m) => [(1 + m / 8) * Math.cos(m), (1 + m / 8) * Math.sin(m)]);
const ring = () => ({
  ...received(),
  constellation: arrayInput("channel.constellation.complex_numpy", "complex64", Float32Array.from(RING.flat()), [8], {
    bits_per_symbol: 3,
  }),
});

export const PHYSICAL_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    symbols,
    "symbols with a companion": () => ({
      symbols: symbolsInput(4, {}, { companions: { layer: ndarray("uint8", Uint8Array.of(1)) } }),
    }),
    "symbols and state": () => ({ ...symbols(), channel_state: state() }),
    state: () => ({ state: state() }),
    "channel state": () => ({ channel_state: state() }),
    "timed state": () => ({
      channel_state: { ...state(), metadata: { ...state().metadata, ofdm_symbol_interval_s: 1e-4 } },
    }),
    slots: () => ({
      channel_state: arrayInput(
        "channel.ofdm_channel_state.numpy",
        "complex64",
        new Float32Array(2 * 2 * 280 * 12).fill(Math.SQRT1_2),
        [2, 280, 12],
        { noise_variance: 0.1, average_power_budget: 1 },
      ),
    }),
    "soft values": () => ({
      llr: {
        kind: "channel.llr.numpy",
        array: ndarray("float32", Float32Array.from(someBits(64), (bit) => 3 - 5 * bit)),
      },
      reference: payloadInput(someBits(64)),
    }),
    "soft values of symbols": () => ({
      llr: {
        kind: "channel.llr.numpy",
        array: ndarray("float32", Float32Array.from(someBits(64), (bit) => 3 - 5 * bit)),
        metadata: { ...QPSK, noise_variance: 0.1 },
      },
      reference: payloadInput(someBits(64)),
    }),
    "equalised symbols": () => ({
      rx_symbols: {
        ...symbolsInput(32, { ...QPSK, ...ITEMS }, RX),
        companions: {
          noise_variance: ndarray("float32", Float32Array.from({ length: 32 }, (_, i) => 0.05 + 0.01 * i)),
        },
      },
    }),
    "feedback code": () => ({
      feedback_code: arrayInput("channel.csi_feedback_code.numpy", "float32", Float32Array.of(0, 0.3, -2, 1), [2, 2]),
    }),
    received: () => received(),
    "received with a front end": () => received({ receiver_iq_imbalance: FRONT_END }),
    bits,
    ring,
    framed,
  },
  files: {
    "linear.npz": () => ({ "linear.npz": linearCheckpoint() }),
  },
  model: {
    LLRs: ({ rx_symbols_ri }) => ({ bit_llr: rx_symbols_ri }),
    points: () => ({ points_ri: ndarray("float32", Float32Array.from(RING.flat()), [8, 2]) }),
    "LLRs of three bits": ({ rx_symbols_ri: { data, shape: [count] } }) => ({
      bit_llr: ndarray("float32", Float32Array.from({ length: 3 * count }, (_, i) => Number(data[i % count])), [
        count,
        3,
      ]),
    }),
    "LLRs of packets": ({ receiver_features_v3: { data, shape: [packets, length, features] } }) => ({
      residual_phase_rad: ndarray(
        "float32",
        Float32Array.from({ length: packets * length }, (_, i) => Number(data[i * features + 2])),
        [packets, length],
      ),
    }),
  },
});
