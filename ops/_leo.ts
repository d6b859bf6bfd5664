/**
 * What the operations of satellite tracking hand each other. A problem holds the history float64 [example, history, 3]:
 * Doppler over max_doppler_hz, elevation over 90°, beam position; its metadata say how far apart the looks are and how far
 * ahead to look. Truth and decision are float64 [example, 2]: Doppler in Hz and beam position at that time; truth also holds
 * `handover_s` float64 [example], the seconds from the last look to the first handover before that time, 0 without one.
 * Geometry: lib/numeric/leo_pass.ts.
 */
import { arraysOf, type NamedArrays } from "../lib/artifact/arrays.ts";
import { metadataNumber } from "../lib/artifact/values.ts";
import { SvcError } from "../lib/contract/error.ts";
import type { InputArtifact, OutputArtifact } from "../lib/contract/operation.ts";
import { float, type JsonObject } from "../lib/contract/value.ts";
import { ndarray } from "../lib/numeric/ndarray.ts";

export const LEO_HISTORY = "ntn.tracking_history.numpy";
export const LEO_TRUTH = "ntn.future_state_truth.numpy";
export const LEO_DECISION = "ntn.future_state_decision.numpy";
export const LEO_METADATA = ["max_doppler_hz", "beam_count", "history_step_s", "prediction_horizon_s"];

export interface TrackingProblem {
  arrays: NamedArrays;
  examples: number;
  /** Looks of an example. */
  length: number;
  /** [example, history, 3] */
  history: Float64Array;
  maxDoppler: number;
  beamCount: number;
  /** Seconds between looks, and from the last one to the time to foretell. */
  step: number;
  horizon: number;
}

/** @throws SvcError with a boundary code where the artifact is not what it should be */
export function trackingProblemOf(input: InputArtifact): TrackingProblem {
  const arrays = arraysOf(input), history = arrays.read("float64", ["example", "history", 3]);
  const [maxDoppler, beamCount, step, horizon] = LEO_METADATA.map((key) => positive(input, key));
  return {
    arrays,
    examples: arrays.size("example"),
    length: arrays.size("history"),
    history,
    maxDoppler,
    beamCount,
    step,
    horizon,
  };
}

/** A positive number from the metadata. @throws SvcError `input_metadata_missing` */
export function positive(input: InputArtifact, key: string): number {
  const value = metadataNumber(input.metadata, key);
  if (value === undefined || !(value > 0)) {
    throw new SvcError("input_metadata_missing", `Cannot follow a satellite without a positive ${key} in the metadata`);
  }
  return value;
}

/** Doppler and beam position in pairs. */
export function futuresArtifact(
  futures: Float64Array,
  { beamCount, horizon }: { beamCount: number; horizon: number },
  facts: JsonObject = {},
): OutputArtifact {
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
