/**
 * Snapshots of sources at a uniform linear array, x_n = Σ a(θ_k)·s_kn + noise with a_m = exp(+j2πd·m·sin θ), s_n complex
 * normal of unit variance and noise of the variance 10^(-snr_db/10) per antenna. Sources of several have the powers and the
 * correlation in the metadata of the scene: their independent draws are multiplied by the lower triangular factor of their
 * covariance.
 *
 * Draws: source signals complex [example, source, snapshot], then noise complex [example, antenna, snapshot]. The root of
 * the mean stochastic Cramér-Rao bound is the step metric aoa.cramer_rao_rmse_deg.
 *
 * Shapes: scene [example] or [example, source] -> observation, problem complex64 [example, antenna, snapshot], truth float64 as
 * the scene.
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { pooledMetadata, pooledMetrics } from "../../lib/contract/metric_metadata.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { steeringVector } from "../../lib/numeric/antenna/array_response.ts";
import { directionCramerRao } from "../../lib/numeric/antenna/direction_finding.ts";
import { type PooledMetric, ratioSums } from "../../lib/numeric/scores/pooled_ratio.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import { lowerFactor, stochasticCramerRao } from "../../lib/numeric/antenna/several_directions.ts";
import { AOA_OBSERVATION, AOA_PROBLEM, AOA_SCENE, AOA_TRUTH, directionsOf, SOURCE_FACTS, sourcesOf } from "../_aoa.ts";

export default defineOperation({
  id: "wireless.ula_array_observation",
  name: "Noisy linear-array reception",
  description: "Receives one or several sources with a uniform linear array",
  inputs: { scene: [AOA_SCENE] },
  outputs: { observation: AOA_OBSERVATION, problem: AOA_PROBLEM, truth: AOA_TRUTH },
  params: z.strictObject({
    antenna_count: z.int().positive().default(8).describe("antennas of the uniform linear array"),
    snapshot_count: z.int().positive().default(64).describe("time samples of an example"),
    element_spacing_wavelengths: z.number().positive().default(0.5)
      .describe("distance of neighbouring antennas in wavelengths"),
    snr_db: z.number().default(15).describe("Es/N0 in dB, per antenna").meta(shownIn("dB")),
    seed: seedParameter(0),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  twin: true,
  estimate({ antenna_count, snapshot_count }, { scene: { shape } }) {
    if (shape === undefined) return {};
    const received = ["complex64", shape[0], antenna_count, snapshot_count] as const;
    const angles = ["float64", ...shape] as const;
    return { observation: [received], problem: [received, angles], truth: [angles] };
  },
  run({ inputs, params, generator, threads }) {
    const { angles, examples, sources, shape } = directionsOf(inputs.scene);
    const { antenna_count: antennas, snapshot_count: snapshots, element_spacing_wavelengths: spacing } = params;
    const noiseVariance = dbToLinear(-params.snr_db), covariance = sourcesOf(inputs.scene, sources);
    const draws = complexNormal64Parallel(generator, examples * sources * snapshots, 1, { threads });
    const noise = complexNormal64Parallel(generator, examples * antennas * snapshots, noiseVariance, { threads });
    const mixing = lowerFactor(covariance, sources);
    const received = new Float32Array(noise.length), signals = new Float64Array(2 * sources * snapshots);
    const array = { antennas, snapshots, spacing };
    const bounds = new Float64Array(examples);
    for (let example = 0; example < examples; example++) {
      const own = angles.subarray(example * sources, (example + 1) * sources), block = 2 * example * snapshots;
      mix(mixing, draws.subarray(block * sources, block * sources + signals.length), signals, sources);
      const columns = Array.from(own, (angle) => steeringVector(angle, antennas, spacing));
      for (let m = 0, at = block * antennas; m < antennas; m++) {
        for (let n = 0; n < snapshots; n++, at += 2) {
          let real = 0, imaginary = 0;
          columns.forEach((a, source) => {
            const ar = a[2 * m], ai = a[2 * m + 1], s = 2 * (source * snapshots + n);
            real += ar * signals[s] - ai * signals[s + 1];
            imaginary += ar * signals[s + 1] + ai * signals[s];
          });
          received[at] = real + noise[at];
          received[at + 1] = imaginary + noise[at + 1];
        }
      }
      bounds[example] = sources === 1
        ? directionCramerRao(own[0], { ...array, snr: covariance[0] / noiseVariance })
        : stochasticCramerRao(own, { ...array, noiseVariance, covariance }).reduce((sum, one) => sum + one, 0);
    }

    const measured = {
      array: ndarray("complex64", received, [examples, antennas, snapshots]),
      metadata: {
        example_count: examples,
        antenna_count: antennas,
        snapshot_count: snapshots,
        element_spacing_wavelengths: float(spacing),
        noise_variance: float(noiseVariance),
        snr_db: float(params.snr_db),
      },
    };
    const truth = ndarray("float64", angles.slice(), shape);
    const sums = ratioSums(bounds, new Float64Array(examples).fill(sources));
    const pooled: Record<string, PooledMetric> = bounds.every(Number.isFinite)
      ? { "aoa.cramer_rao_rmse_deg": { reduction: "root_mean_square", sums } }
      : {};
    const { metadata } = inputs.scene;
    const facts = Object.fromEntries(SOURCE_FACTS.flatMap((key) => key in metadata ? [[key, metadata[key]]] : []));
    return {
      outputs: {
        observation: measured,
        problem: { array: measured.array, metadata: { ...measured.metadata, ...facts }, companions: { angles: truth } },
        truth: {
          array: truth,
          metadata: {
            ...(shape.length === 1 ? { example_count: examples } : measured.metadata),
            unit: "degree",
            ...facts,
          },
        },
      },
      metrics: {
        "channel.noise_variance": noiseVariance,
        ...pooledMetrics(pooled),
      },
      metadata: pooledMetadata(pooled),
    };
  },
});

/** L times the draws, source by source. */
function mix(lower: Float64Array, draws: Float64Array, signals: Float64Array, sources: number): void {
  const length = signals.length / sources;
  for (let i = 0; i < sources; i++) {
    for (let n = 0; n < length; n++) {
      let sum = 0;
      for (let j = 0; j <= i; j++) sum += lower[i * sources + j] * draws[j * length + n];
      signals[i * length + n] = sum;
    }
  }
}
