import assert from "node:assert/strict";
import * as complex from "../../../lib/numeric/complex.ts";

const A = Float64Array.of(1, 2, -3, 0.5);
const B = Float64Array.of(0, 1, 2, -2);

Deno.test("complex arithmetic, element by element", () => {
  assert.deepEqual(complex.add(A, B), Float64Array.of(1, 3, -1, -1.5));
  assert.deepEqual(complex.multiply(A, B), Float64Array.of(-2, 1, -5, 7));
  assert.deepEqual(complex.divide(complex.multiply(A, B), B), A);
  assert.deepEqual(complex.conjugate(A), Float64Array.of(1, -2, -3, -0.5));
  assert.deepEqual(complex.scaled(A, -2), Float64Array.of(-2, -4, 6, -1));
  assert.deepEqual(complex.powers(A), Float64Array.of(5, 9.25));
  assert.equal(complex.energy(A), 14.25);
  assert.equal(complex.meanPower(A), 7.125);
});

Deno.test("results take the type of the first argument and leave the arguments alone", () => {
  const a = Float32Array.of(0.1, 0.2);
  const product = complex.multiply(a, Float64Array.of(3, 0));
  assert.ok(product instanceof Float32Array);
  assert.deepEqual(product, Float32Array.of(3 * Math.fround(0.1), 3 * Math.fround(0.2)));
  assert.deepEqual(a, Float32Array.of(0.1, 0.2));
});

Deno.test("odd sizes", () => {
  assert.equal(complex.energy(new Float32Array(0)), 0);
  assert.ok(Number.isNaN(complex.meanPower(new Float32Array(0))));
  assert.throws(() => complex.add(A, new Float64Array(2)), RangeError);
  assert.throws(() => complex.multiply(A, new Float64Array(2)), RangeError);
  assert.throws(() => complex.divide(A, new Float64Array(2)), RangeError);
});
