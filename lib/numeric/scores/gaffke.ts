/**
 * Gaffke's interval of the mean of independent shares in 0 … b, from the least and the largest value that a mixture of the
 * shares x_1 … x_U with random weights takes:
 *
 *     high = the 1 - α/2 quantile of Σ W_u x_u + W_(U+1)·b      W ~ Dirichlet(1, …, 1) over U + 1 points
 *     low  = the α/2 quantile of the same with 0 in place of b
 *
 * Of shares 0 and 1, and b = 1, it is the interval of Clopper and Pearson. That it holds for all shares is a conjecture, which
 * `docs/explanation/statistics.md` measures.
 *
 * The weights are exponential variables over their sum, so P(Σ W_u x_u > t) = P(Σ E_u (x_u - t) > 0), E_u ~ Exp(1). With
 * K(s) = -Σ n ln(1 - (x - t)s), n the number of equal shares, this is the integral of exp(K(s))/s over a vertical line of
 * the complex plane. Here the line is a hyperbola through the saddle point on the real axis, with the curvature of the path of
 * steepest descent: the integrand falls with little oscillation, and the trapezoid rule converges exponentially.
 *
 * Source: Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
 * Mathematical Methods of Statistics 14, 2005; Learned-Miller and Thomas, "A new confidence interval for the mean of a bounded
 * random variable", arXiv:1905.06208, 2019; Lugannani and Rice, Advances in Applied Probability 12, 1980 (the inversion).
 */
import type { Interval } from "./statistics.ts";

/** A share and its number of units, which need not be whole. */
export interface Weighted {
  share: number;
  count: number;
}

/** Relative change of the integral at which its step is small enough: the error is about its square. */
const INTEGRAL_CHANGE = 1e-7;
/** Part of the peak below which the rest of the integrand counts for nothing. */
const NEGLIGIBLE = 1e-13;
/** In parts of the peak: where the integrand rises to it the line is bent to the wrong side, and a straight one is taken. */
const RISE = 2;
/** Of the logarithm of a probability: so far from the wanted one its leading term suffices. */
const FAR = 10;
/** Relative, of the distance of an end from the nearer extreme. */
const END_TOLERANCE = 1e-9;

/**
 * The interval of the mean of shares.
 * @param shares of all units, equal ones together; different for the two ends where they were rounded
 * @param bound no share can be above it
 * @param confidence two-sided, inside 0 … 1
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { gaffkeInterval } from "./gaffke.ts";
 *
 * const shares = [{ share: 0, count: 9 }, { share: 1, count: 1 }];
 * const { low, high } = gaffkeInterval({ low: shares, high: shares }, 1, 0.95);
 * // Clopper and Pearson's interval of 1 in 10.
 * assert.ok(Math.abs(low - 0.002528579) < 1e-8 && Math.abs(high - 0.4450161) < 1e-7);
 * ```
 */
export function gaffkeInterval(
  shares: { low: readonly Weighted[]; high: readonly Weighted[] },
  bound: number,
  confidence: number,
): Interval {
  const tail = (1 - confidence) / 2;
  const mirrored = [...shares.low, { share: 0, count: 1 }].map(({ share, count }) => ({ share: -share, count }));
  return { low: -upperEnd(mirrored, tail), high: upperEnd([...shares.high, { share: bound, count: 1 }], tail) };
}

/** The value above which the random mixture of the points lies with the probability `tail`. */
function upperEnd(points: readonly Weighted[], tail: number): number {
  const used = points.filter(({ count }) => count > 0), shares = used.map(({ share }) => share);
  const least = shares.reduce((a, b) => Math.min(a, b)), most = shares.reduce((a, b) => Math.max(a, b));
  const range = most - least, counts = Float64Array.from(used, ({ count }) => count);
  if (range === 0) return most;
  /** By how much the logarithm of P(mixture > origin + step) exceeds that of the tail. */
  const excess = (origin: number, step: number) =>
    logPositive(Float64Array.from(shares, (share) => share - origin - step), counts, Math.log(tail)) - Math.log(tail);
  // Near an extreme the distance from it is what has to be exact.
  const low = excess(least, range / 2) < 0, origin = low ? least : most, sign = low ? 1 : -1;
  return origin + sign * distance(range / 2, (step) => sign * excess(origin, sign * step));
}

