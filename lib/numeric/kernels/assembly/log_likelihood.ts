/**
 * e^-x, ln x and the corrections of exact check nodes, of four values in binary32 or two in binary64. Exponents become bits of the number,
 * and polynomials the rest: minimax fits of e^r over |r| ≤ ln 2 / 2 with the exact terms 1 + r, and of 2 atanh(z) over |z| ≤ 1/3 with the
 * exact term 2 z. In binary32 the absolute error is below 3e-7, in binary64 the relative one below 1e-13.
 */

/** 1.5 · 2^23 and 1.5 · 2^52: a sum with it has its integer in the low bits. */
const ROUNDER: f32 = 12582912, WIDE_ROUNDER: f64 = 6755399441055744;
/** e^-x is negligible beside 1. */
const NEGLIGIBLE: f32 = 40;

/** Two pairs in binary64 as four values in binary32. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function narrow(first: v128, second: v128): v128 {
  return v128.shuffle<i64>(f32x4.demote_f64x2_zero(first), f32x4.demote_f64x2_zero(second), 0, 2);
}

/** The upper two of four values in binary32, in binary64. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function upper(values: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<i64>(values, values, 1, 1));
}

/** e^-x of four x ≥ 0, of 40 above. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function exponential(x: v128): v128 {
  const least = f32x4.pmin(x, f32x4.splat(NEGLIGIBLE));
  const shifted = f32x4.sub(f32x4.splat(ROUNDER), f32x4.mul(least, f32x4.splat(<f32>Math.LOG2E)));
  const power = f32x4.sub(shifted, f32x4.splat(ROUNDER));
  const r = f32x4.sub(f32x4.neg(least), f32x4.mul(power, f32x4.splat(<f32>Math.LN2)));
  let sum = f32x4.splat(0.0013950478693392102);
  sum = f32x4.add(f32x4.splat(0.00836888224887504), f32x4.mul(r, sum));
  sum = f32x4.add(f32x4.splat(0.04166620598823619), f32x4.mul(r, sum));
  sum = f32x4.add(f32x4.splat(0.16666518898653704), f32x4.mul(r, sum));
  sum = f32x4.add(f32x4.splat(0.5000000095127733), f32x4.mul(r, sum));
  sum = f32x4.add(f32x4.splat(1), f32x4.add(r, f32x4.mul(f32x4.mul(r, r), sum)));
  return i32x4.add(sum, i32x4.shl(shifted, 23));
}

/** ln((1 + z) / (1 - z)) of four |z| ≤ 1/3. */
// @ts-ignore: decorator of AssemblyScript
@inline
function logarithmOfRatio(z: v128): v128 {
  const square = f32x4.mul(z, z);
  let sum = f32x4.splat(0.28429240615841656);
  sum = f32x4.add(f32x4.splat(0.2790653449842997), f32x4.mul(square, sum));
  sum = f32x4.add(f32x4.splat(0.40028295817561144), f32x4.mul(square, sum));
  sum = f32x4.add(f32x4.splat(0.6666627130595851), f32x4.mul(square, sum));
  return f32x4.mul(z, f32x4.add(f32x4.splat(2), f32x4.mul(square, sum)));
}

/** ln((1 + e^-(most - least)) / (1 + e^-(most + least))) of four, for 0 ≤ least ≤ most. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function correction(least: v128, difference: v128): v128 {
  const u = exponential(difference), v = exponential(least), one = f32x4.splat(1), square = f32x4.mul(v, v);
  const above = f32x4.mul(u, f32x4.sub(one, square));
  const below = f32x4.add(f32x4.splat(2), f32x4.mul(u, f32x4.add(one, square)));
  return logarithmOfRatio(f32x4.div(above, below));
}

/** ln(1 + e^-x) of four x ≥ 0. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function penalty(x: v128): v128 {
  const u = exponential(x);
  return logarithmOfRatio(f32x4.div(u, f32x4.add(f32x4.splat(2), u)));
}

/** ln x of two normal x ≥ 1. */
export function logarithm(x: v128): v128 {
  // The mantissa m in [1, 2): ln x = k ln 2 + ln(m / √2) + ln √2.
  const mantissa = v128.or(v128.and(x, i64x2.splat(0x000FFFFFFFFFFFFF)), f64x2.splat(1));
  const exponent = i64x2.sub(i64x2.shr_u(x, 52), i64x2.splat(1023));
  const rounder = f64x2.splat(WIDE_ROUNDER);
  const k = f64x2.add(f64x2.sub(v128.xor(exponent, rounder), rounder), f64x2.splat(0.5));
  const root = f64x2.splat(Math.SQRT2), z = f64x2.div(f64x2.sub(mantissa, root), f64x2.add(mantissa, root));
  const square = f64x2.mul(z, z);
  let sum = f64x2.splat(0.20400125820214104);
  sum = f64x2.add(f64x2.splat(0.13937807115895923), f64x2.mul(square, sum));
  sum = f64x2.add(f64x2.splat(0.18331049943099653), f64x2.mul(square, sum));
  sum = f64x2.add(f64x2.splat(0.2221374820830527), f64x2.mul(square, sum));
  sum = f64x2.add(f64x2.splat(0.2857169070778927), f64x2.mul(square, sum));
  sum = f64x2.add(f64x2.splat(0.399999960081283), f64x2.mul(square, sum));
  sum = f64x2.add(f64x2.splat(0.6666666668877571), f64x2.mul(square, sum));
  const ratio = f64x2.mul(z, f64x2.add(f64x2.splat(2), f64x2.mul(square, sum)));
  return f64x2.add(f64x2.mul(k, f64x2.splat(Math.LN2)), ratio);
}
