/** Cases of twins besides those of the conformance suite: larger counts, per-symbol noise, sizes with an image measure. */
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import aiPhy from "../../../ops/source/ai_phy.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import ofdmChannelEstimator from "../../../ops/estimation/ofdm_channel_estimator.ts";
import ofdmPilotObservation from "../../../ops/demodulation/ofdm_pilot_observation.ts";
import channelEstimatorSlot from "../../../ops/estimation/channel_estimator_adapter.ts";
import pilotObservation from "../../../ops/wireless/pilot_observation.ts";
import ofdmPilotInsert from "../../../ops/modulation/ofdm_pilot_insert.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import wirelessChannel from "../../../ops/wireless/channel.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import multipathWaveform from "../../../ops/wireless/multipath_waveform.ts";
import { downlink } from "../../ops/_fixtures/mu_mimo.ts";
import { runOperation } from "../../ops/harness.ts";
import { arrayInput, bitsInput, someBits, symbolsInput } from "../../ops/inputs.ts";

const [channelRealization, pilotPattern] = aiPhy;
const RX = "channel.rx_symbols.complex_numpy";
/** Values without a pattern, in -scale ... scale. */
const values = (count: number, scale = 1) =>
  Float32Array.from({ length: count }, (_, i) => scale * Math.sin(12.9898 * (i + 1) + (i % 7)));

/** Noisy symbols with a noise variance each. */
const noisy = (metadata: JsonObject = {}) => ({
  rx_symbols: symbolsInput(values(80, 1.2), { modulation_padding_bits: 1, ...metadata }, {
    kind: RX,
    companions: { noise_variance: ndarray("float32", values(40).map((value) => 0.05 + value * value)) },
  }),
});
const pictures = (size: number) => (salt: number) =>
  arrayInput(
    "image.batch.numpy",
    "uint8",
    Uint8Array.from({ length: size * size * 3 }, (_, i) => 128 + 60 * Math.sin(i / 9) + 40 * someBits(1, i + salt)[0]),
    [1, size, size, 3],
    { image_dtype: "uint8" },
  );

const realPictures = (salt: number) =>
  arrayInput(
    "image.batch.numpy",
    "float32",
    values(2 * 24 * 24, 0.4).map((value, i) => 0.5 + value * (1 - 0.1 * ((i * salt) % 5))),
    [2, 24, 24, 1],
    { image_dtype: "float32" },
  );

const SLOT = { subcarriers: 12, num_ofdm_symbols: 5, dmrs_symbols: [1, 3] };
const CHANNEL = { ofdm_fft_size: 12, num_ofdm_symbols: 5, snr_db: float(15), seed: 4 };
const someSymbols = (count: number) => symbolsInput(count, { modulation: "qpsk", bits_per_symbol: 2 });

/** Two slots with pilots over a selective channel, or their two layers on three antennas. */
async function received(params: JsonObject = {}, layers = 1) {
  const given = { inputs: { symbols: someSymbols(50 * layers) }, params: { ...SLOT, ...params, port_count: layers } };
  const { symbols, pilot_context } = (await runOperation(ofdmPilotInsert, given)).outputs;
  const flat = { ...CHANNEL, channel: "ofdm_tdl", receiver_processing: "none" };
  const { outputs } = layers === 1
    ? await runOperation(wirelessChannel, { inputs: { symbols }, params: flat })
    : await runOperation(mimoOfdmChannel, { inputs: { symbols }, params: { ...CHANNEL, rx_antennas: 3 } });
  return { rx_symbols: outputs.rx_symbols ?? outputs.rx_grid, pilot_context };
}

/** Two slots with one layer on three antennas, two pilot symbols each, and a slot's estimate from them. */
async function givenEstimate(mode: string) {
  const given = {
    inputs: { symbols: someSymbols(50) },
    params: { ...SLOT, pattern: "comb", pilot_power_db: float(3) },
  };
  const { symbols, pilot_context } = (await runOperation(ofdmPilotInsert, given)).outputs;
  const params = { ...CHANNEL, tx_antennas: 1, rx_antennas: 3 };
  const { rx_grid } = (await runOperation(mimoOfdmChannel, { inputs: { symbols }, params })).outputs;
  const inputs = { rx_symbols: rx_grid, pilot_context };
  const { observation } = (await runOperation(ofdmPilotObservation, { inputs })).outputs;
  const slot = { inputs: { problem: observation }, params: { mode } };
  return { ...inputs, pilot_estimate: (await runOperation(channelEstimatorSlot, slot)).outputs.estimate };
}

