/**
 * Singular value decomposition A = UΣVᴴ of a complex matrix by one-sided Jacobi rotations: pairs of columns are turned until
 * all are orthogonal; their norms are the singular values. It finds small singular values to nearly full relative accuracy,
 * where methods that go through a bidiagonal form lose those far below the largest.
 *
 * A tall matrix is first reduced to the n × n factor R of its QR decomposition.
 *
 * Sources: Hestenes, "Inversion of matrices by biorthogonalization", J. SIAM 6, 1958; Demmel and Veselić, "Jacobi's method is
 * more accurate than QR", SIAM J. Matrix Anal. Appl. 13, 1992.
 */
import { type ComplexMatrix, matrixProduct, zeros } from "./linear_algebra.ts";
import { qr } from "./qr.ts";

export interface SingularValues {
  /** m × k with k = min(m, n); columns belonging to a singular value of 0 are 0. */
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
 *
 * @param a m × n, interleaved, row-major
 * @throws RangeError when the length differs or a value is not finite
 */
export function svd(a: Float64Array, m: number, n: number): SingularValues {
  if (a.length !== 2 * m * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${m} × ${n}`);
  if (!a.every(Number.isFinite)) throw new RangeError("Cannot decompose a matrix with values that are not finite");
  if (m < n) {
    const { u, values, v } = svd(conjugateTranspose(a, m, n), n, m);
    return { u: v, values, v: u };
  }
  if (m === n) return jacobi(a, n);
  const { q, r } = qr(a, m, n), inner = jacobi(r, n);
  return { ...inner, u: matrixProduct(q, inner.u, m, n, n) };
}

/** Aᴴ, n × m. */
export function conjugateTranspose(a: Float64Array, m: number, n: number): ComplexMatrix {
  const out = zeros(n, m);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      out[2 * (j * m + i)] = a[2 * (i * n + j)];
      out[2 * (j * m + i) + 1] = -a[2 * (i * n + j) + 1];
    }
  }
  return out;
}

/** Rotates the columns of AV, which are kept one after another, together with those of V. */
function jacobi(a: Float64Array, n: number): SingularValues {
  // Squares of the entries must neither overflow nor vanish.
  let largest = 0;
  for (const value of a) largest = Math.max(largest, Math.abs(value));
  const scale = largest === 0 ? 1 : largest;
  const columns = zeros(n, n), turns = zeros(n, n), size = 2 * n;
  for (let i = 0; i < n; i++) {
    turns[2 * (i * n + i)] = 1;
    for (let j = 0; j < n; j++) {
      columns[2 * (j * n + i)] = a[2 * (i * n + j)] / scale;
      columns[2 * (j * n + i) + 1] = a[2 * (i * n + j) + 1] / scale;
    }
  }
  // Rounding leaves an inner product no closer to 0; asking for more can turn a pair for ever.
  const orthogonal = 4 * Number.EPSILON;
  for (let sweep = 0, turned = true; turned; sweep++) {
    if (sweep === MOST_SWEEPS) throw new RangeError("Cannot decompose the matrix: no convergence");
    turned = false;
    for (let p = 0; p < n - 1; p++) {
      for (let q = p + 1; q < n; q++) {
        let alpha = 0, beta = 0, gr = 0, gi = 0;
        for (let i = p * size, j = q * size, end = i + size; i < end; i += 2, j += 2) {
          const xr = columns[i], xi = columns[i + 1], yr = columns[j], yi = columns[j + 1];
          alpha += xr * xr + xi * xi;
          beta += yr * yr + yi * yi;
          gr += xr * yr + xi * yi;
          gi += xr * yi - xi * yr;
        }
        const gamma = Math.hypot(gr, gi);
        if (gamma === 0 || gamma <= orthogonal * Math.sqrt(alpha * beta)) continue;
        turned = true;
        const zeta = (beta - alpha) / (2 * gamma);
        const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const cosine = 1 / Math.hypot(1, t), sine = cosine * t;
        // The second column's phase is taken out first: y·exp(-jφ) with φ the angle of xᴴy.
        turnPair(columns, p * size, q * size, size, cosine, sine, gr / gamma, gi / gamma);
        turnPair(turns, p * size, q * size, size, cosine, sine, gr / gamma, gi / gamma);
      }
    }
  }
  const norms = Float64Array.from({ length: n }, (_, k) => norm(columns, k * size, size));
  const order = Array.from({ length: n }, (_, k) => k).sort((p, q) => norms[q] - norms[p] || p - q);
  const u = zeros(n, n), v = zeros(n, n);
  order.forEach((from, to) => {
    const length = norms[from];
    for (let i = 0; i < n; i++) {
      for (const part of [0, 1]) {
        const at = 2 * (i * n + to) + part, source = from * size + 2 * i + part;
        u[at] = length > 0 ? columns[source] / length : 0;
        v[at] = turns[source];
      }
    }
  });
  return { u, values: Float64Array.from(order, (k) => norms[k] * scale), v };
}

/** x, y -> cx - s·e^(-jφ)y, s·x + c·e^(-jφ)y. */
function turnPair(
  columns: Float64Array,
  p: number,
  q: number,
  size: number,
  cosine: number,
  sine: number,
  phaseReal: number,
  phaseImaginary: number,
): void {
  for (let i = p, j = q; i < p + size; i += 2, j += 2) {
    const xr = columns[i], xi = columns[i + 1], yr = columns[j], yi = columns[j + 1];
    const zr = yr * phaseReal + yi * phaseImaginary, zi = yi * phaseReal - yr * phaseImaginary;
    columns[i] = cosine * xr - sine * zr;
    columns[i + 1] = cosine * xi - sine * zi;
    columns[j] = sine * xr + cosine * zr;
    columns[j + 1] = sine * xi + cosine * zi;
  }
}

function norm(values: Float64Array, start: number, count: number): number {
  let largest = 0;
  for (let i = start; i < start + count; i++) largest = Math.max(largest, Math.abs(values[i]));
  if (largest === 0) return 0;
  let squares = 0;
  for (let i = start; i < start + count; i++) squares += (values[i] / largest) ** 2;
  return largest * Math.sqrt(squares);
}
