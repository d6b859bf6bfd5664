/**
 * Scores estimates of range and angle: roots of the mean square errors (angles as plain differences), and the mean
 * share of the largest gain of a beam towards the estimate, |Σ h_m·w_m|²/M with w_m = conj(ĥ_m)/sqrt(M),
 * also task.score.
 */
import { float } from "../api.ts";
import { correlationGain, sphericalWave } from "../../lib/numeric/antenna/near_field.ts";
import { rootMeanSquare } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean } from "../../lib/numeric/scores/statistics.ts";
import { NEAR_FIELD_ESTIMATE, NEAR_FIELD_PROBLEM, NEAR_FIELD_TRUTH, nearFieldProblemOf } from "../_near_field.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.near_field_focusing",
  name: "Near-field focusing scores",
  description: "Measures the errors of ranges and angles, and the resulting loss of gain",
  inputs: { estimate: [NEAR_FIELD_ESTIMATE], problem: [NEAR_FIELD_PROBLEM], truth: [NEAR_FIELD_TRUTH] },
  twin: true,
  run({ inputs }) {
    const { arrays, examples, array } = nearFieldProblemOf(inputs.problem);
    const truth = arrays.beside(inputs.truth).read("float64", ["example", 2]);
    const estimate = arrays.beside(inputs.estimate).read("float64", ["example", 2]);
    const ranges = new Float64Array(examples), angles = ranges.slice(), gains = ranges.slice();
    for (let example = 0; example < examples; example++) {
      const [range, angle] = truth.subarray(2 * example), [foundRange, foundAngle] = estimate.subarray(2 * example);
      ranges[example] = foundRange - range;
      angles[example] = foundAngle - angle;
      gains[example] = correlationGain(
        sphericalWave(array, { range, angle }),
        sphericalWave(array, { range: foundRange, angle: foundAngle }),
      ) / array.antennas ** 2;
    }
    const gain = mean(gains);
    return {
      pooled: {
        "near_field.range_rmse_m": rootMeanSquare(ranges),
        "near_field.angle_rmse_deg": rootMeanSquare(angles),
      },
      metrics: { "near_field.normalized_focusing_gain": gain, "task.score": gain },
      facts: {
        example_count: examples,
        range_errors_m: Array.from(ranges, float),
        angle_errors_deg: Array.from(angles, float),
        focusing_gains: Array.from(gains, float),
      },
    };
  },
});