/** What pilots show of channels that phylib makes. */
async function phylibProblem() {
  const size = { tx_antennas: 2, subcarriers: 8 }, wireless_backend = "phylib";
  const params = { ...size, rx_antennas: 2, scenario: "mimo_ofdm", example_count: 2, wireless_backend, seed: 5 };
  const { channel } = (await runOperation(channelRealization, { params })).outputs;
  const { pilots } =
    (await runOperation(pilotPattern, { params: { ...size, scenario: "comb", pilot_spacing: 4 } })).outputs;
  const observed = { inputs: { channel, pilots }, params: { wireless_backend, snr_db: 10, seed: 6 } };
  return { problem: (await runOperation(pilotObservation, observed)).outputs.observation };
}

/** A waveform with a partly filled last symbol, and what a channel makes of it. */
async function waveform(params: JsonObject = {}) {
  const given = { symbols: someSymbols(45) }, size = { fft_size: 16, cp_length: 4, symbols_per_grid: 2 };
  return (await runOperation(ofdmWaveform, { inputs: given, params: { ...size, ...params } })).outputs.waveform;
}

async function overPaths(params: JsonObject = {}) {
  const inputs = { waveform: await waveform({ oversampling: 2, active_subcarriers: 11 }) };
  return (await runOperation(multipathWaveform, { inputs, params: { seed: 4, ...params } })).outputs;
}

/** Two layers on grids; with equal gains of both, which zero forcing cannot separate. */
async function grids(params: JsonObject, equal = false) {
  const inputs = { symbols: someSymbols(101) };
  const { rx_grid, state } =
    (await runOperation(mimoOfdmChannel, { inputs, params: { ...CHANNEL, ...params } })).outputs;
  if (!equal) return { rx_grid, channel: state };
  const array = state.array(), gains = (array.data as Float32Array).slice();
  for (let i = 0; i < gains.length; i += 4) gains.copyWithin(i + 2, i, i + 2);
  const channel = arrayInput(state.kind, "complex64", gains, [...array.shape], state.metadata);
  return { rx_grid, channel };
}

