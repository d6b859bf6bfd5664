/**
 * Eigendecomposition A = VΛVᴴ of a complex Hermitian matrix: Householder reflections make it real and tridiagonal, implicit QL
 * steps make that diagonal.
 *
 * A reflection I - τvvᴴ takes the column below the diagonal to a real multiple of the first unit vector (τ is complex, so
 * that the multiple is real); the two-sided update is A - vwᴴ - wvᴴ with w = τAv - ½|τ|²(vᴴAv)v. V is stored column by column
 * while it is rotated, so that a rotation runs along memory. ./assembly/householder.ts computes reflections and rotations.
 *
 * Sources: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 8.3.1 and 8.3.5; Bowdler, Martin, Reinsch and
 * Wilkinson, "The QR and QL algorithms for symmetric matrices", Numer. Math. 11, 1968.
 */
import * as kernel from "./linear.wasm";
import { type ComplexMatrix, zeros } from "./linear_algebra.ts";

export interface HermitianEigen {
  /** Ascending. */
  values: Float64Array<ArrayBuffer>;
  /** n × n, row-major; column k belongs to values[k] and has norm 1. Its phase is arbitrary. */
  vectors: ComplexMatrix;
}

/** QL steps for one eigenvalue; two or three are usual. */
const MOST_STEPS = 60;

/**
 * Eigenvalues and eigenvectors.
 * @param a n × n, interleaved, row-major; only its lower triangle and the real part of its diagonal are read
 * @throws RangeError when the length is not that of n × n, or a value is not finite
 */
export function hermitianEigen(a: Float64Array, n: number): HermitianEigen {
  if (a.length !== 2 * n * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${n} × ${n}`);
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

/** The matrix with its upper triangle made from the lower one. */
function copyLowerTriangle(a: Float64Array, n: number, work: Float64Array): void {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const lower = 2 * (i * n + j), upper = 2 * (j * n + i);
      const real = a[lower], imaginary = i === j ? 0 : a[lower + 1];
      if (!Number.isFinite(real) || !Number.isFinite(imaginary)) {
        throw new RangeError("Cannot decompose a matrix with values that are not finite");
      }
      work[lower] = work[upper] = real;
      work[lower + 1] = imaginary;
      work[upper + 1] = -imaginary;
    }
  }
}

/** Rotations of neighbouring columns (i, i + 1), applied together from `last` down to `first`. */
interface Rotations {
  cosines: Float64Array;
  sines: Float64Array;
  apply(first: number, last: number): void;
}

/** Implicit QL on the real tridiagonal matrix; the rotations are applied to the columns as well. */
function diagonalise(diagonal: Float64Array, beside: Float64Array, n: number, rotations: Rotations): void {
  for (let l = 0; l < n; l++) {
    for (let step = 0;; step++) {
      let m = l;
      while (m < n - 1) {
        const scale = Math.abs(diagonal[m]) + Math.abs(diagonal[m + 1]);
        if (Math.abs(beside[m]) <= Number.EPSILON * scale || Math.abs(beside[m]) < Number.MIN_VALUE * 4) break;
        m++;
      }
      if (m === l) break;
      if (step === MOST_STEPS) throw new RangeError("Cannot diagonalise the matrix: no convergence");
      // Wilkinson's shift.
      const half = (diagonal[l + 1] - diagonal[l]) / (2 * beside[l]);
      const root = Math.hypot(half, 1);
      let g = diagonal[m] - diagonal[l] + beside[l] / (half + (half >= 0 ? root : -root));
      let sine = 1, cosine = 1, p = 0;
      let i = m - 1;
      for (; i >= l; i--) {
        const f = sine * beside[i], b = cosine * beside[i];
        const r = Math.hypot(f, g);
        beside[i + 1] = r;
        if (r === 0) {
          diagonal[i + 1] -= p;
          beside[m] = 0;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[i + 1] - p;
        const t = (diagonal[i] - g) * sine + 2 * cosine * b;
        p = sine * t;
        diagonal[i + 1] = g + p;
        g = cosine * t - b;
        rotations.cosines[i] = cosine;
        rotations.sines[i] = sine;
      }
      rotations.apply(i + 1, m - 1);
      if (i >= l) continue;
      diagonal[l] -= p;
      beside[l] = g;
      beside[m] = 0;
    }
  }
}

function sorted(diagonal: Float64Array, columns: Float64Array, n: number): HermitianEigen {
  const order = Array.from({ length: n }, (_, k) => k).sort((p, q) => diagonal[p] - diagonal[q] || p - q);
  const values = Float64Array.from(order, (k) => diagonal[k]), vectors = zeros(n, n);
  order.forEach((from, to) => {
    for (let i = 0; i < n; i++) {
      vectors[2 * (i * n + to)] = columns[2 * (n * from + i)];
      vectors[2 * (i * n + to) + 1] = columns[2 * (n * from + i) + 1];
    }
  });
  return { values, vectors };
}
