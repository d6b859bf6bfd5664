/**
 * Bjøntegaard's mean differences of two rate-distortion curves, by monotone piecewise cubics through quality and the logarithm
 * of the rate.
 *
 *     BD-rate = exp(mean of ln R_candidate(q) - ln R_reference(q)) - 1        over the quality that both curves have
 *     BD-quality = mean of Q_candidate(ln R) - Q_reference(ln R)              over the rate that both curves have
 *
 * A BD-rate of -0.3 means the same quality at 30 % less rate on average. BD-quality of the PSNR is known as BD-PSNR, in dB.
 *
 * Sources: Bjøntegaard, "Calculation of average PSNR differences between RD-curves", VCEG-M33, 2001; piecewise cubics instead of
 * one polynomial as in JCTVC-L1100; slopes after Fritsch and Butland, 1984, as in SciPy's PchipInterpolator.
 */

export interface RatePoint {
  /** Above 0. */
  readonly rate: number;
  readonly quality: number;
}

export interface RateDifference {
  /** Of the rate relative, of the quality in its unit. */
  readonly difference: number;
  /** The common range of quality, or of rate. */
  readonly from: number;
  readonly to: number;
}

/**
 * The mean difference in rate of a curve from a reference.
 * @returns null without two points of increasing quality on each curve, or without a common range
 */
export function bdRate(reference: readonly RatePoint[], candidate: readonly RatePoint[]): RateDifference | null {
  const found = meanDifference(reference, candidate, ({ rate, quality }) => [quality, Math.log(rate)]);
  return found && { ...found, difference: Math.expm1(found.difference) };
}

/**
 * The mean difference in quality of a curve from a reference.
 * @returns null without two points of increasing rate on each curve, or without a common range
 */
export function bdQuality(reference: readonly RatePoint[], candidate: readonly RatePoint[]): RateDifference | null {
  const found = meanDifference(reference, candidate, ({ rate, quality }) => [Math.log(rate), quality]);
  return found && { ...found, from: Math.exp(found.from), to: Math.exp(found.to) };
}

function meanDifference(
  reference: readonly RatePoint[],
  candidate: readonly RatePoint[],
  place: (point: RatePoint) => [x: number, y: number],
): RateDifference | null {
  const [a, b] = [reference, candidate].map((points) => knotsOf(points, place));
  if (a === null || b === null) return null;
  const from = Math.max(a.x[0], b.x[0]), to = Math.min(a.x.at(-1)!, b.x.at(-1)!);
  if (!(to > from)) return null;
  return { difference: (integral(b, from, to) - integral(a, from, to)) / (to - from), from, to };
}

/** Places, values and slopes of the interpolant. */
interface Knots {
  x: readonly number[];
  y: readonly number[];
  slopes: readonly number[];
}

function knotsOf(points: readonly RatePoint[], place: (point: RatePoint) => [x: number, y: number]): Knots | null {
  const sorted = points.filter(({ rate, quality }) => rate > 0 && Number.isFinite(quality)).map(place)
    .sort(([a], [b]) => a - b);
  const distinct = sorted.filter(([x], i) => i === 0 || x > sorted[i - 1][0]);
  if (distinct.length < 2) return null;
  const x = distinct.map(([x]) => x), y = distinct.map(([, y]) => y);
  return { x, y, slopes: slopesOf(x, y) };
}

function slopesOf(x: readonly number[], y: readonly number[]): number[] {
  const last = x.length - 1, h = x.slice(1).map((value, i) => value - x[i]);
  const d = h.map((width, i) => (y[i + 1] - y[i]) / width);
  if (last === 1) return [d[0], d[0]];
  const end = (h0: number, h1: number, d0: number, d1: number) => {
    const slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (Math.sign(slope) !== Math.sign(d0)) return 0;
    return Math.sign(d0) !== Math.sign(d1) && Math.abs(slope) > 3 * Math.abs(d0) ? 3 * d0 : slope;
  };
  return x.map((_, i) => {
    if (i === 0) return end(h[0], h[1], d[0], d[1]);
    if (i === last) return end(h[last - 1], h[last - 2], d[last - 1], d[last - 2]);
    if (d[i - 1] * d[i] <= 0) return 0;
    const [left, right] = [2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]];
    return (left + right) / (left / d[i - 1] + right / d[i]);
  });
}

/** Integral of the interpolant. */
function integral({ x, y, slopes }: Knots, from: number, to: number): number {
  let sum = 0;
  for (let i = 0; i + 1 < x.length; i++) {
    const [a, b] = [Math.max(from, x[i]), Math.min(to, x[i + 1])];
    if (b <= a) continue;
    const h = x[i + 1] - x[i], d = (y[i + 1] - y[i]) / h;
    const [c2, c3] = [(3 * d - 2 * slopes[i] - slopes[i + 1]) / h, (slopes[i] + slopes[i + 1] - 2 * d) / h ** 2];
    const primitive = (t: number) => t * (y[i] + t * (slopes[i] / 2 + t * (c2 / 3 + t * c3 / 4)));
    sum += primitive(b - x[i]) - primitive(a - x[i]);
  }
  return sum;
}
