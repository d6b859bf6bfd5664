/**
 * Channels from an array of transmit antennas to one receive antenna over OFDM, for CSI feedback. The antennas are
 * correlated, R_ij = ρ^|i-j|: with R = LLᵀ and independent responses g_j of each antenna, h_i = Σ_j L_ij·g_j.
 *
 *     phylib  g_j from time-variant TDL taps as sums of sinusoids, lib/numeric/channel/delay_profile.ts
 *     numpy   g_j from channel_tap_count static taps of powers e^{-l} (of sum 1), H_k = Σ_l h_l·exp(-j2πkl/F); mobility,
 *             delay spread and profile have no effect there
 *
 * A sample is one realisation; its num_ofdm_symbols OFDM symbols are consecutive rows.
 *
 * Shapes: csi complex64 [sample · OFDM symbol, tx, subcarrier]; signal power 1 per antenna, noise_variance is
 * 10^(-downlink_snr_db/10). Draws: phylib random() for the angles [sample, tx, tap, 20], then for the phases; numpy taps
 * [sample, tx, tap], complex.
 */
import { defineOperation, float, seedParameter, shownIn, usedWhen, z } from "../api.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import {
  exponentialProfile,
  frequencyResponse,
  maximumDopplerHz,
  movingTaps,
  ofdmSymbolInterval,
  PROFILE_MODELS,
  staticTaps,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { cholesky, zeros } from "../../lib/numeric/linalg/linear_algebra.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { MISO_CSI } from "../_csi_feedback.ts";

const OF_PROFILES = usedWhen({ wireless_backend: "phylib" });

