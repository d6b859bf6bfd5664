/**
 * The 8x8 discrete cosine transform of the JPEG codec and its inverse, by the factorisation of Loeffler, Ligtenberg and
 * Moschytz (ICASSP 1989) with constants of 13 fraction bits and 2 extra bits between the passes: scale and rounding of
 * libjpeg's "islow" transform. Each output of a pass is a sum of products with the constants that the factorisation
 * multiplies out to, which is the same integer. Values between the passes have 16 bits, sums of products 32.
 *
 * Coefficients are in natural order, 64 values of 16 bits a block.
 */
import { nonZero, zigzagSet } from "./jpeg_order";

/** The values of one block between the passes: 16 bits, or 32 where the input is out of range. */
const BETWEEN = memory.data(256, 16);

/** Pairs of factors. Constants in memory are faster than those in the code, which are made again for each use. */
const PAIRS = memory.data<i16>([
  4433, 10703,
  -10704, 4433,
  -11363, 9633,
  -6436, 2260,
  9633, 2261,
  -11362, 6437,
  -6436, -11362,
  -2259, 9633,
  2260, 6437,
  9633, 11363,
  8192, 8192,
  8192, -8192,
  10703, 4433,
  4433, -10704,
  11363, 9633,
  6437, 2260,
  9633, -2259,
  -11362, -6436,
  6437, -11362,
  2261, 9633,
  2260, -6436,
  9633, -11363,
], 16);
/** Factors of the forward output k: of the even differences, and of the odd differences 0, 1 and 2, 3. */
const F2: usize = PAIRS, F6: usize = PAIRS + 4, F7_01: usize = PAIRS + 8, F7_23: usize = PAIRS + 12;
const F5_01: usize = PAIRS + 16, F5_23: usize = PAIRS + 20, F3_01: usize = PAIRS + 24, F3_23: usize = PAIRS + 28;
const F1_01: usize = PAIRS + 32, F1_23: usize = PAIRS + 36;
/** Factors of the inverse: even parts of coefficients 0, 4 and 2, 6, odd parts of coefficients 1, 3 and 5, 7. */
const PLUS: usize = PAIRS + 40, MINUS: usize = PAIRS + 44, T3: usize = PAIRS + 48, T2: usize = PAIRS + 52;
const O3_13: usize = PAIRS + 56, O3_57: usize = PAIRS + 60, O2_13: usize = PAIRS + 64, O2_57: usize = PAIRS + 68;
const O1_13: usize = PAIRS + 72, O1_57: usize = PAIRS + 76, O0_13: usize = PAIRS + 80, O0_57: usize = PAIRS + 84;
/** 1.5·2^23: the sum with a number has that number, rounded, in its low bits. */
const MAGIC = memory.data<f32>([12582912], 16);
const HALVES = memory.data<i32>([1 << 10, 1 << 14, (1 << 17) + (128 << 18), 1024 << 16 | 1024, 2 << 16 | 2], 16);
/** Rounding halves of shifts; that by 18 comes with the level shift by 128. */
const HALF_11: usize = HALVES, HALF_15: usize = HALVES + 4, HALF_18: usize = HALVES + 8;
/** Pairs of 16 bits: the level shift of eight samples, and the rounding half of a shift by 2. */
const LEVEL: usize = HALVES + 12, HALF_2: usize = HALVES + 16;

