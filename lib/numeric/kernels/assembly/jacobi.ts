/**
 * Singular value decomposition of a square complex matrix by one-sided Jacobi turns of its columns, for ../svd.ts.
 *
 * Memory from `BASE` on: the matrix [n, n], whose place U takes; V [n, n]; columns [n, n] and turns [n, n], each column without a
 * gap; these are complex. Then the singular values [n], squared norms [n], real, and places [n].
 */
import { BASE, swapped } from "./linear_memory";

/** Rounding errors limit orthogonality to this; a smaller bound could rotate a pair endlessly. */
const ORTHOGONAL: f64 = 4 * f64.EPSILON;
/**
 * An inner product below this counts as zero: squares of it and of its inverse leave the range of binary64. A column of a
 * singular matrix may stay parallel to others while it fades.
 */
const VANISHED: f64 = 1e-150;
/** Below this share of its old value a squared norm is computed again, because the update loses its digits. */
const WORN: f64 = 1e-3;

/** @returns whether at most `most` sweeps make the columns orthogonal */
export function singularValues(n: i32, most: i32): bool {
  const square = 16 * <usize>n * <usize>n, v = BASE + square, columns = v + square, turns = columns + square;
  const values = turns + square, squares = values + 8 * <usize>n, places = squares + 8 * <usize>n;
  const scale = scaleColumns(BASE, n, columns);
  if (!orthogonalise(n, most, columns, turns, squares, places)) return false;
  for (let k = 0; k < n; k++) {
    const length = norm(columns + 16 * <usize>(k * n), n);
    let to = k;
    for (; to > 0 && load<f64>(values + 8 * <usize>(to - 1)) < length; to--) {
      store<f64>(values + 8 * <usize>to, load<f64>(values + 8 * <usize>(to - 1)));
      store<i32>(places + 4 * <usize>to, load<i32>(places + 4 * <usize>(to - 1)));
    }
    store<f64>(values + 8 * <usize>to, length);
    store<i32>(places + 4 * <usize>to, k);
  }
  const row = 16 * <usize>n;
  for (let to = 0; to < n; to++) {
    const value = values + 8 * <usize>to, length = load<f64>(value), divisor = f64x2.splat(length);
    const from = row * <usize>load<i32>(places + 4 * <usize>to);
    store<f64>(value, length * scale);
    for (let x = columns + from, y = turns + from, end = x + row, into = 16 * <usize>to; x < end; into += row) {
      v128.store(BASE + into, length > 0 ? f64x2.div(v128.load(x), divisor) : f64x2.splat(0));
      v128.store(v + into, v128.load(y));
      x += 16;
      y += 16;
    }
  }
  return true;
}

/** The rows as columns over their largest part: squares of the entries must neither overflow nor underflow. */
function scaleColumns(matrix: usize, n: i32, columns: usize): f64 {
  const row = 16 * <usize>n, largest = largestOf(matrix, n * n), divisor = f64x2.splat(largest === 0 ? 1 : largest);
  for (let i = 0, from = matrix; i < n; i++) {
    let into = columns + 16 * <usize>i;
    for (const end = from + row; from < end; from += 16, into += row) {
      v128.store(into, f64x2.div(v128.load(from), divisor));
    }
  }
  return largest === 0 ? 1 : largest;
}

function largestOf(at: usize, count: i32): f64 {
  let most = f64x2.splat(0);
  for (; count > 0; count--, at += 16) most = f64x2.pmax(most, f64x2.abs(v128.load(at)));
  return Math.max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
}

/** The norm of a column whose squares may underflow. */
function norm(at: usize, n: i32): f64 {
  const largest = largestOf(at, n);
  if (largest === 0) return 0;
  let sum: f64 = 0;
  for (const end = at + 16 * <usize>n; at < end; at += 8) {
    const part = load<f64>(at) / largest;
    sum += part * part;
  }
  return largest * Math.sqrt(sum);
}

