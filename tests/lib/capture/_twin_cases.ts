/** Cases of twins besides those of the conformance suite: larger counts, per-symbol noise, sizes with an image measure. */
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import aiPhy from "../../../ops/source/ai_phy.ts";
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
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { casesOf } from "../../ops/_fixtures/cases.ts";

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
async function received(params: JsonObject = {}, layers = 1, motion: JsonObject = {}) {
  const given = { inputs: { symbols: someSymbols(50 * layers) }, params: { ...SLOT, ...params, port_count: layers } };
  const { symbols, pilot_context } = (await runOperation(ofdmPilotInsert, given)).outputs;
  const flat = { ...CHANNEL, channel: "ofdm_tdl", receiver_processing: "none", ...motion };
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

export const TWIN_CASES = casesOf(import.meta.url, {
  inputs: {
    noisy: () => noisy(),
    bits: () => ({ bits: bitsInput(someBits(131)) }),
    "bits of three items": () => ({ bits: bitsInput(someBits(131), { source_item_counts: [57, 6, 68] }) }),
    downlink: () => ({ problem: downlink() }),
    "downlink of two antennas": () => ({ problem: downlink(2) }),
    "90 symbols": () => ({ symbols: someSymbols(90) }),
    "331 symbols": () => ({ symbols: someSymbols(331) }),
    "50 symbols": () => ({ symbols: someSymbols(50) }),
    phylibProblem,
    "received on a comb": () => received({ pattern: "comb", pilot_power_db: float(3) }),
    received: () => received(),
    "received in motion": () => received({}, 1, { time_variation: "doppler", mobility_kmh: float(300) }),
    "received of two layers": () => received({}, 2),
    "given by least_squares": () => givenEstimate("least_squares"),
    "given by linear_mmse_reference": () => givenEstimate("linear_mmse_reference"),
    "given without error variance": async () => {
      const { pilot_estimate: { kind, metadata, ...estimate }, ...inputs } = await givenEstimate("least_squares");
      const array = estimate.array();
      return { ...inputs, pilot_estimate: arrayInput(kind, "complex64", array.data, [...array.shape], metadata) };
    },
    "given of whole grids": async () => {
      const { rx_symbols, pilot_context, pilot_estimate: { kind } } = await givenEstimate("least_squares");
      const [grids, symbols, subcarriers, rx] = rx_symbols.array().shape, count = grids * rx * symbols * subcarriers;
      const values = Float32Array.from({ length: 2 * count }, (_, i) => Math.sin(i + (i >> 4)));
      const estimate = arrayInput(kind, "complex64", values, [grids, rx, 1, symbols * subcarriers], {
        example_count: grids,
        estimator: "given",
      });
      const variances = Float32Array.from({ length: count }, (_, i) => 0.1 + 0.05 * Math.cos(i));
      const companion = ndarray("float32", variances, [grids, rx, 1, symbols * subcarriers]);
      return { rx_symbols, pilot_context, pilot_estimate: { ...estimate, companions: { error_variance: companion } } };
    },
    "received on three antennas": async () => {
      const { rx_symbols, pilot_context } = await givenEstimate("least_squares");
      return { rx_symbols, pilot_context };
    },
    "received and estimate": async () => {
      const inputs = await received(), params = { method: "lmmse" };
      return { ...inputs, estimate: (await runOperation(ofdmChannelEstimator, { inputs, params })).outputs.estimate };
    },
    "45 symbols": () => ({ symbols: someSymbols(45) }),
    "oversampled waveform": async () => ({ waveform: await waveform({ oversampling: 4 }) }),
    waveform: async () => ({ waveform: await waveform() }),
    overPaths: () => overPaths(),
    "150 symbols": () => ({ symbols: someSymbols(150) }),
    "grids on three antennas": () => grids({ rx_antennas: 3 }),
    "grids of equal gains": () => grids({}, true),
    "estimated grids": async () => {
      const { rx_symbols: rx_grid, pilot_context } = await received({}, 2);
      const inputs = { rx_symbols: rx_grid, pilot_context }, params = { method: "lmmse" };
      const { estimate } = (await runOperation(ofdmChannelEstimator, { inputs, params })).outputs;
      return { rx_grid, pilot_context, channel: estimate };
    },
    "pictures of 24 pixels": () => ({ reference: pictures(24)(1), reconstruction: pictures(24)(2) }),
    "pictures of 176 pixels": () => ({ reference: pictures(176)(1), reconstruction: pictures(176)(2) }),
    "real pictures": () => ({ reference: realPictures(1), reconstruction: realPictures(2) }),
  },
}) as Record<string, readonly ConformanceCase[]>;
