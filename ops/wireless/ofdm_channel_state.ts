/**
 * A fixed realisation of a TDL channel over OFDM, shared by an allocator and a channel: frequency responses of taps
 * that vary in time as sums of sinusoids, lib/numeric/channel/delay_profile.ts. The number of grids is that for n symbols,
 * times capacity_multiplier: ceil(capacity_multiplier·n / (num_ofdm_symbols·F)); each varies independently, from t = 0.
 *
 * Shapes: symbols complex64 [n] -> the same symbols; state complex64 [grid, OFDM symbol, subcarrier], with noise variance
 * N0 and mean power budget of a resource element. Draws: random() for the angles [grid, tap, 20], then for the phases.
 */
import { OFDM_STATE, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineOperation, float, seedParameter, z } from "../api.ts";
import { ofdmStateArtifact } from "../../lib/artifact/ofdm_state.ts";
import { UNIT_KEYS } from "../../lib/artifact/statistical_unit.ts";
import { companionsOf, symbolsArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import {
  frequencyResponse,
  maximumDopplerHz,
  movingTaps,
  ofdmSymbolInterval,
  PROFILE_MODELS,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { notExported } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";

const KEYS = ["noise_variance", "average_power_budget", "grid_count", "num_ofdm_symbols", "ofdm_fft_size"];

export default defineOperation({
  id: "wireless.ofdm_channel_state",
  name: "Frozen OFDM channel state",
  description: "Draws a TDL realisation shared by power allocation and channel",
  inputs: { symbols: [SYMBOLS] },
  outputs: { state: OFDM_STATE, symbols: SYMBOLS },
  params: z.strictObject({
    tdl_model: z.enum(PROFILE_MODELS).default("A").describe("profile of TR 38.901 7.7.2"),
    delay_spread_ns: z.number().nonnegative().default(100).describe("root mean square delay spread in ns"),
    normalize_channel: z.boolean().default(true).describe("scale the power-delay profile to mean power 1"),
    ofdm_fft_size: z.int().positive().default(16).describe("subcarriers of a grid"),
    num_ofdm_symbols: z.int().positive().default(4).describe("OFDM symbols of a grid"),
    subcarrier_spacing_khz: z.number().positive().default(15).describe("subcarrier spacing in kHz"),
    carrier_frequency_ghz: z.number().positive().default(3.5).describe("carrier frequency in GHz"),
    mobility_kmh: z.number().nonnegative().default(3).describe("receiver speed in km/h; a tap is a sum of 20 waves"),
    noise_variance: z.number().positive().default(0.1)
      .describe("N0 of a resource element; default that of the wired channel"),
    average_power_budget: z.number().positive().default(1).describe("mean transmit power of a resource element"),
    capacity_multiplier: z.int().positive().default(1)
      .describe("ratio of resource elements to symbols, for allocations that leave elements empty"),
    seed: seedParameter(),
  }),
  differentiability: notExported("phylib", "none", "A realisation is data"),
  equivalence: { type: "behavioral" },
  formats: { artifact: "npz", tensor: "none" },
  materializations: [
    { runner: "benchmark_run", backend: "phylib", implementation: "phylib_3gpp_tdl_ofdm_frequency_response" },
    { runner: "dataset_capture", backend: "phylib", implementation: "phylib_3gpp_tdl_ofdm_frequency_response_capture" },
  ],
  outputMetadataGuarantees: {
    state: { keys: KEYS },
    symbols: { from: "symbols", keys: ["boundary_contract", "symbol_count"] },
  },
  estimate(params, { symbols }) {
    const { ofdm_fft_size, num_ofdm_symbols, capacity_multiplier } = params;
    // Without a shape the symbols may have companion arrays: their number is an upper limit.
    const count = symbols.shape?.[0] ?? symbols.bytes / 8;
    const grids = Math.ceil(capacity_multiplier * count / (num_ofdm_symbols * ofdm_fft_size));
    const size = 8 * grids * num_ofdm_symbols * ofdm_fft_size;
    return {
      state: symbols.shape === undefined ? size : [["complex64", grids, num_ofdm_symbols, ofdm_fft_size]],
      symbols: sizeOfInput(symbols, "complex64"),
    };
  },
  run({ inputs, params, generator }) {
    const symbols = symbolsOf(inputs.symbols);
    const { ofdm_fft_size: subcarriers, num_ofdm_symbols: samples } = params;
    const grids = Math.ceil(params.capacity_multiplier * (symbols.length / 2) / (samples * subcarriers));
    const profile = tdlProfile(params.tdl_model, {
      delaySpread: params.delay_spread_ns * 1e-9,
      normalise: params.normalize_channel,
    });
    const dopplerHz = maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz);
    const interval = ofdmSymbolInterval(params.subcarrier_spacing_khz);
    const taps = movingTaps(profile, grids, { dopplerHz, interval, samples }, generator);
    const response = frequencyResponse(taps, profile, {
      count: subcarriers,
      spacing: params.subcarrier_spacing_khz * 1e3,
    });
    const { metadata } = inputs.symbols;
    const state = ofdmStateArtifact({
      grids,
      symbols: samples,
      subcarriers,
      h: Float32Array.from(response),
      noiseVariance: params.noise_variance,
      averagePowerBudget: params.average_power_budget,
    }, {
      ...travel(metadata, {}, UNIT_KEYS),
      tdl_model: params.tdl_model,
      delay_spread_ns: float(params.delay_spread_ns),
      normalize_channel: params.normalize_channel,
      subcarrier_spacing_khz: float(params.subcarrier_spacing_khz),
      carrier_frequency_ghz: float(params.carrier_frequency_ghz),
      mobility_kmh: float(params.mobility_kmh),
      maximum_doppler_hz: float(dopplerHz),
      doppler_model: "sum_of_sinusoids",
      ofdm_symbol_interval_s: float(interval),
      capacity_multiplier: params.capacity_multiplier,
    });
    return {
      outputs: { state, symbols: symbolsArtifact(symbols, travel(metadata), companionsOf(inputs.symbols)) },
      metrics: { "channel.noise_variance": params.noise_variance },
    };
  },
});
