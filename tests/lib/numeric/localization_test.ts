import assert from "node:assert/strict";
import {
  linearTrilateration,
  perimeterAnchors,
  type Point,
  rangeCramerRao,
  refinePosition,
  regularizedTrilateration,
  robustTrilateration,
} from "../../../lib/numeric/antenna/localization.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const CORNERS = perimeterAnchors(4, 20);
const rangesFrom = (anchors: Float64Array, [x, y]: Point) =>
  Float64Array.from({ length: anchors.length / 2 }, (_, i) => Math.hypot(x - anchors[2 * i], y - anchors[2 * i + 1]));

Deno.test("anchors walk around the square counter-clockwise", () => {
  assert.deepEqual([...CORNERS], [0, 0, 20, 0, 20, 20, 0, 20]);
  assert.deepEqual([...perimeterAnchors(8, 2)], [0, 0, 1, 0, 2, 0, 2, 1, 2, 2, 1, 2, 0, 2, 0, 1]);
  assert.deepEqual([...perimeterAnchors(1, 2)], [0, 0]);
});

Deno.test("exact ranges give the exact position", () => {
  for (const count of [3, 4, 7]) {
    const anchors = perimeterAnchors(count, 20);
    for (const point of [[3, 17], [10, 10], [0.5, 0.25]] as Point[]) {
      const ranges = rangesFrom(anchors, point), start = linearTrilateration(anchors, ranges)!;
      assert.ok(Math.hypot(start[0] - point[0], start[1] - point[1]) < 1e-12);
      const refined = refinePosition(anchors, ranges, [start[0] + 0.5, start[1] - 0.5]);
      assert.ok(Math.hypot(refined[0] - point[0], refined[1] - point[1]) < 1e-9);
    }
  }
});

Deno.test("anchors on a line, and fewer than three, leave the position open; a pull closes it", () => {
  const line = Float64Array.of(0, 0, 5, 5, 10, 10), point: Point = [4, 1];
  assert.equal(linearTrilateration(line, rangesFrom(line, point)), null);
  const two = Float64Array.of(0, 0, 10, 0);
  assert.equal(linearTrilateration(two, rangesFrom(two, point)), null);
  assert.equal(linearTrilateration(two.subarray(0, 2), Float64Array.of(4)), null);
  // On the line the pull acts across it alone: the estimate is the foot of the point.
  const [x, y] = regularizedTrilateration(line, rangesFrom(line, point));
  assert.ok(Math.abs(x - y) < 1e-9 && Math.abs(x + y - 5) < 0.05, `${x} ${y}`);
  // One anchor says nothing: its own place is the centroid.
  assert.deepEqual(regularizedTrilateration(Float64Array.of(3, 4), Float64Array.of(2)), [3, 4]);
});

Deno.test("the pull is the least-squares solution of the system with two more rows", () => {
  const ranges = Float64Array.of(9, 12, 15, 11), [x, y] = regularizedTrilateration(CORNERS, ranges);
  const cost = (px: number, py: number) => {
    let sum = 0.1 * ((px - 10) ** 2 + (py - 10) ** 2);
    for (let i = 1; i < 4; i++) {
      const ax = CORNERS[2 * i], ay = CORNERS[2 * i + 1];
      sum += (2 * ax * px + 2 * ay * py - (ax * ax + ay * ay - ranges[i] ** 2 + ranges[0] ** 2)) ** 2;
    }
    return sum;
  };
  for (const [dx, dy] of [[1e-4, 0], [-1e-4, 0], [0, 1e-4], [0, -1e-4]]) assert.ok(cost(x + dx, y + dy) > cost(x, y));
});

Deno.test("the bound at the centre of four corners is σ² in the two directions together", () => {
  // Unit vectors at 45°: the information matrix is 2/σ²·I.
  assert.ok(Math.abs(rangeCramerRao(CORNERS, [10, 10], 0.3) - 0.09) < 1e-15);
  assert.equal(rangeCramerRao(Float64Array.of(0, 0, 5, 5), [10, 10], 1), Infinity);
});

Deno.test("the refined estimate is efficient and the linear one is not", () => {
  const generator = Generator.seeded(7), sigma = 0.05, count = 4000;
  let refined = 0, linear = 0, bound = 0;
  for (let trial = 0; trial < count; trial++) {
    const [x, y] = (generator.random(2) as Float64Array).map((u) => 2 + 16 * u), point: Point = [x, y];
    const noise = generator.standardNormal(4) as Float64Array;
    const ranges = rangesFrom(CORNERS, point).map((range, i) => range + sigma * noise[i]);
    const start = linearTrilateration(CORNERS, ranges)!, best = refinePosition(CORNERS, ranges, start);
    linear += (start[0] - x) ** 2 + (start[1] - y) ** 2;
    refined += (best[0] - x) ** 2 + (best[1] - y) ** 2;
    bound += rangeCramerRao(CORNERS, point, sigma);
  }
  // The squared error of 4000 trials has a relative standard deviation of about 1/sqrt(4000) = 1.6 %.
  assert.ok(Math.abs(refined / bound - 1) < 0.06, `efficient: ${refined / bound}`);
  assert.ok(linear / bound > 1.2, `linear: ${linear / bound}`);
});

Deno.test("the robust estimate finds the links that are too long, and uses all others", () => {
  const anchors = perimeterAnchors(8, 20), point: Point = [6, 13];
  const clean = rangesFrom(anchors, point);
  for (const blocked of [[], [0], [2, 3], [0, 4, 7]]) {
    const ranges = clean.map((range, i) => range + (blocked.includes(i as never) ? 3 : 0));
    const [x, y] = robustTrilateration(anchors, ranges, 0.1)!;
    assert.ok(Math.hypot(x - point[0], y - point[1]) < 1e-6, `${blocked}: ${x} ${y}`);
  }
  const noisy = clean.map((range, i) => range + 0.02 * Math.cos(5 * i));
  const start = linearTrilateration(anchors, noisy)!;
  const all = refinePosition(anchors, noisy, start), robust = robustTrilateration(anchors, noisy, 0.1)!;
  assert.ok(Math.hypot(all[0] - robust[0], all[1] - robust[1]) < 1e-9);
  const line = Float64Array.of(0, 0, 5, 5, 10, 10);
  assert.equal(robustTrilateration(line, rangesFrom(line, [4, 1]), 0.1), null);
});

Deno.test("links that are too short never count as blocked", () => {
  const anchors = perimeterAnchors(4, 20), clean = rangesFrom(anchors, [10, 10]);
  const short = clean.map((range, i) => range - (i === 0 ? 3 : 0));
  const [x, y] = robustTrilateration(anchors, short, 0.1)!;
  // All other ranges are consistent at the centre; the short one still draws the estimate away from it.
  assert.ok(Math.hypot(x - 10, y - 10) > 0.5, `${x} ${y}`);
});
