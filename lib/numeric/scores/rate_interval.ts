/**
 * Intervals of rates whose trials come in units: bits in packets, transport blocks, source items or fading blocks. Trials of
 * one unit fail together, so the units are the independent observations. With e_i events in n_i trials of U units, of mean
 * size n:
 *
 *     p = Σe_i / Σn_i
 *     wilson     the unit is the bit; without an event the bound is -ln(1-c)/U
 *     gaffke     Gaffke's interval (`gaffke.ts`) of the shares e_i/n in 0 … b·max(n_i)/n; without an event the bound is
 *                b·(1 - (1-c)^(1/U))·max(n_i)/n
 *
 * b is the most that a unit can fail: 1, or of bits, of which guessing makes half wrong, max(1/2, largest share). From 20 failed
 * units on their largest share says more: max(largest share, min(1/2, 2·largest share)).
 *
 * Source: Gaffke, Mathematical Methods of Statistics 14, 2005; Hanley and Lippman-Hand, JAMA 249, 1983 (rule of three).
 */
import { countOnes } from "../array/count_ones.ts";
import { gaffkeInterval } from "./gaffke.ts";
import { type Interval, wilsonInterval, zeroEventsBound } from "./statistics.ts";

/** Usual statistical units of links, from the smallest to the largest. */
export type StatisticalUnit = "bit" | "fading_block" | "source_item" | "transport_block" | "packet";

/** So many failed units have these events in these trials. */
export type FailedUnits = readonly [events: number, trials: number, count: number];

/** Counts of a rate, which pool replicates without their units. */
export interface RateCounts {
  events: number;
  trials: number;
  unit: StatisticalUnit;
  units: number;
  /** Units with an event. */
  unit_failures: number;
  /** Units with an event, equal ones together, by events and trials; empty for bits, null where only older sums are known. */
  failed_units: readonly FailedUnits[] | null;
  /** Trials of the smallest and of the largest unit. */
  unit_sizes: readonly [least: number, most: number];
  /** Whether the trials are bits, of which guessing makes half wrong. */
  bits?: true;
  /** Whether shares of failed units are rounded up to a grid, because too many differ: `[k, GRID, count]`. */
  on_grid?: true;
  /** Whether the rate is the share of trials without an event, such as a success rate. */
  complement?: boolean;
}

export type RateMethod = "wilson" | "gaffke";

/** A rate of which no event was seen, and what its units say: the share of units with an event is at most `bound`. */
export interface NoEvent {
  unit: StatisticalUnit;
  units: number;
  bound: number;
  /** Whether no success was seen, rather than no failure. */
  complement: boolean;
  confidence: number;
}

/** A rate with its interval; without events only a bound is known. */
export interface RateEstimate {
  mean: number | null;
  low: number | null;
  high: number | null;
  method: RateMethod;
  bound?: number;
  none?: NoEvent;
}

/** Up to so many different failed units are kept as they are, and so fine is the grid of more. */
const GRID = 4096;
/** From so many failed units on their largest share bounds those of bits. */
const TELLING_FAILURES = 20;

/** Failed units, equal ones together. The result does not depend on the order in which they come. */
class FailedTable {
  #rows = new Map<number, Map<number, number>>();
  #size = 0;
  #onGrid = false;

