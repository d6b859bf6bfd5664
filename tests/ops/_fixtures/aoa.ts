/** Conformance cases of angle of arrival. */
import { float } from "../../../lib/contract/value.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { ConformanceCase } from "../../../lib/conformance/case.ts";
import { arrayInput } from "../inputs.ts";

const ANGLES = Float64Array.of(-20, 7, 33), ANTENNAS = 4, SNAPSHOTS = 5;
const METADATA = { element_spacing_wavelengths: 0.5, noise_variance: 0.1, example_count: 3 };

/** Noiseless snapshots of three directions; an observation has no true angles. */
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

const PAIRS = Float64Array.of(-20, 7, 7, 33, -50, -9);
const SEVERAL = { source_count: 2, source_powers_db: [float(0), float(-3)], source_correlation: float(0.5) };

/** Noiseless snapshots of two sources of equal power. */
function pairProblem() {
  const received = new Float32Array(2 * 3 * ANTENNAS * 12);
  for (let example = 0, at = 0; example < 3; example++) {
    const columns = [0, 1].map((k) => steeringVector(PAIRS[2 * example + k], ANTENNAS, 0.5));
    for (let m = 0; m < ANTENNAS; m++) {
      for (let n = 0; n < 12; n++, at += 2) {
        columns.forEach((a, k) => {
          const real = Math.cos(2.3 * n + k), imaginary = Math.sin((3 + 4 * k) * n + 1);
          received[at] += a[2 * m] * real - a[2 * m + 1] * imaginary;
          received[at + 1] += a[2 * m] * imaginary + a[2 * m + 1] * real;
        });
      }
    }
  }
  return {
    ...arrayInput("ai_phy.aoa_problem.numpy", "complex64", received, [3, ANTENNAS, 12], METADATA),
    companions: { angles: ndarray("float64", PAIRS, [3, 2]) },
  };
}

const truth = arrayInput("ai_phy.aoa_truth.numpy", "float64", ANGLES, [3], { unit: "degree" });
const estimate = arrayInput("ai_phy.aoa_estimate.numpy", "float64", Float64Array.of(-21, 7.5, 33), [3]);

export const AOA_FIXTURES: Record<string, ConformanceCase[]> = {
  "source.aoa_scene": [
    { params: { example_count: 3 } },
    { name: "fixed", params: { angle_mode: "fixed", source_angle_deg: 12.5 }, stochastic: false },
    { name: "several", params: { example_count: 3, source_count: 2, source_powers_db: [float(0), float(-3)] } },
    { name: "given", params: { source_angles_deg: [float(20), float(-5)] }, stochastic: false },
  ],
  "wireless.ula_array_observation": [{
    inputs: () => ({ scene: arrayInput("ai_phy.aoa_scene.numpy", "float64", ANGLES, [3], { unit: "degree" }) }),
    params: { snapshot_count: 4 },
  }, {
    name: "several",
    inputs: () => ({
      scene: arrayInput("ai_phy.aoa_scene.numpy", "float64", PAIRS, [3, 2], { unit: "degree", ...SEVERAL }),
    }),
    params: { snapshot_count: 4 },
  }],
  "model.multi_aoa_estimator": [
    ...["music", "root_music", "esprit", "capon", "bartlett"].map((mode) => ({
      name: mode,
      inputs: () => ({ problem: pairProblem() }),
      params: { mode, source_count: 2, diagonal_loading: float(0.01) },
    })),
    { name: "by order", inputs: () => ({ problem: pairProblem() }), params: { forward_backward: true } },
    {
      name: "total least squares",
      inputs: () => ({ problem: pairProblem() }),
      params: { mode: "esprit", esprit_variant: "tls" },
    },
    {
      name: "smoothed",
      inputs: () => ({ problem: pairProblem() }),
      params: { spatial_smoothing_subarray: 3, source_count: 2 },
    },
  ],
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
    {
      name: "several",
      inputs: () => ({
        estimate: arrayInput("ai_phy.aoa_estimate.numpy", "float64", PAIRS.map((angle, i) => angle + i / 4), [3, 2]),
        problem: pairProblem(),
      }),
    },
  ],
};
