/** Conformance cases of the physical layer: channels, states and receivers. */
import { writeNpz } from "../../../lib/artifact/npz.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput, payloadInput, someBits, symbolsInput } from "../inputs.ts";

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

const UNPROCESSED = ["awgn", "flat_rayleigh", "interference_awgn"];
const OFDM_PRESETS = ["ofdm_tdl", "ofdm_cdl", "urban_micro"];
const PRESETS = [...UNPROCESSED, "mimo_flat", ...OFDM_PRESETS];
const ANTENNAS = { tx_antennas: 2, rx_antennas: 2 };
const GRID = { ofdm_fft_size: 5, num_ofdm_symbols: 3 };

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

export const PHYSICAL_FIXTURES: Record<string, ConformanceCase[]> = {
  "wireless.channel": [
    ...PRESETS.map((channel) => ({
      name: `${channel} matched`,
      inputs: symbols,
      params: { channel, interferers: 2, ...ANTENNAS, ...GRID },
    })),
    ...[...UNPROCESSED, ...OFDM_PRESETS].map((channel) => ({
      name: `${channel} unprocessed`,
      inputs: symbols,
      params: { channel, receiver_processing: "none", interferers: 2, ...GRID },
    })),
    ...["flat_rayleigh", "mimo_flat"].map((channel) => ({
      name: `${channel}, a gain per item`,
      inputs: symbols,
      params: { channel, fading_scope: "source_item", ...ANTENNAS },
    })),
    {
      name: "fixed variance, companions",
      inputs: () => ({
        symbols: symbolsInput(4, {}, { companions: { layer: ndarray("uint8", Uint8Array.of(1)) } }),
      }),
      params: { noise_mode: "fixed_variance", noise_variance: 0.01, wireless_backend: "phylib" },
    },
    {
      name: "explicit state",
      inputs: () => ({ ...symbols(), channel_state: state() }),
      params: { channel: "ofdm_tdl", channel_state_mode: "explicit", snr_db: 10 },
    },
  ],
  "wireless.ofdm_channel_state": [{ inputs: symbols }, { inputs: symbols, params: { tdl_model: "D", ...GRID } }],
  "wireless.ofdm_delayed_csi": [{
    inputs: () => ({ state: state() }),
    params: { csi_history_length: 2, feedback_delay_ofdm_symbols: 1, allocation_ofdm_symbols: 1 },
  }],
  "wireless.miso_ofdm_csi": [{ params: { sample_count: 3, tx_antennas: 2, ofdm_fft_size: 4 } }],
  "channel.csi_feedback_link": ["ideal_noiseless", "uniform_quantized"].map((mode) => ({
    inputs: () => ({
      feedback_code: arrayInput("channel.csi_feedback_code.numpy", "float32", Float32Array.of(0, 0.3, -2, 1), [2, 2]),
    }),
    params: { mode },
  })),
  "hardware.receiver_iq_imbalance": [{ inputs: () => received() }],
  "demodulation.neural_receiver_adapter": [
    { inputs: () => received() },
    {
      name: "oracle_frontend_calibrated",
      inputs: () => received({ receiver_iq_imbalance: FRONT_END }),
      params: { mode: "oracle_frontend_calibrated" },
    },
    { name: "blind_iq_compensation", inputs: () => received(), params: { mode: "blind_iq_compensation" } },
    {
      name: "linear_npz",
      inputs: () => received(),
      params: { mode: "linear_npz", checkpoint_path: "linear.npz" },
      files: () => ({ "linear.npz": linearCheckpoint() }),
    },
    {
      name: "learned_artifact",
      inputs: () => received(),
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ rx_symbols_ri }) => ({ bit_llr: rx_symbols_ri }),
    },
  ],
  "modulation.learned_constellation": [
    { inputs: bits },
    { name: "points", inputs: bits, params: { mode: "points", bits_per_symbol: 3, points: RING } },
    {
      name: "learned_artifact",
      inputs: bits,
      params: { mode: "learned_artifact", bits_per_symbol: 3, artifact_package_sha256: "0".repeat(64) },
      model: () => ({ points_ri: ndarray("float32", Float32Array.from(RING.flat()), [8, 2]) }),
    },
  ],
  "demodulation.constellation_demapper": [
    ...["exact", "max_log"].map((mode) => ({ name: mode, inputs: ring, params: { mode } })),
    {
      name: "learned_artifact",
      inputs: ring,
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ rx_symbols_ri: { data, shape: [count] } }) => ({
        bit_llr: ndarray("float32", Float32Array.from({ length: 3 * count }, (_, i) => Number(data[i % count])), [
          count,
          3,
        ]),
      }),
    },
  ],
  "modulation.qpsk_pilot_modulate": [{ inputs: bits }],
  "demodulation.phase_tracking_receiver_adapter": [
    ...["uncompensated", "pilot_interpolation", "pilot_smoothing", "decision_directed_pll", "kalman_smoother", "oracle"]
      .map((mode): ConformanceCase => ({ name: mode, inputs: framed, params: { mode } })),
    {
      name: "learned_artifact",
      inputs: framed,
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      // The third feature, of every symbol, as a phase.
      model: ({ receiver_features_v3: { data, shape: [packets, length, features] } }) => ({
        residual_phase_rad: ndarray(
          "float32",
          Float32Array.from({ length: packets * length }, (_, i) => Number(data[i * features + 2])),
          [packets, length],
        ),
      }),
    },
  ],
  "wireless.carrier_phase_impairment": [
    { inputs: () => received() },
    { name: "independent symbols", inputs: () => received(), params: { phase_scope: "symbol" } },
  ],
  "wireless.digital_link": [
    ...PRESETS.map((channel) => ({
      name: channel,
      inputs: bits,
      params: { channel, snr_db: -8, ...ANTENNAS, ...GRID },
    })),
    { name: "fixed variance", inputs: bits, params: { noise_mode: "fixed_variance", noise_variance: 0.5 } },
  ],
};
