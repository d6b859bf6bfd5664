import assert from "node:assert/strict";
import * as statistics from "../../../lib/numeric/scores/statistics.ts";
import stored from "../../data/numeric/theory.json" with { type: "json" };

function assertClose(got: number, expected: number, what: string) {
  assert.ok(Math.abs(got - expected) <= 1e-12 * Math.max(1e-12, Math.abs(expected)), `${what}: ${got} for ${expected}`);
}

Deno.test("mean, variance and quantiles are those of NumPy", () => {
  const { values } = stored;
  assertClose(statistics.mean(values), stored.mean, "mean");
  assertClose(statistics.variance(values), stored.variance, "variance");
  assertClose(statistics.variance(values, 0), stored.population_variance, "population variance");
  assertClose(statistics.standardDeviation(values), Math.sqrt(stored.variance), "standard deviation");
  for (const [q, expected] of stored.quantiles) assertClose(statistics.quantile(values, q), expected, `quantile ${q}`);
  assert.equal(statistics.median([4, 1, 3, 2]), 2.5);
  assert.equal(statistics.median([7]), 7);
});

Deno.test("sums keep what large terms hide", () => {
  assert.equal(statistics.sum([1, 1e100, 1, -1e100]), 2);
  assert.equal(statistics.sum([]), 0);
  assert.equal(statistics.sum([1, Infinity, 2]), Infinity);
  assert.equal(statistics.sum(new Float64Array(10).fill(0.1)), 1);
});

Deno.test("impossible requests are refused", () => {
  assert.throws(() => statistics.quantile([], 0.5), RangeError);
  assert.throws(() => statistics.quantile([1], 1.5), RangeError);
  assert.throws(() => statistics.wilsonInterval(3, 2), RangeError);
  assert.throws(() => statistics.wilsonInterval(0, 0), RangeError);
  assert.throws(() => statistics.wilsonInterval(1, 2, 1), RangeError);
  assert.throws(() => statistics.zeroEventsBound(0), RangeError);
  assert.ok(Number.isNaN(statistics.mean([])));
});

Deno.test("Wilson's interval is SciPy's", () => {
  for (const [events, trials, confidence, low, high] of stored.wilson) {
    const interval = statistics.wilsonInterval(events, trials, confidence);
    assertClose(interval.low, low, `low of ${events}/${trials}`);
    assertClose(interval.high, high, `high of ${events}/${trials}`);
  }
});

Deno.test("no event in n trials bounds the rate by 3/n", () => {
  assert.equal(statistics.zeroEventsBound(1000), 0.003);
  assert.equal(statistics.zeroEventsBound(2), 1);
  assertClose(statistics.zeroEventsBound(1000, 0.99), -Math.log(0.01) / 1000, "99 %");
});
