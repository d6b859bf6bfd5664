/**
 * QR decomposition A = QR of a complex m × n matrix, m >= n, by Householder reflections, and least squares with it.
 *
 * Reflection k maps column k, from row k on, to a real multiple of the first unit vector; the diagonal of R is real. Q has
 * n orthonormal columns, R is n × n and upper triangular. lib/numeric/kernels/assembly/qr.ts is the kernel.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 5.2.2 and 5.3.2.
 */
import * as kernel from "../kernels/linear.wasm";
import type { ComplexMatrix } from "./linear_algebra.ts";

export interface QrDecomposition {
  /** m × n */
  q: ComplexMatrix;
  /** n × n */
  r: ComplexMatrix;
}

/** Bytes of a complex value. */
const SIZE = 16;
/** Most values of the gap beside a column, and before the first one. */
const GAP = 7;

/**
 * Q and R.
 * @param a m × n, interleaved, row-major
 * @throws RangeError when m < n or the length differs
 */
export function qr(a: Float64Array, m: number, n: number): QrDecomposition {
  checkShape(a, m, n);
  const at = reserve(m * n + n * n + 2 * n * (m + GAP) + n + GAP), matrix = view(at, m * n);
  matrix.set(a);
  kernel.decompose(m, n);
  // Q takes the place of the matrix; R follows.
  return { q: matrix.slice(), r: view(at + SIZE * m * n, n * n).slice() };
}

/**
 * The X that makes ‖AX - B‖ smallest.
 * @param a m × n of full column rank
 * @param b m × p
 * @returns n × p
 * @throws RangeError when m < n, a length differs, or a column of A depends on the others to working precision
 */
export function leastSquares(a: Float64Array, b: Float64Array, m: number, n: number, p = 1): ComplexMatrix {
  checkLength(b, m, p);
  checkShape(a, m, n);
  const at = reserve(m * (n + p) + (n + p) * (m + GAP) + n + GAP), beside = at + SIZE * m * n;
  view(at, m * n).set(a);
  view(beside, m * p).set(b);
  const dependent = kernel.leastSquares(m, n, p);
  if (dependent >= 0) {
    throw new RangeError(`Cannot solve for ${n} unknowns: column ${dependent} depends on the others`);
  }
  return view(beside, n * p).slice();
}

/** The address of room for complex values in the memory of the kernel. */
function reserve(count: number): number {
  const at = kernel.reserve(SIZE * count);
  if (at === 0) throw new RangeError(`Cannot decompose the matrix: no memory for ${count} values`);
  return at;
}

/** Complex values in the memory of the kernel; growth of the memory detaches a view. */
const view = (at: number, count: number) => new Float64Array(kernel.memory.buffer, at, 2 * count);

function checkShape(a: Float64Array, m: number, n: number): void {
  checkLength(a, m, n);
  if (m < n) throw new RangeError(`Cannot decompose ${m} × ${n}: there are fewer rows than columns`);
}

function checkLength(a: Float64Array, m: number, n: number): void {
  if (a.length !== 2 * m * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${m} × ${n}`);
}
