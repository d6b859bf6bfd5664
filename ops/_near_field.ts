/**
 * Artifacts of the near-field focusing operations. A problem holds one snapshot complex64 [example, antenna] and, as
 * metadata, wavelength_m and the limits of the scene; truth and estimate are float64 [example, 2]: range in metres,
 * angle in degrees from broadside. Geometry: lib/numeric/antenna/near_field.ts.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { type InputArtifact, type JsonObject, SvcError } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import type { LargeArray } from "../lib/numeric/antenna/near_field.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";

export const NEAR_FIELD_PROBLEM = artifactKind("near_field.array_observation.numpy", {
  wavelength_m: "number",
  range_min_m: "number",
  range_max_m: "number",
  angle_min_deg: "number",
  angle_max_deg: "number",
});
export const NEAR_FIELD_TRUTH = artifactKind("near_field.range_angle_truth.numpy", { example_count: "count" });
export const NEAR_FIELD_ESTIMATE = artifactKind("near_field.range_angle_estimate.numpy", {
  example_count: "count",
  columns: "list",
  estimator: "text",
});

/** @throws SvcError with a boundary code for an artifact of another form */
export function nearFieldProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), received = arrays.read("complex64", ["example", "antenna"]);
  const { wavelength_m: wavelength, range_min_m: near, range_max_m: far, angle_min_deg: low, angle_max_deg: high } =
    metadataOf(input, NEAR_FIELD_PROBLEM);
  if (!(wavelength > 0 && near > 0 && near <= far && low <= high)) {
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot search sources from ${near} to ${far} m and ${low} to ${high} degrees at a wavelength of ${wavelength} m`,
    );
  }
  return {
    arrays,
    examples: arrays.size("example"),
    received,
    array: { antennas: arrays.size("antenna"), wavelength } satisfies LargeArray,
    /** Limits of source positions: metres, degrees. */
    ranges: { near, far },
    angles: { low, high },
  };
}

export type NearFieldProblem = ReturnType<typeof nearFieldProblemOf>;

/** Ranges and angles in pairs. */
export function fociArtifact<Facts extends JsonObject>(foci: Float64Array, facts: Facts) {
  const examples = foci.length / 2;
  return {
    array: ndarray("float64", foci, [examples, 2]),
    metadata: { example_count: examples, columns: ["range_m", "angle_deg"], ...facts },
  };
}
