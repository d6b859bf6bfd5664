/**
 * Decides whether a recipe has enough replicates. The decision depends only on its completed rows, in the order of the
 * replicates, so an interrupted benchmark decides like an uninterrupted one.
 *
 * Errors are counted as failed units. Stopping at N of them is inverse sampling: the estimate is biased upwards by about 1/N
 * of itself, which at 100 failures is a tenth of the interval's width.
 *
 * Source: Haldane, "On a method of estimating frequencies", Biometrika 33, 1945.
 */
import { toNumber } from "../contract/value.ts";
import { studentT } from "../numeric/inference.ts";
import { clopperPearson, pooledRate, type RateCounts, rateEstimate } from "../numeric/rate_interval.ts";
import type { Sample } from "./samples.ts";
import type { PackMetric, Replication, StopReason } from "./types.ts";

/** The width of an interval of fewer means is too uncertain. */
const LEAST_MEANS = 3;
/**
 * Of units that fail with different numbers of events, the width of the interval is too uncertain to stop by when fewer
 * failed. Below it a recipe stops only where the rate would be smaller than the half-width if failed units were all events.
 */
const LEAST_FAILURES = 100;

/**
 * The reason to stop.
 * @param samples of completed rows, by replicate
 * @param made number of tried replicates, including failed ones
 * @param metric the one of `stop_metric`
 * @returns null to continue
 */
export function stopReason(
  samples: readonly Sample[],
  made: number,
  replication: Replication,
  metric: Pick<PackMetric, "id"> | undefined,
): StopReason | null {
  const { until_errors, until_halfwidth, max_bits, replicates, min_replicates } = replication;
  if (metric !== undefined && made >= min_replicates) {
    const rates = samples.map(({ rates }) => rates[metric.id]);
    const pooled = rates.every((rate) => rate !== undefined) ? pooledRate(rates) : null;
    if (until_errors !== null && pooled !== null && pooled.unit_failures >= until_errors) return "errors";
    if (until_halfwidth !== null) {
      const confidence = toNumber(replication.confidence_level);
      const half = pooled === null
        ? meanHalfwidth(samples, metric.id, confidence)
        : rateHalfwidth(pooled, confidence, toNumber(until_halfwidth));
      if (half !== null && half <= toNumber(until_halfwidth)) return "halfwidth";
    }
    if (max_bits !== null && pooled !== null && pooled.trials >= max_bits) return "max_bits";
  }
  return made >= replicates ? "replicates" : null;
}

function rateHalfwidth(counts: RateCounts, confidence: number, wanted: number): number | null {
  const { unit, units, unit_failures, trials } = counts;
  if (unit !== "bit" && units !== trials && unit_failures > 0 && unit_failures < LEAST_FAILURES) {
    // The bound lies above the share: where that is too large already, it need not be computed.
    const share = unit_failures / units;
    return share > wanted ? share : clopperPearson(unit_failures, units, confidence).high;
  }
  const estimate = rateEstimate(counts, confidence);
  if (estimate === null) return null;
  return estimate.bound ?? (estimate.high! - estimate.low!) / 2;
}

/** Half the width of Student's interval over replicates; null where there is none yet. */
function meanHalfwidth(samples: readonly Sample[], metric: string, confidence: number): number | null {
  const values = samples.map(({ values }) => values[metric]).filter((value) => value !== undefined);
  if (values.length < LEAST_MEANS) return null;
  const { low, high } = studentT(values, confidence);
  return (high! - low!) / 2;
}
