/**
 * Snapshots of one source at a uniform linear array, x_n = a(θ)·s_n + noise with a_m = exp(+j2πd·m·sin θ), s_n ~ CN(0, 1) and
 * noise of the variance 10^(-snr_db/10) per antenna.
 *
 * Draws: source signal complex [example, snapshot], then noise complex [example, antenna, snapshot]. The root of the mean
 * unconditional Cramér-Rao bound is the step metric aoa.cramer_rao_rmse_deg.
 *
 * Shapes: scene [example] -> observation, problem complex64 [example, antenna, snapshot], truth float64 [example].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { seedParameter } from "../../lib/contract/schema.ts";
import { float } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { dbToLinear } from "../../lib/numeric/decibel.ts";
import { bearingCramerRao, steeringVector } from "../../lib/numeric/direction_finding.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { AOA_OBSERVATION, AOA_PROBLEM, AOA_SCENE, AOA_TRUTH } from "../_aoa.ts";

export default defineOperation({
  id: "wireless.ula_array_observation",
  name: "Noisy linear-array reception",
  description: "Receives single sources with a uniform linear array",
  inputs: { scene: [AOA_SCENE] },
  outputs: { observation: AOA_OBSERVATION, problem: AOA_PROBLEM, truth: AOA_TRUTH },
  params: z.strictObject({
    antenna_count: z.int().positive().default(8).describe("antennas of the uniform linear array"),
    snapshot_count: z.int().positive().default(64).describe("time samples of an example"),
    element_spacing_wavelengths: z.number().positive().default(0.5).describe(
      "distance of neighbouring antennas in wavelengths",
    ),
    snr_db: z.number().default(15).describe("Es/N0 in dB, per antenna").meta({ "x-svc-ui": { unit: "dB" } }),
    seed: seedParameter(0),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"], differentiable_export: ["torch", "phylib"] },
  formats: { artifact: "npz", tensor: "torch.Tensor" },
  twin: true,
  threadSafe: true,
  run({ inputs, params, generator }) {
    const scene = arraysOf(inputs.scene), angles = scene.read("float64", ["example"]);
    const examples = scene.size("example");
    const { antenna_count: antennas, snapshot_count: snapshots, element_spacing_wavelengths: spacing } = params;
    const noiseVariance = dbToLinear(-params.snr_db);
    const signal = generator.complexNormal64(examples * snapshots, 1);
    const noise = generator.complexNormal64(examples * antennas * snapshots, noiseVariance);
    const received = new Float32Array(noise.length);
    let at = 0, bound = 0;
    angles.forEach((angle, example) => {
      const a = steeringVector(angle, antennas, spacing), own = 2 * example * snapshots;
      for (let m = 0; m < antennas; m++) {
        const ar = a[2 * m], ai = a[2 * m + 1];
        for (let n = 0; n < snapshots; n++, at += 2) {
          const sr = signal[own + 2 * n], si = signal[own + 2 * n + 1];
          received[at] = ar * sr - ai * si + noise[at];
          received[at + 1] = ar * si + ai * sr + noise[at + 1];
        }
      }
      bound += bearingCramerRao(angle, { antennas, snapshots, spacing, snr: 1 / noiseVariance });
    });

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
    const truth = ndarray("float64", angles.slice(), [examples]);
    const rmse = Math.sqrt(bound / examples);
    return {
      outputs: {
        observation: measured,
        problem: { ...measured, companions: { angles: truth } },
        truth: { array: truth, metadata: { example_count: examples, unit: "degree" } },
      },
      metrics: {
        "channel.noise_variance": noiseVariance,
        ...(Number.isFinite(rmse) ? { "aoa.cramer_rao_rmse_deg": rmse } : {}),
      },
    };
  },
});
