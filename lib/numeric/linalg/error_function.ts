/**
 * The complementary error function, the Gaussian tail Q(x) = P(N(0,1) > x) and the normal quantile, each within 1e-12
 * relative, also far out in the tail.
 *
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.6 (series), 7.1.14 (continued fraction),
 * 26.2.23 (start of the quantile).
 */

/** From here on the continued fraction is used; below, 1 - erf loses less than three digits. */
const FRACTION_FROM = 2;
/** Terms of the continued fraction that reach binary64 precision at FRACTION_FROM. */
const FRACTION_TERMS = 90;
const TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);

/** erfc(x) = 2/sqrt(pi) times the integral of exp(-t²) from x on. */
export function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  if (x < FRACTION_FROM) {
    // erf(x) = 2/sqrt(pi)·exp(-x²)·(x + 2x³/3 + 4x⁵/15 + …): all terms positive.
    let term = x;
    let sum = x;
    for (let n = 1; term > sum * 1e-17; n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 1 - TWO_OVER_SQRT_PI * Math.exp(-x * x) * sum;
  }
  // sqrt(pi)·exp(x²)·erfc(x) = 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))))
  let fraction = x;
  for (let n = FRACTION_TERMS; n > 0; n--) fraction = x + n / 2 / fraction;
  return TWO_OVER_SQRT_PI / 2 * Math.exp(-x * x) / fraction;
}

/** Q(x), the probability that a standard normal value exceeds x. */
export function gaussianTail(x: number): number {
  return 0.5 * erfc(x / Math.SQRT2);
}

/** The quantile x with P(N(0,1) < x) = p. @throws RangeError when p is outside 0 … 1 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new RangeError(`Cannot take the normal quantile of ${p}`);
  if (p === 0) return -Infinity;
  if (p === 1) return Infinity;
  if (p === 0.5) return 0;
  if (p > 0.5) return -normalQuantile(1 - p);
  const t = Math.sqrt(-2 * Math.log(p));
  let x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  // Halley steps on Q(x) = p; each about triples the digits.
  for (let step = 0; step < 3; step++) {
    const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
    const newton = (gaussianTail(x) - p) / density;
    x += newton / (1 - 0.5 * x * newton);
  }
  return -x;
}
