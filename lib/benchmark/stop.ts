/**
 * When a recipe has enough replicates. The decision rests on its completed rows alone, in the order of the replicates, so
 * that a benchmark that was interrupted decides as an uninterrupted one.
 *
 * Stopping at N errors is inverse sampling: the estimate is biased upwards by about 1/N of itself, which at 100 errors is
 * a tenth of the interval's width.
 *
 * Source: Haldane, "On a method of estimating frequencies", Biometrika 33, 1945.
 */
import { toNumber } from "../contract/value.ts";
import { studentT, wilson } from "../numeric/inference.ts";
import { pooledCounts, type Sample } from "./samples.ts";
import type { PackMetric, Replication, StopReason } from "./types.ts";

/** An interval of fewer means says too little about its own width. */
const LEAST_MEANS = 3;

/**
 * Why no more replicates are made.
 * @param samples of completed rows, by replicate
 * @param made replicates that were tried, failed ones too
 * @param metric the one of `stop_metric`
 * @returns null where another one is wanted
 */
export function stopReason(
  samples: readonly Sample[],
  made: number,
  replication: Replication,
  metric: PackMetric | undefined,
): StopReason | null {
  const { until_errors, until_halfwidth, max_bits, replicates, min_replicates } = replication;
  if (metric !== undefined && made >= min_replicates) {
    const pooled = pooledCounts(samples, metric);
    if (until_errors !== null && pooled !== null && pooled.events >= until_errors) return "errors";
    if (until_halfwidth !== null) {
      const half = halfwidth(samples, metric, toNumber(replication.confidence_level));
      if (half !== null && half <= toNumber(until_halfwidth)) return "halfwidth";
    }
    if (max_bits !== null && pooled !== null && pooled.trials >= max_bits) return "max_bits";
  }
  return made >= replicates ? "replicates" : null;
}

/** Half the width of the interval of a metric; null where there is none yet. */
function halfwidth(samples: readonly Sample[], metric: PackMetric, confidence: number): number | null {
  const pooled = pooledCounts(samples, metric);
  if (pooled !== null) {
    const { low, high } = wilson(pooled.events, pooled.trials, confidence);
    return (high - low) / 2;
  }
  const values = samples.map(({ values }) => values[metric.id]).filter((value) => value !== undefined);
  if (values.length < LEAST_MEANS) return null;
  const { low, high } = studentT(values, confidence);
  return (high! - low!) / 2;
}
