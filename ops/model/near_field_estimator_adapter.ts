/**
 * Slot for an estimator of range and angle from one snapshot of a large array:
 *
 *     far_field_steering  the plane wave of the largest |Σ y_m·conj(a_m)|², angles 0.25° apart; the range, of which a plane wave
 *                         tells nothing, is the geometric mean of the limits
 *     polar_codebook      the spherical wave of the largest |Σ y_m·conj(ĥ_m)|², the same angles and 40 ranges uniform in 1/r
 *     oracle_focus        truth, the only mode that reads it
 *     learned_artifact    a trained package: array_ri [batch, antenna, 2] -> range_angle [batch, 2], metres and degrees
 *
 * Searches stay within the limits of the scene; of equal codewords the first counts, angles and then ranges ascending, so
 * silence gives the smallest angle. Geometry: lib/numeric/near_field.ts.
 *
 * Shapes: problem complex64 [example, antenna] -> estimate float64 [example, 2].
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import {
  LEARNED_ARTIFACT,
  learnedParameters,
  learnedProblems,
  realImaginary,
  slotAbi,
} from "../../lib/artifact/learned.ts";
import { angleGrid, matchCodewords, planeWave, reciprocalRanges, sphericalWave } from "../../lib/numeric/near_field.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import {
  fociArtifact,
  NEAR_FIELD_ESTIMATE,
  NEAR_FIELD_METADATA,
  NEAR_FIELD_PROBLEM,
  NEAR_FIELD_TRUTH,
  type NearFieldProblem,
  nearFieldProblemOf,
} from "../_near_field.ts";

/** Degrees between codewords. */
const ANGLE_STEP = 0.25;
/** Ranges of a codebook. */
const RANGES = 40;
/** Examples in a call of a trained estimator. */
const ROWS = 4096;

export default defineOperation({
  id: "model.near_field_estimator_adapter",
  name: "Near-field estimator slot",
  description: "Finds range and angle of a near source, by a codebook or by a trained artifact",
  inputs: { problem: [NEAR_FIELD_PROBLEM] },
  optionalInputs: { truth: [NEAR_FIELD_TRUTH] },
  outputs: { estimate: NEAR_FIELD_ESTIMATE },
  params: z.strictObject({
    mode: z.enum(["far_field_steering", "polar_codebook", "oracle_focus", LEARNED_ARTIFACT]).default("polar_codebook"),
    ...learnedParameters("near_field_estimator"),
  }),
  differentiability: { framework: "torch", gradient: "surrogate", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  materializations: [
    ...executed("numpy", "far_field_angle_grid", { mode: "far_field_steering" }),
    ...executed("numpy", "polar_range_angle_codebook", { mode: "polar_codebook" }),
    ...executed("numpy", "simulation_truth", { mode: "oracle_focus" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "supervised_range_angle_estimation"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "estimator",
    component_role: "near_field_range_angle_estimator",
    entrypoint_id: "near_field_estimator",
    inputs: { array_ri: ["batch", "antenna", 2] },
    outputs: { range_angle: ["batch", 2] },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  inputMetadataRequirements: { problem: { all_of: NEAR_FIELD_METADATA } },
  outputMetadataGuarantees: { estimate: { keys: ["example_count", "columns", "estimator"] } },
  check(params, connected) {
    if (params.mode === LEARNED_ARTIFACT) return learnedProblems(params);
    if (params.mode !== "oracle_focus" || connected.has("truth")) return [];
    return [{
      code: "input_missing",
      message: "Cannot focus on the truth without the input truth, which mode oracle_focus takes it from",
      place: ["mode"],
      hint: "Wire truth from source.near_field_xl_mimo_scenario, or choose another mode",
    }];
  },
  threadSafe: true,
  async run(context) {
    const { mode } = context.params, problem = nearFieldProblemOf(context.inputs.problem);
    switch (mode) {
      case LEARNED_ARTIFACT: {
        const { received, examples, array: { antennas } } = problem;
        const feeds = { array_ri: realImaginary(ndarray("complex64", received, [examples, antennas])) };
        const found = (await context.learned.run(feeds, { rows: ROWS })).range_angle.data as Float32Array;
        return { outputs: { estimate: fociArtifact(Float64Array.from(found), { estimator: mode }) } };
      }
      case "oracle_focus": {
        const truth = problem.arrays.beside(context.inputs.truth!).read("float64", ["example", 2]);
        return { outputs: { estimate: fociArtifact(truth.slice(), { estimator: mode }) } };
      }
      default:
        return { outputs: { estimate: fociArtifact(searched(problem, mode), { estimator: mode }) } };
    }
  },
});

function searched(problem: NearFieldProblem, mode: "far_field_steering" | "polar_codebook"): Float64Array {
  const { received, examples, array, angles: { low, high }, ranges: { near, far } } = problem;
  const angles = angleGrid(low, high, ANGLE_STEP), spherical = mode === "polar_codebook";
  const ranges = spherical ? reciprocalRanges(near, far, RANGES) : Float64Array.of(Math.sqrt(near * far));
  const focus = (k: number) => ({ angle: angles[Math.floor(k / ranges.length)], range: ranges[k % ranges.length] });
  const best = matchCodewords(
    received,
    array.antennas,
    angles.length * ranges.length,
    (k) => spherical ? sphericalWave(array, focus(k)) : planeWave(array, focus(k).angle),
  );
  const foci = new Float64Array(2 * examples);
  best.forEach((k, example) => foci.set([focus(k).range, focus(k).angle], 2 * example));
  return foci;
}
