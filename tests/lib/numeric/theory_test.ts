import assert from "node:assert/strict";
import { erfc, gaussianTail, normalQuantile } from "../../../lib/numeric/linalg/error_function.ts";
import { bitErrorRateAwgn, bitErrorRateRayleigh } from "../../../lib/numeric/link/theory.ts";
import { dbToLinear, linearToDb } from "../../../lib/numeric/link/decibel.ts";
import { partLevels } from "../../../lib/numeric/link/modulation.ts";
import { type Modulation } from "../../../lib/numeric/link/modulations.ts";
import stored from "../../data/numeric/theory.json" with { type: "json" };

function assertRelative(got: number, expected: number, tolerance: number, what: string) {
  assert.ok(Math.abs(got - expected) <= tolerance * Math.abs(expected), `${what}: ${got}, expected ${expected}`);
}

Deno.test("erfc and Q are within 1e-12 relative, also in the tail", () => {
  for (const [x, expected] of stored.erfc) assertRelative(erfc(x), expected, 1e-12, `erfc(${x})`);
  for (const [x, expected] of stored.gaussian_tail) assertRelative(gaussianTail(x), expected, 1e-12, `Q(${x})`);
  assert.equal(erfc(Infinity), 0);
  assert.equal(erfc(-Infinity), 2);
  assert.ok(Number.isNaN(erfc(NaN)));
});

Deno.test("erfc falls and its two branches meet", () => {
  let last = 2;
  for (let x = -5; x < 26; x += 1 / 64) {
    const value = erfc(x);
    assert.ok(value < last || value > 2 - 1e-10, `erfc(${x})`);
    last = value;
  }
});

Deno.test("the normal quantile inverts Q", () => {
  for (const [p, expected] of stored.normal_quantile) {
    assert.ok(Math.abs(normalQuantile(p) - expected) <= 1e-12 * Math.max(1, Math.abs(expected)), `quantile ${p}`);
  }
  assert.equal(normalQuantile(0), -Infinity);
  assert.equal(normalQuantile(1), Infinity);
  assert.throws(() => normalQuantile(1.1), RangeError);
  assert.throws(() => normalQuantile(NaN), RangeError);
});

Deno.test("bit error rates meet level-by-level sums and numerical fading integrals", () => {
  for (const [modulation, db, expected] of stored.awgn as [Modulation, number, number][]) {
    assertRelative(bitErrorRateAwgn(modulation, dbToLinear(db)), expected, 1e-11, `${modulation} ${db} dB AWGN`);
  }
  for (const [modulation, db, expected] of stored.rayleigh as [Modulation, number, number][]) {
    assertRelative(
      bitErrorRateRayleigh(modulation, dbToLinear(db)),
      expected,
      1e-11,
      `${modulation} ${db} dB Rayleigh`,
    );
  }
});

Deno.test("the bit error rate of 256QAM is the sum over its levels and their decision regions", () => {
  // Labels of the levels -15, -13 … 15 of a part: Gray code, bit 0 for the positive half and the inner levels.
  const levels = [...partLevels("qam256")].map((level, label) => ({ level, label })).sort((a, b) => a.level - b.level);
  const half = (levels[1].level - levels[0].level) / 2;
  for (const db of [10, 20, 28]) {
    const sigma = Math.sqrt(0.5 / dbToLinear(db));
    let errors = 0;
    for (const sent of levels) {
      levels.forEach((decided, i) => {
        const above = (edge: number) => gaussianTail((edge - sent.level) / sigma);
        const low = i === 0 ? 1 : above(decided.level - half), high = i === 15 ? 0 : above(decided.level + half);
        errors += (low - high) * (sent.label ^ decided.label).toString(2).replaceAll("0", "").length;
      });
    }
    assertRelative(bitErrorRateAwgn("qam256", dbToLinear(db)), errors / 64, 1e-9, `256QAM at ${db} dB`);
  }
});

Deno.test("diversity: each branch more takes another power of the SNR off the error rate", () => {
  // Two branches of BPSK at gamma = 10: q = (1 - sqrt(10/11))/2, q²(3 - 2q).
  const q = (1 - Math.sqrt(10 / 11)) / 2;
  assertRelative(bitErrorRateRayleigh("bpsk", 10, 2), q ** 2 * (3 - 2 * q), 1e-13, "two branches");
  for (const branches of [1, 2, 3, 4]) {
    assertRelative(bitErrorRateRayleigh("qam16", 0, branches), 0.5, 1e-13, `${branches} branches without signal`);
    const [low, high] = [1e4, 1e5].map((esN0) => bitErrorRateRayleigh("qpsk", esN0, branches));
    assertRelative(Math.log10(low / high), branches, 1e-3, `slope of ${branches} branches`);
  }
});

Deno.test("without signal half the bits are wrong", () => {
  for (const modulation of ["bpsk", "qpsk", "qam16", "qam64"] as const) {
    assertRelative(bitErrorRateAwgn(modulation, 0), 0.5, 1e-14, modulation);
    assertRelative(bitErrorRateRayleigh(modulation, 0), 0.5, 1e-14, modulation);
  }
});

Deno.test("decibels", () => {
  assert.equal(dbToLinear(0), 1);
  assert.equal(dbToLinear(10), 10);
  assert.equal(linearToDb(1000), 30);
  assert.equal(linearToDb(0), -Infinity);
  for (const db of [-37.2, -3, 0.1, 12.34]) assertRelative(linearToDb(dbToLinear(db)), db, 1e-13, `${db} dB`);
});
