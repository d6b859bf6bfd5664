/**
 * log(1 + x) for -1 < x <= 0, the arguments that the tails of the ziggurats need, within one unit in the last place.
 *
 * NumPy calls the C library here, so bit-exactness refers to one library: the GNU C library's binary64 log1p as
 * processors with fused multiply-add run it (x86-64 since 2013, Debian 12's glibc 2.36), operation by operation.
 * Correct rounding sometimes differs from it in the last bit; Math.log1p differs between engines. WebAssembly has no
 * fused multiply-add, so it is built from exact parts; the tails are rare.
 *
 * Method (Ng, FreeBSD msun s_log1p.c): 1 + x = 2^k (1 + f) with sqrt(2)/2 < 1 + f < sqrt(2), s = f/(2 + f),
 * log(1 + f) = f - (f²/2 - s (f²/2 + R(s²))), R a minimax polynomial of degree 14 in s; k ln 2 is added in two parts.
 */

const LN2_HIGH = reinterpret<f64>(0x3FE62E42FEE00000);
const LN2_LOW = reinterpret<f64>(0x3DEA39EF35793C76);
const R1 = reinterpret<f64>(0x3FE5555555555593);
const R2 = reinterpret<f64>(0x3FD999999997FA04);
const R3 = reinterpret<f64>(0x3FD2492494229359);
const R4 = reinterpret<f64>(0x3FCC71C51D8E78AF);
const R5 = reinterpret<f64>(0x3FC7466496CB03DE);
const R6 = reinterpret<f64>(0x3FC39A09D078C69F);
const R7 = reinterpret<f64>(0x3FC2F112DF3E5244);

/** High word of sqrt(2) without its exponent: mantissas from here on count as halves of the next power. */
const SQRT2_MANTISSA: u32 = 0x6A09E;

/** Rounding error of the sum a + b (Knuth). */
function lostInSum(a: f64, b: f64, sum: f64): f64 {
  const bPart = sum - a;
  return (a - (sum - bPart)) + (b - bPart);
}

/** Rounding error of the product a·b (Dekker, by halves of 26 bits). */
function lostInProduct(a: f64, b: f64, product: f64): f64 {
  const aWide = a * 134217729.0;
  const aHigh = aWide - (aWide - a);
  const aLow = a - aHigh;
  const bWide = b * 134217729.0;
  const bHigh = bWide - (bWide - b);
  const bLow = b - bHigh;
  return ((aHigh * bHigh - product) + aHigh * bLow + aLow * bHigh) + aLow * bLow;
}

/**
 * a·b + c rounded once, for magnitudes far from overflow and underflow: the low parts are added with rounding to odd
 * (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
 */
function fused(a: f64, b: f64, c: f64): f64 {
  const product = a * b;
  const productLost = lostInProduct(a, b, product);
  const low = c + productLost;
  const lowLost = lostInSum(c, productLost, low);
  const high = product + low;
  const highLost = lostInSum(product, low, high);
  let rest = highLost + lowLost;
  const restLost = lostInSum(highLost, lowLost, rest);
  if (restLost != 0 && !(reinterpret<u64>(rest) & 1)) {
    const outward = (restLost > 0) == (rest > 0);
    rest = reinterpret<f64>(reinterpret<u64>(rest) + (outward ? 1 : -1));
  }
  return high + rest;
}

function polynomial(z: f64): f64 {
  const z2 = z * z;
  const z4 = z2 * z2;
  const start = fused(z, R1, z2 * fused(R3, z, R2));
  return fused(z2 * z4, fused(R7, z, R6), fused(z4, fused(R5, z, R4), start));
}

/** log(1 + x), -1 < x <= 0. */
export function log1p(x: f64): f64 {
  const size = <u32>(reinterpret<u64>(x) >> 32) & 0x7FFFFFFF;
  if (size < 0x3E200000) {
    // |x| < 2^-29: the series needs at most two terms.
    return size < 0x3C900000 ? x : x - x * x * 0.5;
  }
  let k: i32 = 0;
  let f = x;
  let correction: f64 = 0;
  let exactPower = false;
  if (size >= 0x3FD2BEC4) {
    // x < -0.2929: reduce 1 + x; the correction is the rounding error of 1 + x.
    const sum = 1.0 + x;
    const bits = reinterpret<u64>(sum);
    k = <i32>(bits >> 52) - 1023;
    correction = (k > 0 ? 1.0 - (sum - x) : x - (sum - 1.0)) / sum;
    let exponent: u64 = 0x3FF;
    const high = <u32>(bits >> 32) & 0x000FFFFF;
    let rest = high;
    if (high >= SQRT2_MANTISSA) {
      k += 1;
      exponent = 0x3FE;
      rest = (0x00100000 - high) >> 2;
    }
    f = reinterpret<f64>((bits & 0x000FFFFFFFFFFFFF) | (exponent << 52)) - 1.0;
    exactPower = rest == 0;
  }
  const half = 0.5 * f * f;
  const power = <f64>k;
  if (exactPower) {
    // |f| < 2^-20
    if (f == 0) return k == 0 ? 0 : power * LN2_HIGH + fused(power, LN2_LOW, correction);
    const remainder = half * fused(-0.66666666666666666, f, 1.0);
    if (k == 0) return f - remainder;
    return power * LN2_HIGH - ((remainder - fused(power, LN2_LOW, correction)) - f);
  }
  const s = f / (2.0 + f);
  const r = polynomial(s * s);
  if (k == 0) return f - (half - s * (half + r));
  return power * LN2_HIGH - ((half - (s * (half + r) + fused(power, LN2_LOW, correction))) - f);
}