// @ts-ignore: decorator of AssemblyScript
@inline
function splat(address: usize): v128 {
  return v128.load32_splat(address);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function low16(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function high16(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/** One product sum of two pairs, rounded. */
// @ts-ignore: decorator of AssemblyScript
@inline
function rounded2(p: v128, kp: v128, half: usize, shift: i32): v128 {
  return i32x4.shr_s(i32x4.add(i32x4.dot_i16x8_s(p, kp), splat(half)), shift);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function dot4(p: v128, kp: v128, q: v128, kq: v128): v128 {
  return i32x4.add(i32x4.dot_i16x8_s(p, kp), i32x4.dot_i16x8_s(q, kq));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function rounded4(p: v128, kp: v128, q: v128, kq: v128, half: usize, shift: i32): v128 {
  return i32x4.shr_s(i32x4.add(dot4(p, kp, q, kq), splat(half)), shift);
}

/** Output 2 of a forward pass. */
// @ts-ignore: decorator of AssemblyScript
@inline
function even2(e2: v128, e3: v128, half: usize, shift: i32): v128 {
  const k = splat(F2);
  return i16x8.narrow_i32x4_s(rounded2(low16(e2, e3), k, half, shift), rounded2(high16(e2, e3), k, half, shift));
}

/** Output 6 of a forward pass. */
// @ts-ignore: decorator of AssemblyScript
@inline
function even6(e2: v128, e3: v128, half: usize, shift: i32): v128 {
  const k = splat(F6);
  return i16x8.narrow_i32x4_s(rounded2(low16(e2, e3), k, half, shift), rounded2(high16(e2, e3), k, half, shift));
}

/** An odd output of a forward pass. */
// @ts-ignore: decorator of AssemblyScript
@inline
function odd(pl: v128, ph: v128, kp: v128, ql: v128, qh: v128, kq: v128, half: usize, shift: i32): v128 {
  return i16x8.narrow_i32x4_s(rounded4(pl, kp, ql, kq, half, shift), rounded4(ph, kp, qh, kq, half, shift));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function bytes16(a: v128, b: v128): v128 {
  return v128.shuffle<i8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function low32(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 0, 4, 1, 5);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function high32(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 2, 6, 3, 7);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function low64(a: v128, b: v128): v128 {
  return v128.shuffle<i64>(a, b, 0, 2);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function high64(a: v128, b: v128): v128 {
  return v128.shuffle<i64>(a, b, 1, 3);
}

/** One block of samples to 64 coefficients, scaled by 8. */
function forward(at: usize, stride: usize, out: usize): void {
  const stride2 = 2 * stride, stride3 = 3 * stride, below = at + 4 * stride;
  const r01 = bytes16(v128.load64_zero(at), v128.load64_zero(at + stride));
  const r23 = bytes16(v128.load64_zero(at + stride2), v128.load64_zero(at + stride3));
  const r45 = bytes16(v128.load64_zero(below), v128.load64_zero(below + stride));
  const r67 = bytes16(v128.load64_zero(below + stride2), v128.load64_zero(below + stride3));
  const c0to3 = low16(r01, r23), c4to7 = high16(r01, r23), d0to3 = low16(r45, r67), d4to7 = high16(r45, r67);
  const c01 = low32(c0to3, d0to3), c23 = high32(c0to3, d0to3);
  const c45 = low32(c4to7, d4to7), c67 = high32(c4to7, d4to7);
  const s0 = i16x8.extend_low_i8x16_u(c01), s1 = i16x8.extend_high_i8x16_u(c01), s2 = i16x8.extend_low_i8x16_u(c23);
  const s3 = i16x8.extend_high_i8x16_u(c23), s4 = i16x8.extend_low_i8x16_u(c45), s5 = i16x8.extend_high_i8x16_u(c45);
  const s6 = i16x8.extend_low_i8x16_u(c67), s7 = i16x8.extend_high_i8x16_u(c67);

  // Rows: lane j is row j of the block.
  const a0 = i16x8.add(s0, s7), a1 = i16x8.add(s1, s6), a2 = i16x8.add(s2, s5), a3 = i16x8.add(s3, s4);
  const b0 = i16x8.sub(s3, s4), b1 = i16x8.sub(s2, s5), b2 = i16x8.sub(s1, s6), b3 = i16x8.sub(s0, s7);
  const e0 = i16x8.add(a0, a3), e1 = i16x8.add(a1, a2), e2 = i16x8.sub(a1, a2), e3 = i16x8.sub(a0, a3);
  // The level shift by 128 of eight samples.
  const w0 = i16x8.shl(i16x8.sub(i16x8.add(e0, e1), splat(LEVEL)), 2), w4 = i16x8.shl(i16x8.sub(e0, e1), 2);
  const w2 = even2(e2, e3, HALF_11, 11), w6 = even6(e2, e3, HALF_11, 11);
  const pl = low16(b0, b1), ph = high16(b0, b1), ql = low16(b2, b3), qh = high16(b2, b3);
  const w7 = odd(pl, ph, splat(F7_01), ql, qh, splat(F7_23), HALF_11, 11);
  const w5 = odd(pl, ph, splat(F5_01), ql, qh, splat(F5_23), HALF_11, 11);
  const w3 = odd(pl, ph, splat(F3_01), ql, qh, splat(F3_23), HALF_11, 11);
  const w1 = odd(pl, ph, splat(F1_01), ql, qh, splat(F1_23), HALF_11, 11);

  // Columns: lane j is column j.
  const x0 = low16(w0, w1), x1 = high16(w0, w1), x2 = low16(w2, w3), x3 = high16(w2, w3);
  const x4 = low16(w4, w5), x5 = high16(w4, w5), x6 = low16(w6, w7), x7 = high16(w6, w7);
  const y0 = low32(x0, x2), y1 = high32(x0, x2), y2 = low32(x1, x3), y3 = high32(x1, x3);
  const y4 = low32(x4, x6), y5 = high32(x4, x6), y6 = low32(x5, x7), y7 = high32(x5, x7);
  const t0 = low64(y0, y4), t1 = high64(y0, y4), t2 = low64(y1, y5), t3 = high64(y1, y5);
  const t4 = low64(y2, y6), t5 = high64(y2, y6), t6 = low64(y3, y7), t7 = high64(y3, y7);
  const f0 = i16x8.add(t0, t7), f1 = i16x8.add(t1, t6), f2 = i16x8.add(t2, t5), f3 = i16x8.add(t3, t4);
  const g0 = i16x8.sub(t3, t4), g1 = i16x8.sub(t2, t5), g2 = i16x8.sub(t1, t6), g3 = i16x8.sub(t0, t7);
  const h0 = i16x8.add(f0, f3), h1 = i16x8.add(f1, f2), h2 = i16x8.sub(f1, f2), h3 = i16x8.sub(f0, f3);
  // A sum of 64 level samples has 16 bits with the rounding: -32768 is the smallest, 32512 the largest.
  v128.store(out, i16x8.shr_s(i16x8.add(i16x8.add(h0, h1), splat(HALF_2)), 2));
  v128.store(out, i16x8.shr_s(i16x8.add(i16x8.sub(h0, h1), splat(HALF_2)), 2), 64);
  v128.store(out, even2(h2, h3, HALF_15, 15), 32);
  v128.store(out, even6(h2, h3, HALF_15, 15), 96);
  const ul = low16(g0, g1), uh = high16(g0, g1), vl = low16(g2, g3), vh = high16(g2, g3);
  v128.store(out, odd(ul, uh, splat(F7_01), vl, vh, splat(F7_23), HALF_15, 15), 112);
  v128.store(out, odd(ul, uh, splat(F5_01), vl, vh, splat(F5_23), HALF_15, 15), 80);
  v128.store(out, odd(ul, uh, splat(F3_01), vl, vh, splat(F3_23), HALF_15, 15), 48);
  v128.store(out, odd(ul, uh, splat(F1_01), vl, vh, splat(F1_23), HALF_15, 15), 16);
}

/** Transforms rows of blocks of a plane; the coefficients follow row by row. */
export function forwardBlocks(plane: usize, blocksWide: i32, blockRows: i32, out: usize): void {
  const stride = <usize>(8 * blocksWide);
  for (let row = 0; row < blockRows; row++, plane += 8 * stride) {
    for (let at = plane, end = plane + stride; at < end; at += 8, out += 128) forward(at, stride, out);
  }
}

/**
 * Divides a block of coefficients, eight times the transform, by divisors d; halves are rounded away from zero.
 *
 * c/(8d) is computed in binary32 with a reciprocal that is larger by 2^-20, which takes halves, and no other quotient of
 * 16-bit coefficients, beyond the tie; adding 1.5·2^23 rounds to an integer.
 * @param reciprocals (1 + 2^-20)/(8d) in natural order
 * @returns a bit for each quotient that is not zero, by natural position
 */
// @ts-ignore: decorator of AssemblyScript
@inline
function quantizeBlock(block: usize, reciprocals: usize): u64 {
  let mask: u64 = 0;
  for (let row: usize = 0; row < 4; row++) {
    const first = quantizeRow(block + 32 * row, reciprocals + 64 * row);
    const second = quantizeRow(block + 32 * row + 16, reciprocals + 64 * row + 32);
    v128.store(block + 32 * row, first);
    v128.store(block + 32 * row, second, 16);
    mask |= <u64>nonZero(first, second) << (16 * row);
  }
  return mask;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function quantizeRow(coefficients: usize, reciprocals: usize): v128 {
  const row = v128.load(coefficients), magic = splat(MAGIC);
  const low = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(row)), v128.load(reciprocals));
  const high = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(row)), v128.load(reciprocals, 16));
  return v128.shuffle<i16>(f32x4.add(low, magic), f32x4.add(high, magic), 0, 2, 4, 6, 8, 10, 12, 14);
}

/**
 * Quantises blocks in place.
 * @param sets receives for each block 64 bits: the quotients that are not zero, by zigzag position
 */
export function quantizeBlocks(blocks: usize, count: i32, reciprocals: usize, sets: usize): void {
  for (const end = blocks + 128 * <usize>count; blocks < end; blocks += 128, sets += 8) {
    store<u64>(sets, zigzagSet(quantizeBlock(blocks, reciprocals)));
  }
}

/** The largest sum of the magnitudes of a column for which the values between the passes have 16 bits. */
const LARGEST_COLUMN = memory.data<i16>([5900, 5900], 4);

// @ts-ignore: decorator of AssemblyScript
@inline
function sum32(a: v128, b: v128, shift: i32): v128 {
  return i32x4.shr_s(i32x4.add(a, b), shift);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function difference32(a: v128, b: v128, shift: i32): v128 {
  return i32x4.shr_s(i32x4.sub(a, b), shift);
}

/** One pass of the inverse over eight lanes; the k-th result is stored at BETWEEN + 16·k. */
// @ts-ignore: decorator of AssemblyScript
@inline
function inversePass(
  c0: v128,
  c1: v128,
  c2: v128,
  c3: v128,
  c4: v128,
  c5: v128,
  c6: v128,
  c7: v128,
  half: usize,
  shift: i32,
): void {
  const l04 = low16(c0, c4), l26 = low16(c2, c6), l13 = low16(c1, c3), l57 = low16(c5, c7);
  const h04 = high16(c0, c4), h26 = high16(c2, c6), h13 = high16(c1, c3), h57 = high16(c5, c7);
  const bias = splat(half);
  const plus = splat(PLUS), minus = splat(MINUS), k3 = splat(T3), k2 = splat(T2);
  const lt0 = i32x4.add(i32x4.dot_i16x8_s(l04, plus), bias), lt1 = i32x4.add(i32x4.dot_i16x8_s(l04, minus), bias);
  const ht0 = i32x4.add(i32x4.dot_i16x8_s(h04, plus), bias), ht1 = i32x4.add(i32x4.dot_i16x8_s(h04, minus), bias);
  const lt3 = i32x4.dot_i16x8_s(l26, k3), ht3 = i32x4.dot_i16x8_s(h26, k3);
  const lt2 = i32x4.dot_i16x8_s(l26, k2), ht2 = i32x4.dot_i16x8_s(h26, k2);

  const o3p = splat(O3_13), o3q = splat(O3_57);
  const lo3 = dot4(l13, o3p, l57, o3q), ho3 = dot4(h13, o3p, h57, o3q);
  const le0 = i32x4.add(lt0, lt3), he0 = i32x4.add(ht0, ht3);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(sum32(le0, lo3, shift), sum32(he0, ho3, shift)));
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(difference32(le0, lo3, shift), difference32(he0, ho3, shift)), 112);

  const o2p = splat(O2_13), o2q = splat(O2_57);
  const lo2 = dot4(l13, o2p, l57, o2q), ho2 = dot4(h13, o2p, h57, o2q);
  const le1 = i32x4.add(lt1, lt2), he1 = i32x4.add(ht1, ht2);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(sum32(le1, lo2, shift), sum32(he1, ho2, shift)), 16);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(difference32(le1, lo2, shift), difference32(he1, ho2, shift)), 96);

  const o1p = splat(O1_13), o1q = splat(O1_57);
  const lo1 = dot4(l13, o1p, l57, o1q), ho1 = dot4(h13, o1p, h57, o1q);
  const le2 = i32x4.sub(lt1, lt2), he2 = i32x4.sub(ht1, ht2);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(sum32(le2, lo1, shift), sum32(he2, ho1, shift)), 32);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(difference32(le2, lo1, shift), difference32(he2, ho1, shift)), 80);

  const o0p = splat(O0_13), o0q = splat(O0_57);
  const lo0 = dot4(l13, o0p, l57, o0q), ho0 = dot4(h13, o0p, h57, o0q);
  const le3 = i32x4.sub(lt0, lt3), he3 = i32x4.sub(ht0, ht3);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(sum32(le3, lo0, shift), sum32(he3, ho0, shift)), 48);
  v128.store(BETWEEN, i16x8.narrow_i32x4_s(difference32(le3, lo0, shift), difference32(he3, ho0, shift)), 64);
}

