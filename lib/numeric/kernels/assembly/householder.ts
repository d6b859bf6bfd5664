/**
 * Householder reflections of complex matrices, for ./qr.ts and ./hermitian.ts. Four columns or rows pass at a time, so that
 * the additions of one need not wait for each other; each sum is in the order of its elements.
 */
import { opposed, swapped } from "./linear_memory";

/** a*b as a vector: lanes of a, `real` and `crossed` being the splat real part of b and (-imaginary, imaginary) of it. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function times(a: v128, real: v128, crossed: v128): v128 {
  return f64x2.add(f64x2.mul(a, real), f64x2.mul(swapped(a), crossed));
}

/** conj(v)·t, `real` and `crossed` being the splat real part of v and (imaginary, -imaginary) of it. */
// @ts-ignore: decorator of AssemblyScript
@inline
function inner(real: v128, crossed: v128, t: v128): v128 {
  return f64x2.add(f64x2.mul(real, t), f64x2.mul(crossed, swapped(t)));
}

/**
 * (I - τvvᴴ) times columns of `count` elements.
 * @param v from its second element on; the first one is 1
 * @param column the first column, from the element of v's first one on
 * @param stride bytes from column to column
 */
export function reflect(
  v: usize,
  count: i32,
  tauReal: f64,
  tauImaginary: f64,
  column: usize,
  stride: usize,
  columns: i32,
): void {
  // The sign of one lane: x as a splat becomes (x, -x).
  const signs = i64x2.replace_lane(i64x2.splat(0), 1, i64.MIN_VALUE);
  const end = v + 16 * <usize>(count - 1), crossedTau = opposed(-tauImaginary), realTau = f64x2.splat(tauReal);
  for (; columns >= 4; columns -= 4, column += 4 * stride) {
    const c1 = stride, c2 = 2 * stride, c3 = 3 * stride;
    let s0 = v128.load(column), s1 = v128.load(column + c1), s2 = v128.load(column + c2), s3 = v128.load(column + c3);
    for (let p = v, q = column + 16; p < end; p += 16, q += 16) {
      const real = v128.load64_splat(p), crossed = v128.xor(v128.load64_splat(p, 8), signs);
      s0 = f64x2.add(s0, inner(real, crossed, v128.load(q)));
      s1 = f64x2.add(s1, inner(real, crossed, v128.load(q + c1)));
      s2 = f64x2.add(s2, inner(real, crossed, v128.load(q + c2)));
      s3 = f64x2.add(s3, inner(real, crossed, v128.load(q + c3)));
    }
    const f0 = times(s0, realTau, crossedTau), f1 = times(s1, realTau, crossedTau);
    const f2 = times(s2, realTau, crossedTau), f3 = times(s3, realTau, crossedTau);
    subtract4(v, end, column, stride, f0, f1, f2, f3);
  }
  for (; columns > 0; columns--, column += stride) {
    let sum = v128.load(column);
    for (let p = v, q = column + 16; p < end; p += 16, q += 16) {
      sum = f64x2.add(sum, inner(v128.load64_splat(p), v128.xor(v128.load64_splat(p, 8), signs), v128.load(q)));
    }
    subtract(v, end, times(sum, realTau, crossedTau), column);
  }
}

/** A column less v·f. */
// @ts-ignore: decorator of AssemblyScript
@inline
function subtract(v: usize, end: usize, f: v128, column: usize): void {
  const real = f64x2.splat(f64x2.extract_lane(f, 0)), crossed = opposed(-f64x2.extract_lane(f, 1));
  v128.store(column, f64x2.sub(v128.load(column), f));
  for (let p = v, q = column + 16; p < end; p += 16, q += 16) {
    v128.store(q, f64x2.sub(v128.load(q), times(v128.load(p), real, crossed)));
  }
}

