/**
 * Linear systems AX = B: of any square complex matrix by LU decomposition with row pivoting, of a Hermitian positive definite
 * one by Cholesky's.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 3.4 and 4.2.
 */
import { cholesky, type ComplexMatrix } from "./linear_algebra.ts";

/**
 * X of AX = B.
 *
 * @param a n × n, interleaved, row-major
 * @param b n × p
 * @returns n × p
 * @throws RangeError when a length differs or A is singular to working precision
 */
export function solve(a: Float64Array, b: Float64Array, n: number, p = 1): ComplexMatrix {
  checkSystem(a, b, n, p);
  const lu = Float64Array.from(a), x = Float64Array.from(b);
  let largest = 0;
  for (const value of lu) largest = Math.max(largest, Math.abs(value));
  for (let k = 0; k < n; k++) {
    let pivot = k, best = -1;
    for (let i = k; i < n; i++) {
      const size = Math.hypot(lu[2 * (i * n + k)], lu[2 * (i * n + k) + 1]);
      if (size > best) [pivot, best] = [i, size];
    }
    if (!(best > n * Number.EPSILON * largest)) {
      throw new RangeError("Cannot solve with a matrix that is singular to working precision");
    }
    if (pivot !== k) {
      swapRows(lu, k, pivot, n);
      swapRows(x, k, pivot, p);
    }
    const pr = lu[2 * (k * n + k)], pi = lu[2 * (k * n + k) + 1], power = pr * pr + pi * pi;
    for (let i = k + 1; i < n; i++) {
      const at = 2 * (i * n + k), real = lu[at], imaginary = lu[at + 1];
      if (real === 0 && imaginary === 0) continue;
      const fr = (real * pr + imaginary * pi) / power, fi = (imaginary * pr - real * pi) / power;
      subtractRow(lu, i, k, fr, fi, k + 1, n);
      subtractRow(x, i, k, fr, fi, 0, p);
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    const pr = lu[2 * (i * n + i)], pi = lu[2 * (i * n + i) + 1], power = pr * pr + pi * pi;
    for (let c = 0; c < p; c++) {
      const at = 2 * (i * p + c), real = x[at], imaginary = x[at + 1];
      x[at] = (real * pr + imaginary * pi) / power;
      x[at + 1] = (imaginary * pr - real * pi) / power;
    }
    for (let above = 0; above < i; above++) {
      const at = 2 * (above * n + i);
      subtractRow(x, above, i, lu[at], lu[at + 1], 0, p);
    }
  }
  return x;
}

/**
 * X of AX = B for a Hermitian positive definite A.
 *
 * @param a n × n; only its lower triangle is read
 * @param b n × p
 * @throws RangeError when a length differs or A is not positive definite
 */
export function solveHermitian(a: Float64Array, b: Float64Array, n: number, p = 1): ComplexMatrix {
  checkSystem(a, b, n, p);
  const lower = cholesky(a, n), x = Float64Array.from(b);
  const divideRow = (row: number) => {
    const pivot = lower[2 * (row * n + row)];
    for (let at = 2 * row * p; at < 2 * (row + 1) * p; at++) x[at] /= pivot;
  };
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) subtractRow(x, i, k, lower[2 * (i * n + k)], lower[2 * (i * n + k) + 1], 0, p);
    divideRow(i);
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) subtractRow(x, i, k, lower[2 * (k * n + i)], -lower[2 * (k * n + i) + 1], 0, p);
    divideRow(i);
  }
  return x;
}

function checkSystem(a: Float64Array, b: Float64Array, n: number, p: number): void {
  if (a.length !== 2 * n * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${n} × ${n}`);
  if (b.length !== 2 * n * p) throw new RangeError(`Cannot take ${b.length / 2} complex values as ${n} × ${p}`);
}

function swapRows(matrix: Float64Array, a: number, b: number, columns: number): void {
  for (let j = 0; j < 2 * columns; j++) {
    const value = matrix[2 * a * columns + j];
    matrix[2 * a * columns + j] = matrix[2 * b * columns + j];
    matrix[2 * b * columns + j] = value;
  }
}

/** Row `to` minus f times row `from`, over the columns from `first` on. */
function subtractRow(
  matrix: Float64Array,
  to: number,
  from: number,
  fr: number,
  fi: number,
  first: number,
  columns: number,
): void {
  let target = 2 * (to * columns + first), source = 2 * (from * columns + first);
  for (const end = 2 * (to + 1) * columns; target < end; target += 2, source += 2) {
    const real = matrix[source], imaginary = matrix[source + 1];
    matrix[target] -= fr * real - fi * imaginary;
    matrix[target + 1] -= fr * imaginary + fi * real;
  }
}
