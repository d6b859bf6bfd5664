import assert from "node:assert/strict";
import { hermitianEigen } from "../../../lib/numeric/linalg/hermitian_eigen.ts";
import { hermitianReference } from "../../../lib/numeric/linalg/hermitian_reference.ts";
import { conjugateTranspose, matrixProduct } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { diagonalMatrix, distance, frobenius, orthogonalityError, randomHermitian, randomMatrix } from "./_matrices.ts";

const EPS = Number.EPSILON;

/** ‖VΛVᴴ - A‖ / ‖A‖ */
function residual(a: Float64Array, n: number): number {
  const { values, vectors } = hermitianEigen(a, n);
  const back = matrixProduct(
    matrixProduct(vectors, diagonalMatrix(values), n, n, n),
    conjugateTranspose(vectors, n, n),
    n,
    n,
    n,
  );
  return distance(back, a) / (frobenius(a) || 1);
}

Deno.test("VΛVᴴ is A and V is unitary, to machine precision", () => {
  for (const n of [1, 2, 3, 4, 5, 8, 13, 32, 64, 100]) {
    const a = randomHermitian(n, n), { values, vectors } = hermitianEigen(a, n);
    assert.ok(residual(a, n) < 4 * EPS * Math.sqrt(n) + 2 * EPS, `size ${n}: ${residual(a, n)}`);
    assert.ok(orthogonalityError(vectors, n, n) < 6 * EPS * n, `size ${n}`);
    assert.ok(values.every((value, i) => i === 0 || value >= values[i - 1]), "ascending");
  }
});

Deno.test("the kernel gives the bits of the reference, at odd sizes too", () => {
  for (let n = 1; n <= 40; n++) {
    const a = randomHermitian(n, n);
    assert.deepEqual(hermitianEigen(a, n), hermitianReference(a, n), `size ${n}`);
  }
});

Deno.test("a matrix of known eigenvalues", () => {
  // Toeplitz with 2 on the diagonal and j beside it: 2 + 2cos(kπ/(n+1)).
  const n = 40, a = new Float64Array(2 * n * n);
  for (let i = 0; i < n; i++) {
    a[2 * (i * n + i)] = 2;
    if (i > 0) a[2 * (i * n + i - 1) + 1] = 1;
    if (i > 0) a[2 * ((i - 1) * n + i) + 1] = -1;
  }
  const expected = Array.from({ length: n }, (_, k) => 2 + 2 * Math.cos((k + 1) * Math.PI / (n + 1))).reverse();
  hermitianEigen(a, n).values.forEach((value, k) => assert.ok(Math.abs(value - expected[k]) < 20 * EPS));
});

Deno.test("equal eigenvalues, rank one, zero, diagonal and huge or tiny matrices", () => {
  const unitary = hermitianEigen(randomHermitian(6, 3), 6).vectors;
  const repeated = matrixProduct(
    matrixProduct(unitary, diagonalMatrix([1, 1, 1, 5, 5, -2]), 6, 6, 6),
    conjugateTranspose(unitary, 6, 6),
    6,
    6,
    6,
  );
  hermitianEigen(repeated, 6).values.forEach((value, k) =>
    assert.ok(Math.abs(value - [-2, 1, 1, 1, 5, 5][k]) < 30 * EPS)
  );
  const x = randomMatrix(9, 1, 4), one = matrixProduct(x, conjugateTranspose(x, 9, 1), 9, 1, 9);
  const { values } = hermitianEigen(one, 9);
  assert.ok(Math.abs(values[8] / frobenius(x) ** 2 - 1) < 20 * EPS);
  assert.ok(values.subarray(0, 8).every((value) => Math.abs(value) < 20 * EPS * values[8]));
  assert.deepEqual([...hermitianEigen(new Float64Array(2 * 16), 4).values], [0, 0, 0, 0]);
  assert.deepEqual([...hermitianEigen(diagonalMatrix([3, -1, 2]), 3).values], [-1, 2, 3]);
  for (const scale of [1e150, 1e-150]) {
    const a = randomHermitian(12, 5).map((value) => value * scale);
    assert.ok(residual(a, 12) < 40 * EPS, `scale ${scale}`);
  }
});

Deno.test("only the lower triangle is read, the matrix is left alone, and nonsense is refused", () => {
  const a = randomHermitian(5, 6), before = Float64Array.from(a), torn = Float64Array.from(a);
  for (let i = 0; i < 5; i++) for (let j = i + 1; j < 5; j++) torn[2 * (i * 5 + j)] = 99;
  assert.deepEqual(hermitianEigen(torn, 5), hermitianEigen(a, 5));
  assert.deepEqual(a, before);
  assert.throws(() => hermitianEigen(a, 4), RangeError);
  a[0] = NaN;
  assert.throws(() => hermitianEigen(a, 5), RangeError);
});
