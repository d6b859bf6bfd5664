/**
 * QR decomposition A = QR of a complex m × n matrix, m >= n, by Householder reflections, and least squares with it.
 *
 * Reflection k maps column k, from row k on, to a real multiple of the first unit vector; the diagonal of R is real. Q has
 * n orthonormal columns, R is n × n and upper triangular. ./assembly/householder.ts makes and applies the reflections.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 5.2.2 and 5.3.2.
 */
import * as kernel from "./linear.wasm";
import { type ComplexMatrix, zeros } from "./linear_algebra.ts";

export interface QrDecomposition {
  /** m × n */
  q: ComplexMatrix;
  /** n × n */
  r: ComplexMatrix;
}

/** Bytes of a complex value. */
const SIZE = 16;

/**
 * Q and R.
 * @param a m × n, interleaved, row-major
 * @throws RangeError when m < n or the length differs
 */
export function qr(a: Float64Array, m: number, n: number): QrDecomposition {
  const { columns, right, taus, reflect } = factored(a, m, n, n);
  const r = zeros(n, n), q = zeros(m, n);
  for (let j = 0; j < n; j++) {
    for (let i = 0; i <= j; i++) {
      r[2 * (i * n + j)] = columns[2 * (j * m + i)];
      r[2 * (i * n + j) + 1] = columns[2 * (j * m + i) + 1];
    }
  }
  // The columns Q e_c: the reflections after the c-th leave e_c alone.
  right.fill(0);
  for (let c = 0; c < n; c++) right[2 * (c * m + c)] = 1;
  for (let k = n - 1; k >= 0; k--) reflect(k, taus[2 * k], taus[2 * k + 1], k);
  transpose(right, n, m, q);
  return { q, r };
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
  const { columns, right, taus, reflect } = factored(a, m, n, p);
  let largest = 0;
  for (let k = 0; k < n; k++) largest = Math.max(largest, Math.abs(columns[2 * (k * m + k)]));
  // Qᴴb, then back substitution.
  transpose(b, m, p, right);
  for (let k = 0; k < n; k++) reflect(k, taus[2 * k], -taus[2 * k + 1], 0);
  const x = zeros(n, p);
  for (let c = 0; c < p; c++) {
    for (let i = n - 1; i >= 0; i--) {
      const pivot = columns[2 * (i * m + i)];
      if (!(Math.abs(pivot) > n * Number.EPSILON * largest)) {
        throw new RangeError(`Cannot solve for ${n} unknowns: column ${i} depends on the others`);
      }
      let real = right[2 * (c * m + i)], imaginary = right[2 * (c * m + i) + 1];
      for (let j = i + 1; j < n; j++) {
        const r = 2 * (j * m + i), at = 2 * (j * p + c);
        real -= columns[r] * x[at] - columns[r + 1] * x[at + 1];
        imaginary -= columns[r] * x[at + 1] + columns[r + 1] * x[at];
      }
      x[2 * (i * p + c)] = real / pivot;
      x[2 * (i * p + c) + 1] = imaginary / pivot;
    }
  }
  return x;
}

/**
 * The factored columns of A in the memory of the kernel: R on and above the diagonal, below it the vectors of the reflections
 * without their leading 1. Beside them is room for `others` columns, on which `reflect` applies reflection k with a factor τ, from
 * column `first` on.
 */
function factored(a: Float64Array, m: number, n: number, others: number) {
  checkLength(a, m, n);
  if (m < n) throw new RangeError(`Cannot decompose ${m} × ${n}: there are fewer rows than columns`);
  const stride = SIZE * m, at = kernel.reserve(stride * (n + others) + SIZE * n);
  if (at === 0) throw new RangeError(`Cannot decompose ${m} × ${n}: no memory`);
  const beside = at + stride * n, end = beside + stride * others;
  // Created after the memory has grown, because growing detaches views.
  const { buffer } = kernel.memory;
  const columns = new Float64Array(buffer, at, 2 * m * n), right = new Float64Array(buffer, beside, 2 * m * others);
  const taus = new Float64Array(buffer, end, 2 * n);
  transpose(a, m, n, columns);
  kernel.factor(at, m, n, end);
  const reflect = (k: number, tauReal: number, tauImaginary: number, first: number) =>
    kernel.reflect(
      at + stride * k + SIZE * (k + 1),
      m - k,
      tauReal,
      tauImaginary,
      beside + stride * first + SIZE * k,
      stride,
      others - first,
    );
  return { columns, right, taus, reflect };
}

function checkLength(a: Float64Array, m: number, n: number): void {
  if (a.length !== 2 * m * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${m} × ${n}`);
}

/** Rows to columns, without conjugation. */
function transpose(a: Float64Array, m: number, n: number, out: Float64Array): void {
  for (let i = 0, from = 0; i < m; i++) {
    for (let j = 0, into = 2 * i; j < n; j++, from += 2, into += 2 * m) {
      out[into] = a[from];
      out[into + 1] = a[from + 1];
    }
  }
}
