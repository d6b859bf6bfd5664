/**
 * Decides whether a recipe has enough replicates. The decision depends only on its completed rows, in the order of the
 * replicates, so an interrupted benchmark decides like an uninterrupted one.
 *
 * Errors are counted as failed units, those of importance sampling by their effective number. Stopping at N of them is inverse sampling: the estimate is biased upwards by about 1/N
 * of itself, which at 100 failures is a tenth of the interval's width.
 *
 * Source: Haldane, "On a method of estimating frequencies", Biometrika 33, 1945.
 */
import { float, type JsonObject, toNumber } from "../../contract/value.ts";
import { findMetric } from "../../research/catalog.ts";
import { normalQuantile } from "../../numeric/linalg/error_function.ts";
import { effectiveEvents, pooledEstimate } from "../../numeric/scores/pooled_ratio.ts";
import { type RateCounts, rateEstimate, standardErrorOf } from "../../numeric/scores/rate_interval.ts";
import type { Tally } from "./tally.ts";
import type { Replication, StopReason } from "../pack/types.ts";

/** The width of an interval of fewer means is too uncertain. */
const LEAST_MEANS = 3;
/**
 * The reason to stop.
 * @param tally of the metric that decides, over the completed rows; null if all recipes get the same number
 * @param made number of tried replicates, including failed ones
 * @returns null to continue
 */
export function stopReason(tally: Tally | null, made: number, replication: Replication): StopReason | null {
  const { until_errors, until_halfwidth, max_bits, replicates, min_replicates } = replication;
  if (tally !== null && made >= min_replicates) {
    const pooled = tally.rateOfAll, { errors, trials } = countsOf(tally);
    if (until_errors !== null && errors !== null && errors >= until_errors) return "errors";
    if (until_halfwidth !== null && !tally.isDependent) {
      const confidence = toNumber(replication.confidence_level);
      const half = pooled === null
        ? valueHalfwidth(tally, confidence)
        : rateHalfwidth(pooled, confidence, toNumber(until_halfwidth));
      if (half !== null && half <= toNumber(until_halfwidth)) return "halfwidth";
    }
    if (max_bits !== null && trials !== null && trials >= max_bits) return "max_bits";
  }
  return made >= replicates ? "replicates" : null;
}

/** Errors and trials of the metric that decides; null for a metric that counts none. */
function countsOf(tally: Tally): { errors: number | null; trials: number | null } {
  const pooled = tally.rateOfAll, sums = tally.pooled?.reduction === "weighted_rate" ? tally.pooled.sums : null;
  return {
    errors: pooled?.unit_failures ?? (sums === null ? null : effectiveEvents(sums)),
    trials: pooled?.trials ?? sums?.denominator ?? null,
  };
}

/**
 * The progress of a recipe: its replicates, its errors and trials, the value so far, and its interval where trials or
 * replicates are independent; that of clustered trials would cost more than a short row.
 */
export function stopProgress(tally: Tally, made: number, confidence: number): JsonObject {
  const { errors, trials } = countsOf(tally), counts = tally.rateOfAll;
  const found = soFar(tally, confidence), estimate = tally.isDependent ? null : found;
  const isBound = estimate?.bound !== undefined;
  const number = (value: number | null | undefined) => value == null ? null : float(value);
  return {
    replicates: made,
    errors: number(errors),
    trials: number(trials),
    mean: number(found === null ? counts && counts.events / counts.trials : found.mean),
    ci_low: number(isBound ? null : estimate?.low),
    ci_high: number(isBound ? null : estimate?.high),
    upper_bound: number(estimate?.bound),
  };
}

interface SoFar {
  mean: number | null;
  low: number | null;
  high: number | null;
  bound?: number;
}

/** The estimate from a tally; null without one, or where it is not cheap. */
function soFar(tally: Tally, confidence: number): SoFar | null {
  const counts = tally.rateOfAll;
  if (counts !== null) return counts.units === counts.trials ? rateEstimate(counts, confidence) : null;
  if (tally.n === 0) return null;
  // The replicates of a rate without counts may differ in size.
  if (findMetric(tally.metric)?.statistic === "rate") {
    return { mean: tally.estimate(confidence).mean, low: null, high: null };
  }
  return (tally.pooled === null ? null : pooledEstimate(tally.pooled, confidence)) ?? tally.estimate(confidence);
}

function rateHalfwidth(counts: RateCounts, confidence: number, wanted: number): number | null {
  // The interval is wider than that of a normal mean, which costs less to compute.
  const normal = normalQuantile(0.5 + confidence / 2) * standardErrorOf(counts);
  if (normal > wanted) return normal;
  const estimate = rateEstimate(counts, confidence);
  if (estimate === null) return null;
  const { low, high, bound } = estimate;
  return bound ?? (low === null || high === null ? null : (high - low) / 2);
}

/** Half the width of the interval of a pooled value, or of Student's over replicates; null where there is none yet. */
function valueHalfwidth(tally: Tally, confidence: number): number | null {
  if (tally.n < LEAST_MEANS) return null;
  const pooled = tally.pooled === null ? null : pooledEstimate(tally.pooled, confidence);
  const { low, high } = pooled ?? tally.estimate(confidence);
  return low === null || high === null ? null : (high - low) / 2;
}
