/**
 * Singular value decomposition A = UΣVᴴ of a complex matrix by one-sided Jacobi rotations: pairs of columns are rotated
 * until all are orthogonal; their norms are the singular values. It finds small singular values to nearly full relative
 * accuracy, whereas methods that use a bidiagonal form lose those far below the largest.
 *
 * A tall matrix is first reduced to the n × n factor R of its QR decomposition. ./assembly/jacobi.ts makes the
 * rotations: within a sweep the largest remaining column is taken first (de Rijk), and each rotation updates the
 * squared norms of its two columns.
 *
 * Sources: Hestenes, "Inversion of matrices by biorthogonalization", J. SIAM 6, 1958; Demmel and Veselić, "Jacobi's method is
 * more accurate than QR", SIAM J. Matrix Anal. Appl. 13, 1992; de Rijk, "A one-sided Jacobi algorithm for computing the singular
 * value decomposition on a vector computer", SIAM J. Sci. Stat. Comput. 10, 1989.
 */
import * as kernel from "./linear.wasm";
import { type ComplexMatrix, conjugateTranspose, matrixProduct, zeros } from "./linear_algebra.ts";
import { qr } from "./qr.ts";

export interface SingularValues {
  /** m × k with k = min(m, n); columns of a singular value of 0 are 0. */
  u: ComplexMatrix;
  /** Descending, k of them. */
  values: Float64Array<ArrayBuffer>;
  /** n × k; A = UΣVᴴ. */
  v: ComplexMatrix;
}

/** Sweeps over all pairs; six to ten are usual. */
const MOST_SWEEPS = 60;

/**
 * U, Σ and V.
 * @param a m × n, interleaved, row-major
 * @throws RangeError when the length differs or a value is not finite
 */
export function svd(a: Float64Array, m: number, n: number): SingularValues {
  if (a.length !== 2 * m * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${m} × ${n}`);
  for (let i = 0; i < a.length; i++) {
    if (!Number.isFinite(a[i])) throw new RangeError("Cannot decompose a matrix with values that are not finite");
  }
  if (m < n) {
    const { u, values, v } = svd(conjugateTranspose(a, m, n), n, m);
    return { u: v, values, v: u };
  }
  if (m === n) return jacobi(a, n);
  const { q, r } = qr(a, m, n), inner = jacobi(r, n);
  return { ...inner, u: matrixProduct(q, inner.u, m, n, n) };
}

/** Turns each column of a matrix so that its first component is real and not negative; a decomposition leaves the phases open. */
export function realFirst(v: ComplexMatrix, columns: number): ComplexMatrix {
  for (let column = 0; column < columns; column++) {
    const re = v[2 * column], im = v[2 * column + 1], length = Math.hypot(re, im);
    if (length === 0) continue;
    for (let at = 2 * column; at < v.length; at += 2 * columns) {
      const real = (v[at] * re + v[at + 1] * im) / length;
      v[at + 1] = (v[at + 1] * re - v[at] * im) / length;
      v[at] = real;
    }
  }
  return v;
}

/** Rotates the columns of AV, which are stored in order, together with those of V. */
function jacobi(a: Float64Array, n: number): SingularValues {
  const at = kernel.reserve(32 * n * n + 12 * n);
  if (at === 0) throw new RangeError(`Cannot decompose the matrix: no memory for ${n} columns`);
  // Created after the memory has grown, because growing detaches views.
  const columns = new Float64Array(kernel.memory.buffer, at, 2 * n * n);
  const turns = new Float64Array(kernel.memory.buffer, at + columns.byteLength, 2 * n * n);
  // Squares of the entries must neither overflow nor underflow.
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]));
  const scale = largest === 0 ? 1 : largest;
  for (let i = 0, from = 0; i < n; i++) {
    for (let j = 0; j < n; j++, from += 2) {
      const into = 2 * (j * n + i);
      columns[into] = a[from] / scale;
      columns[into + 1] = a[from + 1] / scale;
    }
  }
  if (kernel.orthogonalise(n, MOST_SWEEPS) === 0) throw new RangeError("Cannot decompose the matrix: no convergence");
  const norms = Float64Array.from({ length: n }, (_, k) => norm(columns, 2 * n * k, 2 * n));
  const order = Array.from({ length: n }, (_, k) => k).sort((p, q) => norms[q] - norms[p] || p - q);
  const u = zeros(n, n), v = zeros(n, n);
  order.forEach((source, to) => {
    const length = norms[source];
    for (let i = 0, from = 2 * n * source, into = 2 * to; i < n; i++, from += 2, into += 2 * n) {
      u[into] = length > 0 ? columns[from] / length : 0;
      u[into + 1] = length > 0 ? columns[from + 1] / length : 0;
      v[into] = turns[from];
      v[into + 1] = turns[from + 1];
    }
  });
  return { u, values: Float64Array.from(order, (k) => norms[k] * scale), v };
}

/** Norm of values whose squares may underflow. */
function norm(values: Float64Array, start: number, count: number): number {
  let largest = 0;
  for (let i = start; i < start + count; i++) largest = Math.max(largest, Math.abs(values[i]));
  if (largest === 0) return 0;
  let squares = 0;
  for (let i = start; i < start + count; i++) squares += (values[i] / largest) ** 2;
  return largest * Math.sqrt(squares);
}
