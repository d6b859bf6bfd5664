/**
 * The statistics of each declared metric over the replicates of a recipe.
 *
 * A rate with counts gets one row, which pools the units of all replicates (`lib/numeric/scores/rate_interval.ts`), and never Student's
 * interval over the replicates; without counts it has no interval. A rate without any event is an upper bound, never 0. Results of schema versions 1 and 2 have
 * a second row with Student's interval.
 *
 * A root mean square, an NMSE, and a rate of importance sampling, gets one row, which pools the sums of all replicates (`lib/numeric/scores/pooled_ratio.ts`): the
 * root, or the logarithm, is taken last.
 */
import { failedUnits } from "../../contract/metric_metadata.ts";
import { float, toNumber } from "../../contract/value.ts";
import { findMetric } from "../../research/catalog.ts";
import { pooledEstimate, type PooledMetric } from "../../numeric/scores/pooled_ratio.ts";
import { type RateCounts, rateEstimate } from "../../numeric/scores/rate_interval.ts";
import type { Tally } from "./tally.ts";
import {
  type AggregateRow,
  type BenchmarkResult,
  type Measure,
  NOT_INDEPENDENT,
  type StopReason,
} from "../pack/types.ts";

const measure = (value: number | null): Measure | null => value === null ? null : float(value);

/** The sums of a row. */
function sumsRow(
  { reduction, sums: { numerator, denominator, units } }: PooledMetric,
  replicates: number,
): Partial<AggregateRow> {
  const sums = reduction === "root_mean_square"
    ? { squared_sum: float(numerator), count: denominator }
    : { numerator: float(numerator), denominator: float(denominator) };
  // A run that is one unit, such as a waveform, makes the replicates the units.
  return units === replicates ? sums : { ...sums, unit: "example", units };
}

/** The failed units of clustered trials. */
function failures({ unit, failed_units, unit_sizes, bits, on_grid }: RateCounts): Partial<AggregateRow> {
  if (unit === "bit" || failed_units === null) return {};
  return {
    failed_units: failedUnits(failed_units),
    unit_sizes: [...unit_sizes],
    ...(bits ? { bits } : {}),
    ...(on_grid ? { on_grid } : {}),
  };
}

export interface RecipeTallies {
  id: string;
  tallies: readonly Tally[];
  stop_reason?: StopReason;
}

/**
 * Aggregates recipes in their order, metrics in theirs; a recipe without a metric gets no row for it.
 * @param confidence two-sided, inside 0 … 1
 * @param version of the schema of the result
 */
export function aggregate(
  recipes: readonly RecipeTallies[],
  confidence: Measure,
  version: BenchmarkResult["schema_version"] = 3,
): AggregateRow[] {
  const level = toNumber(confidence);
  return recipes.flatMap((recipe) =>
    recipe.tallies.flatMap((tally): AggregateRow[] => {
      if (tally.n === 0) return [];
      const estimate = tally.estimate(level);
      const pooled = tally.rate;
      const rate = pooled === null ? null : rateEstimate(pooled, level);
      const bound = rate?.bound;
      const sums = tally.pooled, value = sums === null ? null : pooledEstimate(sums, level);
      const none = tally.isDependent ? { ci_low: null, ci_high: null, ...NOT_INDEPENDENT } : {};
      const common = {
        recipe_id: recipe.id,
        metric: tally.metric,
        n: tally.n,
        std: measure(estimate.std),
        min: float(tally.min),
        max: float(tally.max),
        confidence_level: float(level),
        ...(pooled === null ? {} : {
          events: pooled.events,
          trials: pooled.trials,
          unit: pooled.unit,
          units: pooled.units,
          unit_failures: pooled.unit_failures,
          ...(version < 3 ? {} : failures(pooled)),
        }),
        ...(bound === undefined || tally.isDependent ? {} : { upper_bound: float(bound) }),
        ...(recipe.stop_reason === undefined ? {} : { stop_reason: recipe.stop_reason }),
      };
      if (value !== null) {
        const { mean, low, high } = value;
        const ends = { mean: float(mean), ci_low: measure(low), ci_high: measure(high) };
        const ci_method = sums!.reduction === "weighted_rate" ? "weighted_t" : "log_t";
        return [{ ...common, ...ends, ci_method, ...sumsRow(sums!, tally.n), ...none }];
      }
      const student: AggregateRow = {
        ...common,
        mean: bound === undefined ? float(estimate.mean) : null,
        ci_low: bound === undefined ? measure(estimate.low) : null,
        ci_high: bound === undefined ? measure(estimate.high) : null,
        ci_method: "student_t",
        ...none,
      };
      if (rate === null) {
        const isUncounted = version >= 3 && findMetric(tally.metric)?.statistic === "rate";
        return [isUncounted ? { ...student, ci_low: null, ci_high: null, ci_method: "none" } : student];
      }
      const { mean, low, high, method } = rate;
      const ends = { mean: measure(mean), ci_low: measure(low), ci_high: measure(high) };
      const row: AggregateRow = { ...common, ...ends, ci_method: method, ...none };
      return version < 3 ? [row, student] : [row];
    })
  );
}