export const TWIN_CASES: { [operation: string]: ConformanceCase[] } = {
  "demodulation.digital_demodulate": ["bpsk", "qpsk", "qam16", "qam64", "qam256"].flatMap((modulation) =>
    ["max_log", "exact"].map((llr_method) => ({
      name: `${modulation}, ${llr_method}, noise per symbol`,
      inputs: () => noisy(),
      params: { modulation, llr_method },
    }))
  ),
  "modulation.digital_modulate": ["qam64", "qam256"].map((modulation) => ({
    name: `${modulation}, padded`,
    inputs: () => ({ bits: bitsInput(someBits(131)) }),
    params: { modulation },
  })),
  "modulation.qpsk_pilot_modulate": [{
    name: "three frames, padded",
    inputs: () => ({ bits: bitsInput(someBits(131), { source_item_counts: [57, 6, 68] }) }),
    params: { preamble_symbols: 3, pilot_spacing_data_symbols: 5, pilot_seed: 9 },
  }],
  "model.mu_mimo_precoder": [
    ...["zf", "block_diagonalization"].map((mode) => ({
      name: `${mode}, powers by water-filling`,
      inputs: () => ({ problem: downlink() }),
      params: { mode, power: "water_filling" },
    })),
    {
      name: "rzf, given regularisation of two antennas",
      inputs: () => ({ problem: downlink(2) }),
      params: { mode: "rzf", regularization: float(0.3) },
    },
    { name: "rzf, none", inputs: () => ({ problem: downlink() }), params: { mode: "rzf", regularization: float(0) } },
    {
      name: "wmmse, weighted",
      inputs: () => ({ problem: downlink() }),
      params: { mode: "wmmse", user_weights: [float(3), float(0.5)], wmmse_iterations: 30 },
    },
  ],
  "modulation.ofdm_pilot_insert": [
    { name: "block", inputs: () => ({ symbols: someSymbols(90) }), params: { ...SLOT, pattern: "block" } },
    {
      name: "four ports of a later slot",
      inputs: () => ({ symbols: someSymbols(331) }),
      params: { ...SLOT, port_count: 4, n_id: 77, n_scid: 1, slot: 9, first_rb: 3, pilot_power_db: float(-3) },
    },
    {
      name: "data beside pilots",
      inputs: () => ({ symbols: someSymbols(50) }),
      params: { ...SLOT, dmrs_symbols: [3, 0], port_count: 2, cdm_groups_without_data: 1 },
    },
  ],
  "model.channel_estimator_adapter": ["least_squares", "linear_mmse_reference"].map((mode) => ({
    name: `channels of phylib, ${mode}`,
    inputs: phylibProblem,
    params: { mode },
  })),
  "model.ofdm_channel_estimator": [
    ...["linear", "nearest", "average"].flatMap((time_interpolation) =>
      ["least_squares", "lmmse"].map((method) => ({
        name: `two pilot symbols, ${time_interpolation}, ${method}`,
        inputs: () => received({ pattern: "comb", pilot_power_db: float(3) }),
        params: { method, time_interpolation },
      }))
    ),
    ...["uniform", "tdl"].map((delay_profile) => ({
      name: `lmmse, ${delay_profile}`,
      inputs: () => received(),
      params: { method: "lmmse", delay_profile },
    })),
    ...["least_squares", "lmmse"].map((method) => ({
      name: `two layers of a pair, ${method}`,
      inputs: () => received({}, 2),
      params: { method },
    })),
    ...["least_squares", "linear_mmse_reference"].map((mode) => ({
      name: `given by the mode ${mode} on three antennas`,
      inputs: () => givenEstimate(mode),
      params: { method: "given" },
    })),
    {
      name: "given without error variance",
      async inputs() {
        const { pilot_estimate: { kind, metadata, ...estimate }, ...inputs } = await givenEstimate("least_squares");
        const array = estimate.array();
        return { ...inputs, pilot_estimate: arrayInput(kind, "complex64", array.data, [...array.shape], metadata) };
      },
      params: { method: "given", given_error_variance: float(0.07), time_interpolation: "nearest" },
    },
  ],
  "demodulation.ofdm_pilot_observation": [{
    name: "two pilot symbols on three antennas",
    async inputs() {
      const { rx_symbols, pilot_context } = await givenEstimate("least_squares");
      return { rx_symbols, pilot_context };
    },
  }],
  "demodulation.ofdm_equalize": [{
    name: "data of two slots",
    async inputs() {
      const inputs = await received(), params = { method: "lmmse" };
      return { ...inputs, estimate: (await runOperation(ofdmChannelEstimator, { inputs, params })).outputs.estimate };
    },
  }],
  "modulation.ofdm_waveform": [{
    name: "odd number of subcarriers, without prefix",
    inputs: () => ({ symbols: someSymbols(45) }),
    params: { fft_size: 16, cp_length: 0, active_subcarriers: 11, oversampling: 2 },
  }],
  "wireless.multipath_waveform": [
    {
      name: "line of sight, early, with a carrier offset",
      inputs: async () => ({ waveform: await waveform({ oversampling: 4 }) }),
      params: {
        tdl_model: "D",
        delay_spread_ns: float(300),
        timing_offset_samples: -3,
        carrier_frequency_offset_subcarriers: float(-0.2),
        snr_db: float(12),
      },
    },
    {
      name: "given paths, longer than the waveform",
      inputs: async () => ({ waveform: await waveform() }),
      params: { taps: [[float(2), float(0.4), float(-0.3)], [float(900), float(1), float(1)]] },
    },
  ],
  "demodulation.ofdm_receive": [
    { name: "unequalised, from inside the prefix", inputs: () => overPaths(), params: { receiver_cp_offset: 3 } },
    { name: "zf, oversampled", inputs: () => overPaths(), params: { equalize: "zf", receiver_cp_offset: 2 } },
  ],
  "wireless.mimo_ofdm_channel": [
    { name: "iid", params: { channel_model: "iid", tx_antennas: 3, layers: 2, rx_antennas: 1 } },
    {
      name: "line of sight, exponential",
      params: { tdl_model: "E", tx_correlation: float(0.5), rx_correlation: float(0.9) },
    },
    { name: "singular vectors", params: { precoding: "svd", tx_antennas: 4, layers: 2, rx_antennas: 3 } },
    { name: "clusters", params: { channel_model: "cdl", tdl_model: "B", tx_antennas: 4, rx_antennas: 3 } },
  ].map(({ name, params }) => ({
    name: `${name}, two grids`,
    inputs: () => ({ symbols: someSymbols(150) }),
    params: { ...CHANNEL, ...params },
  })),
  "demodulation.mimo_detect": ["zf", "mmse", "mmse_sic", "ml", "kbest"].flatMap((detector) => [
    ...["max_log", "exact"].map((llr_method) => ({
      name: `${detector} of 16QAM, ${llr_method}`,
      inputs: () => grids({ rx_antennas: 3 }),
      params: { detector, modulation: "qam16", llr_method, k_best: 20 },
    })),
    // The others decide between equal distances.
    ...(detector === "zf" || detector === "mmse"
      ? [{ name: `${detector} of equal columns`, inputs: () => grids({}, true), params: { detector } }]
      : []),
    {
      name: `${detector}, estimated channel of two slots`,
      async inputs() {
        const { rx_symbols: rx_grid, pilot_context } = await received({}, 2);
        const inputs = { rx_symbols: rx_grid, pilot_context }, params = { method: "lmmse" };
        const { estimate } = (await runOperation(ofdmChannelEstimator, { inputs, params })).outputs;
        return { rx_grid, pilot_context, channel: estimate };
      },
      params: { detector },
    },
  ]),
  "metrics.image_reconstruction": [24, 176].map((size) => ({
    name: `${size} pixels`,
    inputs: () => ({ reference: pictures(size)(1), reconstruction: pictures(size)(2) }),
  })).concat({
    name: "24 pixels, binary32",
    inputs: () => ({ reference: realPictures(1), reconstruction: realPictures(2) }),
  }),
};