  add([events, trials, count]: FailedUnits): void {
    if (this.#onGrid) return this.#put(Math.ceil(events * GRID / trials), GRID, count);
    this.#put(events, trials, count);
    if (this.#size > GRID) this.toGrid();
  }

  /** Rounds the shares up to the grid. */
  toGrid(): void {
    if (this.#onGrid) return;
    const before = this.rows();
    this.#rows = new Map();
    this.#size = 0;
    this.#onGrid = true;
    for (const [events, trials, count] of before) this.#put(Math.ceil(events * GRID / trials), GRID, count);
  }

  #put(events: number, trials: number, count: number): void {
    const row = this.#rows.getOrInsertComputed(trials, () => new Map<number, number>());
    if (!row.has(events)) this.#size++;
    row.set(events, (row.get(events) ?? 0) + count);
  }

  rows(): FailedUnits[] {
    const rows = [...this.#rows].flatMap(([trials, row]) =>
      Array.from(row, ([events, count]): FailedUnits => [events, trials, count])
    );
    return rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  }

  fields(): Pick<RateCounts, "failed_units" | "on_grid"> {
    return { failed_units: this.rows(), ...(this.#onGrid ? { on_grid: true } : {}) };
  }
}

/** Counts a rate over units, whose trials may come in several parts. */
export class RateCounter {
  readonly #counts: Omit<RateCounts, "failed_units" | "unit_sizes" | "on_grid">;
  readonly #failed = new FailedTable();
  #least = Infinity;
  #most = 0;
  readonly #ends: Iterator<number> | null;
  /** Trials so far, and index after the last trial of the present unit. */
  #at = 0;
  #end: number;
  /** Of the present unit. */
  #from = 0;
  #events = 0;

  /**
   * @param ends index after the last trial of each unit, ascending; undefined if each trial is a unit
   * @param bits whether the trials are bits
   */
  constructor(unit: StatisticalUnit, ends?: Iterable<number>, bits = unit === "bit") {
    this.#counts = { events: 0, trials: 0, unit, units: 0, unit_failures: 0, ...(bits ? { bits: true } : {}) };
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
      if (failed instanceof Uint8Array) this.#events += countOnes(failed, i, stop);
      else for (let trial = i; trial < stop; trial++) this.#events += failed[trial];
      i = stop;
    }
  }

  /** The counts of all trials so far. */
  counts(): RateCounts {
    if (this.#ends !== null) {
      this.#endUnit();
      const unit_sizes = [this.#most === 0 ? 0 : this.#least, this.#most] as const;
      return { ...this.#counts, ...this.#failed.fields(), unit_sizes };
    }
    const [events, trials] = [this.#events, this.#at], { unit } = this.#counts;
    return {
      ...this.#counts,
      events,
      trials,
      units: trials,
      unit_failures: events,
      failed_units: unit === "bit" || events === 0 ? [] : [[1, 1, events]],
      unit_sizes: [Math.min(1, trials), Math.min(1, trials)],
    };
  }

  #endUnit(): void {
    const trials = this.#at - this.#from, events = this.#events;
    this.#from = this.#at;
    this.#events = 0;
    if (trials === 0) return;
    const counts = this.#counts;
    counts.events += events;
    counts.trials += trials;
    counts.units++;
    this.#least = Math.min(this.#least, trials);
    this.#most = Math.max(this.#most, trials);
    if (events === 0) return;
    counts.unit_failures++;
    this.#failed.add([events, trials, 1]);
  }
}

/** As {@link RateCounter} counts all trials at once. */
export function countRate(
  failed: ArrayLike<number>,
  unit: StatisticalUnit,
  ends?: Iterable<number>,
  bits?: boolean,
): RateCounts {
  const counter = new RateCounter(unit, ends, bits);
  counter.add(failed);
  return counter.counts();
}

/** The pooled counts of several runs; null without counts, or with different units. */
export function pooledRate(counts: readonly RateCounts[]): RateCounts | null {
  return counts.reduce<RateCounts | null | undefined>(pooled, undefined) ?? null;
}

/** Adds the counts of a run to a total; null, once and for all, where their units differ. */
export function pooled(total: RateCounts | null | undefined, one: RateCounts): RateCounts | null {
  if (total === undefined) return { ...one };
  if (total === null || total.unit !== one.unit) return null;
  if (one.units > 0) {
    total.unit_sizes = total.units === 0 ? one.unit_sizes : [
      Math.min(total.unit_sizes[0], one.unit_sizes[0]),
      Math.max(total.unit_sizes[1], one.unit_sizes[1]),
    ];
  }
  total.events += one.events;
  total.trials += one.trials;
  total.units += one.units;
  total.unit_failures += one.unit_failures;
  Object.assign(total, pooledFailures(total, one));
  return total;
}

function pooledFailures(a: RateCounts, b: RateCounts): Pick<RateCounts, "failed_units" | "on_grid"> {
  if (a.failed_units === null || b.failed_units === null) return { failed_units: null };
  if (b.failed_units.length === 0 && !b.on_grid) return { failed_units: a.failed_units };
  const table = new FailedTable();
  if (a.on_grid || b.on_grid) table.toGrid();
  for (const row of [...a.failed_units, ...b.failed_units]) table.add(row);
  return table.fields();
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
 * assert.deepEqual([mean, method], [2 / 12, "gaffke"]);
 * assert.ok(low! < mean! && mean! < high! && high! < 0.8);
 * ```
 */
export function rateEstimate(counts: RateCounts, confidence: number): RateEstimate | null {
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`Cannot use ${confidence} as a confidence`);
  const { events, trials, unit, units, complement } = counts;
  if (trials === 0) return null;
  const none = complement ? trials - events : events;
  const seen = { unit, units, complement: complement === true, confidence };
  if (unit === "bit") {
    if (none === 0) {
      const bound = zeroEventsBound(units, confidence);
      return { ...NOTHING, method: "wilson", bound, none: { ...seen, bound } };
    }
    return completed(events / trials, wilsonInterval(events, trials, confidence), "wilson", complement);
  }
  if (none === 0) {
    const share = unitsBound(units, confidence);
    return {
      ...NOTHING,
      method: "gaffke",
      bound: Math.min(1, share * mostOf(counts)),
      none: { ...seen, bound: share },
    };
  }
  return completed(events / trials, clusterInterval(counts, confidence), "gaffke", complement);
}

/** The standard error of a rate over its units; 0 where the failed units are not known. */
export function standardErrorOf({ events, trials, unit, units, failed_units, on_grid }: RateCounts): number {
  if (unit === "bit") return Math.sqrt(events * Math.max(0, trials - events) / trials) / trials;
  const size = trials / units, mean = events / trials;
  const squares = (failed_units ?? []).reduce(
    (sum, [errors, , count]) => sum + count * (on_grid ? errors / GRID : errors / size) ** 2,
    0,
  );
  return Math.sqrt(Math.max(0, squares / units - mean * mean) / units);
}

const NOTHING = { mean: null, low: null, high: null };

/** The bound 1 - (1-c)^(1/U) of the share of units with an event, of which none has one. */
export const unitsBound = (units: number, confidence: number): number => -Math.expm1(Math.log1p(-confidence) / units);

function completed(
  mean: number,
  interval: Interval | null,
  method: RateMethod,
  complement: boolean | undefined,
): RateEstimate {
  const { low, high } = interval ?? { low: null, high: null };
  if (!complement) return { mean, low, high, method };
  return { mean: 1 - mean, low: high === null ? null : 1 - high, high: low === null ? null : 1 - low, method };
}

/** What the share of a unit cannot exceed, in parts of the mean size. */
function mostOf({ failed_units, unit_sizes, bits, on_grid, unit_failures, trials, units }: RateCounts): number {
  const uneven = unit_sizes[1] * units / trials;
  if (!bits) return uneven;
  const largest = (failed_units ?? []).reduce((most, [events, size]) => Math.max(most, events / size), 0);
  if (unit_failures < TELLING_FAILURES && !on_grid) return Math.max(0.5, largest) * uneven;
  return Math.max(largest, Math.min(0.5, 2 * largest)) * uneven;
}

/** Null where the failed units are not known. */
function clusterInterval(counts: RateCounts, confidence: number): Interval | null {
  const { failed_units, on_grid, unit_sizes: [least, most], unit_failures, trials, units } = counts;
  if (failed_units === null) return null;
  const size = trials / units, clean = { share: 0, count: units - unit_failures };
  const shares = (of: (events: number, trials: number) => number) => [
    clean,
    ...failed_units.map(([events, trials, count]) => ({ share: of(events, trials), count })),
  ];
  // On the grid a share is known between two points, and with it the size of the unit between the extremes.
  const low = on_grid ? shares((k) => (k - 1) / GRID * least / size) : shares((events) => events / size);
  const high = on_grid ? shares((k) => k / GRID * most / size) : low;
  const ends = gaffkeInterval({ low, high }, mostOf(counts), confidence);
  return { low: Math.max(0, ends.low), high: Math.min(1, ends.high) };
}
