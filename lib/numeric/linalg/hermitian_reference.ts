/**
 * Eigendecomposition A = VΛVᴴ of a complex Hermitian matrix: Householder reflections make it real and tridiagonal, implicit QL
 * steps make that diagonal.
 *
 * A reflection I - τvvᴴ takes the column below the diagonal to a real multiple of the first unit vector (τ is complex, so
 * that the multiple is real); the two-sided update is A - vwᴴ - wvᴴ with w = τAv - ½|τ|²(vᴴAv)v. V is stored column by column
 * while it is rotated, so that a rotation runs along memory. ./hermitian_eigen.ts computes the same bits with a kernel; this
 * module serves the page, whose content policy forbids WebAssembly.
 *
 * Sources: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 8.3.1 and 8.3.5; Bowdler, Martin, Reinsch and
 * Wilkinson, "The QR and QL algorithms for symmetric matrices", Numer. Math. 11, 1968.
 */
import { type ComplexMatrix, zeros } from "./linear_algebra.ts";

export interface HermitianEigen {
  /** Ascending. */
  values: Float64Array<ArrayBuffer>;
  /** n × n, row-major; column k belongs to values[k] and has norm 1. Its phase is arbitrary. */
  vectors: ComplexMatrix;
}

/** QL steps for one eigenvalue; two or three are usual. */
const MOST_STEPS = 60;

export const NOT_FINITE = "Cannot decompose a matrix with values that are not finite";
export const NO_CONVERGENCE = "Cannot diagonalise the matrix: no convergence";

/**
 * Eigenvalues and eigenvectors: the reference of the kernel.
 * @param a n × n, interleaved, row-major; only its lower triangle and the real part of its diagonal are read
 * @throws RangeError when the length is not that of n × n, or a value is not finite
 */
export function hermitianReference(a: Float64Array, n: number): HermitianEigen {
  checkSquare(a, n);
  const work = zeros(n, n), values = new Float64Array(n), beside = new Float64Array(n), taus = new Float64Array(2 * n);
  copyLowerTriangle(a, n, work);
  tridiagonalise(work, n, values, beside, taus);
  const columns = reflections(work, n, taus);
  diagonalise(values, beside, n, columns);
  return sorted(values, columns, n);
}

