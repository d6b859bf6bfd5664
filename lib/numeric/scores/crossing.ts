/**
 * The place at which a curve reaches a target: on the line between two adjacent points on both sides of it. A rate falls about
 * exponentially with Es/N0 in dB, so its logarithm is interpolated.
 */

/** Place and value. */
export type CurvePoint = readonly [x: number, y: number];

/** The place on the line between two points; null where it is not between them. */
export function crossingBetween(
  [x, y]: CurvePoint,
  [x2, y2]: CurvePoint,
  target: number,
  isLog: boolean,
): number | null {
  const scale = (value: number) => isLog ? Math.log(value) : value;
  const share = (scale(target) - scale(y)) / (scale(y2) - scale(y));
  return share >= 0 && share <= 1 ? x + share * (x2 - x) : null;
}

/** The last place at which a curve reaches a target; null where no two adjacent points lie on both sides. */
export function crossingOf(curve: readonly CurvePoint[], target: number, isLog: boolean): number | null {
  const sorted = curve.filter(([, y]) => !isLog || y > 0).toSorted(([a], [b]) => a - b);
  for (let i = sorted.length - 1; i > 0; i--) {
    const place = crossingBetween(sorted[i - 1], sorted[i], target, isLog);
    if (place !== null) return place;
  }
  return null;
}
