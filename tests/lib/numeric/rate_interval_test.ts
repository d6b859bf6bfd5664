/**
 * Intervals of rates over statistical units: known values, limits, and coverage by simulation of links that stop at 100
 * failed units, stop at a half-width, or have ten replicates.
 */
import assert from "node:assert/strict";
import { stopReason } from "../../../lib/benchmark/stop.ts";
import { Tally } from "../../../lib/benchmark/tally.ts";
import type { Replication } from "../../../lib/benchmark/types.ts";
import { gaussianTail } from "../../../lib/numeric/error_function.ts";
import { Generator } from "../../../lib/numeric/random.ts";
import {
  addUnit,
  clopperPearson,
  countRate,
  pooledRate,
  type RateCounts,
  rateEstimate,
  type StatisticalUnit,
} from "../../../lib/numeric/rate_interval.ts";
import { wilsonInterval } from "../../../lib/numeric/statistics.ts";
import { studentQuantile } from "../../../lib/numeric/student_t.ts";
import { bitCounts } from "../../support/rates.ts";

const near = (actual: number, expected: number, tolerance = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);

Deno.test("Clopper and Pearson's interval has the tabulated ends", () => {
  // Roots of the binomial sums with exact integers.
  const table: [number, number, number, number][] = [
    [0, 10, 0, 0.3084971],
    [1, 10, 0.002528579, 0.4450161],
    [9, 1000, 0.0041233957, 0.0170157831],
    [10, 10, 0.6915029, 1],
  ];
  for (const [events, trials, low, high] of table) {
    const interval = clopperPearson(events, trials, 0.95);
    near(interval.low, low, 2e-7);
    near(interval.high, high, 2e-7);
  }
  assert.throws(() => clopperPearson(3, 2, 0.95), RangeError);
});

/** Units with so many events each, of so many trials each. */
function units(unit: StatisticalUnit, events: readonly number[], trials: number): RateCounts {
  const counts = countRate([], unit);
  for (const count of events) addUnit(counts, count, trials);
  return counts;
}

Deno.test("the interval of clusters is the ratio estimator with Student's t over units", () => {
  const events = Array.from({ length: 40 }, (_, k) => k % 3 === 0 ? k : 0), n = 100;
  const { mean, low, high, method } = rateEstimate(units("packet", events, n), 0.95)!;
  const p = events.reduce((sum, e) => sum + e, 0) / (40 * n);
  const squares = events.reduce((sum, e) => sum + (e - p * n) ** 2, 0);
  const reach = studentQuantile(0.975, 39) * Math.sqrt(40 / 39 * squares) / (40 * n);
  assert.equal(method, "cluster_t");
  for (const [actual, expected] of [[mean, p], [low, p - reach], [high, p + reach]]) near(actual!, expected!);
});

Deno.test("with fewer than ten failed units the interval is exact over units, times the events of a failed one", () => {
  const { mean, low, high, method } = rateEstimate(
    units("transport_block", [0, 0, 30, 50, ...Array(96).fill(0)], 200),
    0.95,
  )!;
  const share = clopperPearson(2, 100, 0.95);
  assert.equal(method, "cluster_exact");
  near(mean!, 80 / 20000);
  near(low!, share.low * 40 / 200);
  near(high!, share.high * 40 / 200);
});

Deno.test("no event is a bound over units, and of bits over bits", () => {
  assert.deepEqual(rateEstimate(units("packet", Array(50).fill(0), 1000), 0.95), {
    mean: null,
    low: null,
    high: null,
    method: "cluster_exact",
    bound: 3 / 50,
  });
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
  near(whole.low!, 1 - clopperPearson(0, 30, 0.95).high);
  const none = rateEstimate(countRate(new Uint8Array(30).fill(1), "packet"), 0.95)!;
  assert.ok(none.mean === 1 && none.low! < 0.9 && none.high === 1);
});

Deno.test("pooled replicates have the interval of all their units together", () => {
  const parts = [[3, 0, 7], [0, 0, 9, 4]].map((events) => units("packet", events, 50));
  assert.deepEqual(pooledRate(parts), units("packet", [3, 0, 7, 0, 0, 9, 4], 50));
  assert.equal(pooledRate([parts[0], bitCounts(1, 2)]), null);
  assert.equal(pooledRate([]), null);
});

/** A link whose replicates are drawn as counts. */
interface Link {
  name: string;
  rate: number;
  draw(): RateCounts;
}

/** Draws of one stream, one after another. */
class Draws {
  #generator = Generator.seeded(11);
  #values = new Float64Array(0);
  #at = 0;

  uniform(): number {
    if (this.#at === this.#values.length) {
      this.#values = this.#generator.random(1 << 16);
      this.#at = 0;
    }
    return this.#values[this.#at++];
  }

