/**
 * Passes of a satellite at 600 km, observed at `history_length` times `history_step_s` apart; the task is to predict
 * its state `prediction_horizon_s` after the last observation. Observation starts at a random time, such that history
 * and horizon lie inside the pass; the pass peaks at 30° … 90°. An observation is [Doppler/max_doppler_hz,
 * elevation/90°, beam position] with normal noise of the standard deviation σ = 10^(-snr_db/20) on the first and the
 * last, σ/10 on the elevation.
 *
 * Draws: uniform pass offset, uniform peak elevation, then normal noise [example, history, 3].
 *
 * Shapes: problem float64 [example, history, 3], truth float64 [example, 2] (see ../_leo.ts; geometry:
 * lib/numeric/channel/leo_pass.ts).
 */
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import {
  ANGULAR_SPEED,
  beamPosition,
  centralAngle,
  PASS_SECONDS,
  satelliteState,
  secondsToHandover,
} from "../../lib/numeric/channel/leo_pass.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { executed, exported } from "../_backends.ts";
import { futuresArtifact, LEO_HISTORY, LEO_TRUTH } from "../_leo.ts";

/** Noise of an elevation relative to the others. */
const ELEVATION_NOISE = 0.1;
/** Degrees. */
const PEAK = { low: 30, high: 90 };

export default defineOperation({
  id: "source.leo_ntn_tracking_scenario",
  name: "Passes of a low-orbit satellite",
  description: "Draws passes of a satellite and observes Doppler, elevation and beam",
  outputs: { problem: LEO_HISTORY, truth: LEO_TRUTH },
  params: z.strictObject({
    example_count: z.int().positive().default(64).describe("number of satellite passes"),
    history_length: z.int().positive().default(6).describe("observations per example"),
    history_step_s: z.number().positive().default(0.5).describe("time between two observations in s")
      .meta(shownIn("s")),
    prediction_horizon_s: z.number().positive().default(1).describe("time from the last observation to the prediction")
      .meta(shownIn("s")),
    max_doppler_hz: z.number().positive().default(48000).describe("Doppler of a satellite at the horizon")
      .meta(shownIn("Hz")),
    beam_count: z.int().positive().default(9).describe("number of beams along the pass"),
    snr_db: z.number().default(15).describe("Es/N0 in dB of one observation").meta(shownIn("dB")),
    seed: seedParameter(0),
  }),
  materializations: [
    ...executed("numpy", "bounded_kinematic_leo_pass"),
    exported("torch", "captured_future_state_supervision"),
  ],
  check(params) {
    const seconds = watched(params);
    if (seconds <= PASS_SECONDS) return [];
    return [{
      message: `Cannot observe a pass of ${PASS_SECONDS.toFixed(1)} s for ${seconds} s`,
      place: ["history_length"],
      hint: "Shorten history_length, history_step_s or prediction_horizon_s",
    }];
  },
  estimate: ({ example_count: n, history_length }) => ({
    problem: [["float64", n, history_length, 3]],
    truth: [["float64", n, 2], ["float64", n]],
  }),
  run({ params, generator }) {
    const { example_count: examples, history_length: length, history_step_s: step, beam_count: beamCount } = params;
    const { max_doppler_hz: maxDoppler, prediction_horizon_s: horizon } = params;
    const sigma = 10 ** (-params.snr_db / 20);
    // Time of the highest elevation, counted from the first observation.
    const middles = generator.uniform(watched(params) - PASS_SECONDS / 2, PASS_SECONDS / 2, examples);
    const peaks = generator.uniform(PEAK.low, PEAK.high, examples);
    const noise = generator.standardNormal(examples * length * 3);
    const history = new Float64Array(noise.length), futures = new Float64Array(2 * examples);
    const handovers = new Float64Array(examples);
    for (let example = 0; example < examples; example++) {
      const chi = centralAngle(peaks[example]), psiAt = (time: number) => ANGULAR_SPEED * (time - middles[example]);
      for (let look = 0; look < length; look++) {
        const at = 3 * (example * length + look), psi = psiAt(look * step);
        const { doppler, elevationDeg } = satelliteState(psi, chi);
        history[at] = doppler + sigma * noise[at];
        history[at + 1] = elevationDeg / 90 + ELEVATION_NOISE * sigma * noise[at + 1];
        history[at + 2] = beamPosition(psi, beamCount) + sigma * noise[at + 2];
      }
      const psi = psiAt(watched(params));
      futures.set([maxDoppler * satelliteState(psi, chi).doppler, beamPosition(psi, beamCount)], 2 * example);
      const handover = secondsToHandover(psiAt((length - 1) * step), beamCount);
      handovers[example] = handover <= horizon ? handover : 0;
    }
    return {
      outputs: {
        problem: {
          array: ndarray("float64", history, [examples, length, 3]),
          metadata: {
            example_count: examples,
            columns: ["doppler_over_max", "elevation_over_90_deg", "beam_position"],
            max_doppler_hz: float(maxDoppler),
            beam_count: beamCount,
            history_step_s: float(step),
            prediction_horizon_s: float(horizon),
            noise_std: float(sigma),
            snr_db: float(params.snr_db),
          },
        },
        truth: {
          ...futuresArtifact(futures, { beamCount, horizon }, {}),
          companions: { handover_s: ndarray("float64", handovers, [examples]) },
        },
      },
    };
  },
});

/** Seconds from the first observation to the prediction. */
function watched(params: { history_length: number; history_step_s: number; prediction_horizon_s: number }): number {
  return (params.history_length - 1) * params.history_step_s + params.prediction_horizon_s;
}
