import assert from "node:assert/strict";
import { conjugateTranspose, matrixProduct } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { leastSquares, qr } from "../../../lib/numeric/linalg/qr.ts";
import { svd } from "../../../lib/numeric/linalg/svd.ts";
import { diagonalMatrix, distance, frobenius, orthogonalityError, randomHermitian, randomMatrix } from "./_matrices.ts";

const EPS = Number.EPSILON;

Deno.test("the bits of the decompositions stay: results of runs depend on them", async () => {
  const parts: Float64Array[] = [];
  for (let n = 1; n <= 20; n++) {
    for (const m of [n, n + 1, 2 * n]) {
      const a = randomMatrix(m, n, m + 100 * n), { q, r } = qr(a, m, n), { u, values, v } = svd(a, m, n);
      parts.push(q, r, u, values, v, leastSquares(a, randomMatrix(m, 3, n), m, n, 3));
    }
  }
  const bytes = new Uint8Array(await new Blob(parts as Float64Array<ArrayBuffer>[]).arrayBuffer());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  assert.equal(digest, "676353d97f5852c14bc5fd79b1478cc083216287c4d509d92393d71835589517");
});

Deno.test("QR: orthonormal columns, a real diagonal, the product is A", () => {
  for (const [m, n] of [[1, 1], [4, 1], [5, 5], [9, 4], [64, 32]]) {
    const a = randomMatrix(m, n, 10 * m + n), { q, r } = qr(a, m, n);
    assert.ok(orthogonalityError(q, m, n) < 6 * EPS * n, `${m} × ${n}`);
    assert.ok(distance(matrixProduct(q, r, m, n, n), a) / frobenius(a) < 4 * EPS * Math.sqrt(n) + 2 * EPS);
    for (let i = 0; i < n; i++) {
      assert.equal(Math.abs(r[2 * (i * n + i) + 1]), 0);
      for (let j = 0; j < i; j++) assert.ok(r[2 * (i * n + j)] === 0 && r[2 * (i * n + j) + 1] === 0);
    }
  }
  assert.throws(() => qr(randomMatrix(2, 3, 1), 2, 3), RangeError);
});

Deno.test("least squares: the residual is orthogonal to the columns, and an exact solution is found", () => {
  const m = 30, n = 6, a = randomMatrix(m, n, 1), b = randomMatrix(m, 2, 2), x = leastSquares(a, b, m, n, 2);
  const fitted = matrixProduct(a, x, m, n, 2), left = b.map((value, i) => value - fitted[i]);
  const inside = matrixProduct(conjugateTranspose(a, m, n), left, n, m, 2);
  assert.ok(frobenius(inside) < 20 * EPS * frobenius(a) * frobenius(b));
  const exact = randomMatrix(n, 1, 3), again = leastSquares(a, matrixProduct(a, exact, m, n, 1), m, n);
  assert.ok(distance(again, exact) / frobenius(exact) < 20 * EPS);
  const dependent = Float64Array.of(1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 2, 0);
  assert.throws(() => leastSquares(dependent, new Float64Array(6), 3, 2), RangeError);
});

Deno.test("SVD: UΣVᴴ is A for every shape, the factors are orthonormal", () => {
  for (const [m, n] of [[1, 1], [3, 3], [7, 3], [3, 7], [32, 32], [64, 64], [40, 12], [1, 6]]) {
    const a = randomMatrix(m, n, m + 100 * n), k = Math.min(m, n), { u, values, v } = svd(a, m, n);
    const back = matrixProduct(
      matrixProduct(u, diagonalMatrix(values), m, k, k),
      conjugateTranspose(v, n, k),
      m,
      k,
      n,
    );
    assert.ok(distance(back, a) / frobenius(a) < 8 * EPS * Math.sqrt(k) + 4 * EPS, `${m} × ${n}`);
    assert.ok(orthogonalityError(u, m, k) < 10 * EPS * k, `U of ${m} × ${n}`);
    assert.ok(orthogonalityError(v, n, k) < 10 * EPS * k, `V of ${m} × ${n}`);
    assert.ok(values.every((value, i) => value >= 0 && (i === 0 || value <= values[i - 1])));
  }
});

Deno.test("SVD: small singular values keep their digits; zero and rank-deficient matrices have zeros", () => {
  // Columns of widely different size: the values are found to relative accuracy.
  const q = qr(randomMatrix(4, 4, 8), 4, 4).q, sizes = [1, 1e-5, 1e-10, 1e-14];
  const graded = matrixProduct(q, diagonalMatrix(sizes), 4, 4, 4);
  svd(graded, 4, 4).values.forEach((value, i) => assert.ok(Math.abs(value / sizes[i] - 1) < 1e-13, String(value)));
  assert.deepEqual([...svd(new Float64Array(12), 2, 3).values], [0, 0]);
  const h = randomHermitian(5, 2),
    rank = matrixProduct(h.subarray(0, 20), conjugateTranspose(h.subarray(0, 20), 2, 5), 2, 5, 2);
  assert.ok(svd(rank, 2, 2).values[1] > 0);
  const x = randomMatrix(6, 1, 1), one = svd(matrixProduct(x, conjugateTranspose(x, 6, 1), 6, 1, 6), 6, 6).values;
  assert.ok(one.subarray(1).every((value) => value < 20 * EPS * one[0]));
  assert.throws(() => svd(Float64Array.of(Infinity, 0), 1, 1), RangeError);
});

Deno.test("SVD: square matrices with rows of zeros converge", () => {
  for (const n of [2, 6, 8]) {
    for (let seed = 0; seed < 30; seed++) {
      const a = randomMatrix(n, n, seed);
      a.fill(0, 0, 2 * n);
      const { u, values, v } = svd(a, n, n);
      assert.ok(values[n - 1] < 1e-100 && values[n - 2] > 1e-6, `${values}`);
      const scaled = u.map((value, i) => value * values[(i >> 1) % n]);
      const product = matrixProduct(scaled, conjugateTranspose(v, n, n), n, n, n);
      assert.ok(distance(product, a) < 20 * EPS * frobenius(a));
    }
  }
});

Deno.test("SVD: singular values are found where rounding keeps two columns from becoming exactly orthogonal", () => {
  // Turned over and over when a pair must be orthogonal to the last bit.
  const a = Float64Array.of(
    ...[0.34668344259262085, -0.8367049694061279, 0.05934251472353935, -1.0383411645889282],
    ...[-0.0030981998424977064, -0.6393527984619141, 0.39516356587409973, -1.1112139225006104],
  );
  const { values } = svd(a, 2, 2), power = a.reduce((sum, part) => sum + part * part, 0);
  assert.ok(Math.abs((values[0] ** 2 + values[1] ** 2) / power - 1) < 1e-14);
});

Deno.test("SVD: what one matrix left in the kernel's memory does not show in the next, smaller or larger", () => {
  const small = randomMatrix(5, 5, 31), large = randomMatrix(70, 70, 32), before = svd(small, 5, 5);
  const kept = structuredClone(before);
  svd(large, 70, 70);
  assert.deepEqual(before, kept);
  assert.deepEqual(svd(small, 5, 5), kept);
});
