/**
 * One-sided Jacobi turns of complex columns, for ../svd.ts.
 *
 * Memory from `BASE` on: columns [n, n] and turns [n, n], complex, each column without a gap; squared norms [n]; places [n].
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

/** The squared norm of a column of n elements. */
function energy(at: usize, n: i32): f64 {
  let sum = f64x2.splat(0);
  for (let end = at + 16 * <usize>n; at < end; at += 16) {
    const x = v128.load(at);
    sum = f64x2.add(sum, f64x2.mul(x, x));
  }
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** x, y -> cx - w*y, wx + cy */
function turn(x: usize, y: usize, n: i32, cosine: f64, wr: f64, wi: f64): void {
  const c = f64x2.splat(cosine), real = f64x2.splat(wr);
  const up = f64x2.replace_lane(f64x2.splat(wi), 0, -wi), down = f64x2.replace_lane(f64x2.splat(wi), 1, -wi);
  for (let end = x + 16 * <usize>n; x < end; x += 16, y += 16) {
    const a = v128.load(x), b = v128.load(y);
    const away = f64x2.add(f64x2.mul(real, b), f64x2.mul(down, swapped(b)));
    const onto = f64x2.add(f64x2.mul(real, a), f64x2.mul(up, swapped(a)));
    v128.store(x, f64x2.sub(f64x2.mul(c, a), away));
    v128.store(y, f64x2.add(onto, f64x2.mul(c, b)));
  }
}

/** Rotates the columns until all are orthogonal. @returns the number of sweeps, 0 if `most` sweeps were not enough */
export function orthogonalise(n: i32, most: i32): i32 {
  const size = 16 * <usize>n, turns = BASE + size * <usize>n, squares = turns + size * <usize>n;
  const places = squares + 8 * <usize>n;
  memory.fill(turns, 0, size * <usize>n);
  for (let k = 0; k < n; k++) {
    store<f64>(turns + <usize>k * (size + 16), 1);
    store<i32>(places + 4 * <usize>k, k);
  }
  for (let sweep = 1; sweep <= most; sweep++) {
    let turned = false;
    for (let k = 0; k < n; k++) store<f64>(squares + 8 * <usize>k, energy(BASE + <usize>k * size, n));
    for (let first = 0; first < n - 1; first++) {
      let largest = first;
      for (let k = first + 1; k < n; k++) {
        if (square(squares, places, k) > square(squares, places, largest)) largest = k;
      }
      const p = load<i32>(places + 4 * <usize>largest);
      store<i32>(places + 4 * <usize>largest, load<i32>(places + 4 * <usize>first));
      store<i32>(places + 4 * <usize>first, p);
      const x = BASE + <usize>p * size, ownSquare = squares + 8 * <usize>p;
      for (let second = first + 1; second < n; second++) {
        const q = load<i32>(places + 4 * <usize>second), y = BASE + <usize>q * size, otherSquare = squares + 8 * <usize>q;
        let straight = f64x2.splat(0), crossed = f64x2.splat(0);
        for (let i = x, j = y, end = x + size; i < end; i += 16, j += 16) {
          const a = v128.load(i), b = v128.load(j);
          straight = f64x2.add(straight, f64x2.mul(a, b));
          crossed = f64x2.add(crossed, f64x2.mul(a, swapped(b)));
        }
        const gr = f64x2.extract_lane(straight, 0) + f64x2.extract_lane(straight, 1);
        const gi = f64x2.extract_lane(crossed, 0) - f64x2.extract_lane(crossed, 1);
        const gamma = Math.sqrt(gr * gr + gi * gi), alpha = load<f64>(ownSquare), beta = load<f64>(otherSquare);
        if (gamma <= VANISHED || gamma <= ORTHOGONAL * Math.sqrt(alpha * beta)) continue;
        turned = true;
        const zeta = (beta - alpha) / (2 * gamma), root = Math.sqrt(1 + zeta * zeta);
        const t = zeta < 0 ? -1 / (root - zeta) : 1 / (root + zeta);
        const cosine = 1 / Math.sqrt(1 + t * t), sine = cosine * t, wr = sine * gr / gamma, wi = sine * gi / gamma;
        turn(x, y, n, cosine, wr, wi);
        turn(x + size * <usize>n, y + size * <usize>n, n, cosine, wr, wi);
        store<f64>(ownSquare, left(x, n, alpha, alpha - t * gamma));
        store<f64>(otherSquare, left(y, n, beta, beta + t * gamma));
      }
    }
    if (!turned) return sweep;
  }
  return 0;
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