/** Adds the magnitude of each lane, up to 65535. */
// @ts-ignore: decorator of AssemblyScript
@inline
function withMagnitude(sum: v128, row: v128): v128 {
  return i16x8.add_sat_u(sum, i16x8.abs(row));
}

/** One block of dequantised coefficients to samples 0 … 255. */
export function inverse(block: usize, at: usize, stride: usize): void {
  const c0 = v128.load(block), c1 = v128.load(block, 16), c2 = v128.load(block, 32), c3 = v128.load(block, 48);
  const c4 = v128.load(block, 64), c5 = v128.load(block, 80), c6 = v128.load(block, 96), c7 = v128.load(block, 112);
  const upper = withMagnitude(withMagnitude(withMagnitude(i16x8.abs(c0), c1), c2), c3);
  const sums = withMagnitude(withMagnitude(withMagnitude(withMagnitude(upper, c4), c5), c6), c7);
  if (v128.any_true(i16x8.sub_sat_u(sums, splat(LARGEST_COLUMN)))) {
    inverseLarge(block, at, stride);
    return;
  }
  inversePass(c0, c1, c2, c3, c4, c5, c6, c7, HALF_11, 11);
  const r0 = v128.load(BETWEEN), r1 = v128.load(BETWEEN, 16), r2 = v128.load(BETWEEN, 32), r3 = v128.load(BETWEEN, 48);
  const r4 = v128.load(BETWEEN, 64), r5 = v128.load(BETWEEN, 80);
  const r6 = v128.load(BETWEEN, 96), r7 = v128.load(BETWEEN, 112);
  const x0 = low16(r0, r1), x1 = high16(r0, r1), x2 = low16(r2, r3), x3 = high16(r2, r3);
  const x4 = low16(r4, r5), x5 = high16(r4, r5), x6 = low16(r6, r7), x7 = high16(r6, r7);
  const y0 = low32(x0, x2), y1 = high32(x0, x2), y2 = low32(x1, x3), y3 = high32(x1, x3);
  const y4 = low32(x4, x6), y5 = high32(x4, x6), y6 = low32(x5, x7), y7 = high32(x5, x7);
  // Rounding half of the last shift, and the level shift by 128.
  inversePass(
    low64(y0, y4),
    high64(y0, y4),
    low64(y1, y5),
    high64(y1, y5),
    low64(y2, y6),
    high64(y2, y6),
    low64(y3, y7),
    high64(y3, y7),
    HALF_18,
    18,
  );
  // Columns of samples, two a vector, to rows.
  const s01 = i8x16.narrow_i16x8_u(v128.load(BETWEEN), v128.load(BETWEEN, 16));
  const s23 = i8x16.narrow_i16x8_u(v128.load(BETWEEN, 32), v128.load(BETWEEN, 48));
  const s45 = i8x16.narrow_i16x8_u(v128.load(BETWEEN, 64), v128.load(BETWEEN, 80));
  const s67 = i8x16.narrow_i16x8_u(v128.load(BETWEEN, 96), v128.load(BETWEEN, 112));
  const m0 = bytes16(s01, high64(s01, s01)), m2 = bytes16(s23, high64(s23, s23));
  const m4 = bytes16(s45, high64(s45, s45)), m6 = bytes16(s67, high64(s67, s67));
  const n0 = low16(m0, m2), n1 = high16(m0, m2), n2 = low16(m4, m6), n3 = high16(m4, m6);
  const rows01 = low32(n0, n2), rows23 = high32(n0, n2), rows45 = low32(n1, n3), rows67 = high32(n1, n3);
  const stride2 = 2 * stride, stride3 = 3 * stride, below = at + 4 * stride;
  v128.store64_lane(at, rows01, 0);
  v128.store64_lane(at + stride, rows01, 1);
  v128.store64_lane(at + stride2, rows23, 0);
  v128.store64_lane(at + stride3, rows23, 1);
  v128.store64_lane(below, rows45, 0);
  v128.store64_lane(below + stride, rows45, 1);
  v128.store64_lane(below + stride2, rows67, 0);
  v128.store64_lane(below + stride3, rows67, 1);
}

