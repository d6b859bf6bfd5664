/**
 * Intervals of rates whose trials come in units: bits in packets, transport blocks, source items or fading blocks. Trials of
 * one unit fail together, so the units are the independent observations. With e_i events in n_i trials of U units:
 *
 *     p = Σe_i / Σn_i
 *     wilson         the unit is the bit
 *     cluster_t      p ± t(U-1)·sqrt(U/(U-1)·Σ(e_i - p·n_i)²)/Σn_i, clipped to 0 … 1
 *     cluster_exact  fewer than 10 units failed (or, of units with one trial, fewer than 10 did not): Clopper and Pearson's
 *                    interval of the share of failed units, times the mean events of a failed unit over the mean unit size
 *     no event       the bound -ln(1-c)/U, as if all trials of a failed unit were events
 *
 * Source: Cochran, Sampling Techniques, 3rd ed., 1977, ch. 6 and 9A (ratio estimator of clusters); Clopper and Pearson,
 * Biometrika 26, 1934; Hanley and Lippman-Hand, JAMA 249, 1983 (rule of three).
 */
import { wilsonInterval, zeroEventsBound } from "./statistics.ts";
import { studentQuantile } from "./student_t.ts";

/** Usual statistical units of links, from the smallest to the largest. */
export type StatisticalUnit = "bit" | "fading_block" | "source_item" | "transport_block" | "packet";

/** Counts of a rate, and sums over units for pooling replicates without their units. */
export interface RateCounts {
  events: number;
  trials: number;
  unit: StatisticalUnit;
  units: number;
  /** Units with an event. */
  unit_failures: number;
  /** Σe². For bits it equals the events, as Σe·n does; Σn² equals the trials. */
  events_squared: number;
  /** Σe·n. */
  events_trials: number;
  /** Σn². */
  trials_squared: number;
  /** Whether the rate is the share of trials without an event, such as a success rate. */
  complement?: boolean;
}

export type RateMethod = "wilson" | "cluster_t" | "cluster_exact";

/** A rate with its interval; without events only a bound is known. */
export interface RateEstimate {
  mean: number | null;
  low: number | null;
  high: number | null;
  method: RateMethod;
  bound?: number;
}

/** Minimum number of failed units for the normal theory of the ratio estimator. */
const LEAST_FAILURES = 10;

/** Counts a rate over units, whose trials may come in several parts. */
export class RateCounter {
  readonly #counts: RateCounts;
  readonly #ends: Iterator<number> | null;
  /** Trials so far, and index after the last trial of the present unit. */
  #at = 0;
  #end: number;
  /** Of the present unit. */
  #from = 0;
  #events = 0;

