import assert from "node:assert/strict";
import { bdQuality, bdRate } from "../../../lib/numeric/scores/bjontegaard.ts";

const curve = (...points: [rate: number, quality: number][]) => points.map(([rate, quality]) => ({ rate, quality }));
const A = curve([0.25, 28.1], [0.5, 31], [0.9, 33.2], [1.6, 36.4], [2.4, 38]);
const B = curve([0.15, 27], [0.33, 30.2], [0.6, 32.9], [1.1, 35.1], [1.9, 38.9]);
const C = curve([0.3, 27.5], [0.8, 33], [2, 37]);

Deno.test("the difference is that of SciPy's PchipInterpolator over the common range", () => {
  // f(c) = PchipInterpolator(quality, log(rate)); expm1((f(b).integrate(lo, hi) - f(a).integrate(lo, hi)) / (hi - lo)).
  const stored = [[A, B, -0.20074262970669204, 28.1, 38], [A, C, 0.0582315483592389, 28.1, 37], [
    C,
    B,
    -0.25558104505347157,
    27.5,
    37,
  ]] as const;
  for (const [reference, candidate, difference, from, to] of stored) {
    const found = bdRate(reference, candidate)!;
    assert.ok(Math.abs(found.difference - difference) < 1e-12, `${found.difference}`);
    assert.deepEqual([found.from, found.to], [from, to]);
  }
});

Deno.test("the difference is that of the sheet of JCT-VC for two of its sequences", () => {
  // JCTVC-E137, as the tests of VMAF cite it (python/test/bd_rate_calculator_test.py): rates in kbit/s, PSNR in dB.
  const stored = [
    [
      curve([108048.8736, 43.6471], [61279.976, 40.3953], [33905.6656, 37.247], [18883.6928, 34.2911]),
      curve([108061.2784, 43.6768], [61299.9936, 40.4232], [33928.7472, 37.2761], [18910.912, 34.3147]),
      -0.00465215420752807,
    ],
    [
      curve([40433.8848, 37.5761], [7622.7456, 35.3756], [2394.488, 33.8977], [1017.6184, 32.0603]),
      curve([40370.12, 37.5982], [7587.0024, 35.4025], [2390.0944, 33.9194], [1017.0984, 32.0822]),
      -0.018779823450567612,
    ],
  ] as const;
  for (const [reference, candidate, difference] of stored) {
    const found = bdRate(reference, candidate)!.difference;
    assert.ok(Math.abs(found - difference) < 1e-6, `${found - difference}`);
  }
});

Deno.test("the difference in quality is that of SciPy's PchipInterpolator over the logarithm of the common rates", () => {
  const stored = [[A, B, 1.0404635447627815, 0.25, 1.9], [A, C, -0.25365057508685407, 0.3, 2], [
    C,
    B,
    1.3044397927594789,
    0.3,
    1.9,
  ]] as const;
  for (const [reference, candidate, difference, from, to] of stored) {
    const found = bdQuality(reference, candidate)!;
    assert.ok(Math.abs(found.difference - difference) < 1e-12, `${found.difference}`);
    assert.ok(Math.abs(found.from - from) < 1e-12 && Math.abs(found.to - to) < 1e-12);
  }
  const better = A.map(({ rate, quality }) => ({ rate, quality: quality + 1.5 }));
  assert.ok(Math.abs(bdQuality(A, better)!.difference - 1.5) < 1e-12);
  assert.equal(bdQuality(A, A.slice(0, 1)), null);
});

Deno.test("a curve at a share of the rate differs by that share, whatever the order of its points", () => {
  const half = A.map(({ rate, quality }) => ({ rate: rate / 2, quality })).toReversed();
  assert.ok(Math.abs(bdRate(A, half)!.difference + 0.5) < 1e-12);
  assert.ok(Math.abs(bdRate(half, A)!.difference - 1) < 1e-12);
  assert.equal(bdRate(A, A)!.difference, 0);
});

Deno.test("without two points or a common range there is no difference", () => {
  assert.equal(bdRate(A, A.slice(0, 1)), null);
  assert.equal(bdRate(A, curve([1, 40], [2, 42])), null);
  assert.equal(bdRate(A, curve([1, 30], [2, 30])), null);
  assert.equal(bdRate(A, curve([0, 30], [2, 33])), null);
});
