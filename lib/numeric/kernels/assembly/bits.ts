/**
 * Bits, symbols and log-likelihood ratios, in blocks, for ../modulation.ts and ../bit_packing.ts: a block of input lies at
 * `INPUT`, its results at `OUTPUT`. Compiled to ../bits.wasm by `deno task build:wasm`. Vectors may read and write up to 64
 * bytes past the end of a block.
 */

/** Bytes of a block of input and of its results: both stay in the second-level cache. */
const BLOCK_BYTES: i32 = 65536;

const INPUT = memory.data(65536 + 64, 16);
const OUTPUT = memory.data(65536 + 64, 16);
/** N0 of each symbol, binary32. */
const VARIANCES = memory.data(65536 / 2 + 64, 16);
/** Points of a constellation by label, binary32 pairs. */
const POINTS = memory.data(256 * 8, 16);
/** The points of two labels of 4 bits each, by the joint label. */
const PAIRS = memory.data(256 * 16, 16);

/** The same bit of every byte. */
const LOW_BITS: u64 = 0x0101010101010101;
/** The product with this takes the lowest bits of the bytes to the highest byte, that of the first byte first. */
const GATHER: u64 = 0x8040201008040201;

export function inputOffset(): usize {
  return INPUT;
}

export function outputOffset(): usize {
  return OUTPUT;
}

export function variancesOffset(): usize {
  return VARIANCES;
}

export function pointsOffset(): usize {
  return POINTS;
}

export function blockBytes(): i32 {
  return BLOCK_BYTES;
}

/** Bits to points, `width` bits a symbol. */
export function map(width: i32, count: i32): void {
  const mask = LOW_BITS >> <u64>(64 - 8 * width), rest = <u64>(64 - width);
  let at = INPUT;
  for (let out = OUTPUT, end = OUTPUT + 8 * <usize>count; out < end; out += 8, at += <usize>width) {
    const label = <usize>(((load<u64>(at) & mask) * GATHER) >> rest);
    store<u64>(out, load<u64>(POINTS + 8 * label));
  }
}

/** As `map` with 4 bits a symbol, two symbols at a time. */
export function map4(count: i32): void {
  for (let label: usize = 0; label < 256; label++) {
    store<u64>(PAIRS + 16 * label, load<u64>(POINTS + 8 * (label >> 4)));
    store<u64>(PAIRS + 16 * label, load<u64>(POINTS + 8 * (label & 15)), 8);
  }
  let at = INPUT;
  for (let out = OUTPUT, end = OUTPUT + 8 * <usize>count; out < end; out += 16, at += 8) {
    const label = <usize>(((load<u64>(at) & LOW_BITS) * GATHER) >> 56);
    v128.store(out, v128.load(PAIRS + 16 * label));
  }
}

