/** Places at which curves reach a target. */
import assert from "node:assert/strict";
import { gaussianTail, normalQuantile } from "../../../lib/numeric/linalg/error_function.ts";
import { crossingBetween, crossingOf, type CurvePoint } from "../../../lib/numeric/scores/crossing.ts";

/** Bit error rate of Gray-coded QPSK over Es/N0 in dB: Q(sqrt(Es/N0)). */
const qpsk = (snr_db: number): CurvePoint => [snr_db, gaussianTail(Math.sqrt(10 ** (snr_db / 10)))];

Deno.test("an exponential is met exactly, and the curve of QPSK within 0.03 dB from points 1 dB apart", () => {
  const exponential = [0, 4, 8].map((x): CurvePoint => [x, 10 ** (-x / 2)]);
  assert.ok(Math.abs(crossingOf(exponential, 1e-3, true)! - 6) < 1e-12);
  const points = Array.from({ length: 13 }, (_, snr_db) => qpsk(snr_db));
  for (const target of [1e-1, 1e-2, 1e-3]) {
    const exact = 20 * Math.log10(normalQuantile(1 - target));
    // The chord of exp(-10^(x / 10)) is off by at most ln(10) / 80 = 0.029 dB in the middle of a decibel.
    assert.ok(Math.abs(crossingOf(points, target, true)! - exact) < 0.03, `${target}`);
  }
});

Deno.test("order of points, zeros and linear values", () => {
  assert.equal(crossingOf([[4, 30], [0, 20], [2, 25]], 27.5, false), 3);
  // A rate of 0 has no logarithm: the points before it decide.
  assert.equal(crossingOf([[0, 1e-1], [1, 1e-3], [2, 0]], 1e-4, true), null);
  // Of several places the last counts, as an error floor that was left again.
  assert.equal(crossingOf([[0, 3], [1, 1], [2, 3], [3, 1]], 2, false), 2.5);
  assert.equal(crossingOf([[0, 3]], 2, false), null);
  assert.equal(crossingBetween([0, 1], [1, 2], 3, false), null);
});
