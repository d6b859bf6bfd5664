/**
 * Artifacts of the angle-of-arrival operations. A problem and an observation hold snapshots complex64 [example,
 * antenna, snapshot] as their main array; a problem also holds the true `angles` float64 [example] in degrees from
 * broadside, which estimators do not receive. Metadata element_spacing_wavelengths is the spacing of the array.
 *
 * With several sources scenes, truths, `angles` and estimates are float64 [example, source], ascending. Scene, problem and
 * truth then have the metadata source_count, source_powers_db and source_correlation.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataNumber, metadataOf } from "../lib/artifact/values.ts";
import { type InputArtifact, isNumber, type JsonObject, SvcError, toNumber } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { dbToLinear } from "../lib/numeric/link/decibel.ts";
import { sampleCovariance } from "../lib/numeric/antenna/array_response.ts";
import { DirectionSearch } from "../lib/numeric/antenna/direction_finding.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";
import { sourceCovariance } from "../lib/numeric/antenna/several_directions.ts";

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

/** @throws SvcError with a boundary code for an artifact of another form */
export function arrayProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), received = arrays.read("complex64", ["example", "antenna", "snapshot"]);
  return {
    examples: arrays.size("example"),
    antennas: arrays.size("antenna"),
    snapshots: arrays.size("snapshot"),
    received,
    /** Between antennas, in wavelengths. */
    spacing: metadataOf(input, AOA_PROBLEM, ["element_spacing_wavelengths"]).element_spacing_wavelengths,
  };
}

type ArrayProblem = ReturnType<typeof arrayProblemOf>;

/** Angles of each example, one after another. */
export interface Directions {
  angles: Float64Array<ArrayBuffer>;
  examples: number;
  sources: number;
  /** The sizes of the array: one source has no axis of its own in older artifacts. */
  shape: number[];
}

/** @throws SvcError with a boundary code for an array that is neither float64 [example] nor [example, source] */
export function directionsOf(input: InputArtifact, name?: string): Directions {
  const arrays = arraysOf(input), several = input.array(name).shape.length === 2;
  const angles = arrays.read("float64", several ? ["example", "source"] : ["example"], name);
  const examples = arrays.size("example"), sources = several ? arrays.size("source") : 1;
  return { angles, examples, sources, shape: several ? [examples, sources] : [examples] };
}

/** The true angles of a problem or of a truth artifact. */
export function trueDirections(input: InputArtifact): Directions {
  return directionsOf(input, input.kind === AOA_PROBLEM.id ? "angles" : undefined);
}

/** Facts about several sources in metadata. */
export const SOURCE_FACTS = ["source_count", "source_powers_db", "source_correlation"] as const;

/**
 * Covariance of the sources of a scene, problem or truth: unit powers and no correlation without metadata.
 * @throws SvcError `boundary_value_invalid` for metadata of another number of sources
 */
export function sourcesOf({ kind, metadata }: InputArtifact, sources: number): Float64Array {
  const levels = metadata.source_powers_db ?? Array<number>(sources).fill(0);
  const correlation = metadataNumber(metadata, "source_correlation") ?? 0;
  const valid = Array.isArray(levels) && levels.length === sources && levels.every(isNumber);
  if (!valid || !(correlation >= 0 && correlation <= 1)) {
    throw new SvcError(
      "boundary_value_invalid",
      `Cannot use the source powers and correlation in the metadata of ${kind} for ${sources} sources`,
    );
  }
  return sourceCovariance(levels.map((level) => dbToLinear(toNumber(level))), correlation);
}

/** Angle estimates in degrees. */
export function directionsArtifact(angles: Float64Array, facts: JsonObject & { estimator: string }) {
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
  const search = new DirectionSearch(grid, antennas, spacing), stride = 2 * antennas * snapshots;
  return Float64Array.from({ length: examples }, (_, example) => {
    const own = received.subarray(example * stride, (example + 1) * stride);
    return search[method](sampleCovariance(own, antennas, snapshots));
  });
}