/** The squared norm of a column of n elements. */
function energy(at: usize, n: i32): f64 {
  let sum = f64x2.splat(0);
  for (let end = at + 16 * <usize>n; at < end; at += 16) {
    const x = v128.load(at);
    sum = f64x2.add(sum, f64x2.mul(x, x));
  }
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** Σ conj(x)·z in parts: products of equal parts, and of unlike ones. */
let straight: v128 = f64x2.splat(0), crossed: v128 = f64x2.splat(0);

// @ts-ignore: decorator of AssemblyScript
@inline
function multiply(x: usize, z: usize, size: usize): void {
  let equal = f64x2.splat(0), unlike = f64x2.splat(0);
  for (let end = x + size; x < end; x += 16, z += 16) {
    const a = v128.load(x), b = v128.load(z);
    equal = f64x2.add(equal, f64x2.mul(a, b));
    unlike = f64x2.add(unlike, f64x2.mul(a, swapped(b)));
  }
  straight = equal;
  crossed = unlike;
}

/** x, y -> cx - w*y, wx + cy; with the `next` column, also the products with the new x. */
// @ts-ignore: decorator of AssemblyScript
@inline
function turn(x: usize, y: usize, size: usize, cosine: f64, wr: f64, wi: f64, multiplied: bool, next: usize): void {
  const c = f64x2.splat(cosine), real = f64x2.splat(wr);
  const up = f64x2.replace_lane(f64x2.splat(wi), 0, -wi), down = f64x2.replace_lane(f64x2.splat(wi), 1, -wi);
  let equal = f64x2.splat(0), unlike = f64x2.splat(0);
  for (let end = x + size; x < end; x += 16, y += 16) {
    const a = v128.load(x), b = v128.load(y);
    const away = f64x2.add(f64x2.mul(real, b), f64x2.mul(down, swapped(b)));
    const onto = f64x2.add(f64x2.mul(real, a), f64x2.mul(up, swapped(a)));
    const turned = f64x2.sub(f64x2.mul(c, a), away);
    if (multiplied) {
      const z = v128.load(next);
      equal = f64x2.add(equal, f64x2.mul(turned, z));
      unlike = f64x2.add(unlike, f64x2.mul(turned, swapped(z)));
      next += 16;
    }
    v128.store(x, turned);
    v128.store(y, f64x2.add(onto, f64x2.mul(c, b)));
  }
  if (multiplied) {
    straight = equal;
    crossed = unlike;
  }
}

/** Rotates the columns until all are orthogonal. @returns whether at most `most` sweeps do it */
function orthogonalise(n: i32, most: i32, columns: usize, turns: usize, squares: usize, places: usize): bool {
  const size = 16 * <usize>n, apart = turns - columns;
  memory.fill(turns, 0, size * <usize>n);
  for (let k = 0; k < n; k++) {
    store<f64>(turns + <usize>k * (size + 16), 1);
    store<i32>(places + 4 * <usize>k, k);
  }
  for (let sweep = 1; sweep <= most; sweep++) {
    let turned = false;
    for (let k = 0; k < n; k++) store<f64>(squares + 8 * <usize>k, energy(columns + <usize>k * size, n));
    for (let first = 0; first < n - 1; first++) {
      let largest = first;
      for (let k = first + 1; k < n; k++) {
        if (square(squares, places, k) > square(squares, places, largest)) largest = k;
      }
      const p = load<i32>(places + 4 * <usize>largest);
      store<i32>(places + 4 * <usize>largest, load<i32>(places + 4 * <usize>first));
      store<i32>(places + 4 * <usize>first, p);
      const x = columns + <usize>p * size, ownSquare = squares + 8 * <usize>p;
      let q = load<i32>(places + 4 * <usize>(first + 1));
      multiply(x, columns + <usize>q * size, size);
      for (let second = first + 1; second < n; second++) {
        const y = columns + <usize>q * size, otherSquare = squares + 8 * <usize>q;
        // The last pair has no next one, and any column will do.
        if (second + 1 < n) q = load<i32>(places + 4 * <usize>(second + 1));
        const next = columns + <usize>q * size;
        const gr = f64x2.extract_lane(straight, 0) + f64x2.extract_lane(straight, 1);
        const gi = f64x2.extract_lane(crossed, 0) - f64x2.extract_lane(crossed, 1);
        const gamma = Math.sqrt(gr * gr + gi * gi), alpha = load<f64>(ownSquare), beta = load<f64>(otherSquare);
        if (gamma <= VANISHED || gamma <= ORTHOGONAL * Math.sqrt(alpha * beta)) {
          multiply(x, next, size);
          continue;
        }
        turned = true;
        const zeta = (beta - alpha) / (2 * gamma), root = Math.sqrt(1 + zeta * zeta);
        const t = copysign<f64>(1 / (root + Math.abs(zeta)), zeta);
        const cosine = 1 / Math.sqrt(1 + t * t), sine = cosine * t, wr = sine * gr / gamma, wi = sine * gi / gamma;
        turn(x, y, size, cosine, wr, wi, true, next);
        turn(x + apart, y + apart, size, cosine, wr, wi, false, 0);
        store<f64>(ownSquare, left(x, n, alpha, alpha - t * gamma));
        store<f64>(otherSquare, left(y, n, beta, beta + t * gamma));
      }
    }
    if (!turned) return true;
  }
  return false;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function square(squares: usize, places: usize, k: i32): f64 {
  return load<f64>(squares + 8 * <usize>load<i32>(places + 4 * <usize>k));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function left(column: usize, n: i32, before: f64, after: f64): f64 {
  return after < WORN * before ? energy(column, n) : after;
}
