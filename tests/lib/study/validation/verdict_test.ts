/** Verdicts of cards, from results with chosen numbers. */
import assert from "node:assert/strict";
import type { CheckedPoint } from "../../../../lib/study/pack/card.ts";
import type { AggregateRow, BenchmarkResult } from "../../../../lib/study/pack/types.ts";
import { proofText, standingOf } from "../../../../lib/study/validation/standing.ts";
import { verdictOf } from "../../../../lib/study/validation/verdict.ts";

const point = (index: number, given: Partial<CheckedPoint>): CheckedPoint => ({
  index,
  entry: `point_${index}`,
  at: { snr_db: index },
  metric: "channel.ber",
  expected: 0.01,
  tolerance: { sigma: 3 },
  ...given,
});
/** The row of a rate of independent bits. */
const bits = (events: number, trials: number): Partial<AggregateRow> => ({
  mean: events === 0 ? null : events / trials,
  events,
  trials,
  unit: "bit",
  ci_method: "wilson",
});

function judge(points: CheckedPoint[], rows: Partial<AggregateRow>[], status = "completed") {
  const aggregates = rows.map((row, place) => ({
    recipe_id: points[place].entry,
    metric: points[place].metric,
    n: 10,
    ci_low: null,
    ci_high: null,
    ci_method: "none",
    confidence_level: 0.95,
    ...row,
  }));
  const benchmark = { metadata: { validation: { card: "made", quick: false, points } } };
  return verdictOf({ result_id: "made", status, benchmark, aggregates } as unknown as BenchmarkResult);
}

const only = (given: Partial<CheckedPoint>, row: Partial<AggregateRow>) => {
  const { verdict, points: [judged] } = judge([point(0, given)], [row]);
  assert.equal(verdict, judged.within ? "reproduced" : "differs");
  return judged;
};

Deno.test("sigma is the binomial standard error at the expected rate", () => {
  // sqrt(0.01 * 0.99 / 100000) = 3.146e-4
  const { deviation, within } = only({}, bits(1090, 100_000));
  assert.ok(Math.abs(deviation.sigma! - 9e-4 / 3.14643e-4) < 1e-4);
  assert.equal(within, true);
  assert.equal(only({}, bits(1100, 100_000)).within, false);
  assert.equal(only({}, bits(900, 100_000)).within, false);
});

Deno.test("sigma of other metrics is the error behind their interval", () => {
  // Student's quantile of 9 degrees of freedom at 97.5 % is 2.2622, so that a half-width of 2.2622 is one standard error.
  const interval: Partial<AggregateRow> = {
    mean: 5,
    ci_low: 5 - 2.262157,
    ci_high: 5 + 2.262157,
    ci_method: "student_t",
  };
  const { deviation } = only({ metric: "hardware.sqnr_db", expected: 3 }, interval);
  assert.ok(Math.abs(deviation.sigma! - 2) < 1e-5);
  // The interval of sums over four units has three degrees of freedom, 3.1824; that of Gaffke has the normal quantile.
  const few: Partial<AggregateRow> = {
    ...interval,
    ci_low: 5 - 3.182446,
    ci_high: 5 + 3.182446,
    ci_method: "log_t",
    units: 4,
  };
  assert.ok(Math.abs(only({ expected: 3 }, few).deviation.sigma! - 2) < 1e-5);
  const sums: Partial<AggregateRow> = { ...interval, ci_low: 5 - 1.959964, ci_high: 5 + 1.959964, ci_method: "gaffke" };
  assert.ok(Math.abs(only({ expected: 3 }, sums).deviation.sigma! - 2) < 1e-4);
  const { deviation: none, within } = only({ expected: 5 }, { mean: 5.1 });
  assert.deepEqual([none.sigma, within], [null, false]);
});

Deno.test("relative and absolute compare the value itself, and all tolerances of a point hold", () => {
  assert.equal(only({ expected: -4, tolerance: { relative: 0.1 } }, { mean: -4.39 }).within, true);
  assert.equal(only({ expected: -4, tolerance: { relative: 0.1 } }, { mean: -4.41 }).within, false);
  assert.equal(only({ expected: 2, tolerance: { absolute: 0.5 } }, { mean: 2.49 }).within, true);
  assert.equal(only({ expected: 2, tolerance: { absolute: 0.5, relative: 0.1 } }, { mean: 2.49 }).within, false);
});

Deno.test("a rate of fewer than 100 errors is outside, except for absolute alone", () => {
  assert.equal(only({ tolerance: { sigma: 3 } }, bits(99, 9_900)).within, false);
  assert.equal(only({ tolerance: { sigma: 3 } }, bits(100, 10_000)).within, true);
  assert.equal(only({ tolerance: { absolute: 0.001 } }, bits(99, 9_900)).within, true);
  assert.equal(only({ tolerance: { absolute: 0.02 } }, bits(0, 9_900)).within, true);
  // Errors of blocks count by blocks.
  const blocks: Partial<AggregateRow> = {
    mean: 0.01,
    events: 5000,
    trials: 500_000,
    unit: "packet",
    unit_failures: 99,
  };
  assert.equal(only({ tolerance: { relative: 0.5 } }, blocks).within, false);
  assert.equal(only({ tolerance: { relative: 0.5 } }, { ...blocks, unit_failures: 100 }).within, true);
});

