import assert from "node:assert/strict";
import { Fft, fft, ifft } from "../../../lib/numeric/linalg/fft.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const LENGTHS = DATA.LENGTHS;

const noise = (count: number) => Generator.seeded(count).standardNormal(2 * count) as Float64Array;

/** The sum as it is written, angles reduced exactly. */
function direct(x: Float64Array): Float64Array {
  const n = x.length / 2, out = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    for (let i = 0; i < n; i++) {
      const angle = -2 * Math.PI * (k * i % n) / n, c = Math.cos(angle), s = Math.sin(angle);
      out[2 * k] += x[2 * i] * c - x[2 * i + 1] * s;
      out[2 * k + 1] += x[2 * i] * s + x[2 * i + 1] * c;
    }
  }
  return out;
}

/** Norm of the difference over the norm of what is expected. */
function relativeError(found: Float64Array, expected: Float64Array): number {
  let difference = 0, size = 0;
  found.forEach((value, i) => {
    difference += (value - expected[i]) ** 2;
    size += expected[i] ** 2;
  });
  return Math.sqrt(difference / size);
}

Deno.test("every length agrees with the sum as it is written", () => {
  for (const n of LENGTHS) {
    const x = noise(n);
    const allowed = 8 * Number.EPSILON * Math.max(1, Math.log2(n));
    assert.ok(relativeError(fft(x), direct(x)) < allowed + 1e-15 * Math.sqrt(n), `length ${n}`);
  }
});

Deno.test("the inverse takes the transform back, to rounding that grows as the logarithm", () => {
  for (const n of [...LENGTHS, 4096, 65_536, 44_100]) {
    const x = noise(n), back = ifft(fft(x));
    assert.ok(relativeError(back, x) < 10 * Number.EPSILON * Math.max(1, Math.log2(n)), `length ${n}`);
  }
});

Deno.test("energy is kept (Parseval), shifts are turns, an impulse is flat", () => {
  for (const n of [24, 64, 101]) {
    const x = noise(n), spectrum = fft(x);
    const energy = (a: Float64Array) => a.reduce((sum, value) => sum + value * value, 0);
    assert.ok(Math.abs(energy(spectrum) / (n * energy(x)) - 1) < 1e-14);
    const moved = new Float64Array(2 * n);
    moved.set(x.subarray(0, 2 * (n - 1)), 2);
    moved.set(x.subarray(2 * (n - 1)), 0);
    const turned = Float64Array.from({ length: 2 * n }, (_, i) => {
      const k = i >> 1, angle = -2 * Math.PI * k / n, c = Math.cos(angle), s = Math.sin(angle);
      return i % 2 === 0
        ? spectrum[2 * k] * c - spectrum[2 * k + 1] * s
        : spectrum[2 * k] * s + spectrum[2 * k + 1] * c;
    });
    assert.ok(relativeError(fft(moved), turned) < 1e-13);
    const impulse = new Float64Array(2 * n);
    impulse[0] = 3;
    fft(impulse).forEach((value, i) => assert.ok(Math.abs(value - (i % 2 === 0 ? 3 : 0)) < 1e-13));
  }
});

Deno.test("a plan works in place and again and again", () => {
  for (const n of [16, 15]) {
    const plan = new Fft(n), x = noise(n) as Float64Array<ArrayBuffer>, expected = plan.forward(x);
    assert.deepEqual(plan.forward(x), expected, "the input is left alone");
    const place = Float64Array.from(x);
    plan.forward(place, place);
    assert.deepEqual(place, expected);
    plan.inverse(place, place);
    assert.ok(relativeError(place, x) < 1e-14);
  }
});

Deno.test("lengths that are none are refused", () => {
  for (const size of [0, -4, 2.5, NaN]) assert.throws(() => new Fft(size), RangeError);
  assert.throws(() => fft(new Float64Array(0)), RangeError);
  assert.throws(() => fft(new Float64Array(3)), RangeError);
  assert.throws(() => new Fft(4).forward(new Float64Array(6)), RangeError);
  assert.throws(() => new Fft(4).forward(new Float64Array(8), new Float64Array(6)), RangeError);
});
