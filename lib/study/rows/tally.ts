/**
 * Running statistics of one metric of one recipe, replicate by replicate, in constant memory: pooled counts of its rate or
 * pooled sums of its root mean square, and number, mean, spread and extremes of its values.
 *
 * The mean is a compensated sum, the spread Welford's M2. Results of schema version 1 were made from the spread in two
 * passes; for them the values are kept, so that they are recomputed bit by bit.
 *
 * Source: Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4, 1962.
 */
import { type MeanEstimate, meanInterval, studentT } from "../../numeric/scores/inference.ts";
import { type PooledMetric, pooledSums } from "../../numeric/scores/pooled_ratio.ts";
import { pooled, type RateCounts } from "../../numeric/scores/rate_interval.ts";
import { RunningSum } from "../../numeric/scores/statistics.ts";
import type { Sample } from "../pack/samples.ts";

/** How the spread is computed: in one pass, or in two as results of schema version 1 have it. */
export type Spread = "one_pass" | "two_passes";

export class Tally {
  n = 0;
  min = Infinity;
  max = -Infinity;
  readonly #sum = new RunningSum();
  readonly #values: number[] | null;
  #centre = 0;
  #squares = 0;
  #rates: RateCounts | null | undefined;
  #pooled: PooledMetric | undefined;
  #unpooled = false;
  #repeats = false;
  #unrated = false;
  #unvalued = false;

  constructor(readonly metric: string, spread: Spread = "one_pass") {
    this.#values = spread === "two_passes" ? [] : null;
  }

  /** Adds the sample of a completed row. */
  add({ values, rates, pooled: sums, independent }: Omit<Sample, "replicate" | "items">): void {
    const value = values[this.metric], rate = rates[this.metric], own = sums?.[this.metric];
    if (value === undefined) {
      this.#unvalued ||= rate === undefined;
      return;
    }
    this.n++;
    if (independent === false) this.#repeats = true;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    this.#sum.add(value);
    this.#values?.push(value);
    const before = value - this.#centre;
    this.#centre += before / this.n;
    this.#squares += before * (value - this.#centre);
    if (rate === undefined) this.#unrated = true;
    else this.#rates = pooled(this.#rates, rate);
    if (own === undefined || this.#pooled !== undefined && own.reduction !== this.#pooled.reduction) {
      this.#unpooled = true;
    } else {
      const before = this.#pooled;
      this.#pooled = before === undefined ? own : { ...own, sums: pooledSums(before.sums, own.sums) };
    }
  }

  /** Whether the replicates repeat each other, so that they give no interval. */
  get isDependent(): boolean {
    return this.#repeats && this.n > 1;
  }

  /** The pooled counts; null where a value has none, or where units differ. */
  get rate(): RateCounts | null {
    return this.#unrated ? null : this.#rates ?? null;
  }

  /** The pooled sums of a root mean square or another ratio; null where a value has none. */
  get pooled(): PooledMetric | null {
    return this.#unpooled ? null : this.#pooled ?? null;
  }

  /** As {@link rate}, null also where a row has no value at all. */
  get rateOfAll(): RateCounts | null {
    return this.#unvalued ? null : this.rate;
  }

  /** Student's interval of the mean. @throws RangeError without values */
  estimate(confidence: number): MeanEstimate {
    if (this.#values !== null || this.n === 0) return studentT(this.#values ?? [], confidence);
    const std = this.n < 2 ? null : Math.sqrt(this.#squares / (this.n - 1));
    return meanInterval(this.n, this.#sum.value / this.n, std, confidence);
  }
}