/** One pass over eight values of 32 bits, a step apart, in place; sums wrap. */
function inverseLine(at: usize, step: usize, half: usize, shift: i32): void {
  const c0 = load<i32>(at), c1 = load<i32>(at + step), c2 = load<i32>(at + 2 * step), c3 = load<i32>(at + 3 * step);
  const c4 = load<i32>(at + 4 * step), c5 = load<i32>(at + 5 * step);
  const c6 = load<i32>(at + 6 * step), c7 = load<i32>(at + 7 * step);
  const bias = load<i32>(half), t0 = ((c0 + c4) << 13) + bias, t1 = ((c0 - c4) << 13) + bias;
  const t2 = 4433 * c2 - 10704 * c6, t3 = 10703 * c2 + 4433 * c6;
  const o0 = 2260 * c1 - 6436 * c3 + 9633 * c5 - 11363 * c7, o1 = 6437 * c1 - 11362 * c3 + 2261 * c5 + 9633 * c7;
  const o2 = 9633 * c1 - 2259 * c3 - 11362 * c5 - 6436 * c7, o3 = 11363 * c1 + 9633 * c3 + 6437 * c5 + 2260 * c7;
  store<i32>(at, (t0 + t3 + o3) >> shift);
  store<i32>(at + 7 * step, (t0 + t3 - o3) >> shift);
  store<i32>(at + step, (t1 + t2 + o2) >> shift);
  store<i32>(at + 6 * step, (t1 + t2 - o2) >> shift);
  store<i32>(at + 2 * step, (t1 - t2 + o1) >> shift);
  store<i32>(at + 5 * step, (t1 - t2 - o1) >> shift);
  store<i32>(at + 3 * step, (t0 - t3 + o0) >> shift);
  store<i32>(at + 4 * step, (t0 - t3 - o0) >> shift);
}