  /** @param ends index after the last trial of each unit, ascending; undefined if each trial is a unit */
  constructor(unit: StatisticalUnit, ends?: Iterable<number>) {
    this.#counts = {
      events: 0,
      trials: 0,
      unit,
      units: 0,
      unit_failures: 0,
      events_squared: 0,
      events_trials: 0,
      trials_squared: 0,
    };
    this.#ends = ends?.[Symbol.iterator]() ?? null;
    this.#end = this.#ends === null ? Infinity : 0;
  }

  /** @param failed 1 for a trial with an event, else 0; trials after the last unit are ignored */
  add(failed: ArrayLike<number>): void {
    for (let i = 0; i < failed.length;) {
      while (this.#at >= this.#end) {
        this.#endUnit();
        const { value, done } = this.#ends!.next();
        if (done) return;
        this.#end = value;
      }
      const stop = Math.min(failed.length, i + this.#end - this.#at);
      this.#at += stop - i;
      let events = 0;
      for (; i < stop; i++) events += failed[i];
      this.#events += events;
    }
  }

  /** The counts of all trials so far. */
  counts(): RateCounts {
    if (this.#ends !== null) {
      this.#endUnit();
      return this.#counts;
    }
    const [events, trials] = [this.#events, this.#at];
    return {
      ...this.#counts,
      events,
      trials,
      units: trials,
      unit_failures: events,
      events_squared: events,
      events_trials: events,
      trials_squared: trials,
    };
  }

  #endUnit(): void {
    addUnit(this.#counts, this.#events, this.#at - this.#from);
    this.#from = this.#at;
    this.#events = 0;
  }
}

/** As {@link RateCounter} counts all trials at once. */
export function countRate(failed: ArrayLike<number>, unit: StatisticalUnit, ends?: Iterable<number>): RateCounts {
  const counter = new RateCounter(unit, ends);
  counter.add(failed);
  return counter.counts();
}

/** Adds a unit; one without trials is ignored. Exported for tests. */
export function addUnit(counts: RateCounts, events: number, trials: number): void {
  if (trials === 0) return;
  counts.events += events;
  counts.trials += trials;
  counts.units++;
  if (events > 0) counts.unit_failures++;
  counts.events_squared += events * events;
  counts.events_trials += events * trials;
  counts.trials_squared += trials * trials;
}

/** The pooled counts of several runs; null without counts, or with different units. */
export function pooledRate(counts: readonly RateCounts[]): RateCounts | null {
  return counts.reduce<RateCounts | null | undefined>(pooled, undefined) ?? null;
}

/** Adds the counts of a run to a total; null, once and for all, where their units differ. */
export function pooled(total: RateCounts | null | undefined, one: RateCounts): RateCounts | null {
  if (total === undefined) return { ...one };
  if (total === null || total.unit !== one.unit) return null;
  total.events += one.events;
  total.trials += one.trials;
  total.units += one.units;
  total.unit_failures += one.unit_failures;
  total.events_squared += one.events_squared;
  total.events_trials += one.events_trials;
  total.trials_squared += one.trials_squared;
  return total;
}

/**
 * The rate with its interval.
 * @param confidence two-sided, of a bound one-sided; inside 0 … 1
 * @returns null without trials
 * @throws RangeError for a confidence out of range
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { countRate, rateEstimate } from "./rate_interval.ts";
 *
 * const failed = Uint8Array.of(0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0);
 * const { mean, low, high, method } = rateEstimate(countRate(failed, "packet", [4, 8, 12]), 0.95)!;
 * assert.deepEqual([mean, method], [2 / 12, "cluster_exact"]);
 * assert.ok(low! < mean! && mean! < high! && high! <= 0.5);
 * ```
 */
export function rateEstimate(counts: RateCounts, confidence: number): RateEstimate | null {
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`Cannot use ${confidence} as a confidence`);
  const { events, trials, unit, units, complement } = counts;
  if (trials === 0) return null;
  const none = complement ? trials - events : events;
  const bit = unit === "bit";
  if (none === 0) {
    const bound = zeroEventsBound(units, confidence);
    return { mean: null, low: null, high: null, method: bit ? "wilson" : "cluster_exact", bound };
  }
  const { low, high, method } = bit
    ? { ...wilsonInterval(events, trials, confidence), method: "wilson" as const }
    : clusterInterval(counts, confidence);
  const mean = events / trials;
  return complement ? { mean: 1 - mean, low: 1 - high, high: 1 - low, method } : { mean, low, high, method };
}

function clusterInterval(counts: RateCounts, confidence: number): { low: number; high: number; method: RateMethod } {
  const { events, trials, units, unit_failures: failures } = counts;
  const whole = units === trials;
  if (failures < LEAST_FAILURES || whole && units - failures < LEAST_FAILURES) {
    const share = clopperPearson(failures, units, confidence);
    const severity = failures === 0 ? 1 : events / failures * units / trials;
    return { low: share.low * severity, high: Math.min(1, share.high * severity), method: "cluster_exact" };
  }
  const p = events / trials;
  const squares = counts.events_squared - 2 * p * counts.events_trials + p * p * counts.trials_squared;
  const error = Math.sqrt(units / (units - 1) * Math.max(0, squares)) / trials;
  const reach = studentQuantile(0.5 + confidence / 2, units - 1) * error;
  return { low: Math.max(0, p - reach), high: Math.min(1, p + reach), method: "cluster_t" };
}

/**
 * Clopper and Pearson's interval of a share.
 * @throws RangeError for impossible counts
 */
export function clopperPearson(events: number, trials: number, confidence: number): { low: number; high: number } {
  if (!(trials > 0 && events >= 0 && events <= trials)) {
    throw new RangeError(`Cannot bound a share of ${events} in ${trials}`);
  }
  if (2 * events > trials) {
    const { low, high } = clopperPearson(trials - events, trials, confidence);
    return { low: 1 - high, high: 1 - low };
  }
  const tail = (1 - confidence) / 2;
  return {
    low: events === 0 ? 0 : rootOf((p) => atMost(events - 1, trials, p) - (1 - tail)),
    high: events === trials ? 1 : rootOf((p) => atMost(events, trials, p) - tail),
  };
}

/** P(X <= k) of a binomial count. */
function atMost(k: number, n: number, p: number): number {
  let log = n * Math.log1p(-p), total = Math.exp(log);
  for (let i = 0; i < k; i++) {
    log += Math.log((n - i) / (i + 1)) + Math.log(p) - Math.log1p(-p);
    total += Math.exp(log);
  }
  return total;
}

/** The root of a decreasing function in 0 … 1, by bisection. */
function rootOf(fall: (p: number) => number): number {
  let low = 0, high = 1;
  for (let step = 0; step < 200 && high - low > 1e-15 * high; step++) {
    const middle = (low + high) / 2;
    if (fall(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
