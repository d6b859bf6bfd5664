/**
 * QR decomposition A = QR of a complex m × n matrix, m >= n, by Householder reflections, and least squares with it.
 *
 * Reflection k maps column k, from row k on, to a real multiple of the first unit vector; the diagonal of R is real. Q has
 * n orthonormal columns, R is n × n and upper triangular.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 5.2.2 and 5.3.2.
 */
import { type ComplexMatrix, zeros } from "./linear_algebra.ts";

export interface QrDecomposition {
  /** m × n */
  q: ComplexMatrix;
  /** n × n */
  r: ComplexMatrix;
}

/** Columns in order, each as long as the matrix has rows: working storage of the reflections. */
interface Columns {
  data: ComplexMatrix;
  rows: number;
}

/**
 * Q and R.
 * @param a m × n, interleaved, row-major
 * @throws RangeError when m < n or the length differs
 */
export function qr(a: Float64Array, m: number, n: number): QrDecomposition {
  const columns = columnsOf(a, m, n), taus = factor(columns, n);
  const r = zeros(n, n);
  for (let j = 0; j < n; j++) {
    for (let i = 0; i <= j; i++) {
      r[2 * (i * n + j)] = columns.data[2 * (j * m + i)];
      r[2 * (i * n + j) + 1] = columns.data[2 * (j * m + i) + 1];
    }
  }
  const q = zeros(m, n), unit: Columns = { data: zeros(m, 1), rows: m };
  for (let c = 0; c < n; c++) {
    unit.data.fill(0);
    unit.data[2 * c] = 1;
    // Q e_c: the reflections after the c-th leave e_c alone.
    for (let k = c; k >= 0; k--) reflect(columns, k, taus[2 * k], taus[2 * k + 1], unit, 0);
    for (let i = 0; i < m; i++) {
      q[2 * (i * n + c)] = unit.data[2 * i];
      q[2 * (i * n + c) + 1] = unit.data[2 * i + 1];
    }
  }
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
  const columns = columnsOf(a, m, n), taus = factor(columns, n), right = columnsOf(b, m, p, 0);
  let largest = 0;
  for (let k = 0; k < n; k++) largest = Math.max(largest, Math.abs(columns.data[2 * (k * m + k)]));
  const x = zeros(n, p);
  for (let c = 0; c < p; c++) {
    // Qᴴb, then back substitution.
    for (let k = 0; k < n; k++) reflect(columns, k, taus[2 * k], -taus[2 * k + 1], right, c);
    for (let i = n - 1; i >= 0; i--) {
      const pivot = columns.data[2 * (i * m + i)];
      if (!(Math.abs(pivot) > n * Number.EPSILON * largest)) {
        throw new RangeError(`Cannot solve for ${n} unknowns: column ${i} depends on the others`);
      }
      let real = right.data[2 * (c * m + i)], imaginary = right.data[2 * (c * m + i) + 1];
      for (let j = i + 1; j < n; j++) {
        const r = 2 * (j * m + i), at = 2 * (j * p + c);
        real -= columns.data[r] * x[at] - columns.data[r + 1] * x[at + 1];
        imaginary -= columns.data[r] * x[at + 1] + columns.data[r + 1] * x[at];
      }
      x[2 * (i * p + c)] = real / pivot;
      x[2 * (i * p + c) + 1] = imaginary / pivot;
    }
  }
  return x;
}

function columnsOf(a: Float64Array, m: number, n: number, least = n): Columns {
  if (a.length !== 2 * m * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${m} × ${n}`);
  if (m < least) throw new RangeError(`Cannot decompose ${m} × ${n}: there are fewer rows than columns`);
  const data = zeros(n, m);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      data[2 * (j * m + i)] = a[2 * (i * n + j)];
      data[2 * (j * m + i) + 1] = a[2 * (i * n + j) + 1];
    }
  }
  return { data, rows: m };
}

/** Stores R above the diagonal and the reflections' vectors, without their leading 1, below it. */
function factor(columns: Columns, n: number): Float64Array {
  const { data, rows } = columns, taus = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    const start = 2 * (k * rows + k), end = 2 * (k + 1) * rows;
    let largest = 0;
    for (let i = start; i < end; i++) largest = Math.max(largest, Math.abs(data[i]));
    if (largest === 0) continue;
    let squares = 0;
    for (let i = start; i < end; i++) squares += (data[i] / largest) ** 2;
    const norm = largest * Math.sqrt(squares), alphaReal = data[start], alphaImaginary = data[start + 1];
    const beta = alphaReal > 0 ? -norm : norm;
    taus[2 * k] = (beta - alphaReal) / beta;
    taus[2 * k + 1] = -alphaImaginary / beta;
    const dr = alphaReal - beta, di = alphaImaginary, dd = dr * dr + di * di;
    for (let i = start + 2; i < end; i += 2) {
      const real = data[i], imaginary = data[i + 1];
      data[i] = (real * dr + imaginary * di) / dd;
      data[i + 1] = (imaginary * dr - real * di) / dd;
    }
    data[start] = beta;
    data[start + 1] = 0;
    // Applies Hᴴ to the later columns: H has the conjugate of τ there.
    for (let j = k + 1; j < n; j++) reflect(columns, k, taus[2 * k], -taus[2 * k + 1], columns, j);
  }
  return taus;
}

/** (I - τvvᴴ) times a column of `onto`, v being that of reflection k. */
function reflect(from: Columns, k: number, tauReal: number, tauImaginary: number, onto: Columns, column: number): void {
  const { data, rows } = from, target = onto.data, v = 2 * k * rows, c = 2 * column * rows;
  let real = target[c + 2 * k], imaginary = target[c + 2 * k + 1];
  for (let i = 2 * (k + 1); i < 2 * rows; i += 2) {
    real += data[v + i] * target[c + i] + data[v + i + 1] * target[c + i + 1];
    imaginary += data[v + i] * target[c + i + 1] - data[v + i + 1] * target[c + i];
  }
  const fr = tauReal * real - tauImaginary * imaginary, fi = tauReal * imaginary + tauImaginary * real;
  target[c + 2 * k] -= fr;
  target[c + 2 * k + 1] -= fi;
  for (let i = 2 * (k + 1); i < 2 * rows; i += 2) {
    target[c + i] -= data[v + i] * fr - data[v + i + 1] * fi;
    target[c + i + 1] -= data[v + i] * fi + data[v + i + 1] * fr;
  }
}
