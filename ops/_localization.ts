/**
 * Artifacts of the localisation operations. A problem and an observation hold ranges [example, anchor] in metres as
 * their main array and the companion `anchors` [example, anchor, 2]; a problem also holds the true `positions`
 * [example, 2], which estimators do not receive. All are float64; metadata area_m is the side of the square,
 * range_noise_std_m the standard deviation of the ranges.
 */
import { arraysOf, type NamedArrays } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { float, type InputArtifact, SvcError } from "./api.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { type Point, rangeCramerRao } from "../lib/numeric/antenna/localization.ts";
import { type PooledMetric, ratioSums } from "../lib/numeric/scores/pooled_ratio.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";

const MEASURED = { area_m: "positive", range_noise_std_m: "number", unit: "text" } as const;
export const LOCALIZATION_SCENE = artifactKind("ai_phy.localization_scene.numpy", {
  example_count: "count",
  anchor_count: "count",
  area_m: "positive",
});
export const LOCALIZATION_PROBLEM = artifactKind("ai_phy.localization_problem.numpy", MEASURED);
export const LOCALIZATION_OBSERVATION = artifactKind("ai_phy.localization_observation.numpy", MEASURED);
export const LOCALIZATION_TRUTH = artifactKind("ai_phy.localization_truth.numpy", { unit: "text" });
export const LOCALIZATION_ESTIMATE = artifactKind("ai_phy.localization_estimate.numpy", {
  example_count: "count",
  unit: "text",
  localizer: "text",
});

/** @throws SvcError with a boundary code for an artifact of another form */
export function rangeProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input);
  const ranges = arrays.read("float64", ["example", "anchor"]);
  const anchors = arrays.read("float64", ["example", "anchor", 2], "anchors");
  // The side of the square, metres.
  const { area_m: area } = metadataOf(input, LOCALIZATION_PROBLEM, ["area_m"]);
  return { examples: arrays.size("example"), anchorCount: arrays.size("anchor"), ranges, anchors, area };
}

type RangeProblem = ReturnType<typeof rangeProblemOf>;

/** The true positions of a problem or of a truth artifact. */
export function truePositions(arrays: NamedArrays): Float64Array {
  const companion = arrays.input.kind === LOCALIZATION_PROBLEM.id ? "positions" : undefined;
  return arrays.read("float64", ["example", 2], companion);
}

/** Position estimates in metres, clipped to the square. */
export function estimateArtifact(positions: Float64Array, { examples, area }: RangeProblem, localizer: string) {
  const cut = positions.map((value) => Math.min(area, Math.max(0, value)));
  return {
    array: ndarray("float64", cut, [examples, 2]),
    metadata: { example_count: examples, unit: "m", area_m: float(area), localizer },
  };
}

/** Estimates each example separately. @param locate returns null for ambiguous positions */
export function locateAll(
  { examples, anchorCount, ranges, anchors }: RangeProblem,
  locate: (anchors: Float64Array, ranges: Float64Array) => Point | null,
): Float64Array {
  const positions = new Float64Array(2 * examples);
  for (let example = 0; example < examples; example++) {
    const own = anchors.subarray(2 * example * anchorCount, 2 * (example + 1) * anchorCount);
    const position = locate(own, ranges.subarray(example * anchorCount, (example + 1) * anchorCount));
    if (position === null) {
      throw new SvcError(
        "operation_failed",
        anchorCount < 3
          ? `Cannot trilaterate from ${anchorCount} anchors: three are needed`
          : `Cannot trilaterate example ${example}: its anchors lie on one line`,
        { hint: "Use more anchors, or the mode regularized_trilateration of model.localization_adapter" },
      );
    }
    positions.set(position, 2 * example);
  }
  return positions;
}

/** Root of the mean Cramér-Rao bound over the examples, metres; none for ambiguous positions. */
export function boundRmse(
  anchors: Float64Array,
  positions: Float64Array,
  sigma: number,
): { "localization.cramer_rao_rmse_m"?: PooledMetric } {
  const examples = positions.length / 2, stride = anchors.length / examples;
  const bounds = Array.from({ length: examples }, (_, example) => {
    const position: Point = [positions[2 * example], positions[2 * example + 1]];
    return rangeCramerRao(anchors.subarray(example * stride, (example + 1) * stride), position, sigma);
  });
  return bounds.every(Number.isFinite)
    ? { "localization.cramer_rao_rmse_m": { reduction: "root_mean_square", sums: ratioSums(bounds) } }
    : {};
}

/** Anchors of every example, for a scene with fixed anchors. */
export function repeatedAnchors(anchors: Float64Array, examples: number): Float64Array<ArrayBuffer> {
  const all = new Float64Array(examples * anchors.length);
  for (let example = 0; example < examples; example++) all.set(anchors, example * anchors.length);
  return all;
}

/** |p - a_i| for every example and anchor. */
export function trueRanges(positions: Float64Array, anchors: Float64Array, anchorCount: number): Float64Array {
  return Float64Array.from({ length: anchors.length / 2 }, (_, i) => {
    const example = Math.floor(i / anchorCount);
    return Math.hypot(positions[2 * example] - anchors[2 * i], positions[2 * example + 1] - anchors[2 * i + 1]);
  });
}
