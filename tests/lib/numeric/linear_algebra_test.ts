import assert from "node:assert/strict";
import {
  cholesky,
  type ComplexMatrix,
  gram,
  inverseLower,
  matrixProduct,
} from "../../../lib/numeric/linalg/linear_algebra.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { inverseHermitian } from "./_matrices.ts";

function assertClose(actual: Float64Array, expected: ArrayLike<number>, tolerance = 1e-10) {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < actual.length; i++) {
    assert.ok(Math.abs(actual[i] - expected[i]) <= tolerance, `[${i}] ${actual[i]}, ${expected[i]}`);
  }
}

const identity = (n: number) =>
  Float64Array.from({ length: 2 * n * n }, (_, i) => (i % 2 === 0 && (i / 2) % (n + 1) === 0 ? 1 : 0));

/** Aᴴ. */
function adjoint(a: Float64Array, rows: number, columns: number): ComplexMatrix {
  const out = new Float64Array(a.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      out[2 * (j * rows + i)] = a[2 * (i * columns + j)];
      out[2 * (j * rows + i) + 1] = -a[2 * (i * columns + j) + 1];
    }
  }
  return out;
}

Deno.test("known answers: [[2, j], [-j, 2]] is LLᴴ with L = [[√2, 0], [-j/√2, √1.5]], and its inverse", () => {
  const a = Float64Array.of(2, 0, 0, 1, 0, -1, 2, 0);
  assertClose(cholesky(a, 2), [Math.SQRT2, 0, 0, 0, 0, -Math.SQRT1_2, Math.sqrt(1.5), 0], 1e-15);
  assertClose(inverseHermitian(a, 2), [2 / 3, 0, 0, -1 / 3, 0, 1 / 3, 2 / 3, 0], 1e-15);
  // (1 + j)·(2 - j) = 3 + j
  assert.deepEqual([...matrixProduct(Float64Array.of(1, 1), Float64Array.of(2, -1), 1, 1, 1)], [3, 1]);
});

Deno.test("factors and inverses multiply back, for sizes one to eight and any offset", () => {
  const generator = Generator.seeded(7);
  for (let n = 1; n <= 8; n++) {
    const rows = n + 2, offset = n;
    const stored = generator.complexNormal64(offset + rows * n, 1), b = stored.slice(2 * offset);
    const a = gram(stored, rows, n, { offset });
    assertClose(a, matrixProduct(adjoint(b, rows, n), b, n, rows, n), 1e-12);
    const l = cholesky(a, n);
    assertClose(matrixProduct(l, adjoint(l, n, n), n, n, n), a);
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) assert.equal(l[2 * (i * n + j)], 0);
    assertClose(matrixProduct(inverseLower(l, n), l, n, n, n), identity(n));
    assertClose(matrixProduct(inverseHermitian(a, n), a, n, n, n), identity(n), 1e-8);
  }
});

Deno.test("what is not positive definite is refused", () => {
  for (const [a, n] of [[[0, 0], 1], [[-1, 0], 1], [[1, 0, 0, 2, 0, -2, 1, 0], 2], [[NaN, 0], 1]] as const) {
    assert.throws(() => cholesky(Float64Array.from(a), n), RangeError);
  }
});
