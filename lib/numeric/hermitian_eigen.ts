/**
 * Eigendecomposition of a complex Hermitian matrix: the algorithm of ./hermitian_reference.ts, to the bit, with reflections and
 * rotations in a kernel (./assembly/householder.ts).
 */
import * as kernel from "./linear.wasm";
import { checkSquare, copyLowerTriangle, diagonalise, type HermitianEigen, sorted } from "./hermitian_reference.ts";

/**
 * Eigenvalues and eigenvectors.
 * @param a n × n, interleaved, row-major; only its lower triangle and the real part of its diagonal are read
 * @throws RangeError when the length is not that of n × n, or a value is not finite
 */
export function hermitianEigen(a: Float64Array, n: number): HermitianEigen {
  checkSquare(a, n);
  const square = 16 * n * n, work = kernel.reserve(2 * square + 80 * n);
  if (work === 0) throw new RangeError(`Cannot decompose ${n} × ${n}: no memory`);
  // Places in the memory of the kernel: two matrices, then n values of each kind.
  const columns = work + square, taus = columns + square, v = taus + 16 * n, w = v + 16 * n;
  const diagonal = w + 16 * n, beside = diagonal + 8 * n;
  // Created after the memory has grown, because growing detaches views.
  const view = (at: number, count: number) => new Float64Array(kernel.memory.buffer, at, count);
  copyLowerTriangle(a, n, view(work, 2 * n * n));
  kernel.tridiagonalise(work, n, diagonal, beside, taus, v, w);
  const vectors = view(columns, 2 * n * n), values = view(diagonal, n);
  vectors.fill(0);
  kernel.accumulate(work, n, taus, columns, v);
  const cosines = view(v, n), sines = view(w, n);
  diagonalise(values, view(beside, n), n, {
    cosines,
    sines,
    apply: (first, last) => kernel.rotate(columns, 16 * n, first, last, v, w),
  });
  return sorted(values, vectors, n);
}