/** @throws RangeError when the length is not that of n × n */
export function checkSquare(a: Float64Array, n: number): void {
  if (a.length !== 2 * n * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${n} × ${n}`);
}

/** The matrix with its upper triangle made from the lower one. @throws RangeError when a value is not finite */
function copyLowerTriangle(a: Float64Array, n: number, work: Float64Array): void {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const lower = 2 * (i * n + j), upper = 2 * (j * n + i);
      const real = a[lower], imaginary = i === j ? 0 : a[lower + 1];
      if (!Number.isFinite(real) || !Number.isFinite(imaginary)) {
        throw new RangeError(NOT_FINITE);
      }
      work[lower] = work[upper] = real;
      work[lower + 1] = imaginary;
      work[upper + 1] = -imaginary;
    }
  }
}

/** Stores the reflections' vectors below the diagonal, without their first element, which is 1. */
function tridiagonalise(
  work: ComplexMatrix,
  n: number,
  diagonal: Float64Array,
  beside: Float64Array,
  taus: Float64Array,
): void {
  const v = new Float64Array(2 * n), w = new Float64Array(2 * n);
  for (let k = 0; k < n - 1; k++) {
    const first = k + 1;
    // The largest entry scales the column, so that squares neither overflow nor underflow.
    let largest = 0;
    for (let i = first; i < n; i++) {
      largest = Math.max(largest, Math.abs(work[2 * (i * n + k)]), Math.abs(work[2 * (i * n + k) + 1]));
    }
    if (largest === 0) {
      beside[k] = 0;
      taus[2 * k] = taus[2 * k + 1] = 0;
      continue;
    }
    let squares = 0;
    for (let i = first; i < n; i++) {
      const real = work[2 * (i * n + k)] / largest, imaginary = work[2 * (i * n + k) + 1] / largest;
      squares += real * real + imaginary * imaginary;
    }
    const at = 2 * (first * n + k), alphaReal = work[at], alphaImaginary = work[at + 1];
    const norm = largest * Math.sqrt(squares), beta = alphaReal > 0 ? -norm : norm;
    const tauReal = (beta - alphaReal) / beta, tauImaginary = -alphaImaginary / beta;
    beside[k] = beta;
    taus[2 * k] = tauReal;
    taus[2 * k + 1] = tauImaginary;
    // v = (1, x / (alpha - beta))
    const dr = alphaReal - beta, di = alphaImaginary, dd = dr * dr + di * di;
    v[2 * first] = 1;
    v[2 * first + 1] = 0;
    for (let i = first + 1; i < n; i++) {
      const p = 2 * (i * n + k), xr = work[p], xi = work[p + 1];
      work[p] = v[2 * i] = (xr * dr + xi * di) / dd;
      work[p + 1] = v[2 * i + 1] = (xi * dr - xr * di) / dd;
    }
    // w = τAv, then w - ½τ(wᴴv)v
    let dotReal = 0, dotImaginary = 0;
    for (let i = first; i < n; i++) {
      let real = 0, imaginary = 0;
      for (let j = first, p = 2 * (i * n + first); j < n; j++, p += 2) {
        const vr = v[2 * j], vi = v[2 * j + 1];
        real += work[p] * vr - work[p + 1] * vi;
        imaginary += work[p] * vi + work[p + 1] * vr;
      }
      const wr = tauReal * real - tauImaginary * imaginary, wi = tauReal * imaginary + tauImaginary * real;
      w[2 * i] = wr;
      w[2 * i + 1] = wi;
      dotReal += wr * v[2 * i] + wi * v[2 * i + 1];
      dotImaginary += wr * v[2 * i + 1] - wi * v[2 * i];
    }
    const fr = -0.5 * (tauReal * dotReal - tauImaginary * dotImaginary);
    const fi = -0.5 * (tauReal * dotImaginary + tauImaginary * dotReal);
    for (let i = first; i < n; i++) {
      w[2 * i] += fr * v[2 * i] - fi * v[2 * i + 1];
      w[2 * i + 1] += fr * v[2 * i + 1] + fi * v[2 * i];
    }
    // A - vwᴴ - wvᴴ
    for (let i = first; i < n; i++) {
      const vr = v[2 * i], vi = v[2 * i + 1], wr = w[2 * i], wi = w[2 * i + 1];
      for (let j = first, p = 2 * (i * n + first); j < n; j++, p += 2) {
        const xr = v[2 * j], xi = v[2 * j + 1], yr = w[2 * j], yi = w[2 * j + 1];
        work[p] -= vr * yr + vi * yi + wr * xr + wi * xi;
        work[p + 1] -= vi * yr - vr * yi + wi * xr - wr * xi;
      }
    }
  }
  for (let k = 0; k < n; k++) diagonal[k] = work[2 * (k * n + k)];
}

/** The product of the reflections, column by column: column k is at 2·n·k. */
function reflections(work: ComplexMatrix, n: number, taus: Float64Array): ComplexMatrix {
  const columns = zeros(n, n), v = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) columns[2 * (k * n + k)] = 1;
  // From the last to the first, each column meets only the part of it that is not yet a unit vector.
  for (let k = n - 2; k >= 0; k--) {
    const tauReal = taus[2 * k], tauImaginary = taus[2 * k + 1], first = k + 1;
    if (tauReal === 0 && tauImaginary === 0) continue;
    // Read once across the rows, then n times along memory.
    for (let i = first + 1; i < n; i++) {
      v[2 * i] = work[2 * (i * n + k)];
      v[2 * i + 1] = work[2 * (i * n + k) + 1];
    }
    for (let c = first; c < n; c++) {
      const column = 2 * n * c;
      let real = columns[column + 2 * first], imaginary = columns[column + 2 * first + 1];
      for (let i = first + 1; i < n; i++) {
        const p = 2 * i, q = column + p;
        real += v[p] * columns[q] + v[p + 1] * columns[q + 1];
        imaginary += v[p] * columns[q + 1] - v[p + 1] * columns[q];
      }
      const fr = tauReal * real - tauImaginary * imaginary, fi = tauReal * imaginary + tauImaginary * real;
      columns[column + 2 * first] -= fr;
      columns[column + 2 * first + 1] -= fi;
      for (let i = first + 1; i < n; i++) {
        const p = 2 * i, q = column + p;
        columns[q] -= v[p] * fr - v[p + 1] * fi;
        columns[q + 1] -= v[p] * fi + v[p + 1] * fr;
      }
    }
  }
  return columns;
}

function rotate(columns: Float64Array, low: number, high: number, count: number, cosine: number, sine: number): void {
  for (let k = 0; k < count; k++) {
    const a = columns[low + k], b = columns[high + k];
    columns[high + k] = sine * a + cosine * b;
    columns[low + k] = cosine * a - sine * b;
  }
}

/** √(a² + b²), scaled; Math.hypot may have other last digits in another engine. */
function hypotenuse(a: number, b: number): number {
  const x = Math.abs(a), y = Math.abs(b), largest = x > y ? x : y;
  return largest === 0 ? 0 : Math.sqrt((x / largest) * (x / largest) + (y / largest) * (y / largest)) * largest;
}

/** Implicit QL on the real tridiagonal matrix; neighbouring columns are rotated as well. */
function diagonalise(diagonal: Float64Array, beside: Float64Array, n: number, columns: ComplexMatrix): void {
  for (let l = 0; l < n; l++) {
    for (let step = 0;; step++) {
      let m = l;
      while (m < n - 1) {
        const scale = Math.abs(diagonal[m]) + Math.abs(diagonal[m + 1]);
        if (Math.abs(beside[m]) <= Number.EPSILON * scale || Math.abs(beside[m]) < Number.MIN_VALUE * 4) break;
        m++;
      }
      if (m === l) break;
      if (step === MOST_STEPS) throw new RangeError(NO_CONVERGENCE);
      // Wilkinson's shift.
      const half = (diagonal[l + 1] - diagonal[l]) / (2 * beside[l]);
      const root = hypotenuse(half, 1);
      let g = diagonal[m] - diagonal[l] + beside[l] / (half + (half >= 0 ? root : -root));
      let sine = 1, cosine = 1, p = 0;
      let i = m - 1;
      for (; i >= l; i--) {
        const f = sine * beside[i], b = cosine * beside[i];
        const r = hypotenuse(f, g);
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
        rotate(columns, 2 * n * i, 2 * n * (i + 1), 2 * n, cosine, sine);
      }
      if (i >= l) continue;
      diagonal[l] -= p;
      beside[l] = g;
      beside[m] = 0;
    }
  }
}

/** The result in ascending order of the values, from vectors that are stored column by column. */
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
