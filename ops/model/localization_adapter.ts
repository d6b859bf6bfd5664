/**
 * Trainable localiser in the plane:
 *
 *     trilateration              least squares of the linear system of range differences
 *     regularized_trilateration  the same with a penalty towards the centroid of the anchors, for any anchors
 *     learned_artifact           anchors [batch, anchor, 2], ranges [batch, anchor] -> positions [batch, 2]
 *
 * Formulas: lib/numeric/localization.ts. No mode receives true positions; estimates are clipped to the square.
 *
 * Shapes: problem float64 [example, anchor] -> estimate float64 [example, 2], metres.
 */
import { defineSlot } from "../../lib/contract/slot.ts";
import { linearTrilateration, regularizedTrilateration } from "../../lib/numeric/localization.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import {
  estimateArtifact,
  LOCALIZATION_ESTIMATE,
  LOCALIZATION_OBSERVATION,
  LOCALIZATION_PROBLEM,
  locateAll,
  rangeProblemOf,
} from "../_localization.ts";

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
