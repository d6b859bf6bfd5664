/**
 * Eigenvalues of a general complex matrix, and the roots of a polynomial as those of its companion matrix: elimination with
 * pivots makes the matrix upper Hessenberg, QR steps with Wilkinson's shift make it triangular. For small matrices; a
 * double root is found to the square root of the working precision.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4th ed., 2013, sections 7.4 and 7.5.
 */
import { type ComplexMatrix, zeros } from "./linear_algebra.ts";

/** QR steps for one eigenvalue; two or three are usual. */
const MOST_STEPS = 90;
/** Every so many steps without progress another shift is used. */
const EXCEPTIONAL = 15;
/** Outer coefficients below this share of the largest one are zero. */
const NEGLIGIBLE = 1e-14;

/**
 * The eigenvalues, in no particular order.
 * @param a n × n, interleaved, row-major
 * @returns interleaved [n]
 * @throws RangeError when the length is not that of n × n, a value is not finite, or the steps do not converge
 */
export function complexEigenvalues(a: Float64Array, n: number): ComplexMatrix {
  if (a.length !== 2 * n * n) throw new RangeError(`Cannot take ${a.length / 2} complex values as ${n} × ${n}`);
  if (!a.every(Number.isFinite)) throw new RangeError("Cannot decompose a matrix with values that are not finite");
  const h = a.slice() as ComplexMatrix, values = zeros(n, 1);
  reduce(h, n);
  const at = (i: number, j: number) => 2 * (i * n + j);
  const modulus = (i: number, j: number) => Math.hypot(h[at(i, j)], h[at(i, j) + 1]);
  for (let last = n - 1, step = 0; last >= 0; step++) {
    let first = last;
    while (first > 0) {
      const scale = modulus(first - 1, first - 1) + modulus(first, first);
      if (modulus(first, first - 1) <= Number.EPSILON * scale) break;
      first--;
    }
    if (first === last) {
      values.set(h.subarray(at(last, last), at(last, last) + 2), 2 * last);
      last--;
      step = -1;
      continue;
    }
    if (step === MOST_STEPS) throw new RangeError("Cannot find the eigenvalues: no convergence");
    const shift = step % EXCEPTIONAL === EXCEPTIONAL - 1
      ? [h[at(last, last)] + modulus(last, last - 1), h[at(last, last) + 1]] as const
      : wilkinson(h, at(last - 1, last - 1), at(last, last - 1));
    qrStep(h, n, first, last, shift);
  }
  return values;
}

/**
 * The roots of c_0 + c_1 z + … + c_n zⁿ. Negligible outer coefficients are left out, and with them the roots at zero and
 * at infinity.
 * @param coefficients interleaved [n + 1], the constant first
 * @returns interleaved, at most n roots
 */
export function polynomialRoots(coefficients: Float64Array): ComplexMatrix {
  const modulus = (k: number) => Math.hypot(coefficients[2 * k], coefficients[2 * k + 1]);
  const count = coefficients.length / 2;
  let largest = 0, low = 0, high = count - 1;
  for (let k = 0; k < count; k++) largest = Math.max(largest, modulus(k));
  while (low < high && modulus(low) <= NEGLIGIBLE * largest) low++;
  while (high > low && modulus(high) <= NEGLIGIBLE * largest) high--;
  const n = high - low, companion = zeros(n, n);
  const leadReal = coefficients[2 * high], leadImaginary = coefficients[2 * high + 1], lead = modulus(high) ** 2;
  for (let k = 0; k < n; k++) {
    const real = coefficients[2 * (high - 1 - k)], imaginary = coefficients[2 * (high - 1 - k) + 1];
    companion[2 * k] = -(real * leadReal + imaginary * leadImaginary) / lead;
    companion[2 * k + 1] = -(imaginary * leadReal - real * leadImaginary) / lead;
    if (k > 0) companion[2 * (k * n + k - 1)] = 1;
  }
  return complexEigenvalues(companion, n);
}

/** Upper Hessenberg form by similar eliminations; the entries below it are set to zero. */
function reduce(h: ComplexMatrix, n: number): void {
  for (let m = 1; m < n - 1; m++) {
    let pivot = m, most = 0;
    for (let i = m; i < n; i++) {
      const size = Math.hypot(h[2 * (i * n + m - 1)], h[2 * (i * n + m - 1) + 1]);
      if (size > most) [pivot, most] = [i, size];
    }
    if (most === 0) continue;
    if (pivot !== m) swap(h, n, pivot, m);
    const below = 2 * (m * n + m - 1), pr = h[below], pi = h[below + 1], square = pr * pr + pi * pi;
    for (let i = m + 1; i < n; i++) {
      const p = 2 * (i * n + m - 1);
      if (h[p] === 0 && h[p + 1] === 0) continue;
      const yr = (h[p] * pr + h[p + 1] * pi) / square, yi = (h[p + 1] * pr - h[p] * pi) / square;
      for (let j = 0; j < n; j++) addProduct(h, 2 * (i * n + j), -yr, -yi, 2 * (m * n + j));
      for (let j = 0; j < n; j++) addProduct(h, 2 * (j * n + m), yr, yi, 2 * (j * n + i));
      h[p] = h[p + 1] = 0;
    }
  }
}

