import assert from "node:assert/strict";
import { resampled, shifted } from "../../../lib/numeric/link/resample.ts";
import vectors from "./resample_vectors.json" with { type: "json" };

Deno.test("resampled signals are those of SciPy", () => {
  const signal = Float32Array.from(vectors.signal);
  for (const { up, down, result } of vectors.cases) {
    const found = resampled(signal, up, down);
    assert.equal(found.length, result.length, `${up}/${down}`);
    // Both filter in binary64; the result is binary32 with values up to 3.
    found.forEach((value, at) => assert.ok(Math.abs(value - result[at]) < 1e-6, `${up}/${down} at ${at}`));
  }
  assert.deepEqual(resampled(signal, 1, 1), signal);
});

/** Mean power of samples away from the ends, where the filter has all of its samples. */
function power(signal: Float32Array, margin: number): number {
  const inner = signal.subarray(2 * margin, signal.length - 2 * margin);
  return inner.reduce((sum, value) => sum + value * value, 0) / (inner.length / 2);
}

Deno.test("a tone keeps its power in the pass band and loses 45 dB in the stop band", () => {
  const tone = (cycles: number) => {
    const signal = new Float32Array(2 * 4000);
    for (let n = 0; n < 4000; n++) {
      signal.set([Math.cos(2 * Math.PI * cycles * n), Math.sin(2 * Math.PI * cycles * n)], 2 * n);
    }
    return signal;
  };
  // At a quarter of the rate the band ends at 0.125 cycles a sample.
  assert.ok(Math.abs(10 * Math.log10(power(resampled(tone(0.08), 1, 4), 50))) < 0.05);
  assert.ok(10 * Math.log10(power(resampled(tone(0.17), 1, 4), 50)) < -45);
});

Deno.test("a shift by a tone's frequency makes it constant, from any first sample", () => {
  const cycles = 0.1371, signal = new Float32Array(2 * 500);
  for (let n = 0; n < 500; n++) {
    const angle = 2 * Math.PI * cycles * (n + 1_000_003);
    signal.set([Math.cos(angle), Math.sin(angle)], 2 * n);
  }
  const moved = shifted(signal, -cycles, 1_000_003);
  for (let n = 0; n < 500; n++) assert.ok(Math.hypot(moved[2 * n] - 1, moved[2 * n + 1]) < 1e-5);
});