/** Four columns less v times their f. */
// @ts-ignore: decorator of AssemblyScript
@inline
function subtract4(v: usize, end: usize, column: usize, stride: usize, f0: v128, f1: v128, f2: v128, f3: v128): void {
  const c1 = stride, c2 = 2 * stride, c3 = 3 * stride;
  v128.store(column, f64x2.sub(v128.load(column), f0));
  v128.store(column + c1, f64x2.sub(v128.load(column + c1), f1));
  v128.store(column + c2, f64x2.sub(v128.load(column + c2), f2));
  v128.store(column + c3, f64x2.sub(v128.load(column + c3), f3));
  const r0 = real(f0), r1 = real(f1), r2 = real(f2), r3 = real(f3);
  const i0 = turned(f0), i1 = turned(f1), i2 = turned(f2), i3 = turned(f3);
  for (let p = v, q = column + 16; p < end; p += 16, q += 16) {
    const x = v128.load(p), y = swapped(x);
    v128.store(q, f64x2.sub(v128.load(q), f64x2.add(f64x2.mul(x, r0), f64x2.mul(y, i0))));
    v128.store(q + c1, f64x2.sub(v128.load(q + c1), f64x2.add(f64x2.mul(x, r1), f64x2.mul(y, i1))));
    v128.store(q + c2, f64x2.sub(v128.load(q + c2), f64x2.add(f64x2.mul(x, r2), f64x2.mul(y, i2))));
    v128.store(q + c3, f64x2.sub(v128.load(q + c3), f64x2.add(f64x2.mul(x, r3), f64x2.mul(y, i3))));
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function real(x: v128): v128 {
  return v128.shuffle<f64>(x, x, 0, 0);
}

/** (-imaginary, imaginary) */
// @ts-ignore: decorator of AssemblyScript
@inline
function turned(x: v128): v128 {
  return opposed(-f64x2.extract_lane(x, 1));
}

/** The largest part of `count` complex values, `stride` bytes apart. */
function largestOf(at: usize, count: i32, stride: usize): f64 {
  // Sizes have the same order as integers, and NaN is the largest; a maximum of binary64 takes several instructions.
  let most = i64x2.splat(0);
  for (; count > 0; count--, at += stride) {
    const size = f64x2.abs(v128.load(at));
    most = v128.bitselect(size, most, i64x2.gt_s(size, most));
  }
  return Math.max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1));
}

/**
 * Makes the reflection that takes a column to (β, 0, …): β goes into its first place, v without its first element into the others,
 * τ to `tau`. A column of zeros keeps them, with τ = 0 and β = 0.
 * @param paired adds |x|² of each element, else the square of each part
 */
// @ts-ignore: decorator of AssemblyScript
@inline
export function makeReflection(at: usize, count: i32, stride: usize, tau: usize, paired: bool): f64 {
  const largest = largestOf(at, count, stride);
  v128.store(tau, f64x2.splat(0));
  if (largest === 0) return 0;
  // Scaled, so that squares neither overflow nor underflow.
  let squares: f64 = 0;
  const scale = f64x2.splat(largest);
  for (let i = 0, p = at; i < count; i++, p += stride) {
    const scaled = f64x2.div(v128.load(p), scale), parts = f64x2.mul(scaled, scaled);
    if (paired) {
      squares += f64x2.extract_lane(parts, 0) + f64x2.extract_lane(parts, 1);
    } else {
      squares += f64x2.extract_lane(parts, 0);
      squares += f64x2.extract_lane(parts, 1);
    }
  }
  const norm = largest * Math.sqrt(squares), alphaReal = load<f64>(at), alphaImaginary = load<f64>(at + 8);
  const beta = alphaReal > 0 ? -norm : norm;
  store<f64>(tau, (beta - alphaReal) / beta);
  store<f64>(tau + 8, -alphaImaginary / beta);
  const dr = alphaReal - beta, di = alphaImaginary, divisor = f64x2.splat(dr * dr + di * di);
  const real = f64x2.splat(dr), crossed = opposed(di);
  for (let i = 1, p = at + stride; i < count; i++, p += stride) {
    v128.store(p, f64x2.div(times(v128.load(p), real, crossed), divisor));
  }
  store<f64>(at, beta);
  store<f64>(at + 8, 0);
  return beta;
}

/**
 * Two-sided reflections of a Hermitian matrix of rows until it is tridiagonal: A - vwᴴ - wvᴴ with w = τAv - ½τ(wᴴv)v.
 * The vectors v, without their first element, stay below the diagonal.
 * @param v room for n complex values; `w` too
 */
export function tridiagonalise(work: usize, n: i32, diagonal: usize, beside: usize, taus: usize, v: usize, w: usize): void {
  const row = 16 * <usize>n;
  for (let k = 0; k < n - 1; k++) {
    const first = k + 1, count = n - first, tau = taus + 16 * <usize>k, at = work + <usize>first * row + 16 * <usize>k;
    const beta = makeReflection(at, count, row, tau, true);
    store<f64>(beside + 8 * <usize>k, beta);
    if (beta === 0) continue;
    store<f64>(v, 1);
    store<f64>(v + 8, 0);
    for (let i = 1; i < count; i++) v128.store(v + 16 * <usize>i, v128.load(at + <usize>i * row));
    const block = at + 16, tauReal = load<f64>(tau), tauImaginary = load<f64>(tau + 8);
    product(block, row, count, v, f64x2.splat(tauReal), opposed(-tauImaginary), w);
    let dotReal: f64 = 0, dotImaginary: f64 = 0;
    for (let i = 0, p = v, q = w; i < count; i++, p += 16, q += 16) {
      const vr = load<f64>(p), vi = load<f64>(p + 8), wr = load<f64>(q), wi = load<f64>(q + 8);
      dotReal += wr * vr + wi * vi;
      dotImaginary += wr * vi - wi * vr;
    }
    const real = f64x2.splat(-0.5 * (tauReal * dotReal - tauImaginary * dotImaginary));
    const crossed = opposed(0.5 * (tauReal * dotImaginary + tauImaginary * dotReal));
    for (let i = 0, p = v, q = w; i < count; i++, p += 16, q += 16) {
      v128.store(q, f64x2.add(v128.load(q), times(v128.load(p), real, crossed)));
    }
    let i = 0;
    for (; i + 2 <= count; i += 2) update(block + <usize>i * row, row, count, v, w, i, true);
    if (i < count) update(block + <usize>i * row, row, count, v, w, i, false);
  }
  for (let k = 0; k < n; k++) store<f64>(diagonal + 8 * <usize>k, load<f64>(work + <usize>k * (row + 16)));
}

