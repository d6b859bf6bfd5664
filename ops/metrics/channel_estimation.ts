/**
 * Scores of channel estimates, over all examples, antennas and subcarriers:
 *
 *     nmse          Σ|ĥ - h|² / Σ|h|²
 *     mse           mean of |ĥ - h|²
 *     correlation   |Σ ĥ·h*| / sqrt(Σ|ĥ|²·Σ|h|²), 0 if a side is zero
 *     rate          of zero forcing with Ĥ, and with H: lib/numeric/link/estimated_zero_forcing.ts; mean over
 *                   the subcarriers
 *
 * The rates, their ratio and the share of pilots are reported for channels of several antennas or subcarriers, and need
 * the noise_variance of the problem. task.score = 1/(1 + nmse). Values with a zero denominator are omitted: all but mse
 * and correlation for zero channels, and nmse_db without any error.
 */
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { metadataNumber } from "../../lib/artifact/values.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { type PooledMetric, ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { zeroForcingRate } from "../../lib/numeric/link/estimated_zero_forcing.ts";
import {
  CHANNEL_ESTIMATE,
  CHANNEL_PROBLEM,
  CHANNEL_TRUTH,
  type ChannelSizes,
  trueChannel,
} from "../_channel_estimation.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.channel_estimation",
  name: "Channel estimate scores",
  description: "Measures the errors of channel estimates, and their achievable rate",
  inputs: { estimate: [CHANNEL_ESTIMATE], problem: [CHANNEL_PROBLEM, CHANNEL_TRUTH] },
  twin: true,
  run({ inputs }) {
    const arrays = arraysOf(inputs.estimate);
    const estimate = arrays.read("complex64", ["example", "rx", "tx", "subcarrier"]);
    const channel = trueChannel(arrays.beside(inputs.problem));
    const { metadata } = inputs.problem, noiseVariance = metadataNumber(metadata, "noise_variance");
    const density = metadataNumber(metadata, "pilot_density");
    const [examples, rx, tx, subcarriers] = ["example", "rx", "tx", "subcarrier"].map((name) => arrays.size(name));
    const count = estimate.length / 2, power = energy(channel), error = errorEnergy(estimate, channel);
    const nmse = power > 0 ? error / power : undefined;
    const own = (values: Float32Array, example: number) =>
      values.subarray(example * values.length / examples, (example + 1) * values.length / examples);
    const sums = ratioSums(
      Array.from({ length: examples }, (_, i) => errorEnergy(own(estimate, i), own(channel, i))),
      Array.from({ length: examples }, (_, i) => energy(own(channel, i))),
    );
    const wide = rx * tx * subcarriers > 1;
    const rates = wide && noiseVariance !== undefined && noiseVariance > 0
      ? meanRates(channel, estimate, { examples, rx, tx, subcarriers }, noiseVariance)
      : undefined;
    const family = (prefix: string): Record<string, PooledMetric> => ({
      [`${prefix}.nmse`]: { reduction: "ratio_of_sums", sums },
      [`${prefix}.nmse_db`]: { reduction: "ratio_of_sums_db", sums },
    });
    return {
      pooled: { ...family("channel_estimation"), ...(wide ? family("mimo.channel_estimation") : {}) },
      metrics: {
        "channel_estimation.mse": error / count,
        "channel_estimation.complex_correlation": correlation(estimate, channel, power),
        ...(rates === undefined ? {} : {
          "mimo.channel_estimation.zf_spectral_efficiency_bps_hz": rates.achieved,
          "mimo.channel_estimation.perfect_csi_zf_spectral_efficiency_bps_hz": rates.perfect,
          ...(rates.perfect > 0 ? { "mimo.channel_estimation.zf_rate_retention": rates.achieved / rates.perfect } : {}),
        }),
        ...(wide && density !== undefined ? { "pilot.density": density } : {}),
        ...(nmse === undefined ? {} : { "task.score": 1 / (1 + nmse) }),
      },
      facts: { example_count: examples, rx_antennas: rx, tx_antennas: tx, subcarriers },
    };
  },
});

function errorEnergy(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return sum;
}

function correlation(estimate: Float32Array, channel: Float32Array, power: number): number {
  let real = 0, imaginary = 0;
  for (let i = 0; i < estimate.length; i += 2) {
    real += estimate[i] * channel[i] + estimate[i + 1] * channel[i + 1];
    imaginary += estimate[i + 1] * channel[i] - estimate[i] * channel[i + 1];
  }
  const scale = Math.sqrt(energy(estimate)) * Math.sqrt(power);
  return scale > 0 ? Math.hypot(real, imaginary) / scale : 0;
}

function meanRates(channel: Float32Array, estimate: Float32Array, sizes: ChannelSizes, noiseVariance: number) {
  const { examples, rx, tx, subcarriers } = sizes, receiver = { rx, tx, noiseVariance };
  const h = new Float64Array(2 * rx * tx), found = new Float64Array(2 * rx * tx);
  let achieved = 0, perfect = 0;
  for (let example = 0; example < examples; example++) {
    for (let k = 0; k < subcarriers; k++) {
      for (let pair = 0; pair < rx * tx; pair++) {
        const at = 2 * ((example * rx * tx + pair) * subcarriers + k);
        h.set([channel[at], channel[at + 1]], 2 * pair);
        found.set([estimate[at], estimate[at + 1]], 2 * pair);
      }
      achieved += zeroForcingRate(h, found, receiver);
      perfect += zeroForcingRate(h, h, receiver);
    }
  }
  return { achieved: achieved / (examples * subcarriers), perfect: perfect / (examples * subcarriers) };
}
