/** Intervals of rates over statistical units: known values, limits, pooling. Their coverage: coverage_test.ts. */
import assert from "node:assert/strict";
import { rateMetadata, recordedRate } from "../../../lib/contract/metric_metadata.ts";
import { gaffkeInterval } from "../../../lib/numeric/scores/gaffke.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { countRate, pooledRate, type RateCounts, rateEstimate } from "../../../lib/numeric/scores/rate_interval.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { bitCounts, unitCounts } from "../../support/rates.ts";

const near = (actual: number, expected: number, tolerance = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);

Deno.test("of units of one trial it is the interval of Clopper and Pearson", () => {
  const table: [number, number, number, number][] = [
    [1, 10, 0.002528579, 0.4450161],
    [9, 1000, 0.0041233957, 0.0170157831],
    [10, 10, 0.6915029, 1],
  ];
  for (const [events, trials, low, high] of table) {
    const failed = Uint8Array.from({ length: trials }, (_, k) => Number(k < events));
    const interval = rateEstimate(countRate(failed, "packet"), 0.95)!;
    assert.equal(interval.method, "gaffke");
    near(interval.low!, low, 2e-7);
    near(interval.high!, high, 2e-7);
  }
});

Deno.test("the bound of a bit error rate is one half, and from 20 failed units on at most twice the largest share", () => {
  const errors = (failed: number) => [...Array(failed).fill(10), ...Array(200 - failed).fill(0)];
  const shares = (failed: number) => [{ share: 0.1, count: failed }, { share: 0, count: 200 - failed }];
  for (const [failed, bound] of [[5, 0.5], [19, 0.5], [20, 0.2], [60, 0.2]] as const) {
    const { low, high } = rateEstimate(unitCounts("packet", errors(failed), 100), 0.95)!;
    const expected = gaffkeInterval({ low: shares(failed), high: shares(failed) }, bound, 0.95);
    near(low!, expected.low);
    near(high!, expected.high);
  }
  const blocks = { ...unitCounts("packet", errors(5), 100) };
  delete blocks.bits;
  near(rateEstimate(blocks, 0.95)!.high!, gaffkeInterval({ low: shares(5), high: shares(5) }, 1, 0.95).high);
});

Deno.test("units of unequal size: errors over the mean size, and a bound that grows with the largest", () => {
  const counts = countRate([1, 1, ...Array(8).fill(0)], "packet", [4, 10]);
  const shares = [{ share: 2 / 5, count: 1 }, { share: 0, count: 1 }];
  const { low, high } = rateEstimate(counts, 0.95)!;
  const expected = gaffkeInterval({ low: shares, high: shares }, 6 / 5, 0.95);
  assert.deepEqual([low, high], [expected.low, Math.min(1, expected.high)]);
  assert.deepEqual(counts.failed_units, [[2, 4, 1]]);
  assert.deepEqual(counts.unit_sizes, [4, 6]);
});

Deno.test("beyond 4,096 different units shares lie on a grid, whatever the order, and the interval grows a little", () => {
  const random = Generator.seeded(3), parts: RateCounts[] = [];
  for (let part = 0; part < 4; part++) {
    const errors = Array.from(random.random(1500), (value) => Math.ceil(value * 90_000));
    parts.push(unitCounts("packet", [...errors, ...Array(500).fill(0)], 100_000));
  }
  const whole = pooledRate(parts)!, reversed = pooledRate(parts.toReversed())!;
  const pairs = pooledRate([pooledRate(parts.slice(0, 2))!, pooledRate([parts[3], parts[2]])!])!;
  assert.deepEqual([reversed, pairs], [whole, whole]);
  assert.ok(whole.on_grid && whole.failed_units!.length <= 4096);
  assert.equal(whole.failed_units!.reduce((sum, [, , count]) => sum + count, 0), whole.unit_failures);
  const { low, mean, high } = rateEstimate(whole, 0.95)!;
  assert.ok(low! < mean! && mean! < high! && high! - low! < 0.02, `${low} ${mean} ${high}`);
  assert.deepEqual(recordedRate(rateMetadata({ rate: whole }), "rate"), whole);
});

Deno.test("counts of older documents without failed units have no interval, and none when they are pooled", () => {
  const { failed_units: _, unit_sizes: __, ...old } = unitCounts("packet", [3, 0, 5], 100);
  const read = recordedRate({ metric_metadata: { rate: old } }, "rate")!;
  assert.deepEqual([read.failed_units, rateEstimate(read, 0.95)!.low], [null, null]);
  assert.equal(pooledRate([unitCounts("packet", [3], 100), read])!.failed_units, null);
  const whole = { events: 2, trials: 30, unit: "packet", units: 30, unit_failures: 2 };
  assert.deepEqual(recordedRate({ metric_metadata: { rate: whole } }, "rate")!.failed_units, [[1, 1, 2]]);
});

Deno.test("no event is a bound over units, and of bits over bits", () => {
  const { bound, none, ...rest } = rateEstimate(unitCounts("packet", Array(50).fill(0), 1000), 0.95)!;
  // The text names the units, so its bound is that of their share.
  const { bound: ofUnits, ...units } = none!;
  assert.deepEqual(units, { unit: "packet", units: 50, complement: false, confidence: 0.95 });
  near(ofUnits, 1 - 0.05 ** (1 / 50));
  assert.deepEqual(rest, { mean: null, low: null, high: null, method: "gaffke" });
  near(bound!, (1 - 0.05 ** (1 / 50)) / 2);
  near(rateEstimate(countRate(new Uint8Array(8), "transport_block"), 0.95)!.bound!, 1 - 0.05 ** (1 / 8));
  assert.equal(rateEstimate(bitCounts(0, 4000), 0.95)!.bound, 3 / 4000);
  assert.equal(rateEstimate(bitCounts(0, 4000), 0.99)!.bound, -Math.log1p(-0.99) / 4000);
  assert.equal(rateEstimate(bitCounts(0, 0), 0.95), null);
});

Deno.test("bits have Wilson's interval; a success rate mirrors that of failures; all failed is no certainty", () => {
  const { low, high, method } = rateEstimate(bitCounts(12, 4000), 0.95)!;
  assert.deepEqual([method, { low, high }], ["wilson", wilsonInterval(12, 4000)]);
  const failed = countRate(Uint8Array.of(1, ...Array(29).fill(0)), "packet");
  const lost = rateEstimate(failed, 0.95)!, arrived = rateEstimate({ ...failed, complement: true }, 0.95)!;
  assert.deepEqual([arrived.mean, arrived.low, arrived.high], [1 - lost.mean!, 1 - lost.high!, 1 - lost.low!]);
  const whole = rateEstimate({ ...countRate(new Uint8Array(30), "packet"), complement: true }, 0.95)!;
  assert.deepEqual([whole.mean, whole.high], [1, 1]);
  near(whole.low!, 0.025 ** (1 / 30));
  const none = rateEstimate(countRate(new Uint8Array(30).fill(1), "packet"), 0.95)!;
  assert.ok(none.mean === 1 && none.low! < 0.9 && none.high === 1);
});

Deno.test("pooled replicates have the interval of all their units together", () => {
  const parts = [[3, 0, 7], [0, 0, 9, 4]].map((events) => unitCounts("packet", events, 50));
  assert.deepEqual(pooledRate(parts), unitCounts("packet", [3, 0, 7, 0, 0, 9, 4], 50));
  assert.equal(pooledRate([parts[0], bitCounts(1, 2)]), null);
  assert.equal(pooledRate([]), null);
});
