/** Gaffke's interval: against Clopper and Pearson's, against the quantiles of seeded draws, and at the extremes. */
import assert from "node:assert/strict";
import { gaffkeInterval, type Weighted } from "../../../lib/numeric/scores/gaffke.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

const interval = (shares: Weighted[], bound: number, confidence = 0.95) =>
  gaffkeInterval({ low: shares, high: shares }, bound, confidence);

/** P(X <= k) of a binomial count, summed from its largest term. */
function atMost(k: number, n: number, p: number): number {
  let log = n * Math.log1p(-p), total = Math.exp(log);
  for (let i = 0; i < k; i++) {
    log += Math.log((n - i) / (i + 1)) + Math.log(p) - Math.log1p(-p);
    total += Math.exp(log);
  }
  return total;
}

Deno.test("of shares 0 and 1 the ends have the binomial tails, to nine digits", () => {
  for (const [events, trials] of [[1, 10], [9, 10], [1, 2], [3, 1000], [500, 1000], [5, 1e6], [1, 1e9]]) {
    const { low, high } = interval([{ share: 0, count: trials - events }, { share: 1, count: events }], 1);
    const below = 1 - atMost(events - 1, trials, low), above = atMost(events, trials, high);
    assert.ok(Math.abs(above / 0.025 - 1) < 1e-7, `${events} in ${trials}: above ${above}`);
    assert.ok(Math.abs(below / 0.025 - 1) < 1e-6, `${events} in ${trials}: below ${below}`);
  }
});

Deno.test("the ends are the quantiles of random mixtures: seeded draws lie beyond them as often as wanted", () => {
  const random = Generator.seeded(20), rounds = 20_000;
  const cases: [Weighted[], number, number][] = [
    [[{ share: 0, count: 30 }, { share: 0.02, count: 3 }, { share: 0.4, count: 2 }], 0.5, 0.95],
    [
      [{ share: 0, count: 200 }, { share: 0.1, count: 1 }, { share: 0.11, count: 4 }, { share: 0.45, count: 7 }],
      0.5,
      0.9,
    ],
    [[{ share: 0.3, count: 1 }, { share: 0.5, count: 1 }], 1, 0.95],
    [Array.from({ length: 40 }, (_, k) => ({ share: (k / 40) ** 3, count: 1 })), 1, 0.99],
  ].map(([shares, bound, confidence]) => [shares, bound, confidence] as [Weighted[], number, number]);
  for (const [shares, bound, confidence] of cases) {
    const { low, high } = interval(shares, bound, confidence), tail = (1 - confidence) / 2;
    const points = shares.flatMap(({ share, count }) => Array<number>(count).fill(share));
    let below = 0, above = 0;
    for (let round = 0; round < rounds; round++) {
      const weights = random.random(points.length + 1).map((uniform) => -Math.log1p(-uniform));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const mixture = points.reduce((sum, share, u) => sum + weights[u] * share, 0);
      if (mixture / total < low) below++;
      if ((mixture + weights[points.length] * bound) / total > high) above++;
    }
    // Four standard deviations of the draws.
    const noise = 4 * Math.sqrt(tail * (1 - tail) / rounds);
    for (const share of [below / rounds, above / rounds]) {
      assert.ok(Math.abs(share - tail) < noise, `${share} of the draws are beyond an end, wanted ${tail}`);
    }
  }
});

Deno.test("equal units with their count are the same units one by one", () => {
  const together = interval([{ share: 0, count: 50 }, { share: 0.2, count: 6 }], 0.5);
  const single = interval([...Array(50).fill({ share: 0, count: 1 }), ...Array(6).fill({ share: 0.2, count: 1 })], 0.5);
  assert.ok(Math.abs(together.low / single.low - 1) < 1e-9 && Math.abs(together.high / single.high - 1) < 1e-9);
});

Deno.test("at the extremes the ends are exact, and a few large shares among many zeros converge", () => {
  const all = interval([{ share: 1, count: 10 }], 1);
  assert.equal(all.high, 1);
  assert.ok(Math.abs(all.low - 0.025 ** (1 / 10)) < 1e-9);
  const one = interval([{ share: 0.5, count: 1 }], 0.5);
  assert.equal(one.high, 0.5);
  assert.ok(Math.abs(one.low - 0.0125) < 1e-9);
  // Here the line of steepest descent at the saddle point bends to the wrong side.
  const rare = interval([{ share: 0.7, count: 24 }, { share: 0.44, count: 1 }, { share: 0, count: 681_908 }], 1);
  const mean = (24 * 0.7 + 0.44) / 681_933;
  assert.ok(0.6 * mean < rare.low && rare.low < mean && mean < rare.high && rare.high < 1.7 * mean);
});

Deno.test("the interval grows with the confidence and with the bound", () => {
  const shares = [{ share: 0, count: 90 }, { share: 0.1, count: 10 }];
  const narrow = interval(shares, 0.5, 0.9), wide = interval(shares, 0.5, 0.99), bounded = interval(shares, 1, 0.9);
  assert.ok(wide.low < narrow.low && narrow.high < wide.high && narrow.high < bounded.high);
  assert.equal(bounded.low, narrow.low);
});
