import assert from "node:assert/strict";
import { polynomialRoots } from "../../support/polynomial_roots.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

/** Coefficients of Π(z - root), lowest first. */
function polynomialOf(roots: [number, number][]): Float64Array {
  let c: [number, number][] = [[1, 0]];
  for (const [x, y] of roots) {
    const next: [number, number][] = [...c.map((): [number, number] => [0, 0]), [0, 0]];
    c.forEach(([real, imaginary], k) => {
      next[k + 1][0] += real;
      next[k + 1][1] += imaginary;
      next[k][0] -= real * x - imaginary * y;
      next[k][1] -= real * y + imaginary * x;
    });
    c = next;
  }
  return Float64Array.from(c.flat());
}

/** Largest distance from a root to the nearest one found. */
function worst(found: Float64Array, roots: [number, number][]): number {
  return Math.max(...roots.map(([x, y]) => {
    let nearest = Infinity;
    for (let i = 0; i < found.length; i += 2) nearest = Math.min(nearest, Math.hypot(found[i] - x, found[i + 1] - y));
    return nearest;
  }));
}

Deno.test("roots inside, on and outside the unit circle", () => {
  for (const degree of [1, 2, 3, 7, 14, 30]) {
    const generator = Generator.seeded(degree), drawn = generator.standardNormal(2 * degree) as Float64Array;
    const roots = Array.from({ length: degree }, (_, i): [number, number] => [drawn[2 * i], drawn[2 * i + 1]]);
    const found = polynomialRoots(polynomialOf(roots));
    assert.equal(found.length, 2 * degree);
    assert.ok(worst(found, roots) < (degree < 10 ? 1e-12 : 1e-6), `degree ${degree}: ${worst(found, roots)}`);
  }
});

Deno.test("roots of unity, zeros at the origin, leading zeros, double roots", () => {
  const c = new Float64Array(2 * 41);
  c[0] = -1;
  c[80] = 1;
  const unity = Array.from({ length: 40 }, (_, k): [number, number] => [
    Math.cos(Math.PI * k / 20),
    Math.sin(Math.PI * k / 20),
  ]);
  assert.ok(worst(polynomialRoots(c), unity) < 1e-14);
  // z²(z - 2), one leading zero.
  const found = polynomialRoots(Float64Array.of(0, 0, 0, 0, -2, 0, 1, 0, 0, 0));
  assert.deepEqual([...found.subarray(0, 4)], [0, 0, 0, 0]);
  assert.ok(Math.hypot(found[4] - 2, found[5]) < 1e-15);
  const double: [number, number][] = [[0.5, 0.5], [0.5, 0.5], [-1, 0]];
  assert.ok(worst(polynomialRoots(polynomialOf(double)), double) < 1e-7);
});

Deno.test("what has no roots is told apart from what cannot be solved", () => {
  assert.equal(polynomialRoots(Float64Array.of(3, 1)).length, 0);
  assert.throws(() => polynomialRoots(new Float64Array(6)), RangeError);
  assert.throws(() => polynomialRoots(Float64Array.of(NaN, 0, 1, 0)), RangeError);
});
