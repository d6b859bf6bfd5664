/**
 * Trainable localiser in the plane:
 *
 *     trilateration              least squares of the linear system of range differences
 *     regularized_trilateration  the same with a penalty towards the centroid of the anchors, for any anchors
 *     robust_trilateration       one-sided truncated least squares: links more than 2.5 standard deviations of the range noise
 *                                too long count as blocked; cost of the cube of the number of anchors
 *     learned_artifact           anchors [batch, anchor, 2], ranges [batch, anchor] -> positions [batch, 2]
 *
 * Formulas: lib/numeric/antenna/localization.ts. No mode receives true positions; estimates are clipped to the square.
 *
 * Shapes: problem float64 [example, anchor] -> estimate float64 [example, 2], metres.
 */
import { defineSlot } from "../api.ts";
import {
  linearTrilateration,
  regularizedTrilateration,
  robustTrilateration,
} from "../../lib/numeric/antenna/localization.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  estimateArtifact,
  LOCALIZATION_ESTIMATE,
  LOCALIZATION_OBSERVATION,
  LOCALIZATION_PROBLEM,
  locateAll,
  rangeProblemOf,
} from "../_localization.ts";
import { metadataOf } from "../../lib/artifact/values.ts";

/** Excess of a range in standard deviations of its noise from which it counts as blocked. */
const CUT = 2.5;
/** Smallest assumed standard deviation, metres. */
const LEAST_NOISE_M = 1e-6;

export default defineSlot({
  id: "model.localization_adapter",
  name: "Range-based 2-D localiser",
  description: "Locates terminals from their ranges, in closed form or by a trained artifact",
  inputs: { problem: [LOCALIZATION_PROBLEM, LOCALIZATION_OBSERVATION] },
  outputs: { estimate: LOCALIZATION_ESTIMATE },
  inputMetadataRequirements: { problem: { all_of: ["area_m"] } },
  gradient: "surrogate",
  exports: { torch: "trainable_localization_endpoint", phylib: "phylib_rt_localization_endpoint" },
  twin: true,
  mode: { default: "regularized_trilateration" },
  read: ({ inputs }) => rangeProblemOf(inputs.problem),
  modes: {
    trilateration: {
      implementation: "linear_trilateration",
      run: (problem) => locateAll(problem, linearTrilateration),
    },
    regularized_trilateration: {
      implementation: "centroid_regularized_trilateration",
      run: (problem) => locateAll(problem, regularizedTrilateration),
    },
    robust_trilateration: {
      implementation: "one_sided_truncated_trilateration",
      run(problem, { inputs }) {
        const { range_noise_std_m } = metadataOf(inputs.problem, LOCALIZATION_PROBLEM, ["range_noise_std_m"]);
        const cut = CUT * Math.max(range_noise_std_m, LEAST_NOISE_M);
        return locateAll(problem, (anchors, ranges) => robustTrilateration(anchors, ranges, cut));
      },
    },
  },
  learned: {
    component: { id: "localizer", role: "two_dimensional_range_localizer", entrypoint: "localization_estimator" },
    inputs: { anchors: ["batch", "anchor", 2], ranges: ["batch", "anchor"] },
    outputs: { positions: ["batch", 2] },
    meaning: {
      anchors: "positions of the anchors in metres",
      ranges: "measured distances to the anchors in metres",
      positions: "position in metres; clipped to the square afterwards",
    },
    rows: 65536,
    async run({ examples, anchorCount, ranges, anchors }, call) {
      const { positions } = await call({
        anchors: ndarray("float32", Float32Array.from(anchors), [examples, anchorCount, 2]),
        ranges: ndarray("float32", Float32Array.from(ranges), [examples, anchorCount]),
      });
      return Float64Array.from(positions.data);
    },
  },
  result: (positions, problem, { label }) => ({ outputs: { estimate: estimateArtifact(positions, problem, label) } }),
});
