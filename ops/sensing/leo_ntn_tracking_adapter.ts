/**
 * Trainable tracker that predicts Doppler and beam of a satellite from its history:
 *
 *     hold_last             the last observation
 *     linear_extrapolation  the least-squares line through all observations; a single observation is held
 *     oracle_future         truth, an input of this mode only
 *     learned_artifact      track_features [batch, history, 3] -> decision [batch, 2]
 *
 * A decision is the Doppler in Hz and the beam; hold_last and linear_extrapolation give the nearest beam, 0 …
 * beam_count-1. Neither uses the elevation.
 *
 * Shapes: problem float64 [example, history, 3] -> decision float64 [example, 2].
 */
import { defineSlot, SvcError } from "../api.ts";
import { servingBeam } from "../../lib/numeric/channel/leo_pass.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import {
  futuresArtifact,
  LEO_DECISION,
  LEO_HISTORY,
  LEO_TRUTH,
  type TrackingProblem,
  trackingProblemOf,
} from "../_leo.ts";

export default defineSlot({
  id: "model.leo_ntn_tracking_adapter",
  name: "Satellite tracker slot",
  description: "Predicts Doppler and beam of a low-orbit satellite, by a rule or by a trained artifact",
  inputs: { problem: [LEO_HISTORY] },
  optionalInputs: { truth: { kinds: [LEO_TRUTH], secret: true } },
  outputs: { decision: LEO_DECISION },
  inputMetadataRequirements: { problem: { all_of: Object.keys(LEO_HISTORY.metadata) } },
  gradient: "full",
  exports: { torch: "supervised_future_state_prediction" },
  twin: true,
  mode: { default: "linear_extrapolation" },
  read: ({ inputs }) => trackingProblemOf(inputs.problem),
  modes: {
    hold_last: {
      implementation: "hold_last_observation",
      run: (problem) => predicted(problem, (values) => values[values.length - 1]),
    },
    linear_extrapolation: {
      implementation: "linear_extrapolation",
      run: (problem) => predicted(problem, lineOf(problem)),
    },
    oracle_future: {
      implementation: "simulation_future_state",
      reveals: "truth",
      run: ({ arrays }, { inputs }) => arrays.beside(inputs.truth!).read("float64", ["example", 2]).slice(),
    },
  },
  learned: {
    component: { id: "tracker", role: "leo_ntn_doppler_beam_tracker", entrypoint: "ntn_tracker" },
    inputs: { track_features: ["batch", "history", 3] },
    outputs: { decision: ["batch", "decision"] },
    meaning: {
      track_features: "past Doppler over its maximum, elevation over 90 degrees, beam position",
      decision: "Doppler in Hz and beam position at the horizon",
    },
    rows: 4096,
    async run({ examples, length, history }, call) {
      const { decision } = await call({
        track_features: ndarray("float32", Float32Array.from(history), [examples, length, 3]),
      });
      if (decision.shape[1] === 2) return Float64Array.from(decision.data);
      throw new SvcError(
        "artifact_output_invalid",
        `Cannot use a decision of ${decision.shape[1]} values: Doppler in Hz and beam position are two`,
      );
    },
  },
  result: (futures, problem, { label }) => ({
    outputs: { decision: futuresArtifact(futures, problem, { tracker: label }) },
  }),
});

/** The predicted value of a quantity, from its observations. */
type Predictor = (values: Float64Array) => number;

/** The least-squares line over the observations, at the horizon; its weights are the same for all examples. */
function lineOf({ length, step, horizon }: TrackingProblem): Predictor {
  const middle = (length - 1) / 2, ahead = length - 1 + horizon / step - middle;
  // Σ (k - middle)² over the observations.
  const spread = length * (length * length - 1) / 12;
  const weights = Float64Array.from(
    { length },
    (_, k) => 1 / length + (spread > 0 ? ahead * (k - middle) / spread : 0),
  );
  return (values) => values.reduce((sum, value, k) => sum + weights[k] * value, 0);
}

function predicted({ examples, length, history, maxDoppler, beamCount }: TrackingProblem, predict: Predictor) {
  const futures = new Float64Array(2 * examples), values = new Float64Array(length);
  const column = (example: number, which: number) => {
    for (let k = 0; k < length; k++) values[k] = history[3 * (example * length + k) + which];
    return values;
  };
  for (let example = 0; example < examples; example++) {
    futures[2 * example] = maxDoppler * predict(column(example, 0));
    futures[2 * example + 1] = servingBeam(predict(column(example, 2)), beamCount);
  }
  return futures;
}
