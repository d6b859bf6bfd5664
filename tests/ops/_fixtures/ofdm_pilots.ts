/** Conformance cases of links with pilots. */
import ofdmPilotObservation from "../../../ops/demodulation/ofdm_pilot_observation.ts";
import channelEstimator from "../../../ops/estimation/channel_estimator_adapter.ts";
import ofdmPilotInsert from "../../../ops/modulation/ofdm_pilot_insert.ts";
import ofdmChannelEstimator from "../../../ops/estimation/ofdm_channel_estimator.ts";
import multipathWaveform from "../../../ops/wireless/multipath_waveform.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import wirelessChannel from "../../../ops/wireless/channel.ts";
import { OFDM_STATE } from "../../../lib/contract/kinds.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { runOperation } from "../harness.ts";
import { arrayInput, symbolsInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

const GRID = { subcarriers: 12, num_ofdm_symbols: 3, dmrs_symbols: [1] };
const symbols = () => ({ symbols: symbolsInput(30, { modulation: "qpsk", bits_per_symbol: 2 }) });

async function received(pilots: JsonObject = {}) {
  const sent = (await runOperation(ofdmPilotInsert, { inputs: symbols(), params: { ...GRID, ...pilots } })).outputs;
  const params = { channel: "ofdm_tdl", receiver_processing: "none", ofdm_fft_size: 12, num_ofdm_symbols: 3, seed: 4 };
  const { rx_symbols } = (await runOperation(wirelessChannel, { inputs: { symbols: sent.symbols }, params })).outputs;
  return { rx_symbols, pilot_context: sent.pilot_context };
}

async function estimated(pilots: JsonObject = {}) {
  const inputs = await received(pilots);
  return { ...inputs, estimate: (await runOperation(ofdmChannelEstimator, { inputs })).outputs.estimate };
}

/** Received pilots, and a slot's estimate from them. */
async function givenEstimate() {
  const inputs = await received(), { observation } = (await runOperation(ofdmPilotObservation, { inputs })).outputs;
  const { estimate } = (await runOperation(channelEstimator, { inputs: { problem: observation } })).outputs;
  return { ...inputs, pilot_estimate: estimate };
}

const MIMO = { ofdm_fft_size: 12, num_ofdm_symbols: 3, seed: 4, snr_db: float(15) };

/** Symbols, and matrices of two by two antennas for each subcarrier of a grid, or of each of its OFDM symbols. */
const wired = (rows = 1) => {
  const gains = Float32Array.from({ length: 2 * rows * 12 * 4 }, (_, at) => Math.sin(at + (at >> 3)));
  return { ...symbols(), channel_state: arrayInput(OFDM_STATE, "complex64", gains, [1, rows, 12, 2, 2]) };
};

async function mimo(params: JsonObject = {}) {
  return (await runOperation(mimoOfdmChannel, { inputs: symbols(), params: { ...MIMO, ...params } })).outputs;
}

async function detection(params: JsonObject = {}) {
  const { rx_grid, state } = await mimo(params);
  return { rx_grid, channel: state };
}

/** Two layers with pilots, and the estimate of their channel. */
async function estimatedLayers(pilots: JsonObject = {}) {
  const params = { ...GRID, port_count: 2, ...pilots };
  const sent = (await runOperation(ofdmPilotInsert, { inputs: symbols(), params })).outputs;
  const inputs = { symbols: sent.symbols };
  const { rx_grid } = (await runOperation(mimoOfdmChannel, { inputs, params: MIMO })).outputs;
  const pilot_context = sent.pilot_context;
  const { estimate } =
    (await runOperation(ofdmChannelEstimator, { inputs: { rx_symbols: rx_grid, pilot_context } })).outputs;
  return { rx_grid, pilot_context, channel: estimate };
}

const WAVE = { fft_size: 16, cp_length: 4 };

async function waveform(params: JsonObject = {}) {
  const { waveform } =
    (await runOperation(ofdmWaveform, { inputs: symbols(), params: { ...WAVE, ...params } })).outputs;
  return { waveform };
}

async function receivedWaveform(params: JsonObject = {}) {
  return (await runOperation(multipathWaveform, { inputs: await waveform(params), params: { seed: 4 } })).outputs;
}

/** A waveform at the port of front ends. */
const waveformSignal = async () => ({ signal: (await waveform({ oversampling: 2 })).waveform });

export const OFDM_PILOT_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    symbols,
    waveform: () => waveform(),
    "oversampled waveform": () => waveform({ oversampling: 2 }),
    "long oversampled waveform": async () => ({
      waveform: (await runOperation(ofdmWaveform, {
        inputs: { symbols: symbolsInput(640) },
        params: { ...WAVE, oversampling: 4, active_subcarriers: 10 },
      })).outputs.waveform,
    }),
    recording: () => ({ waveform: symbolsInput(700, {}, { kind: "channel.rx_symbols.complex_numpy" }) }),
    waveformSignal,
    "symbols as signal": () => ({ signal: symbols().symbols }),
    receivedWaveform: () => receivedWaveform(),
    receivedPrecoded: () => receivedWaveform({ transform_precoding: true }),
    trackedWaveform: async () => ({
      waveform: (await receivedWaveform({ transform_precoding: true, ptrs_groups: 2 })).waveform,
    }),
    wired: () => wired(),
    "wired in motion": () => wired(3),
    detection: () => detection(),
    "four ports": async () => ({ channel_state: (await mimo({ tx_antennas: 4 })).state }),
    estimatedLayers: () => estimatedLayers(),
    trackedLayers: () => estimatedLayers({ ptrs_time_density: 1, ptrs_ports: [0, 1] }),
    receivedGrid: async () => ({ signal: (await mimo()).rx_grid }),
    received: () => received(),
    givenEstimate,
    estimated: () => estimated(),
    tracked: () => estimated({ ptrs_time_density: 1, ptrs_frequency_density: 2 }),
    sentAndReceived: () => ({
      reference: symbols().symbols,
      candidate: symbolsInput(30, {}, { kind: "channel.rx_symbols.complex_numpy" }),
    }),
  },
});
