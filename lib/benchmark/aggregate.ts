/**
 * What the replicates of a recipe tell about each declared metric.
 *
 * A rate with counts gets two rows: Wilson's interval over the pooled counts, which takes every trial as independent, and
 * Student's over the replicates, which does not. Errors of one block come together, so the two differ where that matters.
 * A rate without any event is an upper bound, never 0.
 */
import { float, toNumber } from "../contract/value.ts";
import { ruleOfThree, studentT, wilson } from "../numeric/inference.ts";
import { pooledCounts, type Sample } from "./samples.ts";
import type { AggregateRow, Measure, PackMetric, StopReason } from "./types.ts";

const measure = (value: number | null): Measure | null => value === null ? null : float(value);

export interface RecipeSamples {
  id: string;
  samples: readonly Sample[];
  stop_reason?: StopReason;
}

/**
 * Aggregates recipes in their order, metrics in theirs; a metric that a recipe does not have gets no row.
 * @param confidence two-sided, inside 0 … 1
 */
export function aggregate(
  recipes: readonly RecipeSamples[],
  metrics: readonly Pick<PackMetric, "id" | "statistic" | "counts">[],
  confidence: Measure,
): AggregateRow[] {
  const level = toNumber(confidence);
  return recipes.flatMap((recipe) =>
    metrics.flatMap((metric): AggregateRow[] => {
      const { id } = metric;
      const samples = recipe.samples.filter(({ values }) => values[id] !== undefined);
      if (samples.length === 0) return [];
      const values = samples.map((sample) => sample.values[id]);
      const estimate = studentT(values, level);
      const pooled = metric.statistic === "rate" ? pooledCounts(samples, metric) : null;
      const none = pooled !== null && pooled.events === 0;
      const bound = none ? ruleOfThree(pooled.trials, level) : null;
      const common = {
        recipe_id: recipe.id,
        metric: id,
        n: samples.length,
        std: measure(estimate.std),
        min: float(Math.min(...values)),
        max: float(Math.max(...values)),
        confidence_level: float(level),
        ...(pooled === null ? {} : { events: pooled.events, trials: pooled.trials }),
        ...(bound === null ? {} : { upper_bound: float(bound) }),
        ...(recipe.stop_reason === undefined ? {} : { stop_reason: recipe.stop_reason }),
      };
      const student: AggregateRow = {
        ...common,
        mean: none ? null : float(estimate.mean),
        ci_low: none ? null : measure(estimate.low),
        ci_high: none ? null : measure(estimate.high),
        ci_method: "student_t",
      };
      if (pooled === null) return [student];
      const { low, high } = wilson(pooled.events, pooled.trials, level);
      return [{
        ...common,
        mean: none ? null : float(pooled.events / pooled.trials),
        ci_low: float(low),
        ci_high: float(bound ?? high),
        ci_method: "wilson",
      }, student];
    })
  );
}
