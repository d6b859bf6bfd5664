/**
 * QR decomposition of complex matrices, and least squares with it, for ../qr.ts. The columns of a matrix lie one after another,
 * with gaps (`columnStride`).
 */
import { makeReflection, reflect, times } from "./householder";
import { aligned, BASE, columnStride, opposed } from "./linear_memory";

/**
 * Q and R. Memory from `BASE` on: the matrix [m, n], whose place Q takes; R [n, n]; columns of the matrix and of Q [n, m]; τ [n].
 */
export function decompose(m: i32, n: i32): void {
  const row = 16 * <usize>n, stride = columnStride(m), size = stride * <usize>n, r = BASE + row * <usize>m;
  const columns = aligned(r + row * <usize>n), right = columns + size, taus = right + size;
  transpose(BASE, row, m, n, columns, stride);
  factor(columns, stride, m, n, 0, taus);
  memory.fill(r, 0, row * <usize>n);
  for (let j = 0; j < n; j++) {
    let from = columns + <usize>j * stride;
    for (let i = 0, into = r + 16 * <usize>j; i <= j; i++, from += 16, into += row) v128.store(into, v128.load(from));
  }
  // The columns Q e_c: the reflections after the c-th leave e_c alone.
  memory.fill(right, 0, size);
  for (let c = 0; c < n; c++) store<f64>(right + <usize>c * (stride + 16), 1);
  for (let k = n - 1; k >= 0; k--) {
    const at = <usize>k * (stride + 16), tau = taus + 16 * <usize>k;
    reflect(columns + at + 16, m - k, load<f64>(tau), load<f64>(tau, 8), right + at, stride, n - k);
  }
  transpose(right, stride, n, m, BASE, row);
}

/**
 * Least squares. Memory from `BASE` on: the matrix [m, n]; the right sides [m, p], whose place the solutions [n, p] take;
 * columns of the matrix [n, m] and of the right sides [p, m]; τ [n].
 * @returns -1, or the column of the matrix that depends on the others to working precision
 */
export function leastSquares(m: i32, n: i32, p: i32): i32 {
  const row = 16 * <usize>n, side = 16 * <usize>p, stride = columnStride(m), x = BASE + row * <usize>m;
  const columns = aligned(x + side * <usize>m), right = columns + stride * <usize>n, taus = right + stride * <usize>p;
  transpose(BASE, row, m, n, columns, stride);
  transpose(x, side, m, p, right, stride);
  // R, and Qᴴb beside it; then back substitution.
  factor(columns, stride, m, n, p, taus);
  let largest: f64 = 0;
  for (let k = 0; k < n; k++) largest = Math.max(largest, Math.abs(load<f64>(columns + <usize>k * (stride + 16))));
  const least = <f64>n * f64.EPSILON * largest;
  for (let c = 0; c < p; c++) {
    for (let i = n - 1; i >= 0; i--) {
      const pivot = columns + <usize>i * (stride + 16), into = x + <usize>i * side + 16 * <usize>c;
      if (!(Math.abs(load<f64>(pivot)) > least)) return i;
      let sum = v128.load(right + <usize>c * stride + 16 * <usize>i);
      for (let j = i + 1, r = pivot + stride, from = into + side; j < n; j++, r += stride, from += side) {
        sum = f64x2.sub(sum, times(v128.load(from), v128.load64_splat(r), opposed(-load<f64>(r, 8))));
      }
      v128.store(into, f64x2.div(sum, v128.load64_splat(pivot)));
    }
  }
  return -1;
}

/**
 * R above the diagonal of `count` columns of `rows` elements, the reflections below it, their τ to `taus`; the reflections also
 * meet the columns beside them.
 */
function factor(columns: usize, stride: usize, rows: i32, count: i32, beside: i32, taus: usize): void {
  for (let k = 0; k < count; k++, taus += 16) {
    const at = columns + <usize>k * (stride + 16);
    if (makeReflection(at, rows - k, 16, taus, false) === 0) continue;
    // Hᴴ, which has the conjugate of τ, on the later columns.
    reflect(at + 16, rows - k, load<f64>(taus), -load<f64>(taus, 8), at + stride, stride, count - k - 1 + beside);
  }
}

/** Rows of n values, `stride` bytes apart, to columns, without conjugation. */
function transpose(from: usize, stride: usize, m: i32, n: i32, into: usize, intoStride: usize): void {
  for (let i = 0; i < m; i++, from += stride, into += 16) {
    for (let j = 0, p = from, q = into; j < n; j++, p += 16, q += intoStride) v128.store(q, v128.load(p));
  }
}
