/** Conformance cases of satellite tracking. */
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayInput } from "../inputs.ts";
import { casesOf } from "./cases.ts";

/** Two histories of looks [Doppler/max, elevation/90°, beam]. */
export function historyInput(looks: number[][][] = [[[0.5, 0.2, 1], [0.4, 0.3, 2], [0.3, 0.4, 3]], [
  [-0.1, 0.9, 4.2],
  [-0.2, 0.8, 4.4],
  [-0.4, 0.7, 4.8],
]]) {
  return arrayInput(
    "ntn.tracking_history.numpy",
    "float64",
    Float64Array.from(looks.flat(2)),
    [looks.length, looks[0].length, 3],
    { max_doppler_hz: 1000, beam_count: 9, history_step_s: 0.5, prediction_horizon_s: 1 },
  );
}

/** @param futures [Doppler in Hz, beam position, seconds to the handover] */
export function futureTruth(futures = [[100, 5.2, 0.7], [-600, 5.6, 0]]) {
  const values = Float64Array.from(futures.flatMap(([doppler, beam]) => [doppler, beam]));
  const seconds = Float64Array.from(futures, (future) => future[2]);
  return {
    ...arrayInput("ntn.future_state_truth.numpy", "float64", values, [futures.length, 2], { beam_count: 9 }),
    companions: { handover_s: ndarray("float64", seconds, [futures.length]) },
  };
}

export const LEO_FIXTURES = casesOf(import.meta.url, {
  inputs: {
    history: () => ({ problem: historyInput() }),
    "history and future": () => ({ problem: historyInput(), truth: futureTruth() }),
    "future and decision": () => ({
      truth: futureTruth(),
      decision: arrayInput("ntn.future_state_decision.numpy", "float64", Float64Array.of(90, 5, -640, 4), [2, 2]),
    }),
  },
  model: {
    states: ({ track_features: { shape: [batch], data } }) => ({
      decision: ndarray("float32", Float32Array.from({ length: 2 * batch }, (_, i) => Number(data[i])), [batch, 2]),
    }),
  },
});