Deno.test("a shift is measured along the line in log m, and the nearest segment extends beyond the ends", () => {
  // The reference falls by a decade each 2 dB; the measured curve is 0.3 dB to the right of it.
  const reference = [0.1, 0.01, 0.001], shifted = reference.map((rate) => rate * 10 ** 0.15);
  const points = reference.map((expected, place) =>
    point(place, { at: { snr_db: 2 * place, modulation: "qpsk" }, expected, tolerance: { db: 0.31 } })
  );
  const rows = shifted.map((rate) => bits(Math.round(rate * 1e7), 1e7));
  const { points: judged, verdict } = judge(points, rows);
  for (const { deviation } of judged) assert.ok(Math.abs(deviation.db! - 0.3) < 1e-4);
  assert.equal(verdict, "reproduced");
  // Points of another curve do not count.
  const other = judge([...points, point(3, { at: { snr_db: 1, modulation: "bpsk" }, expected: 0.1 })], [
    ...rows,
    bits(1e6, 1e7),
  ]);
  assert.ok(Math.abs(other.points[0].deviation.db! - 0.3) < 1e-4);
  // A floor is never crossed.
  const floor = judge(points.slice(0, 2), [bits(1000, 10_000), bits(1000, 10_000)]);
  assert.deepEqual([floor.points[1].deviation.db, floor.verdict], [null, "differs"]);
});

Deno.test("a margin is the distance from the crossing to a requirement, and never negative", () => {
  // A decade each 2 dB: 0.01 is crossed at 2 dB, with few errors at the requirement itself.
  const judgedAt = (snr: number, rate: number) => {
    const required = point(0, { at: { snr_db: snr }, tolerance: { margin_db: 3 }, curve: [[1, "low"], [3, "high"]] });
    const rows = [bits(Math.round(rate * 1e7), 1e7), bits(316_228, 1e7), bits(31_623, 1e7)];
    const { points: [judged] } = judge([
      required,
      point(1, { entry: "low" }),
      point(2, { entry: "high", at: { snr_db: 3 } }),
    ], rows);
    return judged;
  };
  const met = judgedAt(4, 1e-3), missed = judgedAt(1.5, 10 ** -1.75), far = judgedAt(6, 1e-4);
  assert.ok(Math.abs(met.deviation.margin_db! - 2) < 1e-3, `${met.deviation.margin_db}`);
  assert.ok(Math.abs(missed.deviation.margin_db! + 0.5) < 1e-3, `${missed.deviation.margin_db}`);
  assert.deepEqual([met.within, missed.within, far.within], [true, false, false]);
});

Deno.test("a card is reproduced partly only where a switched cause explains each point outside", () => {
  const switched = (index: number) =>
    point(index, { entry: `point_${index}.switch_0`, cause: "schedule of the decoder" });
  const [right, wrong] = [bits(1000, 100_000), bits(2000, 100_000)];
  const points = [point(0, {}), point(1, {}), switched(1)];
  assert.equal(judge(points, [right, wrong, right]).verdict, "partly");
  assert.equal(judge(points, [right, wrong, wrong]).verdict, "differs");
  assert.equal(judge(points, [wrong, wrong, right]).verdict, "differs");
  assert.equal(judge(points, [right, right, wrong]).verdict, "reproduced");
});

Deno.test("an incomplete result, or a point with several rows, has no verdict", () => {
  assert.throws(() => judge([point(0, {})], [bits(1, 100)], "failed"), { code: "benchmark_incomplete" });
  assert.throws(() => judge([point(0, {}), point(1, { entry: "point_0" })], [bits(1, 100), bits(1, 100)]), {
    code: "card_invalid",
    hint: /every dimension/,
  });
  assert.throws(() => judge([point(0, {})], []), { code: "card_invalid", hint: /metric that the recipe reports/ });
});

Deno.test("a standing has the largest share of a tolerance, without rows of switched causes", () => {
  const verdict = judge(
    [
      point(0, { tolerance: { absolute: 0.004, relative: 0.5 } }),
      point(1, { tolerance: { absolute: 0.01 } }),
      point(2, { index: 1, tolerance: { absolute: 0.001 }, cause: "schedule" }),
    ],
    [{ mean: 0.013 }, { mean: 0.012 }, { mean: 0.02 }],
  );
  const standing = standingOf(verdict);
  // Shares of 3/4, 3/5 and 1/5.
  assert.ok(Math.abs(standing.largest.share! - 0.75) < 1e-9);
  assert.deepEqual([standing.largest.text, standing.within, standing.points], ["0.003 of 0.004", 2, 2]);
  const differs = standingOf(judge([point(0, { tolerance: { absolute: 0.001 } })], [{ mean: 0.012 }]));
  assert.equal(proofText([{ latest: standing }]), "Proved by 1 card, largest deviation 0.003 of 0.004");
  assert.equal(
    proofText([{ latest: standing }, { latest: null }, { latest: differs }]),
    "Proved by 2 cards, largest deviation 0.002 of 0.001; 1 card not reproduced; 1 card without a result",
  );
  assert.equal(proofText([{ latest: null }]), "1 card without a result");
  // What cannot be measured is larger than everything.
  assert.equal(standingOf(judge([point(0, {})], [{ mean: 0.01 }])).largest.text, "– of 3 σ");
});