/** The root of a falling function of a positive distance, which is negative at `far`. */
function distance(far: number, fall: (distance: number) => number): number {
  let high = far, atHigh = fall(high), low = high / 16, atLow = fall(low);
  while (atLow < 0) {
    [high, atHigh] = [low, atLow];
    low /= 16;
    atLow = fall(low);
  }
  while (atLow - atHigh > 20) {
    const middle = (low + high) / 2, value = fall(middle);
    if (value < 0) [high, atHigh] = [middle, value];
    else [low, atLow] = [middle, value];
  }
  // Secants that halve the value of an end which stays twice (the Illinois rule).
  for (let kept = 0; high - low > END_TOLERANCE * high;) {
    const next = high - atHigh * (high - low) / (atHigh - atLow), value = fall(next);
    if (Math.abs(value) < END_TOLERANCE / 10) return next;
    if (value < 0) {
      [high, atHigh] = [next, value];
      if (kept < 0) atLow /= 2;
      kept = -1;
    } else {
      [low, atLow] = [next, value];
      if (kept > 0) atHigh /= 2;
      kept = 1;
    }
  }
  return (low + high) / 2;
}

/**
 * ln P(Σ E_u x_u > 0) of values of which some are positive, with counts.
 * @param wanted logarithm near which the result has to be exact
 */
function logPositive(values: Float64Array, counts: Float64Array, wanted: number): number {
  let mean = 0;
  for (let i = 0; i < values.length; i++) mean += counts[i] * values[i];
  if (mean <= 0) return logTail(values, counts, wanted);
  // Above the mean the opposite tail is the small one.
  const opposite = logTail(values.map((value) => -value), counts, Math.log(-Math.expm1(wanted)));
  return Math.log1p(-Math.exp(opposite));
}

/** The same for a mean of at most 0. */
function logTail(values: Float64Array, counts: Float64Array, wanted: number): number {
  const size = values.reduce((a, b) => Math.max(a, b)), scaled = values.map((value) => value / size);
  // d/ds of K(s) - ln s rises from -∞ at 0 to ∞ at 1.
  const slope = (s: number) => {
    let total = -1 / s;
    for (let i = 0; i < scaled.length; i++) total += counts[i] * scaled[i] / (1 - scaled[i] * s);
    return total;
  };
  let saddle = 0.5;
  for (let step = 0.25; step > 2 ** -54; step /= 2) saddle += slope(saddle) < 0 ? step : -step;
  const rates = scaled.map((value) => value / (1 - value * saddle));
  let peak = -Math.log(saddle), second = saddle ** -2, third = -2 * saddle ** -3;
  for (let i = 0; i < rates.length; i++) {
    peak -= counts[i] * Math.log1p(-scaled[i] * saddle);
    second += counts[i] * rates[i] ** 2;
    third += 2 * counts[i] * rates[i] ** 3;
  }
  const width = 1 / Math.sqrt(second), leading = peak + Math.log(width / Math.sqrt(2 * Math.PI));
  if (Math.abs(leading - wanted) > FAR) return leading;
  const bend = Math.max(-1, Math.min(1, third * width / (3 * second)));
  return peak + Math.log(width / Math.PI * lineIntegral(rates, counts, saddle, width, bend));
}

/**
 * The integral of exp(K(s) - ln s) over the upper half of the hyperbola s = saddle + width·(i·sinh y + bend·(cosh y - 1)), its
 * real part by i·width, in parts of the value at the saddle point.
 */
function lineIntegral(
  rates: Float64Array,
  counts: Float64Array,
  saddle: number,
  width: number,
  bend: number,
): number {
  /** The integrand over y, and its size. */
  const at = (y: number): [number, number] => {
    const sine = Math.sinh(y), cosine = Math.cosh(y), v = width * sine, aside = width * bend * (cosine - 1);
    const square = v * v + aside * aside;
    let size = -0.5 * Math.log((saddle + aside) ** 2 + v * v) + Math.log(saddle),
      angle = -Math.atan2(v, saddle + aside);
    for (let i = 0; i < rates.length; i++) {
      const rate = rates[i];
      size -= 0.5 * counts[i] * Math.log1p(rate * (rate * square - 2 * aside));
      angle += counts[i] * Math.atan2(rate * v, 1 - rate * aside);
    }
    const height = Math.exp(size);
    return [
      height * (cosine * Math.cos(angle) + bend * sine * Math.sin(angle)),
      height * Math.hypot(cosine, bend * sine),
    ];
  };
  const nodes = (first: number, step: number): number => {
    for (let total = 0, y = first;; y += step) {
      const [value, height] = at(y);
      total += value;
      if (height < NEGLIGIBLE) return total;
      if (height > RISE) return NaN;
    }
  };
  let step = 0.4, sum = 0.5 + nodes(step, step);
  for (;;) {
    const before = step * sum;
    sum += nodes(step / 2, step);
    step /= 2;
    if (Number.isNaN(sum)) return lineIntegral(rates, counts, saddle, width, 0);
    if (Math.abs(step * sum - before) < INTEGRAL_CHANGE * Math.abs(step * sum)) return step * sum;
  }
}
