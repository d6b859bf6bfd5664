/** Water-filling, the box and the simplex projection: known answers, the optimality conditions, and rivals. */
import assert from "node:assert/strict";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { sum } from "../../../lib/numeric/scores/statistics.ts";
import {
  noiseFloors,
  projectOntoSimplex,
  waterFill,
  waterFillBox,
  waterFillingResidual,
  waterLevel,
} from "../../../lib/numeric/link/water_filling.ts";

const near = (actual: ArrayLike<number>, expected: number[], tolerance = 1e-12) => {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, i) =>
    assert.ok(Math.abs(actual[i] - value) <= tolerance, `${Array.from(actual)} is not ${expected}`)
  );
};
const rate = (powers: ArrayLike<number>, floors: ArrayLike<number>) =>
  sum(Array.from(powers, (p, i) => Math.log2(1 + p / floors[i])));

/** Random problems, most of them unpleasant: many orders of magnitude, ties, elements without gain. */
function* problems(count: number): Iterable<{ floors: Float64Array; budget: number }> {
  const generator = Generator.seeded(5n);
  for (let trial = 0; trial < count; trial++) {
    const size = 1 + Math.floor(generator.random() * 40);
    const decades = generator.random() * 30;
    const floors = Float64Array.from({ length: size }, () => {
      const exponent = (generator.random() - 0.5) * decades;
      if (generator.random() < 0.1) return Infinity;
      return 10 ** (generator.random() < 0.2 ? Math.round(exponent) : exponent);
    });
    yield { floors, budget: 10 ** ((generator.random() - 0.5) * 6) };
  }
}

Deno.test("known answers: all wet, one dry, a tie at the surface, no gain, nothing to share", () => {
  near(waterFill([1, 2, 3], 6), [3, 2, 1]);
  near(waterFill([1, 2, 10], 3), [2, 1, 0]);
  near(waterFill([10, 1, 2], 3), [0, 2, 1]);
  near(waterFill([1, 2], 1), [1, 0]);
  near(waterFill([4, 4, 4], 3), [1, 1, 1]);
  near(waterFill([Infinity, 1], 5), [0, 5]);
  near(waterFill([Infinity, Infinity], 5), [2.5, 2.5]);
  near(waterFill([1, 2], 0), [0, 0]);
  near(waterFill([7], 2), [2]);
  assert.equal(waterLevel([1, 2, 10], 3), 3);
  assert.equal(waterLevel([Infinity], 3), Infinity);
  assert.deepEqual([...noiseFloors([2, 0, 0.5], 1)], [0.5, Infinity, 2]);
});

Deno.test("floors far above the budget cost no digits", () => {
  // Two powers that differ by 1, on floors of 1e12: the level itself has no digits left for them.
  near(waterFill([1e12, 1e12 + 1], 3), [2, 1]);
  near(waterFillBox([1e12, 1e12 + 1], 3, { lower: 0.5, upper: 1.75 }), [1.75, 1.25]);
});

Deno.test("powers meet the budget and the optimality conditions to 1e-9", () => {
  for (const { floors, budget } of problems(2000)) {
    const powers = waterFill(floors, budget);
    assert.ok(powers.every((p) => p >= 0));
    assert.ok(Math.abs(sum(powers) / budget - 1) <= 1e-12, `${sum(powers)} of ${budget}`);
    assert.ok(waterFillingResidual(powers, floors, budget) <= 1e-9);
  }
});

Deno.test("no other sharing of the budget carries more", () => {
  const generator = Generator.seeded(6n);
  for (const { floors, budget } of problems(200)) {
    const best = rate(waterFill(floors, budget), floors);
    for (let rival = 0; rival < 20; rival++) {
      const shares = Float64Array.from(floors, () => generator.random() ** 6);
      const powers = shares.map((share) => share / sum(shares) * budget);
      assert.ok(rate(powers, floors) <= best * (1 + 1e-12));
    }
  }
});

Deno.test("the residual tells a distance from the optimum", () => {
  const floors = [1, 2, 10];
  assert.equal(waterFillingResidual([2, 1, 0], floors, 3), 0);
  // Level 3: the second element could do with 0.1 more.
  near([waterFillingResidual([2, 0.9, 0], floors, 3)], [3 / 2.9 - 1]);
  // An element left dry under water, and one that carries nothing.
  near([waterFillingResidual([3, 0, 0], floors, 3)], [0.5]);
  assert.equal(waterFillingResidual([2, 1], [1, Infinity], 3), 1);
  assert.equal(waterFillingResidual([2, 1], [Infinity, Infinity], 3), 0);
});

Deno.test("a box: known answers", () => {
  near(waterFillBox([1, 2, 3], 6, { lower: 0, upper: 6 }), [3, 2, 1]);
  near(waterFillBox([1, 2, 3], 6, { lower: 1.5, upper: 2.4 }), [2.4, 2.1, 1.5]);
  near(waterFillBox([1, 2, 10], 3, { lower: 0.1, upper: 1.9 }), [1.9, 1, 0.1]);
  near(waterFillBox([1, 5], 2, { lower: 1, upper: 1 }), [1, 1]);
  near(waterFillBox([1, 50], 2, { lower: 0, upper: 1 }), [1, 1]);
  // What the good element has no room for goes to those without gain.
  near(waterFillBox([1, Infinity, Infinity], 3, { lower: 0.2, upper: 1.5 }), [1.5, 0.75, 0.75]);
  near(waterFillBox([Infinity, Infinity], 3, { lower: 0.2, upper: 9 }), [1.5, 1.5]);
  assert.throws(() => waterFillBox([1, 2], 2, { lower: 1.1, upper: 3 }), RangeError);
  assert.throws(() => waterFillBox([1, 2], 2, { lower: 0, upper: 0.9 }), RangeError);
});

