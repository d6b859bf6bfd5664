/** Conformance cases of angle of arrival. */
import { float } from "../../../lib/contract/value.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

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

export const AOA_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    scene: () => ({
      scene: arrayInput("ai_phy.aoa_scene.numpy", "float64", ANGLES, [3], { unit: "degree" }),
    }),
    "scene of pairs": () => ({
      scene: arrayInput("ai_phy.aoa_scene.numpy", "float64", PAIRS, [3, 2], { unit: "degree", ...SEVERAL }),
    }),
    pairs: () => ({ problem: pairProblem() }),
    problem: () => ({ problem: snapshotsInput("problem") }),
    observation: () => ({ problem: snapshotsInput("observation") }),
    "estimate and problem": () => ({ estimate, problem: snapshotsInput("problem") }),
    "estimate and truth": () => ({ estimate, problem: truth }),
    "estimates of pairs": () => ({
      estimate: arrayInput("ai_phy.aoa_estimate.numpy", "float64", PAIRS.map((angle, i) => angle + i / 4), [3, 2]),
      problem: pairProblem(),
    }),
  },
  model: {
    angles: ({ snapshots_ri: { shape, data } }) => ({
      angles_deg: ndarray("float32", Float32Array.from({ length: shape[0] }, (_, i) => Number(data[i])), [shape[0]]),
    }),
  },
});