/** τ·(rows · v) to w. */
function product(rows: usize, row: usize, count: i32, v: usize, tauReal: v128, tauCrossed: v128, w: usize): void {
  const end = v + 16 * <usize>count, r2 = 2 * row, r3 = 3 * row;
  let left = count;
  for (; left >= 4; left -= 4, rows += 4 * row, w += 64) {
    let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
    for (let p = v, q = rows; p < end; p += 16, q += 16) {
      const real = v128.load64_splat(p), crossed = opposed(-load<f64>(p + 8));
      s0 = f64x2.add(s0, times(v128.load(q), real, crossed));
      s1 = f64x2.add(s1, times(v128.load(q + row), real, crossed));
      s2 = f64x2.add(s2, times(v128.load(q + r2), real, crossed));
      s3 = f64x2.add(s3, times(v128.load(q + r3), real, crossed));
    }
    v128.store(w, times(s0, tauReal, tauCrossed));
    v128.store(w + 16, times(s1, tauReal, tauCrossed));
    v128.store(w + 32, times(s2, tauReal, tauCrossed));
    v128.store(w + 48, times(s3, tauReal, tauCrossed));
  }
  for (; left > 0; left--, rows += row, w += 16) {
    let sum = f64x2.splat(0);
    for (let p = v, q = rows; p < end; p += 16, q += 16) {
      sum = f64x2.add(sum, times(v128.load(q), v128.load64_splat(p), opposed(-load<f64>(p + 8))));
    }
    v128.store(w, times(sum, tauReal, tauCrossed));
  }
}

/** Row i less v·wᴴ and w·vᴴ, and the next row where there are `two`. */
// @ts-ignore: decorator of AssemblyScript
@inline
function update(at: usize, row: usize, count: i32, v: usize, w: usize, i: i32, two: bool): void {
  const v0 = v128.load(v + 16 * <usize>i), w0 = v128.load(w + 16 * <usize>i);
  const v1 = v128.load(v + 16 * <usize>(i + 1)), w1 = v128.load(w + 16 * <usize>(i + 1));
  for (let end = at + 16 * <usize>count; at < end; at += 16, v += 16, w += 16) {
    const xr = v128.load64_splat(v), xi = opposed(load<f64>(v + 8));
    const yr = v128.load64_splat(w), yi = opposed(load<f64>(w + 8));
    v128.store(at, f64x2.sub(v128.load(at), outer(v0, w0, xr, xi, yr, yi)));
    if (two) v128.store(at + row, f64x2.sub(v128.load(at + row), outer(v1, w1, xr, xi, yr, yi)));
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function outer(v: v128, w: v128, xr: v128, xi: v128, yr: v128, yi: v128): v128 {
  return f64x2.add(f64x2.add(times(v, yr, yi), f64x2.mul(w, xr)), f64x2.mul(swapped(w), xi));
}

/**
 * The product of the reflections of {@link tridiagonalise}, column by column, into zeroed columns `stride` bytes apart.
 * @param v room for n complex values
 */
export function accumulate(work: usize, n: i32, taus: usize, columns: usize, stride: usize, v: usize): void {
  const row = 16 * <usize>n;
  for (let k = 0; k < n; k++) store<f64>(columns + <usize>k * (stride + 16), 1);
  // From the last to the first, each reflection meets only columns that are no unit vectors any more.
  for (let k = n - 2; k >= 0; k--) {
    const tauReal = load<f64>(taus + 16 * <usize>k), tauImaginary = load<f64>(taus + 16 * <usize>k + 8);
    if (tauReal === 0 && tauImaginary === 0) continue;
    const first = k + 1, count = n - first;
    for (let i = 1; i < count; i++) {
      v128.store(v + 16 * <usize>i, v128.load(work + <usize>(first + i) * row + 16 * <usize>k));
    }
    reflect(v + 16, count, tauReal, tauImaginary, columns + <usize>first * (stride + 16), stride, count);
  }
}
