import assert from "node:assert/strict";
import { holm, pairedDifference, studentT } from "../../../lib/numeric/scores/inference.ts";
import { wilsonInterval as wilson, zeroEventsBound as ruleOfThree } from "../../../lib/numeric/scores/statistics.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { studentQuantile, studentTwoSided } from "../../../lib/numeric/scores/student_t.ts";
import stored from "../../data/numeric/inference.json" with { type: "json" };

function assertClose(got: number, expected: number, what: string, tolerance = 1e-10) {
  const size = Math.max(1e-300, Math.abs(expected));
  assert.ok(Math.abs(got - expected) <= tolerance * size, `${what}: ${got} for ${expected}`);
}

Deno.test("Student's quantiles and tails are SciPy's", () => {
  for (const [p, freedom, expected] of stored.quantiles) {
    assertClose(studentQuantile(p, freedom), expected, `quantile ${p} at ${freedom}`);
  }
  for (const [t, freedom, expected] of stored.tails) {
    assertClose(studentTwoSided(t, freedom), expected, `tail ${t} at ${freedom}`);
    assert.equal(studentTwoSided(-t, freedom), studentTwoSided(t, freedom));
  }
  assert.deepEqual([0, 0.5, 1].map((p) => studentQuantile(p, 4)), [-Infinity, 0, Infinity]);
  assert.throws(() => studentQuantile(1.1, 4), RangeError);
  assert.throws(() => studentQuantile(0.9, 0), RangeError);
});

Deno.test("the interval of a mean is SciPy's", () => {
  for (const { values, confidence, low, high } of stored.means) {
    const interval = studentT(values, confidence);
    assertClose(interval.low!, low, `low of ${values.length} at ${confidence}`);
    assertClose(interval.high!, high, `high of ${values.length} at ${confidence}`);
  }
  assert.deepEqual(studentT([4]), { n: 1, mean: 4, std: null, low: null, high: null });
  assert.deepEqual(studentT([4, 4, 4]), { n: 3, mean: 4, std: 0, low: 4, high: 4 });
  assert.throws(() => studentT([]), RangeError);
  assert.throws(() => studentT([1, 2], 1), RangeError);
});

Deno.test("paired differences have SciPy's p-values", () => {
  for (const { values, p } of stored.paired) {
    const estimate = pairedDifference(values);
    assertClose(estimate.pValue, p, `p of ${values.length} pairs`);
    assert.equal(estimate.pMethod, values.length <= 20 ? "sign_flip" : "paired_t");
    assert.equal(pairedDifference(values.map((value) => -value)).pValue, estimate.pValue);
  }
  assert.equal(pairedDifference([3]).pValue, 1);
  assert.equal(pairedDifference([0, 0, 0]).pValue, 1);
  assert.equal(pairedDifference(new Float64Array(20).fill(1)).pValue, 2 / 2 ** 20);
  assert.equal(pairedDifference(new Float64Array(30)).pValue, 1);
  assert.equal(pairedDifference(new Float64Array(30).fill(1)).pValue, 0);
});

Deno.test("Holm's correction keeps the order given, never falls and never exceeds 1", () => {
  for (const [given, expected] of stored.holm) assert.deepEqual(holm(given), expected);
});

/** Share of `runs` intervals that hold the truth; the tests below ask for it within three standard deviations. */
function coverage(runs: number, covers: () => boolean): number {
  let held = 0;
  for (let run = 0; run < runs; run++) if (covers()) held++;
  return held / runs;
}

Deno.test("Student's interval holds the mean as often as it says", () => {
  const generator = Generator.seeded(11);
  for (const n of [2, 5, 20]) {
    for (const confidence of [0.8, 0.95]) {
      const share = coverage(10_000, () => {
        const { low, high } = studentT(generator.normal(3, 2, n), confidence);
        return low! <= 3 && 3 <= high!;
      });
      const deviation = Math.sqrt(confidence * (1 - confidence) / 10_000);
      assert.ok(Math.abs(share - confidence) < 3 * deviation, `${n} values at ${confidence}: ${share}`);
    }
  }
});

Deno.test("Wilson's interval holds the rate about as often as it says, whatever the rate", () => {
  const generator = Generator.seeded(12);
  const TRIALS = 200;
  // The counts are discrete: the coverage at one rate swings around the confidence, its mean over many rates does not.
  const rates = generator.random(400).map((u) => 0.01 + 0.5 * u);
  for (const confidence of [0.9, 0.95]) {
    let total = 0;
    for (const rate of rates) {
      const share = coverage(100, () => {
        const events = generator.random(TRIALS).reduce((count, u) => count + (u < rate ? 1 : 0), 0);
        const { low, high } = wilson(events, TRIALS, confidence);
        return low <= rate && rate <= high;
      });
      total += share;
    }
    const share = total / rates.length;
    assert.ok(Math.abs(share - confidence) < 0.01, `at ${confidence}: ${share}`);
  }
});

Deno.test("a rate that shows no event lies below the rule of three as often as it says", () => {
  const generator = Generator.seeded(13);
  // At the bound itself, no event is seen in at most 5 % of the experiments: 1 in 20 would be wrong to claim it.
  for (const trials of [30, 1000]) {
    const rate = ruleOfThree(trials);
    const silent = coverage(4000, () => generator.random(trials).every((u) => u >= rate));
    assert.ok(silent < 0.05 + 3 * Math.sqrt(0.05 * 0.95 / 4000), `${trials} trials: ${silent}`);
    assert.ok(silent > 0.03, `${trials} trials: the bound is far too wide, ${silent}`);
  }
});

Deno.test("without a difference the sign-flip test raises no more false alarms than its level, Holm's over all", () => {
  const generator = Generator.seeded(14);
  const falseAlarm = coverage(4000, () => pairedDifference(generator.standardNormal(8)).pValue < 0.05);
  assert.ok(Math.abs(falseAlarm - 0.05) < 3 * Math.sqrt(0.05 * 0.95 / 4000), `${falseAlarm}`);
  const anyOfTen = coverage(1000, () => {
    const pValues = Array.from({ length: 10 }, () => pairedDifference(generator.standardNormal(9)).pValue);
    return holm(pValues).some((p) => p < 0.05);
  });
  assert.ok(anyOfTen < 0.05 + 3 * Math.sqrt(0.05 * 0.95 / 1000), `${anyOfTen}`);
});