/** h[to] += factor · h[from] */
function addProduct(h: ComplexMatrix, to: number, real: number, imaginary: number, from: number): void {
  const x = h[from], y = h[from + 1];
  h[to] += real * x - imaginary * y;
  h[to + 1] += real * y + imaginary * x;
}

function swap(h: ComplexMatrix, n: number, p: number, q: number): void {
  const exchange = (a: number, b: number) => {
    [h[a], h[b]] = [h[b], h[a]];
    [h[a + 1], h[b + 1]] = [h[b + 1], h[a + 1]];
  };
  for (let j = 0; j < n; j++) exchange(2 * (p * n + j), 2 * (q * n + j));
  for (let i = 0; i < n; i++) exchange(2 * (i * n + p), 2 * (i * n + q));
}

/** The eigenvalue of the last 2 × 2 block that is nearest to its last entry. */
function wilkinson(h: ComplexMatrix, above: number, below: number): readonly [number, number] {
  const [ar, ai, br, bi] = h.subarray(above, above + 4), [cr, ci, dr, di] = h.subarray(below, below + 4);
  const halfReal = (ar - dr) / 2, halfImaginary = (ai - di) / 2;
  const bcReal = br * cr - bi * ci, bcImaginary = br * ci + bi * cr;
  let [rootReal, rootImaginary] = squareRoot(
    halfReal * halfReal - halfImaginary * halfImaginary + bcReal,
    2 * halfReal * halfImaginary + bcImaginary,
  );
  if (halfReal * rootReal + halfImaginary * rootImaginary < 0) {
    rootReal = -rootReal;
    rootImaginary = -rootImaginary;
  }
  // d - bc / (half + root), the root on the side of half, so that nothing cancels.
  const real = halfReal + rootReal,
    imaginary = halfImaginary + rootImaginary,
    square = real * real + imaginary * imaginary;
  if (square === 0) return [dr, di];
  return [
    dr - (bcReal * real + bcImaginary * imaginary) / square,
    di - (bcImaginary * real - bcReal * imaginary) / square,
  ];
}

function squareRoot(real: number, imaginary: number): [number, number] {
  const size = Math.sqrt((Math.hypot(real, imaginary) + Math.abs(real)) / 2);
  if (size === 0) return [0, 0];
  const other = imaginary / (2 * size);
  return real >= 0 ? [size, other] : [Math.abs(other), imaginary < 0 ? -size : size];
}

/** H - σI = QR, then RQ + σI, on the rows and columns from first to last. */
function qrStep(
  h: ComplexMatrix,
  n: number,
  first: number,
  last: number,
  [shiftReal, shiftImaginary]: readonly [number, number],
): void {
  const shifted = (sign: 1 | -1) => {
    for (let k = first; k <= last; k++) {
      h[2 * (k * n + k)] += sign * shiftReal;
      h[2 * (k * n + k) + 1] += sign * shiftImaginary;
    }
  };
  shifted(-1);
  // Rotations [c, s; -s*, c], c real.
  const turns: [number, number, number][] = [];
  for (let k = first; k < last; k++) {
    const p = 2 * (k * n + k), q = 2 * ((k + 1) * n + k);
    const a = Math.hypot(h[p], h[p + 1]), b = Math.hypot(h[q], h[q + 1]), r = Math.hypot(a, b);
    const [ur, ui] = a === 0 ? [1, 0] : [h[p] / a, h[p + 1] / a];
    const c = r === 0 ? 1 : a / r, over = r === 0 ? 1 : r;
    const sr = (ur * h[q] + ui * h[q + 1]) / over, si = (ui * h[q] - ur * h[q + 1]) / over;
    turns.push([c, sr, si]);
    for (let j = k; j <= last; j++) rotate(h, 2 * (k * n + j), 2 * ((k + 1) * n + j), c, sr, si);
  }
  turns.forEach(([c, sr, si], index) => {
    const k = first + index;
    for (let i = first; i <= Math.min(k + 1, last); i++) rotate(h, 2 * (i * n + k), 2 * (i * n + k + 1), c, sr, -si);
  });
  shifted(1);
}

/** (x, y) -> (c·x + s·y, -s*·x + c·y) */
function rotate(h: ComplexMatrix, p: number, q: number, c: number, sr: number, si: number): void {
  const xr = h[p], xi = h[p + 1], yr = h[q], yi = h[q + 1];
  h[p] = c * xr + sr * yr - si * yi;
  h[p + 1] = c * xi + sr * yi + si * yr;
  h[q] = c * yr - sr * xr - si * xi;
  h[q + 1] = c * yi - sr * xi + si * xr;
}
