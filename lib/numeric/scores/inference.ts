/**
 * Statistics of repeated measurements: intervals for means, paired comparisons of two methods, and the correction for
 * multiple comparisons. Rates: rate_interval.ts.
 *
 *     mean of n values     mean ± t(n-1)·s/sqrt(n)
 *     paired difference    the same over differences; p by sign flips (exact up to 20 pairs), else by Student's t
 *     many p-values        Holm: p(i) times the count of hypotheses not yet rejected, never decreasing
 *
 * Source: Student, Biometrika 6, 1908; Fisher, The Design of Experiments, 1935, ch. 3; Holm,
 * Scandinavian Journal of Statistics 6, 1979.
 */
import { mean, standardDeviation, sum } from "./statistics.ts";
import { studentQuantile, studentTwoSided } from "./student_t.ts";

/** Up to this many pairs all sign patterns are enumerated. */
const EXACT_PAIRS = 20;

/** Mean of measured values with its interval; a single value has no interval. */
export interface MeanEstimate {
  n: number;
  mean: number;
  /** Of the sample, n - 1 in the denominator; null for one value. */
  std: number | null;
  low: number | null;
  high: number | null;
}

/** Mean paired difference with interval and two-sided p-value of "no difference". */
export interface PairedEstimate extends MeanEstimate {
  pValue: number;
  pMethod: "sign_flip" | "paired_t";
}

/**
 * Student's interval for the mean of independent values.
 * @param values one per replicate, at least one
 * @param confidence two-sided, default 0.95
 * @throws RangeError when there are no values or the confidence is not inside 0 … 1
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { studentT } from "./inference.ts";
 *
 * const { mean, low, high } = studentT([30.1, 30.4, 29.8, 30.2]);
 * assert.ok(low! < mean && mean < high! && Math.abs(high! - mean - 0.397806) < 1e-6);
 * ```
 */
export function studentT(values: ArrayLike<number>, confidence = 0.95): MeanEstimate {
  const n = values.length;
  if (n === 0) throw new RangeError("Cannot estimate a mean without values");
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`Cannot use ${confidence} as a confidence`);
  return meanInterval(n, mean(values), n < 2 ? null : standardDeviation(values), confidence);
}

/** Student's interval from the number of values, their mean and their standard deviation, null for one value. */
export function meanInterval(n: number, centre: number, std: number | null, confidence: number): MeanEstimate {
  if (std === null) return { n, mean: centre, std, low: null, high: null };
  const reach = studentQuantile(0.5 + confidence / 2, n - 1) * std / Math.sqrt(n);
  return { n, mean: centre, std, low: centre - reach, high: centre + reach };
}

/**
 * Compares two methods by their differences, replicate by replicate.
 *
 * Under "no difference" each sign is equally likely: the exact p-value is the share of the 2^n sign patterns whose sum
 * is at least as far from 0 as the measured one. It is at least 2 / 2^n for any differences.
 * @param differences candidate minus baseline, one per replicate, at least one
 * @param confidence two-sided, of the interval; default 0.95
 * @throws RangeError when there are no differences or the confidence is not inside 0 … 1
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { pairedDifference } from "./inference.ts";
 *
 * const { mean, pValue } = pairedDifference([0.25, 0.5, 0.25, 0.5, 0.25]);
 * assert.deepEqual([mean, pValue], [0.35, 2 / 32]);
 * ```
 */
export function pairedDifference(differences: ArrayLike<number>, confidence = 0.95): PairedEstimate {
  const estimate = studentT(differences, confidence);
  if (estimate.n <= EXACT_PAIRS) return { ...estimate, pValue: signFlipP(differences), pMethod: "sign_flip" };
  const std = estimate.std!;
  // With zero spread, 0/0 means no difference and x/0 a certain one.
  const t = estimate.mean === 0 ? 0 : estimate.mean / (std / Math.sqrt(estimate.n));
  return { ...estimate, pValue: studentTwoSided(t, estimate.n - 1), pMethod: "paired_t" };
}

/** Share of the sign patterns whose sum is at least as far from 0 as that of the differences. */
function signFlipP(differences: ArrayLike<number>): number {
  const sizes = Float64Array.from(differences, Math.abs);
  // Sums that differ only by rounding count as equal.
  const reached = Math.abs(sum(differences)) - 1e-12 * sum(sizes);
  let extreme = 0;
  const flip = (index: number, total: number): void => {
    if (index === sizes.length) {
      if (Math.abs(total) >= reached) extreme++;
      return;
    }
    flip(index + 1, total + sizes[index]);
    flip(index + 1, total - sizes[index]);
  };
  // The patterns come in mirrored pairs: half of them, with the first sign fixed, have the same share.
  flip(1, sizes[0]);
  return extreme / 2 ** (sizes.length - 1);
}

/**
 * Holm's correction: p-values that can be compared with one level for any number of hypotheses.
 * @param pValues any order
 * @returns corrected values in the order given, at most 1
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { holm } from "./inference.ts";
 *
 * assert.deepEqual(holm([0.25, 0.0625, 0.5]), [0.5, 0.1875, 0.5]);
 * ```
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((_, index) => index).sort((a, b) => pValues[a] - pValues[b] || a - b);
  const corrected = new Array<number>(pValues.length);
  let floor = 0;
  order.forEach((index, rank) => {
    floor = Math.max(floor, Math.min(1, pValues[index] * (pValues.length - rank)));
    corrected[index] = floor;
  });
  return corrected;
}
