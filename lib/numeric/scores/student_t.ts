/**
 * Student's t distribution with v degrees of freedom: tail probability and quantile, each within 1e-10 relative.
 *
 *     P(|T| > t) = I_x(v/2, 1/2),  x = v / (v + t²)
 *
 * with I the regularised incomplete beta function.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5.8 (continued fraction), 26.7.1 (tail),
 * 26.7.5 (start of the quantile), 6.1.47 (gamma ratio).
 */
import { normalQuantile } from "../linalg/error_function.ts";

/** From here on the first terms of the asymptotic series have binary64 precision. */
const SERIES_FROM = 100;
/** Coefficients of Γ(a + 1/2) / (Γ(a)·sqrt(a)) in powers of 1/a. */
const SERIES = [1, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304];

/** Γ(a + 1/2) / Γ(a), a > 0, as one ratio: the difference of two logarithms loses digits for large a. */
function gammaRatio(a: number): number {
  // Γ(a + 1/2) / Γ(a) = a/(a + 1/2) · Γ(a + 3/2) / Γ(a + 1)
  let factor = 1;
  for (; a < SERIES_FROM; a++) factor *= a / (a + 0.5);
  return factor * Math.sqrt(a) * SERIES.reduceRight((series, coefficient) => series / a + coefficient, 0);
}

/** Continued fraction of the incomplete beta function by Lentz's method; converges fast for x < (a + 1)/(a + b + 2). */
function betaFraction(a: number, b: number, x: number): number {
  const TINY = 1e-300;
  let c = 1;
  let d = 1 / (1 - (a + b) * x / (a + 1) || TINY);
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      d = 1 / (1 + term * d || TINY);
      c = 1 + term / c || TINY;
      change = c * d;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return fraction;
}

function requireFreedom(freedom: number): void {
  if (!(freedom > 0 && Number.isFinite(freedom))) throw new RangeError(`Cannot use ${freedom} degrees of freedom`);
}

/**
 * P(|T| > |t|), the two-sided p-value of a t statistic.
 * @param freedom degrees of freedom, above 0
 * @throws RangeError when the degrees of freedom are impossible
 */
export function studentTwoSided(t: number, freedom: number): number {
  requireFreedom(freedom);
  if (t === 0) return 1;
  if (!Number.isFinite(t)) return Number.isNaN(t) ? NaN : 0;
  const a = freedom / 2;
  const x = freedom / (freedom + t * t);
  const y = t * t / (freedom + t * t);
  // x^a · y^(1/2) / B(a, 1/2); log1p keeps the digits of x near 1
  const front = Math.exp(-a * Math.log1p(t * t / freedom)) * Math.sqrt(y) * gammaRatio(a) / Math.sqrt(Math.PI);
  return x < (a + 1) / (a + 2.5) ? front * betaFraction(a, 0.5, x) / a : 1 - 2 * front * betaFraction(0.5, a, y);
}

/** Density of T at t. */
function density(t: number, freedom: number): number {
  return gammaRatio(freedom / 2) / Math.sqrt(freedom * Math.PI) *
    Math.exp(-(freedom + 1) / 2 * Math.log1p(t * t / freedom));
}

/**
 * The quantile t with P(T < t) = p.
 * @param p 0 … 1
 * @param freedom degrees of freedom, above 0
 * @throws RangeError when p or the degrees of freedom are out of range
 */
export function studentQuantile(p: number, freedom: number): number {
  requireFreedom(freedom);
  if (!(p >= 0 && p <= 1)) throw new RangeError(`Cannot take the quantile ${p} of Student's t`);
  if (p === 0.5) return 0;
  if (p > 0.5) return -studentQuantile(1 - p, freedom);
  if (p === 0) return -Infinity;
  const z = -normalQuantile(p);
  // The root of P(T > t) = p lies in low … high; bisection replaces Newton steps that leave this bracket.
  let low = 0, high = Infinity;
  let t = z + (z ** 3 + z) / (4 * freedom);
  for (let step = 0; step < 1100; step++) {
    const excess = studentTwoSided(t, freedom) / 2 - p;
    if (excess > 0) low = t;
    else high = t;
    let next = t + excess / density(t, freedom);
    if (!(next > low && next < high)) next = high === Infinity ? 2 * t : (low + high) / 2;
    if (Math.abs(next - t) <= 1e-15 * t) return -next;
    t = next;
  }
  return -t;
}
