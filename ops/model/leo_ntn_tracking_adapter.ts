/**
 * Slot for a tracker that foretells Doppler and beam of a satellite from its history:
 *
 *     hold_last             the last look
 *     linear_extrapolation  the least-squares line through all looks; one look is held
 *     oracle_future         truth, the only mode that reads it
 *     learned_artifact      a trained package: track_features [batch, history, 3] -> decision [batch, 2]
 *
 * A decision is the Doppler in Hz and the beam; hold_last and linear_extrapolation name the nearest beam, 0 … beam_count-1.
 * Neither looks at the elevation.
 *
 * Shapes: problem float64 [example, history, 3] -> decision float64 [example, 2].
 */
import { SvcError } from "../../lib/contract/error.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { LEARNED_ARTIFACT, learnedParameters, learnedProblems, slotAbi } from "../../lib/artifact/learned.ts";
import { servingBeam } from "../../lib/numeric/leo_pass.ts";
import { ndarray } from "../../lib/numeric/ndarray.ts";
import { executed, exportPlanned } from "../_backends.ts";
import {
  futuresArtifact,
  LEO_DECISION,
  LEO_HISTORY,
  LEO_METADATA,
  LEO_TRUTH,
  type TrackingProblem,
  trackingProblemOf,
} from "../_leo.ts";

/** Examples in a call of a trained tracker. */
const ROWS = 4096;

export default defineOperation({
  id: "model.leo_ntn_tracking_adapter",
  name: "Satellite tracker slot",
  description: "Foretells Doppler and beam of a low-orbit satellite, by a rule or by a trained artifact",
  inputs: { problem: [LEO_HISTORY] },
  optionalInputs: { truth: [LEO_TRUTH] },
  outputs: { decision: LEO_DECISION },
  params: z.strictObject({
    mode: z.enum(["hold_last", "linear_extrapolation", "oracle_future", LEARNED_ARTIFACT])
      .default("linear_extrapolation"),
    ...learnedParameters("ntn_tracker"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  backends: {
    benchmark_run: ["numpy", "onnxruntime"],
    dataset_capture: ["numpy", "onnxruntime"],
    differentiable_export: ["torch"],
  },
  materializations: [
    ...executed("numpy", "hold_last_observation", { mode: "hold_last" }),
    ...executed("numpy", "linear_extrapolation", { mode: "linear_extrapolation" }),
    ...executed("numpy", "simulation_future_state", { mode: "oracle_future" }),
    ...executed("onnxruntime", "portable_trained_artifact_runtime", { mode: LEARNED_ARTIFACT }),
    exportPlanned("torch", "supervised_future_state_prediction"),
  ],
  trainingCapabilities: { built_in_fine_tuning: false, portable_replacement: true },
  trainedArtifactAbi: slotAbi({
    component_id: "tracker",
    component_role: "leo_ntn_doppler_beam_tracker",
    entrypoint_id: "ntn_tracker",
    inputs: { track_features: ["batch", "history", 3] },
    outputs: { decision: ["batch", "decision"] },
    required_operation_inputs: ["problem"],
    binding: { mode: LEARNED_ARTIFACT },
  }),
  inputMetadataRequirements: { problem: { all_of: LEO_METADATA } },
  outputMetadataGuarantees: { decision: { keys: ["example_count", "columns", "beam_count", "tracker"] } },
  check(params, connected) {
    if (params.mode === LEARNED_ARTIFACT) return learnedProblems(params);
    if (params.mode !== "oracle_future" || connected.has("truth")) return [];
    return [{
      code: "input_missing",
      message: "Cannot know the future without the input truth, which mode oracle_future takes it from",
      place: ["mode"],
      hint: "Wire truth from source.leo_ntn_tracking_scenario, or choose another mode",
    }];
  },
  threadSafe: true,
  async run(context) {
    const { mode } = context.params, problem = trackingProblemOf(context.inputs.problem);
    const { arrays, examples, length, history } = problem;
    let futures: Float64Array;
    switch (mode) {
      case LEARNED_ARTIFACT: {
        const features = ndarray("float32", Float32Array.from(history), [examples, length, 3]);
        const { decision } = await context.learned.run({ track_features: features }, { rows: ROWS });
        if (decision.shape[1] !== 2) {
          throw new SvcError(
            "artifact_output_invalid",
            `Cannot use a decision of ${decision.shape[1]} values: Doppler in Hz and beam position are two`,
          );
        }
        futures = Float64Array.from(decision.data as Float32Array);
        break;
      }
      case "oracle_future":
        futures = arrays.beside(context.inputs.truth!).read("float64", ["example", 2]).slice();
        break;
      default:
        futures = foretold(problem, mode === "hold_last" ? lastOf : lineOf(problem));
    }
    return { outputs: { decision: futuresArtifact(futures, problem, { tracker: mode }) } };
  },
});

/** What comes of a quantity, from its looks. */
type Predictor = (looks: Float64Array) => number;

const lastOf: Predictor = (looks) => looks[looks.length - 1];

/** The least-squares line over the looks, at the horizon: weights that are the same for all examples. */
function lineOf({ length, step, horizon }: TrackingProblem): Predictor {
  const middle = (length - 1) / 2, ahead = length - 1 + horizon / step - middle;
  // Σ (k - middle)² over the looks.
  const spread = length * (length * length - 1) / 12;
  const weights = Float64Array.from(
    { length },
    (_, k) => 1 / length + (spread > 0 ? ahead * (k - middle) / spread : 0),
  );
  return (looks) => looks.reduce((sum, look, k) => sum + weights[k] * look, 0);
}

function foretold({ examples, length, history, maxDoppler, beamCount }: TrackingProblem, predict: Predictor) {
  const futures = new Float64Array(2 * examples), looks = new Float64Array(length);
  const column = (example: number, which: number) => {
    for (let look = 0; look < length; look++) looks[look] = history[3 * (example * length + look) + which];
    return looks;
  };
  for (let example = 0; example < examples; example++) {
    futures[2 * example] = maxDoppler * predict(column(example, 0));
    futures[2 * example + 1] = servingBeam(predict(column(example, 2)), beamCount);
  }
  return futures;
}
