/**
 * Eigendecomposition of a complex Hermitian matrix, for ../hermitian_eigen.ts: the algorithm of ../hermitian_reference.ts, to the
 * bit.
 *
 * Memory from `BASE` on: the matrix [n, n], whose place the sorted vectors take; the values [n], real; columns [n, n] with gaps;
 * τ, v and w [n], complex; values beside the diagonal, cosines and sines [n], real.
 */
import { accumulate, tridiagonalise } from "./householder";
import { aligned, BASE, columnStride, swapped } from "./linear_memory";

/** QL steps for one eigenvalue, as in the reference. */
const MOST_STEPS: i32 = 60;

/** @returns 0, or 1 where a value is not finite, or 2 where the QL steps do not converge */
export function hermitianEigen(n: i32): i32 {
  const row = 16 * <usize>n, line = 8 * <usize>n, stride = columnStride(n);
  const diagonal = BASE + row * <usize>n, columns = aligned(diagonal + line), taus = columns + stride * <usize>n;
  const v = taus + row, w = v + row, beside = w + row, cosines = beside + line, sines = cosines + line;
  if (!mirror(BASE, n)) return 1;
  tridiagonalise(BASE, n, diagonal, beside, taus, v, w);
  memory.fill(columns, 0, stride * <usize>n);
  accumulate(BASE, n, taus, columns, stride, v);
  if (!diagonalise(diagonal, beside, n, columns, stride, cosines, sines)) return 2;
  sort(diagonal, n, columns, stride, cosines);
  return 0;
}

/** Makes the upper triangle from the lower one. @returns whether all its values are finite */
function mirror(work: usize, n: i32): bool {
  const row = 16 * <usize>n;
  for (let i = 0; i < n; i++) {
    let lower = work + <usize>i * row, upper = work + 16 * <usize>i;
    for (let j = 0; j < i; j++, lower += 16, upper += row) {
      const real = load<f64>(lower), imaginary = load<f64>(lower + 8);
      // The difference of a value that is not finite with itself is NaN.
      if (real - real != 0 || imaginary - imaginary != 0) return false;
      store<f64>(upper, real);
      store<f64>(upper + 8, -imaginary);
    }
    const real = load<f64>(lower);
    if (real - real != 0) return false;
    store<f64>(lower + 8, 0);
  }
  return true;
}

