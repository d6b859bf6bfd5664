/**
 * Position errors e = |p̂ - p| in metres: root of the mean square, mean, 90th percentile (linear between order statistics), and
 * task.score = 1/(1 + RMSE).
 */
import { float } from "../api.ts";
import { arraysOf } from "../../lib/artifact/arrays.ts";
import { pooledValue, rootMeanSquare } from "../../lib/numeric/scores/pooled_ratio.ts";
import { mean, quantile } from "../../lib/numeric/scores/statistics.ts";
import { LOCALIZATION_ESTIMATE, LOCALIZATION_PROBLEM, LOCALIZATION_TRUTH, truePositions } from "../_localization.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.localization",
  name: "Localisation scores",
  description: "Measures the errors of position estimates",
  inputs: { estimate: [LOCALIZATION_ESTIMATE], problem: [LOCALIZATION_PROBLEM, LOCALIZATION_TRUTH] },
  twin: true,
  run({ inputs }) {
    const estimates = arraysOf(inputs.estimate), estimate = estimates.read("float64", ["example", 2]);
    const positions = truePositions(estimates.beside(inputs.problem));
    const errors = Float64Array.from(
      { length: estimates.size("example") },
      (_, i) => Math.hypot(estimate[2 * i] - positions[2 * i], estimate[2 * i + 1] - positions[2 * i + 1]),
    );
    const rmse = rootMeanSquare(errors);
    return {
      pooled: { "localization.rmse_m": rmse },
      metrics: {
        "localization.mae_m": mean(errors),
        "localization.p90_error_m": quantile(errors, 0.9),
        "task.score": 1 / (1 + pooledValue(rmse)!),
      },
      facts: { example_count: errors.length, errors_m: Array.from(errors, float) },
    };
  },
});
