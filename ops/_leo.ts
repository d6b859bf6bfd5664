/**
 * Artifacts of the satellite tracking operations. A problem holds the history float64 [example, history, 3]: Doppler
 * over max_doppler_hz, elevation over 90°, beam position; its metadata hold the interval of observations and the
 * prediction horizon. Truth and decision are float64 [example, 2]: Doppler in Hz and beam position at the horizon;
 * truth also holds `handover_s` float64 [example], the seconds from the last observation to the first handover before
 * the horizon, 0 without one. Geometry: lib/numeric/channel/leo_pass.ts.
 */
import { arraysOf } from "../lib/artifact/arrays.ts";
import { metadataOf } from "../lib/artifact/values.ts";
import { artifactKind } from "../lib/contract/kinds.ts";
import { float, type InputArtifact, type JsonObject } from "./api.ts";
import { ndarray } from "../lib/numeric/array/ndarray.ts";

export const LEO_HISTORY = artifactKind("ntn.tracking_history.numpy", {
  max_doppler_hz: "positive",
  beam_count: "count",
  history_step_s: "positive",
  prediction_horizon_s: "positive",
});
export const LEO_TRUTH = artifactKind("ntn.future_state_truth.numpy", { beam_count: "count" });
export const LEO_DECISION = artifactKind("ntn.future_state_decision.numpy", {
  example_count: "count",
  columns: "list",
  beam_count: "count",
  tracker: "text",
});

/** @throws SvcError with a boundary code for an artifact of another form */
export function trackingProblemOf(input: InputArtifact) {
  const arrays = arraysOf(input), history = arrays.read("float64", ["example", "history", 3]);
  const metadata = metadataOf(input, LEO_HISTORY);
  return {
    arrays,
    examples: arrays.size("example"),
    length: arrays.size("history"),
    history,
    maxDoppler: metadata.max_doppler_hz,
    beamCount: metadata.beam_count,
    /** Seconds between observations, and from the last one to the horizon. */
    step: metadata.history_step_s,
    horizon: metadata.prediction_horizon_s,
  };
}

export type TrackingProblem = ReturnType<typeof trackingProblemOf>;

/** Doppler and beam position in pairs. */
export function futuresArtifact<Facts extends JsonObject>(
  futures: Float64Array,
  { beamCount, horizon }: { beamCount: number; horizon: number },
  facts: Facts,
) {
  const examples = futures.length / 2;
  return {
    array: ndarray("float64", futures, [examples, 2]),
    metadata: {
      example_count: examples,
      columns: ["doppler_hz", "beam_position"],
      beam_count: beamCount,
      prediction_horizon_s: float(horizon),
      ...facts,
    },
  };
}
