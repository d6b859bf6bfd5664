/** Summary statistics and confidence intervals of measured values and rates. */
import { normalQuantile } from "../linalg/error_function.ts";

type Values = ArrayLike<number>;

/** A two-sided confidence interval. */
export interface Interval {
  low: number;
  high: number;
}

/** Sum with Neumaier's compensation: exact to the last bits for any order of magnitudes. */
export function sum(values: Values): number {
  let total = 0;
  let lost = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  // The compensation of an infinite sum is NaN.
  return Number.isFinite(total) ? total + lost : total;
}

/** The same sum, value by value: bit for bit that of {@link sum}. */
export class RunningSum {
  #total = 0;
  #lost = 0;

  add(value: number): void {
    const next = this.#total + value;
    this.#lost += Math.abs(this.#total) >= Math.abs(value) ? this.#total - next + value : value - next + this.#total;
    this.#total = next;
  }

  get value(): number {
    return Number.isFinite(this.#total) ? this.#total + this.#lost : this.#total;
  }
}

/** Arithmetic mean; NaN for no values. */
export function mean(values: Values): number {
  return sum(values) / values.length;
}

/**
 * Mean squared distance from the mean. Exported for tests.
 * @param freedom subtracted from the count in the denominator: 1 for the unbiased estimate (default), 0 for a whole
 *   population
 */
export function variance(values: Values, freedom = 1): number {
  const centre = mean(values);
  return sum(Float64Array.from(values, (value) => (value - centre) ** 2)) / (values.length - freedom);
}

/** Square root of the variance. */
export function standardDeviation(values: Values, freedom = 1): number {
  return Math.sqrt(variance(values, freedom));
}

/**
 * Quantile with linear interpolation between the order statistics; the extremes are quantiles 0 and 1.
 * @param q 0 … 1
 * @throws RangeError without values, or with q out of range
 */
export function quantile(values: Values, q: number): number {
  if (values.length === 0 || !(q >= 0 && q <= 1)) {
    throw new RangeError(`Cannot take the quantile ${q} of ${values.length} values`);
  }
  const sorted = Float64Array.from(values).sort();
  const place = q * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below];
  return below + 1 < sorted.length ? low + (place - below) * (sorted[below + 1] - low) : low;
}

/** The middle of the sorted values. */
export function median(values: Values): number {
  return quantile(values, 0.5);
}

/**
 * Wilson's interval for a probability after `events` in `trials` (Wilson 1927):
 * (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n).
 * @param confidence two-sided, default 0.95
 * @throws RangeError when the counts are impossible or the confidence is not inside 0 … 1
 */
export function wilsonInterval(events: number, trials: number, confidence = 0.95): Interval {
  if (!(trials > 0 && events >= 0 && events <= trials)) {
    throw new RangeError(`Cannot bound a rate of ${events} events in ${trials} trials`);
  }
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`Cannot use ${confidence} as a confidence`);
  const z = normalQuantile(0.5 + confidence / 2);
  const p = events / trials;
  const centre = p + z * z / (2 * trials);
  const reach = z * Math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials));
  const scale = 1 + z * z / trials;
  return {
    low: events === 0 ? 0 : (centre - reach) / scale,
    high: events === trials ? 1 : (centre + reach) / scale,
  };
}

/**
 * Upper bound of a rate without observed events: -ln(1 - confidence) / n, the "rule of three" 3/n at 95 %.
 * @throws RangeError without trials
 */
export function zeroEventsBound(trials: number, confidence = 0.95): number {
  if (!(trials > 0)) throw new RangeError(`Cannot bound a rate after ${trials} trials`);
  return confidence === 0.95 ? Math.min(1, 3 / trials) : Math.min(1, -Math.log1p(-confidence) / trials);
}