Deno.test("a box: bounds and budget hold, and power inside the box stands at one level", () => {
  const generator = Generator.seeded(7n);
  for (const { floors, budget } of problems(1000)) {
    const mean = budget / floors.length;
    const lower = mean * generator.random(), upper = mean * (1 + 3 * generator.random());
    const powers = waterFillBox(floors, budget, { lower, upper });
    assert.ok(Math.abs(sum(powers) / budget - 1) <= 1e-12);
    assert.ok(powers.every((p) => p >= lower && p <= upper));
    if (floors.every((floor) => floor === Infinity)) continue;
    // Marginal rates 1/(p+f): those at the top at least as high as those inside, those at the bottom at most.
    const prices = Array.from(powers, (p, i) => 1 / (p + floors[i]));
    const inside = prices.filter((_, i) => powers[i] > lower && powers[i] < upper);
    const top = prices.filter((_, i) => powers[i] === upper), bottom = prices.filter((_, i) => powers[i] === lower);
    const tolerance = 1 + 1e-9;
    assert.ok(Math.max(...inside, 0) <= Math.min(...inside, Infinity) * tolerance);
    assert.ok(Math.max(...inside, ...bottom, 0) <= Math.min(...top, Infinity) * tolerance);
    assert.ok(Math.max(...bottom, 0) <= Math.min(...inside, Infinity) * tolerance);
  }
});

Deno.test("a wide box is no box", () => {
  for (const { floors, budget } of problems(300)) {
    near(
      Array.from(waterFillBox(floors, budget, { lower: 0, upper: budget }), (p) => p / budget),
      Array.from(waterFill(floors, budget), (p) => p / budget),
      1e-12,
    );
  }
});

Deno.test("the projection: known answers, fixed points, and nothing nearer", () => {
  near(projectOntoSimplex([0.5, 0.5], 1), [0.5, 0.5]);
  near(projectOntoSimplex([2, 0], 1), [1, 0]);
  near(projectOntoSimplex([-5, -5, -6], 2), [1, 1, 0]);
  near(projectOntoSimplex([3, 1, -1], 3), [2.5, 0.5, 0]);
  assert.throws(() => projectOntoSimplex([NaN, 1], 1), RangeError);
  assert.throws(() => projectOntoSimplex([Infinity, 1], 1), RangeError);
  assert.throws(() => projectOntoSimplex([], 1), RangeError);
  const generator = Generator.seeded(8n);
  const distance = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    sum(Array.from(a, (value, i) => (value - b[i]) ** 2));
  for (let trial = 0; trial < 500; trial++) {
    const scores = Float64Array.from({ length: 1 + trial % 9 }, () => 6 * generator.random() - 3);
    const budget = 0.1 + 4 * generator.random();
    const projected = projectOntoSimplex(scores, budget);
    assert.ok(projected.every((p) => p >= 0));
    assert.ok(Math.abs(sum(projected) / budget - 1) <= 1e-12);
    near(projectOntoSimplex(projected, budget), [...projected]);
    for (let rival = 0; rival < 10; rival++) {
      const shares = Float64Array.from(scores, () => generator.random() ** 4);
      const other = shares.map((share) => share / sum(shares) * budget);
      assert.ok(distance(scores, projected) <= distance(scores, other) + 1e-12);
    }
  }
});

/** Scores of many sizes: small and large, near and far from the budget, with ties. */
function* projections() {
  const generator = Generator.seeded(18n);
  for (let trial = 0; trial < 400; trial++) {
    const scale = 10 ** Math.floor(9 * generator.random() - 4);
    const scores = Float64Array.from(
      { length: 1 + trial % 130 },
      () => Math.fround(scale * generator.normal(0, 1, 1)[0]),
    );
    for (let i = 3; i < scores.length; i += 7) scores[i] = scores[i - 1];
    yield { scores, budget: scores.length * (0.1 + generator.random()), generator };
  }
}

Deno.test("the projection meets the budget to two units in the last place, and the optimality conditions", () => {
  for (const { scores, budget } of projections()) {
    const powers = projectOntoSimplex(scores, budget);
    assert.ok(Math.abs(sum(powers) - budget) <= 2 ** -52 * budget, `${sum(powers)} for ${budget}`);
    // One theta: s - p where there is power, at least s where there is none.
    const thetas = Array.from(powers, (power, i) => scores[i] - power).filter((_, i) => powers[i] > 0);
    const theta = Math.max(...thetas);
    const scale = Math.max(budget, ...scores.map(Math.abs));
    assert.ok(theta - Math.min(...thetas) <= 1e-14 * scale);
    scores.forEach((score, i) => assert.ok(powers[i] > 0 || score <= theta + 1e-14 * scale));
  }
});

Deno.test("the projection does not know places: another order gives the same powers, bit for bit", () => {
  for (const { scores, budget, generator } of projections()) {
    const powers = projectOntoSimplex(scores, budget);
    const order = Array.from(generator.permutation(scores.length), Number);
    const moved = projectOntoSimplex(Float64Array.from(order, (i) => scores[i]), budget);
    assert.deepEqual(moved, Float64Array.from(order, (i) => powers[i]));
    scores.forEach((score, i) => assert.ok(i === 0 || score !== scores[i - 1] || powers[i] === powers[i - 1]));
  }
});

Deno.test("an unusable budget is refused", () => {
  for (const budget of [-1, NaN, Infinity]) assert.throws(() => waterFill([1], budget), RangeError);
  assert.throws(() => waterFill([], 1), RangeError);
});
