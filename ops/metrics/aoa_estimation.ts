/**
 * Errors of angle estimates e = θ̂ - θ in degrees, plain differences: root of the mean square, mean modulus, median and
 * 90th percentile of the modulus (linear between order statistics), and task.score = 1/(1 + RMSE).
 */
import { float } from "../../lib/contract/value.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { mean, median, quantile } from "../../lib/numeric/statistics.ts";
import { AOA_ESTIMATE, AOA_PROBLEM, AOA_TRUTH, trueAngles } from "../_aoa.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.aoa_estimation",
  name: "Angle-of-arrival scores",
  description: "Measures the errors of direction-of-arrival estimates",
  inputs: { estimate: [AOA_ESTIMATE], problem: [AOA_PROBLEM, AOA_TRUTH] },
  twin: true,
  run({ inputs }) {
    const estimates = arraysOf(inputs.estimate), estimate = estimates.read("float64", ["example"]);
    const angles = trueAngles(estimates.beside(inputs.problem));
    const errors = estimate.map((angle, i) => angle - angles[i]), moduli = errors.map(Math.abs);
    const rmse = Math.sqrt(mean(errors.map((error) => error * error)));
    return {
      metrics: {
        "aoa.rmse_deg": rmse,
        "aoa.mae_deg": mean(moduli),
        "aoa.median_error_deg": median(moduli),
        "aoa.p90_error_deg": quantile(moduli, 0.9),
        "task.score": 1 / (1 + rmse),
      },
      facts: { example_count: errors.length, errors_deg: Array.from(errors, float) },
    };
  },
});