export default defineOperation({
  id: "wireless.miso_ofdm_csi",
  name: "Spatially correlated MISO-OFDM CSI",
  description: "Draws channels from a correlated antenna array, for CSI feedback",
  outputs: { csi: MISO_CSI },
  params: z.strictObject({
    sample_count: z.int().positive().default(64).describe("independent realisations"),
    tx_antennas: z.int().positive().default(8).describe("transmit antennas"),
    tx_correlation_coefficient: z.number().min(0).lt(1).default(0.7).describe("ρ between neighbouring antennas"),
    ofdm_fft_size: z.int().positive().default(32).describe("subcarriers"),
    num_ofdm_symbols: z.int().positive().default(1).describe("OFDM symbols of a realisation, consecutive rows"),
    subcarrier_spacing_khz: z.number().positive().default(30).describe("subcarrier spacing in kHz").meta(OF_PROFILES),
    carrier_frequency_ghz: z.number().positive().default(3.5).describe("carrier frequency in GHz")
      .meta(OF_PROFILES),
    mobility_kmh: z.number().nonnegative().default(0).describe("speed of the receiver in km/h").meta(OF_PROFILES),
    tdl_model: z.enum(PROFILE_MODELS).default("A").describe("profile of TR 38.901 7.7.2, for phylib")
      .meta(OF_PROFILES),
    delay_spread_ns: z.number().nonnegative().default(100).describe("root mean square delay spread in ns")
      .meta(OF_PROFILES),
    normalize_channel: z.boolean().default(true).describe("scale the power-delay profile to mean power 1")
      .meta(OF_PROFILES),
    channel_tap_count: z.int().positive().default(6).describe("taps of the synthetic profile, for numpy")
      .meta(usedWhen({ wireless_backend: "numpy" })),
    downlink_snr_db: z.number().default(10).describe("Es/N0 in dB of the downlink pilots at one antenna")
      .meta(shownIn("dB")),
    wireless_backend: z.enum(["phylib", "numpy"]).default("phylib")
      .describe("tap generator: phylib has 3GPP profiles in time, numpy an exponential profile"),
    seed: seedParameter(23),
  }),
  differentiability: { framework: "phylib", gradient: "none", trainable_params: false, exportable: false },
  equivalence: { type: "statistical", reason: "The backends draw from different profiles" },
  formats: { artifact: "npz", tensor: "float32 RI" },
  materializations: [
    { runner: "benchmark_run", backend: "phylib", implementation: "phylib_tdl_correlated_miso_ofdm_csi" },
    { runner: "benchmark_run", backend: "numpy", implementation: "explicit_numpy_correlated_tapped_delay_fallback" },
    { runner: "dataset_capture", backend: "phylib", implementation: "phylib_tdl_correlated_miso_ofdm_csi_capture" },
    { runner: "dataset_capture", backend: "numpy", implementation: "explicit_numpy_correlated_tapped_delay_fallback" },
  ],
  estimate: ({ sample_count, num_ofdm_symbols, tx_antennas, ofdm_fft_size }) => ({
    csi: [["complex64", sample_count * num_ofdm_symbols, tx_antennas, ofdm_fft_size]],
  }),
  run({ params, generator, backend }) {
    const { sample_count: samples, tx_antennas: tx, ofdm_fft_size: count, num_ofdm_symbols: symbols } = params;
    const spacing = params.subcarrier_spacing_khz * 1e3;
    const dopplerHz = maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz);
    const portable = backend === "numpy";
    const profile = portable
      ? exponentialProfile(params.channel_tap_count, 1 / (count * spacing))
      : tdlProfile(params.tdl_model, {
        delaySpread: params.delay_spread_ns * 1e-9,
        normalise: params.normalize_channel,
      });
    const motion = { dopplerHz, interval: ofdmSymbolInterval(params.subcarrier_spacing_khz), samples: symbols };
    const taps = portable
      ? staticTaps(profile, samples * tx, generator)
      : movingTaps(profile, samples * tx, motion, generator);
    // [sample, tx, OFDM symbol (one where nothing moves), subcarrier]
    const response = frequencyResponse(taps, profile, { count, spacing, ...(portable ? { first: 0 } : {}) });
    const csi = correlated(response, { samples, tx, symbols, drawn: portable ? 1 : symbols, count }, factor(params));
    const noiseVariance = dbToLinear(-params.downlink_snr_db);
    return {
      outputs: {
        csi: {
          array: ndarray("complex64", csi, [samples * symbols, tx, count]),
          metadata: {
            sample_count: samples,
            num_ofdm_symbols: symbols,
            tx_antennas: tx,
            ofdm_fft_size: count,
            tx_correlation_coefficient: float(params.tx_correlation_coefficient),
            downlink_snr_db: float(params.downlink_snr_db),
            noise_variance: float(noiseVariance),
            subcarrier_spacing_khz: float(params.subcarrier_spacing_khz),
            carrier_frequency_ghz: float(params.carrier_frequency_ghz),
            mobility_kmh: float(params.mobility_kmh),
            maximum_doppler_hz: float(portable ? 0 : dopplerHz),
            doppler_model: portable ? "block_static" : "sum_of_sinusoids",
            channel_model: portable ? "exponential" : `TDL-${params.tdl_model}`,
          },
        },
      },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});

/** L of R_ij = ρ^|i-j|. */
function factor(params: { tx_antennas: number; tx_correlation_coefficient: number }): Float64Array {
  const { tx_antennas: n, tx_correlation_coefficient: correlation } = params;
  const matrix = zeros(n, n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) matrix[2 * (i * n + j)] = correlation ** Math.abs(i - j);
  return cholesky(matrix, n);
}

interface Layout {
  samples: number;
  tx: number;
  symbols: number;
  /** Number of drawn OFDM symbols: all, or one that is repeated. */
  drawn: number;
  count: number;
}

/** h_i = Σ_j L_ij·g_j, from [sample, tx, symbol, subcarrier] to [sample, symbol, tx, subcarrier]. */
function correlated(response: Float64Array, layout: Layout, lower: Float64Array): Float32Array {
  const { samples, tx, symbols, drawn, count } = layout;
  const csi = new Float32Array(2 * samples * symbols * tx * count);
  const sum = new Float64Array(2 * count);
  let into = 0;
  for (let sample = 0; sample < samples; sample++) {
    for (let symbol = 0; symbol < symbols; symbol++) {
      for (let i = 0; i < tx; i++, into += 2 * count) {
        sum.fill(0);
        for (let j = 0; j <= i; j++) {
          const weight = lower[2 * (i * tx + j)];
          const from = 2 * ((sample * tx + j) * drawn + symbol % drawn) * count;
          for (let k = 0; k < 2 * count; k++) sum[k] += weight * response[from + k];
        }
        csi.set(sum, into);
      }
    }
  }
  return csi;
}
