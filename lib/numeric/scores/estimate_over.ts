/** The estimate of a metric over several runs. */
import { pooledEstimate, type PooledMetric, pooledSums } from "./pooled_ratio.ts";
import { pooledRate, type RateCounts, type RateEstimate, rateEstimate } from "./rate_interval.ts";

/** What a run recorded of a metric: the counts of a rate, or the sums of a ratio. */
export interface Recorded {
  rate?: RateCounts | null;
  sums?: PooledMetric | null;
}

/** Value and interval of a metric; a rate without events has only a bound. */
export type RecordedEstimate = Pick<RateEstimate, "mean" | "low" | "high" | "bound" | "none">;

/**
 * The estimate of a metric over the units of all runs: counts and sums are added before the rate or the ratio is taken.
 * @param confidence two-sided, of a bound one-sided; inside 0 … 1
 * @returns null where a run recorded neither, or where units or reductions differ
 */
export function estimateOver(runs: readonly Recorded[], confidence: number): RecordedEstimate | null {
  const rates = runs.flatMap(({ rate }) => rate ?? []), sums = runs.flatMap(({ sums }) => sums ?? []);
  const counts = rates.length === runs.length ? pooledRate(rates) : null;
  const estimate = counts === null ? null : rateEstimate(counts, confidence);
  if (estimate !== null) return estimate;
  const [first] = sums;
  const isPoolable = first !== undefined && sums.length === runs.length &&
    sums.every(({ reduction }) => reduction === first.reduction);
  return isPoolable
    ? pooledEstimate({ ...first, sums: sums.map(({ sums }) => sums).reduce(pooledSums) }, confidence)
    : null;
}
