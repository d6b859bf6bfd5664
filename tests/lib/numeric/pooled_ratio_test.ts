/** Root mean squares and ratios pool by their sums, and their intervals contain the true value as often as they say. */
import assert from "node:assert/strict";
import {
  pooledEstimate,
  type PooledReduction,
  pooledSums,
  pooledValue,
  ratioSums,
  rootMeanSquare,
} from "../../../lib/numeric/scores/pooled_ratio.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { studentQuantile } from "../../../lib/numeric/scores/student_t.ts";

Deno.test("the root is taken of the sums of all runs, not as the mean of their roots", () => {
  const runs = [[3, 4], [1, 1, 1, 1], [0]].map(rootMeanSquare);
  assert.deepEqual(runs.map(pooledValue), [Math.sqrt(12.5), 1, 0]);
  const sums = runs.map(({ sums }) => sums).reduce(pooledSums);
  assert.deepEqual(sums, rootMeanSquare([3, 4, 1, 1, 1, 1, 0]).sums);
  assert.equal(pooledValue({ reduction: "root_mean_square", sums }), Math.sqrt(29 / 7));
  const ratio = { sums: ratioSums([1, 3], [10, 30]), reduction: "ratio_of_sums_db" as PooledReduction };
  assert.equal(pooledValue(ratio), -10);
  assert.equal(pooledValue({ ...ratio, reduction: "ratio_of_sums" }), 0.1);
});

Deno.test("nothing measured has no value; a single unit and errors of zero have no interval", () => {
  assert.equal(pooledValue(rootMeanSquare([])), null);
  assert.equal(pooledEstimate({ reduction: "ratio_of_sums", sums: ratioSums([1], [0]) }, 0.95), null);
  assert.equal(pooledValue({ reduction: "ratio_of_sums_db", sums: ratioSums([0, 0]) }), null);
  assert.deepEqual(pooledEstimate(rootMeanSquare([2]), 0.95), { mean: 2, low: null, high: null });
  assert.deepEqual(pooledEstimate(rootMeanSquare([0, 0]), 0.95), { mean: 0, low: null, high: null });
});

Deno.test("the interval is Student's on the logarithm of the mean square", () => {
  const errors = [1, 2, 3, 4, 5], squares = errors.map((error) => error ** 2), n = 5, mean = 11;
  const deviation = Math.sqrt(squares.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1));
  const reach = studentQuantile(0.975, n - 1) * deviation / (mean * Math.sqrt(n));
  const { low, high } = pooledEstimate(rootMeanSquare(errors), 0.95)!;
  assert.ok(Math.abs(low! - Math.sqrt(mean * Math.exp(-reach))) < 1e-12);
  assert.ok(Math.abs(high! - Math.sqrt(mean * Math.exp(reach))) < 1e-12);
});

/** How often the interval over so many examples contains the truth. */
function coverage(examples: number, draw: (generator: Generator) => [error: number, weight: number], truth: number) {
  const generator = Generator.seeded(611n), rounds = 1000;
  let covered = 0;
  for (let round = 0; round < rounds; round++) {
    const units = Array.from({ length: examples }, () => draw(generator));
    const sums = ratioSums(units.map(([error]) => error), units.map(([, weight]) => weight));
    const { low, high } = pooledEstimate({ reduction: "root_mean_square", sums }, 0.95)!;
    if (low! <= truth && truth <= high!) covered++;
  }
  return covered / rounds;
}

Deno.test("intervals over examples contain the true root mean square 95 times in 100", () => {
  const normal = (generator: Generator) => Number((generator.standardNormal(1) as Float64Array)[0]);
  // One normal error an example, and two correlated errors of two coordinates with a number of targets that varies.
  const single = (generator: Generator): [number, number] => [normal(generator) ** 2, 1];
  const clustered = (generator: Generator): [number, number] => {
    const common = normal(generator), targets = 1 + Math.floor(3 * (generator.random(1) as Float64Array)[0]);
    let sum = 0;
    for (let i = 0; i < targets; i++) sum += (common + normal(generator)) ** 2 / 2;
    return [sum, targets];
  };
  for (const [examples, least] of [[300, 0.93], [100, 0.92], [30, 0.89]] as const) {
    for (const draw of [single, clustered]) {
      const share = coverage(examples, draw, 1);
      assert.ok(share >= least && share <= 0.97, `${share} of ${examples} examples`);
    }
  }
});
