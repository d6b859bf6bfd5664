/**
 * Singular value decomposition A = UΣVᴴ of a complex matrix by one-sided Jacobi rotations: pairs of columns are rotated
 * until all are orthogonal; their norms are the singular values. It finds small singular values to nearly full relative
 * accuracy, whereas methods that use a bidiagonal form lose those far below the largest.
 *
 * A tall matrix is first reduced to the n × n factor R of its QR decomposition. lib/numeric/kernels/assembly/jacobi.ts makes the
 * rotations: within a sweep the largest remaining column is taken first (de Rijk), and each rotation updates the
 * squared norms of its two columns.
 *
 * Sources: Hestenes, "Inversion of matrices by biorthogonalization", J. SIAM 6, 1958; Demmel and Veselić, "Jacobi's method is
 * more accurate than QR", SIAM J. Matrix Anal. Appl. 13, 1992; de Rijk, "A one-sided Jacobi algorithm for computing the singular
 * value decomposition on a vector computer", SIAM J. Sci. Stat. Comput. 10, 1989.
 */
import * as kernel from "../kernels/linear.wasm";
import { type ComplexMatrix, conjugateTranspose, matrixProduct } from "./linear_algebra.ts";
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

/** The decomposition of a square matrix in the kernel. */
function jacobi(a: Float64Array, n: number): SingularValues {
  const square = 16 * n * n, at = kernel.reserve(4 * square + 20 * n);
  if (at === 0) throw new RangeError(`Cannot decompose the matrix: no memory for ${n} columns`);
  // Created after the memory has grown, because growing detaches views.
  const { buffer } = kernel.memory, matrix = new Float64Array(buffer, at, 2 * n * n);
  matrix.set(a);
  if (!kernel.singularValues(n, MOST_SWEEPS)) throw new RangeError("Cannot decompose the matrix: no convergence");
  // U takes the place of the matrix; V follows, then working memory, then the values.
  return {
    u: matrix.slice(),
    values: new Float64Array(buffer, at + 4 * square, n).slice(),
    v: new Float64Array(buffer, at + square, 2 * n * n).slice(),
  };
}
