/** Coverage and width of the intervals of rates, simulated: the small form of `deno task soak coverage`. */
import assert from "node:assert/strict";
import { isSampled } from "../../support/sample.ts";
import { CASES, coverageOf, HALFWIDTH_CASES, LEAST_COVERAGE, widestOf } from "./_coverage.ts";

const ROUNDS = 250, HALFWIDTH_ROUNDS = 60;
/** Three standard deviations of the simulation. */
const noise = (rounds: number) => 3 * Math.sqrt(LEAST_COVERAGE * (1 - LEAST_COVERAGE) / rounds);

for (const [index, one] of CASES.entries()) {
  const many = "part" in one.end && one.link.rate < 1e-3;
  // The rarest failures take most of the time of the full table.
  if (many || !isSampled(index, 3)) continue;
  const size = "part" in one.end ? "until 100 fail" : `${one.end.units} units`;
  Deno.test(`the interval holds the rate, and is no wider than it must be: ${one.link.name}, ${size}`, () => {
    const { covered, failed, ratio } = coverageOf(one, ROUNDS, 7000 + index), widest = widestOf(failed);
    assert.ok(covered >= LEAST_COVERAGE - noise(ROUNDS), `covers ${(100 * covered).toFixed(1)} %`);
    if (widest !== null && ratio !== null) {
      assert.ok(ratio <= widest, `${ratio} times the known width, ${failed} failed`);
    }
  });
}

for (const [index, one] of HALFWIDTH_CASES.entries()) {
  // One rule stops all links: bits that fail alone and bits that fade together.
  if (!isSampled(index, 3)) continue;
  Deno.test(`stopped at a half-width of 20 % of the rate, the interval holds the rate: ${one.link.name}`, () => {
    const { covered } = coverageOf(one, HALFWIDTH_ROUNDS, 8000 + index);
    assert.ok(covered >= LEAST_COVERAGE - noise(HALFWIDTH_ROUNDS), `covers ${(100 * covered).toFixed(1)} %`);
  });
}
