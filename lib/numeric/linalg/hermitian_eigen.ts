/**
 * Eigendecomposition of a complex Hermitian matrix: the algorithm of ./hermitian_reference.ts, to the bit, in a kernel
 * (lib/numeric/kernels/assembly/hermitian.ts).
 */
import * as kernel from "../kernels/linear.wasm";
import { checkSquare, type HermitianEigen, NO_CONVERGENCE, NOT_FINITE } from "./hermitian_reference.ts";

/** Most bytes that a column takes beside its values: a gap, three complex and four real values. */
const BESIDE = 112 + 3 * 16 + 4 * 8;

/**
 * Eigenvalues and eigenvectors.
 * @param a n × n, interleaved, row-major; only its lower triangle and the real part of its diagonal are read
 * @throws RangeError when the length is not that of n × n, or a value is not finite
 */
export function hermitianEigen(a: Float64Array, n: number): HermitianEigen {
  checkSquare(a, n);
  const square = 16 * n * n, at = kernel.reserve(2 * square + BESIDE * n + 64);
  if (at === 0) throw new RangeError(`Cannot decompose ${n} × ${n}: no memory`);
  // Created after the memory has grown, because growing detaches views.
  const matrix = new Float64Array(kernel.memory.buffer, at, 2 * n * n);
  matrix.set(a);
  const failure = kernel.hermitianEigen(n);
  if (failure !== 0) throw new RangeError(failure === 1 ? NOT_FINITE : NO_CONVERGENCE);
  // The vectors take the place of the matrix; the values follow.
  return {
    values: new Float64Array(kernel.memory.buffer, at + square, n).slice(),
    vectors: matrix.slice(),
  };
}