  /** Successes in n trials, by the gaps between them. */
  binomial(n: number, p: number): number {
    const gap = () => Math.floor(Math.log1p(-this.uniform()) / Math.log1p(-p));
    let count = 0;
    for (let at = gap(); at < n; at += 1 + gap()) count++;
    return count;
  }
}

const draws = new Draws();

const awgn = (rate: number): Link => ({
  name: `uncoded AWGN, bit error rate ${rate}`,
  rate,
  draw: () => bitCounts(draws.binomial(1000, rate), 1000),
});

/** 20 blocks of 1000 bits; a failed one has 1 to 500 errors. */
const coded = (failures: number): Link => ({
  name: `coded blocks, ${100 * failures} % fail`,
  rate: failures * 250.5 / 1000,
  draw() {
    const counts = countRate([], "transport_block"), failed = draws.binomial(20, failures);
    for (let block = 0; block < 20; block++) {
      addUnit(counts, block < failed ? 1 + Math.floor(500 * draws.uniform()) : 0, 1000);
    }
    return counts;
  },
});

/** 10 blocks of 500 BPSK bits, each with a Rayleigh gain. */
const fading = (snr: number): Link => ({
  name: `block fading, Es/N0 ${10 * Math.log10(snr)} dB`,
  rate: (1 - Math.sqrt(snr / (1 + snr))) / 2,
  draw() {
    const counts = countRate([], "fading_block");
    for (let block = 0; block < 10; block++) {
      const gain = -Math.log1p(-draws.uniform());
      addUnit(counts, draws.binomial(500, gaussianTail(Math.sqrt(2 * snr * gain))), 500);
    }
    return counts;
  },
});

/** Replicates of a link until the rule stops them. */
function run(link: Link, rule: Partial<Replication>): RateCounts {
  const replication = {
    replicates: 100_000,
    base_seed: 0,
    master_seeds: null,
    confidence_level: 0.95,
    min_replicates: 10,
    until_errors: null,
    until_halfwidth: null,
    max_bits: null,
    stop_metric: "rate",
    ...rule,
  };
  const tally = new Tally("rate");
  for (let made = 1;; made++) {
    tally.add({ values: { rate: 0 }, rates: { rate: link.draw() } });
    if (stopReason(tally, made, replication) !== null) return tally.rate!;
  }
}

/** How often the interval holds the rate. */
function coverage(link: Link, rule: Partial<Replication>, rounds: number): number {
  let covered = 0;
  for (let round = 0; round < rounds; round++) {
    const { low, high, bound } = rateEstimate(run(link, rule), 0.95)!;
    if ((low ?? 0) <= link.rate && link.rate <= (high ?? bound!)) covered++;
  }
  return covered / rounds;
}

/** The share may be off by 3 standard deviations of the simulation, and by no more. */
function assertCovers(share: number, rounds: number, low: number, high: number, what: string): void {
  const noise = 3 * Math.sqrt(0.05 * 0.95 / rounds);
  assert.ok(share >= low - noise && share <= high + noise, `${what}: covers ${(100 * share).toFixed(2)} %`);
}

const LINKS = [awgn(0.1), awgn(0.01), awgn(0.001), coded(0.1), coded(0.01), coded(0.001), fading(1), fading(10)];

for (const link of [...LINKS, fading(100)]) {
  Deno.test(`stopped at 100 failed units, the interval covers 95 times in 100: ${link.name}`, () => {
    const rounds = link.rate < 3e-3 ? 600 : 2000;
    assertCovers(coverage(link, { until_errors: 100 }, rounds), rounds, 0.935, 0.965, link.name);
  });
}

for (const link of [awgn(0.01), coded(0.1), coded(0.01), fading(1), fading(10)]) {
  Deno.test(`stopped at a half-width of 20 % of the rate, the interval covers: ${link.name}`, () => {
    const rounds = 1000;
    assertCovers(coverage(link, { until_halfwidth: 0.2 * link.rate }, rounds), rounds, 0.935, 0.965, link.name);
  });
}

for (
  const [link, low, high] of [[awgn(0.01), 0.935, 0.965], [coded(0.1), 0.925, 0.965], [coded(0.01), 0.9, 1]] as const
) {
  Deno.test(`over ten replicates, whatever failed: ${link.name}`, () => {
    const rounds = 2000;
    assertCovers(coverage(link, { replicates: 10 }, rounds), rounds, low, high, link.name);
  });
}

Deno.test("the exact method takes the events of a failed unit as known: few failures of unequal size cover less often", () => {
  // 100 blocks, about 20 % of them with errors, from one to half of the bits: too few for the mean of a failed block.
  const rounds = 2000, share = coverage(fading(100), { replicates: 10 }, rounds);
  assert.ok(share > 0.6 && share < 0.8, `covers ${(100 * share).toFixed(1)} %`);
});