/** Bits to values of one size, the bit as the sign: `level` is the binary32 value of bit 0. */
export function mapSigns(count: i32, level: f32): void {
  const size = f32x4.splat(level);
  let at = INPUT;
  for (let out = OUTPUT, end = OUTPUT + 4 * <usize>count; out < end; out += 64, at += 16) {
    const bits = v128.load(at);
    const low = i16x8.extend_low_i8x16_u(bits), high = i16x8.extend_high_i8x16_u(bits);
    v128.store(out, v128.or(i32x4.shl(i32x4.extend_low_i16x8_u(low), 31), size));
    v128.store(out, v128.or(i32x4.shl(i32x4.extend_high_i16x8_u(low), 31), size), 16);
    v128.store(out, v128.or(i32x4.shl(i32x4.extend_low_i16x8_u(high), 31), size), 32);
    v128.store(out, v128.or(i32x4.shl(i32x4.extend_high_i16x8_u(high), 31), size), 48);
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function scaled(at: usize, by: v128): v128 {
  return f32x4.demote_f64x2_zero(f64x2.mul(by, f64x2.promote_low_f32x4(v128.load64_zero(at))));
}

/** The product with a binary64 factor, rounded once, of each binary32 value. */
export function scale(count: i32, factor: f64): void {
  const by = f64x2.splat(factor);
  let at = INPUT;
  for (let out = OUTPUT, end = OUTPUT + 4 * <usize>count; out < end; out += 32, at += 32) {
    v128.store(out, v128.shuffle<i64>(scaled(at, by), scaled(at + 8, by), 0, 2));
    v128.store(out, v128.shuffle<i64>(scaled(at + 16, by), scaled(at + 24, by), 0, 2), 16);
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function precisionAt(i: i32): f64 {
  return 1 / max(<f64>load<f32>(VARIANCES + 4 * <usize>i), 1e-12);
}

/** LLRs of BPSK, 4 / N0 times the real parts. @param precision 1/N0 of all symbols; negative when each has its own */
export function demapReal(count: i32, precision: f64): void {
  for (let i = 0; i < count; i++) {
    const by = 4 * (precision < 0 ? precisionAt(i) : precision);
    store<f32>(OUTPUT + 4 * <usize>i, <f32>(by * <f64>load<f32>(INPUT + 8 * <usize>i)));
  }
}

/**
 * Max-log LLRs, `bits` per part of a symbol, both parts in one vector. The first bit splits the levels at 0: beyond
 * |v| = k·edge the nearest level moves on, and the slope rises. The levels of the other bits are those of |v|, centred
 * between them.
 * @param slope LLR over the distance to the edge at N0 = 1
 * @param precision 1/N0 of all symbols; negative when each has its own
 */
export function demap(bits: i32, count: i32, slope: f64, edge: f64, precision: f64): void {
  const zero = f64x2.splat(0), sign = i64x2.splat(i64.MIN_VALUE);
  let by = f64x2.splat(slope * precision), out = OUTPUT;
  for (let i = 0; i < count; i++) {
    if (precision < 0) by = f64x2.splat(slope * precisionAt(i));
    let v = f64x2.promote_low_f32x4(v128.load64_zero(INPUT + 8 * <usize>i));
    for (let half = 1 << (bits - 1); half >= 1; half >>= 1, out += 8) {
      const size = f64x2.abs(v);
      let beyond = zero;
      for (let k = 1; k < half; k++) {
        beyond = f64x2.add(beyond, f64x2.pmax(f64x2.sub(size, f64x2.splat(<f64>k * edge)), zero));
      }
      const signed = v128.or(beyond, v128.and(v, sign));
      v128.store64_lane(out, f32x4.demote_f64x2_zero(f64x2.mul(by, f64x2.add(v, signed))), 0);
      v = f64x2.sub(f64x2.splat(<f64>(half >> 1) * edge), size);
    }
  }
}

/** As `demap` with 2 bits per part, in one vector per symbol. */
export function demap16(count: i32, slope: f64, edge: f64, precision: f64): void {
  const zero = f64x2.splat(0), sign = i64x2.splat(i64.MIN_VALUE), limit = f64x2.splat(edge);
  let by = f64x2.splat(slope * precision);
  for (let i = 0; i < count; i++) {
    if (precision < 0) by = f64x2.splat(slope * precisionAt(i));
    const v = f64x2.promote_low_f32x4(v128.load64_zero(INPUT + 8 * <usize>i)), rest = f64x2.sub(limit, f64x2.abs(v));
    const beyond = v128.or(f64x2.pmax(f64x2.neg(rest), zero), v128.and(v, sign));
    const first = f32x4.demote_f64x2_zero(f64x2.mul(by, f64x2.add(v, beyond)));
    const second = f32x4.demote_f64x2_zero(f64x2.mul(by, rest));
    v128.store(OUTPUT + 16 * <usize>i, v128.shuffle<i64>(first, second, 0, 2));
  }
}

/** 1 for each negative binary32 value, else 0, also for NaN and -0. */
export function decide(count: i32): void {
  const zero = f32x4.splat(0), one = i8x16.splat(1);
  let at = INPUT;
  for (let out = OUTPUT, end = OUTPUT + <usize>count; out < end; out += 16, at += 64) {
    const low = i16x8.narrow_i32x4_s(f32x4.lt(v128.load(at), zero), f32x4.lt(v128.load(at, 16), zero));
    const high = i16x8.narrow_i32x4_s(f32x4.lt(v128.load(at, 32), zero), f32x4.lt(v128.load(at, 48), zero));
    v128.store(out, v128.and(i8x16.narrow_i16x8_s(low, high), one));
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function packed(at: usize): u32 {
  const bits = v128.load(at);
  // The lowest bit of each byte becomes its highest; what the other bits leave below does not matter.
  const reversed = v128.shuffle<i8>(bits, bits, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
  return <u32>i8x16.bitmask(i16x8.shl(reversed, 7));
}

/** Bytes from bits, the lowest bit of each of eight, the first highest. */
export function pack(count: i32): void {
  let at = INPUT;
  for (let out = OUTPUT, end = OUTPUT + <usize>count; out < end; out += 8, at += 64) {
    store<u32>(out, packed(at) | packed(at + 16) << 16);
    store<u32>(out, packed(at + 32) | packed(at + 48) << 16, 4);
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function pairSums(low: v128, high: v128): v128 {
  return i8x16.narrow_i16x8_u(i16x8.extadd_pairwise_i8x16_u(low), i16x8.extadd_pairwise_i8x16_u(high));
}

/** The sums of 16 pairs of bits, one per byte. */
// @ts-ignore: decorator of AssemblyScript
@inline
function sums2(at: usize): v128 {
  const low = i8x16.splat(1);
  return pairSums(v128.and(v128.load(at), low), v128.and(v128.load(at, 16), low));
}

/** As sums2, of groups of four. */
// @ts-ignore: decorator of AssemblyScript
@inline
function sums4(at: usize): v128 {
  return pairSums(sums2(at), sums2(at + 32));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function storeMajority(out: usize, sums: v128, factor: i32): void {
  v128.store(out, v128.and(i8x16.gt_s(sums, i8x16.splat(<i8>((factor - 1) >> 1))), i8x16.splat(1)));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function decided(at: usize, mask: u64, others: u64): u8 {
  return <u8>(popcnt(load<u64>(at) & mask | others) >> 3);
}

/** 1 where at least half of `factor` bits are 1, for groups of at most eight bits. */
export function majority(factor: i32, count: i32): void {
  const group = <usize>factor, end = OUTPUT + <usize>count;
  let at = INPUT, out = OUTPUT;
  if (factor == 2) {
    for (; out < end; out += 16, at += 32) storeMajority(out, sums2(at), 2);
  } else if (factor == 4) {
    for (; out < end; out += 16, at += 64) storeMajority(out, sums4(at), 4);
  } else if (factor == 8) {
    for (; out < end; out += 16, at += 128) storeMajority(out, pairSums(sums4(at), sums4(at + 64)), 8);
  }
  const mask = LOW_BITS >> <u64>(64 - 8 * factor);
  // So many further ones that half of the group makes eight ones in all.
  const others = ((<u64>1 << <u64>(8 - ((factor + 1) >> 1))) - 1) << 1;
  for (; out < end; out += 4, at += 4 * group) {
    store<u8>(out, decided(at, mask, others));
    store<u8>(out, decided(at + group, mask, others), 1);
    store<u8>(out, decided(at + 2 * group, mask, others), 2);
    store<u8>(out, decided(at + 3 * group, mask, others), 3);
  }
}
