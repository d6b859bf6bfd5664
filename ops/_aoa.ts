/**
 * Artifacts of the angle-of-arrival operations. A problem and an observation hold snapshots complex64 [example,
 * antenna, snapshot] as their main array; a problem also holds the true `angles` float64 [example] in degrees from
 * broadside, which estimators do not receive. Metadata element_spacing_wavelengths is the spacing of the array.
 */
import { arraysOf, type NamedArrays } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import type { InputArtifact } from "../lib/contract/operation.ts";
import type { JsonObject } from "../lib/contract/value.ts";
import { BearingSearch, sampleCovariance } from "../lib/numeric/direction_finding.ts";
import { ndarray } from "../lib/numeric/ndarray.ts";

const RECEIVED = { element_spacing_wavelengths: "positive", noise_variance: "number" } as const;
export const AOA_SCENE = artifactKind("ai_phy.aoa_scene.numpy", { example_count: "count", unit: "text" });
export const AOA_PROBLEM = artifactKind("ai_phy.aoa_problem.numpy", RECEIVED);
export const AOA_OBSERVATION = artifactKind("ai_phy.aoa_observation.numpy", RECEIVED);
export const AOA_TRUTH = artifactKind("ai_phy.aoa_truth.numpy", { unit: "text" });
export const AOA_ESTIMATE = artifactKind("ai_phy.aoa_estimate.numpy", {
  example_count: "count",
  unit: "text",
  estimator: "text",
});

/** Input of an estimator, from a problem or an observation. */
export interface ArrayProblem {
  examples: number;
  antennas: number;
  snapshots: number;
  /** [example, antenna, snapshot], interleaved */
  received: Float32Array;
  /** Between antennas, in wavelengths. */
  spacing: number;
}

/** @throws SvcError with a boundary code for an artifact of another form */
export function arrayProblemOf(input: InputArtifact): ArrayProblem {
  const arrays = arraysOf(input), received = arrays.read("complex64", ["example", "antenna", "snapshot"]);
  return {
    examples: arrays.size("example"),
    antennas: arrays.size("antenna"),
    snapshots: arrays.size("snapshot"),
    received,
    spacing: metadataOf(input, AOA_PROBLEM, ["element_spacing_wavelengths"]).element_spacing_wavelengths,
  };
}

/** The true angles of a problem or of a truth artifact. */
export function trueAngles(arrays: NamedArrays): Float64Array {
  return arrays.read("float64", ["example"], arrays.input.kind === AOA_PROBLEM.id ? "angles" : undefined);
}

/** Angle estimates in degrees. */
export function bearingsArtifact(angles: Float64Array, facts: JsonObject & { estimator: string }) {
  return {
    array: ndarray("float64", angles, [angles.length]),
    metadata: { example_count: angles.length, unit: "degree", ...facts },
  };
}

/** A grid from -90 to at most 90 degrees. */
export function gridOfStep(step: number): Float64Array {
  return Float64Array.from({ length: Math.floor(180 / step + 1e-9) + 1 }, (_, k) => -90 + k * step);
}

/** Estimates the angle of each example separately. */
export function searchBearings(
  { examples, antennas, snapshots, received, spacing }: ArrayProblem,
  grid: Float64Array,
  method: "music" | "bartlett",
): Float64Array {
  const search = new BearingSearch(grid, antennas, spacing), stride = 2 * antennas * snapshots;
  return Float64Array.from({ length: examples }, (_, example) => {
    const own = received.subarray(example * stride, (example + 1) * stride);
    return search[method](sampleCovariance(own, antennas, snapshots));
  });
}
