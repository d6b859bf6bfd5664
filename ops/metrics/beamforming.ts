/**
 * Scores of beams y = hᴴw·x + n:
 *
 *     spectral efficiency  mean of log2(1 + |hᴴw|²/N0)
 *     normalized gain      mean of |hᴴw|²/‖h‖², 1 for maximum ratio; zero channels do not count
 *     array gain           mean of |hᴴw|² over the mean of ‖h‖²/M, in dB: relative to one antenna
 *
 * task.score is the normalized gain.
 */
import { beamGain } from "../../lib/numeric/antenna/beamforming.ts";
import { energy } from "../../lib/numeric/linalg/complex.ts";
import { linearToDb } from "../../lib/numeric/link/decibel.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { BEAMFORMING_DECISION, BEAMFORMING_PROBLEM, beamformingProblemOf } from "../_beamforming.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.beamforming",
  name: "Beamforming scores",
  description: "Measures the gain and the rate of beams",
  inputs: { decision: [BEAMFORMING_DECISION], problem: [BEAMFORMING_PROBLEM] },
  twin: true,
  run({ inputs }) {
    const { arrays, examples, antennas, channels, noiseVariance } = beamformingProblemOf(inputs.problem);
    const weights = arrays.beside(inputs.decision).read("complex64", ["example", "tx"]);
    const own = (values: Float32Array, example: number) =>
      values.subarray(2 * example * antennas, 2 * (example + 1) * antennas);
    const gains: number[] = [], strengths: number[] = [];
    for (let example = 0; example < examples; example++) {
      gains.push(beamGain(own(channels, example), own(weights, example)));
      strengths.push(energy(own(channels, example)));
    }
    const heard = gains.flatMap((gain, i) => strengths[i] > 0 ? [gain / strengths[i]] : []);
    const arrayGain = mean(gains) * antennas / mean(strengths);
    return {
      metrics: {
        "beamforming.spectral_efficiency_bps_hz": mean(
          gains.map((gain) => Math.log1p(gain / noiseVariance) * Math.LOG2E),
        ),
        ...(heard.length > 0 ? { "beamforming.normalized_gain": mean(heard), "task.score": mean(heard) } : {}),
        ...(arrayGain > 0 ? { "beamforming.array_gain_db": linearToDb(arrayGain) } : {}),
      },
      facts: { example_count: examples, tx_antennas: antennas },
    };
  },
});
