/**
 * Slot for a localiser in the plane:
 *
 *     trilateration              least squares of the linear system of range differences
 *     regularized_trilateration  the same with a pull towards the anchors' centroid, for any anchors
 *     learned_artifact           a trained package: anchors [batch, anchor, 2], ranges [batch, anchor] -> positions [batch, 2]
 *
 * Formulas: lib/numeric/localization.ts. No mode sees true positions; estimates are cut to the square.
 *
 * Shapes: problem float64 [example, anchor] -> estimate float64 [example, 2], metres.
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, learnedParameters, learnedProblems, slotAbi } from "../../lib/artifact/learned.ts";
import { linearTrilateration, regularizedTrilateration } from "../../lib/numeric/localization.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import {
  estimateArtifact,
  LOCALIZATION_ESTIMATE,
  LOCALIZATION_OBSERVATION,
  LOCALIZATION_PROBLEM,
  locateAll,
  rangeProblemOf,
} from "../_localization.ts";

/** Examples in a call of a trained localiser. */
const ROWS = 65536;

export default defineOperation({
  id: "model.localization_adapter",
  name: "Range-based 2-D localizer",
  description: "Locates terminals from their ranges, in closed form or by a trained artifact",
  inputs: { problem: [LOCALIZATION_PROBLEM, LOCALIZATION_OBSERVATION] },
  outputs: { estimate: LOCALIZATION_ESTIMATE },
  params: z.strictObject({
    mode: z.enum(["trilateration", "regularized_trilateration", LEARNED_ARTIFACT]).default("regularized_trilateration"),
    ...learnedParameters("localization_estimator"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch", "phylib"],
  },
  materializations: [
    ...executed("numpy", "linear_trilateration", { mode: "trilateration" }),
    ...executed("numpy", "centroid_regularized_trilateration", { mode: "regularized_trilateration" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "trainable_localization_endpoint"),
    exportPlanned("phylib", "phylib_rt_localization_endpoint"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "localizer",
    component_role: "two_dimensional_range_localizer",
    entrypoint_id: "localization_estimator",
    inputs: { anchors: ["batch", "anchor", 2], ranges: ["batch", "anchor"] },
    outputs: { positions: ["batch", 2] },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  inputMetadataRequirements: { problem: { all_of: ["area_m"] } },
  outputMetadataGuarantees: { estimate: { keys: ["example_count", "unit", "localizer"] } },
  check: (params) => params.mode === LEARNED_ARTIFACT ? learnedProblems(params) : [],
  threadSafe: true,
  async run(context) {
    const { mode } = context.params, problem = rangeProblemOf(context.inputs.problem);
    const { examples, anchorCount, ranges, anchors } = problem;
    let positions: Float64Array;
    if (mode === LEARNED_ARTIFACT) {
      const feeds = {
        anchors: ndarray("float32", Float32Array.from(anchors), [examples, anchorCount, 2]),
        ranges: ndarray("float32", Float32Array.from(ranges), [examples, anchorCount]),
      };
      positions = Float64Array.from((await context.learned.run(feeds, { rows: ROWS })).positions.data as Float32Array);
    } else {
      positions = locateAll(problem, mode === "trilateration" ? linearTrilateration : regularizedTrilateration);
    }
    return { outputs: { estimate: estimateArtifact(positions, problem, { localizer: mode }) } };
  },
});