/** The inverse of a block that no 8-bit image has: values between the passes with 32 bits. */
function inverseLarge(block: usize, at: usize, stride: usize): void {
  for (let k: usize = 0; k < 64; k++) store<i32>(BETWEEN + 4 * k, load<i16>(block + 2 * k));
  for (let column: usize = 0; column < 8; column++) inverseLine(BETWEEN + 4 * column, 32, HALF_11, 11);
  for (let row: usize = 0; row < 8; row++, at += stride) {
    const line = BETWEEN + 32 * row;
    inverseLine(line, 4, HALF_18, 18);
    for (let x: usize = 0; x < 8; x++) {
      const sample = load<i32>(line + 4 * x);
      store<u8>(at + x, sample < 0 ? 0 : sample > 255 ? 255 : sample);
    }
  }
}

/** The inverse of a block with only a DC coefficient. */
export function inverseFlat(dc: i32, at: usize, stride: usize): void {
  const value = ((dc + 4) >> 3) + 128, row = <u64>(value < 0 ? 0 : value > 255 ? 255 : value) * 0x0101010101010101;
  for (let y = 0; y < 8; y++, at += stride) store<u64>(at, row);
}

/** Quantised blocks of one row to samples. @param divisors of 16 bits in natural order */
export function inverseBlocks(blocks: usize, count: i32, divisors: usize, plane: usize): void {
  const stride = <usize>(8 * count);
  for (const end = plane + stride; plane < end; plane += 8, blocks += 128) {
    for (let row: usize = 0; row < 128; row += 16) {
      v128.store(blocks + row, i16x8.mul(v128.load(blocks + row), v128.load(divisors + row)));
    }
    inverse(blocks, plane, stride);
  }
}
