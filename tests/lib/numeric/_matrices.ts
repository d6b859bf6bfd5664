/** Complex matrices for tests: random ones, products, and how far two are from each other. */
import {
  cholesky,
  type ComplexMatrix,
  conjugateTranspose,
  gram,
  inverseLower,
  matrixProduct,
} from "../../../lib/numeric/linalg/linear_algebra.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";

export function randomMatrix(rows: number, columns: number, seed: number): ComplexMatrix {
  return Generator.seeded(seed).standardNormal(2 * rows * columns) as ComplexMatrix;
}

export function randomHermitian(n: number, seed: number): ComplexMatrix {
  const a = randomMatrix(n, n, seed), b = conjugateTranspose(a, n, n);
  return a.map((value, i) => (value + b[i]) / 2);
}

export function diagonalMatrix(values: ArrayLike<number>): ComplexMatrix {
  const n = values.length, out = new Float64Array(2 * n * n);
  for (let i = 0; i < n; i++) out[2 * (i * n + i)] = values[i];
  return out;
}

export function frobenius(a: Float64Array): number {
  let largest = 0, squares = 0;
  for (const value of a) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return 0;
  for (const value of a) squares += (value / largest) ** 2;
  return largest * Math.sqrt(squares);
}

export function distance(a: Float64Array, b: Float64Array): number {
  return frobenius(a.map((value, i) => value - b[i]));
}

/** ‖QᴴQ - I‖ of the columns of an m × n matrix. */
export function orthogonalityError(q: Float64Array, m: number, n: number): number {
  return distance(
    matrixProduct(conjugateTranspose(q, m, n), q, n, m, n),
    diagonalMatrix(new Array(n).fill(1)),
  );
}

/** A⁻¹ of a Hermitian positive definite matrix, as L⁻ᴴL⁻¹. */
export const inverseHermitian = (a: Float64Array, n: number) => gram(inverseLower(cholesky(a, n), n), n, n);
