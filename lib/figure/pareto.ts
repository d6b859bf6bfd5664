/** The Pareto front of points on two axes with directions. */

type Direction = "higher_is_better" | "lower_is_better";

/**
 * Finds non-dominated points: no other point is at least as good on both axes and better on one.
 * @returns a flag per point, in the given order; equal points are on the front together
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { paretoFront } from "./pareto.ts";
 *
 * const points = [{ x: 1, y: 30 }, { x: 2, y: 29 }, { x: 2, y: 35 }];
 * assert.deepEqual(paretoFront(points, "lower_is_better", "higher_is_better"), [true, false, true]);
 * ```
 */
export function paretoFront(
  points: readonly { x: number; y: number }[],
  x: Direction,
  y: Direction,
): boolean[] {
  const cost = points.map((point) => [
    x === "lower_is_better" ? point.x : -point.x,
    y === "lower_is_better" ? point.y : -point.y,
  ]);
  return cost.map(([a, b]) => !cost.some(([c, d]) => c <= a && d <= b && (c < a || d < b)));
}