/** √(a² + b²) of the lanes, in both, scaled; NaN where they are 0. */
// @ts-ignore: decorator of AssemblyScript
@inline
function hypotenuse(x: v128): v128 {
  const size = f64x2.abs(x), largest = f64x2.pmax(size, swapped(size)), part = f64x2.div(size, largest);
  const square = f64x2.mul(part, part);
  return f64x2.mul(f64x2.sqrt(f64x2.add(square, swapped(square))), largest);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function pair(x: f64, y: f64): v128 {
  return f64x2.replace_lane(f64x2.splat(x), 1, y);
}

/** Implicit QL steps. @returns whether they converge */
function diagonalise(
  diagonal: usize,
  beside: usize,
  n: i32,
  columns: usize,
  stride: usize,
  cosines: usize,
  sines: usize,
): bool {
  for (let l = 0; l < n; l++) {
    const dl = diagonal + 8 * <usize>l, bl = beside + 8 * <usize>l;
    for (let step = 0;; step++) {
      let m = l;
      for (; m < n - 1; m++) {
        const at = diagonal + 8 * <usize>m, size = Math.abs(load<f64>(beside + 8 * <usize>m));
        const scale = Math.abs(load<f64>(at)) + Math.abs(load<f64>(at, 8));
        if (size <= f64.EPSILON * scale || size < 4 * f64.MIN_VALUE) break;
      }
      if (m === l) break;
      if (step === MOST_STEPS) return false;
      const bm = beside + 8 * <usize>m;
      const half = (load<f64>(dl, 8) - load<f64>(dl)) / (2 * load<f64>(bl));
      const root = f64x2.extract_lane(hypotenuse(pair(half, 1)), 0);
      let g = load<f64>(diagonal + 8 * <usize>m) - load<f64>(dl) +
        load<f64>(bl) / (half + (half >= 0 ? root : -root));
      let sine: f64 = 1, cosine: f64 = 1, p: f64 = 0, i = m - 1;
      for (; i >= l; i--) {
        const d = diagonal + 8 * <usize>i, e = load<f64>(beside + 8 * <usize>i), f = sine * e, b = cosine * e;
        if (f === 0 && g === 0) {
          store<f64>(beside + 8 * <usize>i, 0, 8);
          store<f64>(d, load<f64>(d, 8) - p, 8);
          store<f64>(bm, 0);
          break;
        }
        const turned = pair(f, g), r = hypotenuse(turned), sineCosine = f64x2.div(turned, r);
        store<f64>(beside + 8 * <usize>i, f64x2.extract_lane(r, 0), 8);
        sine = f64x2.extract_lane(sineCosine, 0);
        cosine = f64x2.extract_lane(sineCosine, 1);
        g = load<f64>(d, 8) - p;
        const t = (load<f64>(d) - g) * sine + 2 * cosine * b;
        p = sine * t;
        store<f64>(d, g + p, 8);
        g = cosine * t - b;
        store<f64>(cosines + 8 * <usize>i, cosine);
        store<f64>(sines + 8 * <usize>i, sine);
      }
      rotate(columns, stride, n, i + 1, m - 1, cosines, sines);
      if (i >= l) continue;
      store<f64>(dl, load<f64>(dl) - p);
      store<f64>(bl, g);
      store<f64>(bm, 0);
    }
  }
  return true;
}

/**
 * Rotates neighbouring columns (i, i + 1) for i from `last` down to `first`, with the i-th cosine and sine:
 * x, y -> cx - sy, sx + cy. Four rows pass at a time: the part of a column that two rotations change stays in registers between them.
 */
function rotate(
  columns: usize,
  stride: usize,
  n: i32,
  first: i32,
  last: i32,
  cosines: usize,
  sines: usize,
): void {
  if (last < first) return;
  let top = columns + <usize>(last + 1) * stride, left = n;
  for (; left >= 4; left -= 4, top += 64) {
    let y = top, y0 = v128.load(y), y1 = v128.load(y, 16), y2 = v128.load(y, 32), y3 = v128.load(y, 48);
    for (let i = last; i >= first; i--) {
      const c = v128.load64_splat(cosines + 8 * <usize>i), s = v128.load64_splat(sines + 8 * <usize>i), x = y - stride;
      const x0 = v128.load(x), x1 = v128.load(x, 16), x2 = v128.load(x, 32), x3 = v128.load(x, 48);
      v128.store(y, f64x2.add(f64x2.mul(s, x0), f64x2.mul(c, y0)));
      v128.store(y, f64x2.add(f64x2.mul(s, x1), f64x2.mul(c, y1)), 16);
      v128.store(y, f64x2.add(f64x2.mul(s, x2), f64x2.mul(c, y2)), 32);
      v128.store(y, f64x2.add(f64x2.mul(s, x3), f64x2.mul(c, y3)), 48);
      y0 = f64x2.sub(f64x2.mul(c, x0), f64x2.mul(s, y0));
      y1 = f64x2.sub(f64x2.mul(c, x1), f64x2.mul(s, y1));
      y2 = f64x2.sub(f64x2.mul(c, x2), f64x2.mul(s, y2));
      y3 = f64x2.sub(f64x2.mul(c, x3), f64x2.mul(s, y3));
      y = x;
    }
    v128.store(y, y0);
    v128.store(y, y1, 16);
    v128.store(y, y2, 32);
    v128.store(y, y3, 48);
  }
  for (; left > 0; left--, top += 16) {
    let y = top, y0 = v128.load(y);
    for (let i = last; i >= first; i--) {
      const c = v128.load64_splat(cosines + 8 * <usize>i), s = v128.load64_splat(sines + 8 * <usize>i), x = y - stride;
      const x0 = v128.load(x);
      v128.store(y, f64x2.add(f64x2.mul(s, x0), f64x2.mul(c, y0)));
      y0 = f64x2.sub(f64x2.mul(c, x0), f64x2.mul(s, y0));
      y = x;
    }
    v128.store(y, y0);
  }
}

/**
 * Puts the values in ascending order, equal ones in theirs, and their vectors, row by row, into the place of the matrix.
 * @param order room for n integers
 */
function sort(values: usize, n: i32, columns: usize, stride: usize, order: usize): void {
  const row = 16 * <usize>n;
  for (let k = 0; k < n; k++) {
    const value = load<f64>(values + 8 * <usize>k);
    let to = k;
    for (; to > 0 && load<f64>(values + 8 * <usize>(to - 1)) > value; to--) {
      store<f64>(values + 8 * <usize>to, load<f64>(values + 8 * <usize>(to - 1)));
      store<i32>(order + 4 * <usize>to, load<i32>(order + 4 * <usize>(to - 1)));
    }
    store<f64>(values + 8 * <usize>to, value);
    store<i32>(order + 4 * <usize>to, k);
  }
  for (let to = 0; to < n; to++) {
    let from = columns + <usize>load<i32>(order + 4 * <usize>to) * stride, into = BASE + 16 * <usize>to;
    for (let i = 0; i < n; i++, from += 16, into += row) v128.store(into, v128.load(from));
  }
}
