/** Conformance cases of angle of arrival. */
import { steeringVector } from "../../../lib/numeric/direction_finding.ts";
import { ndarray } from "../../../lib/numeric/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

const ANGLES = Float64Array.of(-20, 7, 33), ANTENNAS = 4, SNAPSHOTS = 5;
const METADATA = { element_spacing_wavelengths: 0.5, noise_variance: 0.1, example_count: 3 };

/** Noiseless snapshots of three bearings; an observation has no true angles. */
export function snapshotsInput(kind: "problem" | "observation") {
  const received = new Float32Array(2 * 3 * ANTENNAS * SNAPSHOTS);
  let at = 0;
  ANGLES.forEach((angle) => {
    const a = steeringVector(angle, ANTENNAS, 0.5);
    for (let m = 0; m < ANTENNAS; m++) {
      for (let n = 0; n < SNAPSHOTS; n++, at += 2) {
        const real = Math.cos(2 * n), imaginary = Math.sin(3 * n + 1);
        received[at] = a[2 * m] * real - a[2 * m + 1] * imaginary;
        received[at + 1] = a[2 * m] * imaginary + a[2 * m + 1] * real;
      }
    }
  });
  return {
    ...arrayInput(`ai_phy.aoa_${kind}.numpy`, "complex64", received, [3, ANTENNAS, SNAPSHOTS], METADATA),
    ...(kind === "problem" ? { companions: { angles: ndarray("float64", ANGLES, [3]) } } : {}),
  };
}

const truth = arrayInput("ai_phy.aoa_truth.numpy", "float64", ANGLES, [3], { unit: "degree" });
const estimate = arrayInput("ai_phy.aoa_estimate.numpy", "float64", Float64Array.of(-21, 7.5, 33), [3]);

export const AOA_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.aoa_scene": [
    { params: { example_count: 3 } },
    { name: "fixed", params: { angle_mode: "fixed", source_angle_deg: 12.5 }, stochastic: false },
  ],
  "wireless.ula_array_observation": [{
    inputs: () => ({ scene: arrayInput("ai_phy.aoa_scene.numpy", "float64", ANGLES, [3], { unit: "degree" }) }),
    params: { snapshot_count: 4 },
  }],
  "model.music_aoa_estimator": [
    { inputs: () => ({ problem: snapshotsInput("problem") }) },
    { name: "by step", inputs: () => ({ problem: snapshotsInput("observation") }), params: { grid_step_deg: 1.5 } },
  ],
  "model.aoa_estimator_adapter": [
    ...["music", "bartlett_reference"].map((mode) => ({
      name: mode,
      inputs: () => ({ problem: snapshotsInput("observation") }),
      params: { mode },
    })),
    {
      name: "learned_artifact",
      inputs: () => ({ problem: snapshotsInput("problem") }),
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: ({ snapshots_ri: { shape, data } }) => ({
        angles_deg: ndarray("float32", Float32Array.from({ length: shape[0] }, (_, i) => Number(data[i])), [shape[0]]),
      }),
    },
  ],
  "metrics.aoa_estimation": [
    { inputs: () => ({ estimate, problem: snapshotsInput("problem") }) },
    { name: "truth apart", inputs: () => ({ estimate, problem: truth }) },
  ],
};
