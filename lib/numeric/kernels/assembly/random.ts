/**
 * The random streams of NumPy's Generator over PCG64, in blocks. Compiled to ../random.wasm by `deno task build:wasm`.
 *
 * PCG64 (O'Neill 2014) steps s' = a·s + c mod 2^128 and outputs XSL-RR of s'. A step waits for the 128-bit product of
 * the step before; here the states of a block follow from the state before it, s_n = s_0 + w·G_n with w = s_1 - s_0 and
 * the seed-free constants G_n = 1 + a + … + a^(n-1) mod 2^128. The products of the lower words are formed two at a time
 * in vectors, those with upper words beside them in scalar registers, where each output is rotated by its own amount.
 *
 * Lemire: "Fast random integer generation in an interval", 2019. NumPy takes 32-bit words as the low, then the high
 * half of an output and keeps an unused high half between calls; narrower values are the parts of such words, low bits
 * first. In little-endian memory that is the order of the bytes.
 */
import { log1p } from "./logarithm";
import {
  EXPONENTIAL_F,
  EXPONENTIAL_K,
  EXPONENTIAL_R,
  EXPONENTIAL_W,
  NORMAL_F,
  NORMAL_INVERSE_R,
  NORMAL_K,
  NORMAL_R,
  NORMAL_W,
} from "./ziggurat";

export { log1p };

/** Outputs per block. */
const BLOCK: i32 = 512;
/** Bytes of results per call. */
const RESULT_BYTES: i32 = 32768;
/** Most raw outputs of a speculative segment, and how many of its first outputs are marked. */
const SEGMENT: i32 = 32768;
const MARKED: i32 = 64;

/** State low, high; increment low, high (u64 each); kept half, whether there is one (u32 each). */
const STATE = memory.data(40, 16);
const RESULTS = memory.data(32768, 16);
/** Real parts of normal values, and symbols that they are added to. */
const KEPT = memory.data(32768, 16);
const SYMBOLS = memory.data(32768, 16);
const SEGMENT_RESULTS = memory.data(32768 * 8, 16);
/** Per output at the start of a segment: values before the draw that begins there, -1 where none begins (i32). */
const MARKS = memory.data(64 * 4, 16);
/** Raw outputs of the block; the 4 bytes before them take the kept half. */
const RAW = memory.data(16 + 512 * 8, 16) + 16;
/** G_1 … G_BLOCK, 16 bytes each. */
const SUMS = memory.data(512 * 16, 16);
/** Bits 0 … 31 of four G_n, then bits 32 … 63 of the four. */
const SUM_HALVES = memory.data(512 * 8, 16);
/** Bits 0 … 31, 32 … 63 and 64 … 127 of s_0, twice each. */
const BASES = memory.data(48, 16);
/** Per layer and sign: width (negative with the sign bit), then the inner limit; 16 bytes each. */
const NORMAL = memory.data(512 * 16, 16);
/** The same per layer. */
const EXPONENTIAL = memory.data(256 * 16, 16);

/**
 * Pairs: the low 32 bits, then 2^52, 1.0 and the lowest bit for the conversion to binary64. Loaded, they stay in registers;
 * V8 would form literal vectors anew in each round of a loop.
 */
const VECTORS = memory.data<u64>([
  0xFFFFFFFF,
  0xFFFFFFFF,
  0x4330000000000000,
  0x4330000000000000,
  0x3FF0000000000000,
  0x3FF0000000000000,
  1,
  1,
]);

const MULTIPLIER_LOW: u64 = 0x4385DF649FCCF645;
const MULTIPLIER_HIGH: u64 = 0x2360ED051FC65DA4;

/** State before the block, and the distance w to the state after it. */
let baseLow: u64 = 0;
let baseHigh: u64 = 0;
let stepLow: u64 = 0;
let stepHigh: u64 = 0;
/** Next raw byte to use, and the end of the block. */
let cursor: usize = 0;
let limit: usize = 0;
/** Outputs between where the call began and the base. */
let passed: i32 = 0;

// @ts-ignore: decorator of AssemblyScript
@inline
function highProduct(x: u64, y: u64): u64 {
  const x0 = x & 0xFFFFFFFF;
  const x1 = x >> 32;
  const y0 = y & 0xFFFFFFFF;
  const y1 = y >> 32;
  const middle = x1 * y0 + ((x0 * y0) >> 32);
  const other = x0 * y1 + (middle & 0xFFFFFFFF);
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function highProduct128(xLow: u64, xHigh: u64, yLow: u64, yHigh: u64): u64 {
  return highProduct(xLow, yLow) + xLow * yHigh + xHigh * yLow;
}

function prepare(): void {
  let low: u64 = 1;
  let high: u64 = 0;
  for (let i = 0; i < BLOCK; i++) {
    const at = SUMS + (<usize>i << 4);
    store<u64>(at, low);
    store<u64>(at, high, 8);
    const halves = SUM_HALVES + (<usize>(i & ~3) << 3) + (<usize>(i & 3) << 2);
    store<u32>(halves, <u32>low);
    store<u32>(halves, <u32>(low >> 32), 16);
    high = highProduct128(low, high, MULTIPLIER_LOW, MULTIPLIER_HIGH);
    low = low * MULTIPLIER_LOW + 1;
    high += u64(low == 0);
  }
  for (let i = 0; i < 512; i++) {
    const at = NORMAL + (<usize>i << 4);
    const layer = <usize>(i & 255) << 3;
    const width = load<f64>(NORMAL_W + layer);
    store<f64>(at, i < 256 ? width : -width);
    store<u64>(at, load<u64>(NORMAL_K + layer), 8);
  }
  for (let i = 0; i < 256; i++) {
    const at = EXPONENTIAL + (<usize>i << 4);
    store<u64>(at, load<u64>(EXPONENTIAL_W + (<usize>i << 3)));
    store<u64>(at, load<u64>(EXPONENTIAL_K + (<usize>i << 3)), 8);
  }
}
prepare();

export function stateOffset(): usize {
  return STATE;
}

export function resultsOffset(): usize {
  return RESULTS;
}

export function symbolsOffset(): usize {
  return SYMBOLS;
}

export function resultBytes(): i32 {
  return RESULT_BYTES;
}

export function segmentOffset(): usize {
  return SEGMENT_RESULTS;
}

export function segmentSize(): i32 {
  return SEGMENT;
}

export function marksOffset(): usize {
  return MARKS;
}

export function marksSize(): i32 {
  return MARKED;
}

/** Sets the state before the next block and its step w = (a - 1)·s + c. */
function rebase(low: u64, high: u64): void {
  baseLow = low;
  baseHigh = high;
  const incrementLow = load<u64>(STATE, 16);
  const productLow = low * (MULTIPLIER_LOW - 1);
  stepLow = productLow + incrementLow;
  stepHigh = highProduct128(low, high, MULTIPLIER_LOW - 1, MULTIPLIER_HIGH) + load<u64>(STATE, 24) +
    u64(stepLow < incrementLow);
}

/** Moves the base forward by `count` outputs, within a block. */
function advance(count: i32): void {
  if (count == 0) return;
  passed += count;
  const at = SUMS + (<usize>(count - 1) << 4);
  const sumLow = load<u64>(at);
  const low = baseLow + stepLow * sumLow;
  const high = baseHigh + highProduct128(stepLow, stepHigh, sumLow, load<u64>(at, 8)) + u64(low < baseLow);
  rebase(low, high);
}

/**
 * Two outputs from the products of the halves of w and two G_n. The halves of s_0 join the products, so no carry needs a
 * comparison.
 */
// @ts-ignore: decorator of AssemblyScript
@inline
function outputPair(p00: v128, p01: v128, p10: v128, p11: v128, raw: usize, sums: usize, low: u64, high: u64): void {
  const mask = v128.load(VECTORS);
  const first = i64x2.add(p00, v128.load(BASES));
  const middle = i64x2.add(i64x2.add(p10, v128.load(BASES, 16)), i64x2.shr_u(first, 32));
  const other = i64x2.add(p01, v128.and(middle, mask));
  const carries = i64x2.add(i64x2.shr_u(middle, 32), i64x2.shr_u(other, 32));
  v128.store(raw, v128.shuffle<i32>(first, i64x2.shl(other, 32), 0, 5, 2, 7));
  const upper = i64x2.add(i64x2.add(p11, v128.load(BASES, 32)), carries);
  const even = i64x2.extract_lane(upper, 0) + low * load<u64>(sums, 8) + high * load<u64>(sums);
  const odd = i64x2.extract_lane(upper, 1) + low * load<u64>(sums, 24) + high * load<u64>(sums, 16);
  store<u64>(raw, rotr(load<u64>(raw) ^ even, even >> 58));
  store<u64>(raw, rotr(load<u64>(raw, 8) ^ odd, odd >> 58), 8);
}

/** Drops the used block and forms `wanted` new outputs, rounded up to a multiple of four, at most a block. */
function refill(wanted: i32): void {
  advance(<i32>((limit - RAW) >> 3));
  const low = stepLow, high = stepHigh;
  const w0 = i32x4.splat(<i32>low), w1 = i32x4.splat(<i32>(low >> 32));
  v128.store(BASES, i64x2.splat(baseLow & 0xFFFFFFFF));
  v128.store(BASES, i64x2.splat(baseLow >> 32), 16);
  v128.store(BASES, i64x2.splat(baseHigh), 32);
  const end = RAW + (<usize>(min(wanted, BLOCK) + 3) << 3 & ~31);
  let halves = SUM_HALVES, sums = SUMS;
  for (let raw = RAW; raw < end; raw += 32, halves += 32, sums += 64) {
    const g0 = v128.load(halves), g1 = v128.load(halves, 16);
    outputPair(
      i64x2.extmul_low_i32x4_u(g0, w0),
      i64x2.extmul_low_i32x4_u(g1, w0),
      i64x2.extmul_low_i32x4_u(g0, w1),
      i64x2.extmul_low_i32x4_u(g1, w1),
      raw,
      sums,
      low,
      high,
    );
    outputPair(
      i64x2.extmul_high_i32x4_u(g0, w0),
      i64x2.extmul_high_i32x4_u(g1, w0),
      i64x2.extmul_high_i32x4_u(g0, w1),
      i64x2.extmul_high_i32x4_u(g1, w1),
      raw + 16,
      sums + 32,
      low,
      high,
    );
  }
  cursor = RAW;
  limit = end;
}

/** Begins a call that takes whole outputs. Each kernel of one call continues where the previous one ended. */
export function begin(): void {
  rebase(load<u64>(STATE), load<u64>(STATE, 8));
  cursor = RAW;
  limit = RAW;
  passed = 0;
}

/** Moves the state forward by `count` outputs in O(log count) steps: x -> a·x + c composed with itself bit by bit. */
export function skip(count: u64): void {
  let low = load<u64>(STATE);
  let high = load<u64>(STATE, 8);
  let multiplierLow = MULTIPLIER_LOW;
  let multiplierHigh = MULTIPLIER_HIGH;
  let addLow = load<u64>(STATE, 16);
  let addHigh = load<u64>(STATE, 24);
  for (; count != 0; count >>= 1) {
    if (count & 1) {
      high = highProduct128(low, high, multiplierLow, multiplierHigh) + addHigh;
      low = low * multiplierLow + addLow;
      high += u64(low < addLow);
    }
    // a·(a·x + c) + c = a²·x + (a·c + c)
    const productLow = addLow * multiplierLow;
    addHigh += highProduct128(addLow, addHigh, multiplierLow, multiplierHigh);
    addLow += productLow;
    addHigh += u64(addLow < productLow);
    multiplierHigh = highProduct128(multiplierLow, multiplierHigh, multiplierLow, multiplierHigh);
    multiplierLow *= multiplierLow;
  }
  store<u64>(STATE, low);
  store<u64>(STATE, high, 8);
}

/** Outputs used since the call began. */
export function position(): i32 {
  return passed + (<i32>(cursor - RAW) >> 3);
}

/** Ends such a call: the state moves forward by the outputs used. */
export function finish(): void {
  advance(<i32>((cursor - RAW) >> 3));
  store<u64>(STATE, baseLow);
  store<u64>(STATE, baseHigh, 8);
}

/** Begins a call that takes 32-bit words or parts of them. */
export function beginWords(): void {
  begin();
  if (load<u32>(STATE, 36)) {
    cursor = RAW - 4;
    store<u32>(cursor, load<u32>(STATE, 32));
  }
}

/** Ends such a call: the rest of a word is dropped, an unused high half is kept. */
export function finishWords(): void {
  cursor = (cursor + 3) & ~3;
  const kept = <u32>(cursor & 4);
  store<u32>(STATE, kept, 36);
  if (kept) {
    store<u32>(STATE, load<u32>(cursor), 32);
    cursor += 4;
  }
  finish();
}

// @ts-ignore: decorator of AssemblyScript
@inline
function next64(): u64 {
  if (cursor == limit) refill(16);
  const value = load<u64>(cursor);
  cursor += 8;
  return value;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function next32(): u32 {
  if (cursor == limit) refill(16);
  const value = load<u32>(cursor);
  cursor += 4;
  return value;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function toDouble(raw: u64): f64 {
  return <f64>(<i64>(raw >> 11)) * (1.0 / 9007199254740992.0);
}

function nextDouble(): f64 {
  return toDouble(next64());
}

/** binary64 in [0, 1). */
export function doubles(count: i32): void {
  let out = RESULTS;
  const end = RESULTS + (<usize>count << 3);
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out) >> 3));
    const stop = min(limit, cursor + (end - out));
    let at = cursor;
    // The upper 52 bits as the fraction of a value in [1, 2), less 1 or, for the bit below them, 1 - 2^-53: exact. As
    // bits, 1 - 2^-53 is one less than 1.
    const one = v128.load(VECTORS, 32);
    const lowest = v128.load(VECTORS, 48);
    for (; at + 16 <= stop; at += 16) {
      const bits = v128.load(at);
      const shifted = v128.or(i64x2.shr_u(bits, 12), one);
      v128.store(out, f64x2.sub(shifted, i64x2.sub(one, v128.and(i64x2.shr_u(bits, 11), lowest))));
      out += 16;
    }
    for (; at < stop; at += 8) {
      store<f64>(out, toDouble(load<u64>(at)));
      out += 8;
    }
    cursor = at;
  }
}

/** binary32 in [0, 1). */
export function floats(count: i32): void {
  let out = RESULTS;
  const end = RESULTS + (<usize>count << 2);
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out + 7) >> 3));
    const stop = min(limit, cursor + (end - out));
    let at = cursor;
    const scale = f32x4.splat(<f32>(1.0 / 16777216.0));
    for (; at + 16 <= stop; at += 16) {
      v128.store(out, f32x4.mul(f32x4.convert_i32x4_s(i32x4.shr_u(v128.load(at), 8)), scale));
      out += 16;
    }
    for (; at < stop; at += 4) {
      store<f32>(out, <f32>(<i32>(load<u32>(at) >> 8)) * <f32>(1.0 / 16777216.0));
      out += 4;
    }
    cursor = at;
  }
}

/** A ziggurat draw outside the inner part of a layer; NaN if the point is rejected. */
function normalEdge(raw: u64, x: f64): f64 {
  const layer = <usize>(raw & 0xFF);
  if (layer == 0) {
    for (;;) {
      const far = -NORMAL_INVERSE_R * log1p(-nextDouble());
      const height = -log1p(-nextDouble());
      if (height + height > far * far) {
        return (raw >> 17) & 1 ? -(NORMAL_R + far) : NORMAL_R + far;
      }
    }
  }
  const f = NORMAL_F + (layer << 3);
  const outer = load<f64>(f);
  const inner = load<f64>(f - 8);
  return (inner - outer) * nextDouble() + outer < Math.exp(-0.5 * x * x) ? x : NaN;
}

/** Normal values from the outputs up to `stop`, or to the first draw that leaves the inner part of its layer. */
// @ts-ignore: decorator of AssemblyScript
@inline
function normalRun(start: usize, stop: usize): usize {
  let out = start;
  let at = cursor;
  // Two at a time while both lie inside; draws at an edge use the scalar code.
  const exponent = v128.load(VECTORS, 16);
  for (; at + 16 <= stop; at += 16) {
    const first = v128.load(NORMAL + (<usize>(load<u32>(at) << 4) & 0x1FF0));
    const second = v128.load(NORMAL + (<usize>(load<u32>(at, 8) << 4) & 0x1FF0));
    const magnitude = i64x2.shr_u(i64x2.shl(v128.load(at), 3), 12);
    if (i64x2.bitmask(i64x2.gt_s(i64x2.shuffle(first, second, 1, 3), magnitude)) != 3) break;
    const value = f64x2.sub(v128.or(magnitude, exponent), exponent);
    v128.store(out, f64x2.mul(value, i64x2.shuffle(first, second, 0, 2)));
    out += 16;
  }
  while (at < stop) {
    const raw = load<u64>(at);
    const layer = NORMAL + (<usize>(raw << 4) & 0x1FF0);
    const magnitude = (raw << 3) >> 12;
    const x = <f64>(<i64>magnitude) * load<f64>(layer);
    at += 8;
    if (magnitude < load<u64>(layer, 8)) {
      store<f64>(out, x);
      out += 8;
    } else {
      cursor = at;
      const edge = normalEdge(raw, x);
      at = cursor;
      if (edge == edge) {
        store<f64>(out, edge);
        out += 8;
      }
      break;
    }
  }
  cursor = at;
  return out;
}

/** Standard normal values. */
export function normals(count: i32): void {
  let out = RESULTS;
  const end = RESULTS + (<usize>count << 3);
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out) >> 3));
    out = normalRun(out, min(limit, cursor + (end - out)));
  }
}

/** Keeps the `count` values of the results for {@link addPairs}. */
export function keep(count: i32): void {
  memory.copy(KEPT, RESULTS, <usize>count << 3);
}

/** Adds the kept values, scaled, to the real parts of complex64 symbols, and the results to their imaginary parts; rounded once. */
export function addPairs(count: i32, scale: f64): void {
  const scales = f64x2.splat(scale);
  for (let i: usize = 0; i < <usize>count << 3; i += 16) {
    const symbols = v128.load(SYMBOLS + i), real = v128.load(KEPT + i), imaginary = v128.load(RESULTS + i);
    const first = f64x2.mul(scales, v128.shuffle<i64>(real, imaginary, 0, 2));
    const second = f64x2.mul(scales, v128.shuffle<i64>(real, imaginary, 1, 3));
    const low = f32x4.demote_f64x2_zero(f64x2.add(f64x2.promote_low_f32x4(symbols), first));
    const upper = f64x2.promote_low_f32x4(v128.shuffle<i64>(symbols, symbols, 1, 1));
    const high = f32x4.demote_f64x2_zero(f64x2.add(upper, second));
    v128.store(SYMBOLS + i, v128.shuffle<i64>(low, high, 0, 2));
  }
}

/** One draw of a normal value at the cursor; NaN if the point is rejected. */
export function normalDraw(): f64 {
  if (cursor == limit) refill(16);
  return normalRun(RESULTS, cursor + 8) == RESULTS ? NaN : load<f64>(RESULTS);
}

/**
 * Normal values of the draws that begin within the next `budget` outputs, to the segment's results, as if a draw began
 * here. Marks the draws that begin within the first `marked` outputs.
 * @returns the number of values; position() then gives the end of the last draw
 */
export function speculateNormals(budget: i32, marked: i32): i32 {
  memory.fill(MARKS, 0xFF, MARKED * 4);
  let out = SEGMENT_RESULTS;
  for (let at = position(); at < min(marked, budget); at = position()) {
    store<i32>(MARKS + (<usize>at << 2), <i32>(out - SEGMENT_RESULTS) >> 3);
    if (cursor == limit) refill(budget - at);
    out = normalRun(out, cursor + 8);
  }
  for (let left = budget - position(); left > 0; left = budget - position()) {
    if (cursor == limit) refill(left);
    out = normalRun(out, min(limit, cursor + (<usize>left << 3)));
  }
  return <i32>(out - SEGMENT_RESULTS) >> 3;
}

/** As normalEdge. */
function exponentialEdge(layer: usize, x: f64): f64 {
  if (layer == 0) return EXPONENTIAL_R - log1p(-nextDouble());
  const f = EXPONENTIAL_F + (layer << 3);
  const outer = load<f64>(f);
  const inner = load<f64>(f - 8);
  return (inner - outer) * nextDouble() + outer < Math.exp(-x) ? x : NaN;
}

/** Standard exponential values. */
export function exponentials(count: i32): void {
  let out = RESULTS;
  const end = RESULTS + (<usize>count << 3);
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out) >> 3));
    const stop = min(limit, cursor + (end - out));
    let at = cursor;
    while (at < stop) {
      const raw = load<u64>(at);
      const layer = EXPONENTIAL + (<usize>(raw << 1) & 0xFF0);
      const magnitude = raw >> 11;
      const x = <f64>(<i64>magnitude) * load<f64>(layer);
      at += 8;
      if (magnitude < load<u64>(layer, 8)) {
        store<f64>(out, x);
        out += 8;
      } else {
        cursor = at;
        const edge = exponentialEdge(<usize>(raw >> 3) & 0xFF, x);
        at = cursor;
        if (edge == edge) {
          store<f64>(out, edge);
          out += 8;
        }
        break;
      }
    }
    cursor = at;
  }
}

/** Bits, low bits of a word first, plus an offset. */
export function bounded1(count: i32): void {
  let word: u32 = 0;
  for (let i = 0; i < count; i++) {
    word = i & 31 ? word >> 1 : next32();
    store<u8>(RESULTS + i, <u8>(word & 1));
  }
}

/** offset + integers in 0 … range, 8 bits; a range of 2^k - 1 takes the top k bits of every byte. */
export function bounded8(offset: u32, range: u32, count: i32): void {
  const size = range + 1;
  const threshold : u32 = <u32>256 % size;
  const shift = 8 - popcnt(range);
  let out = RESULTS;
  const end = RESULTS + <usize>count;
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out + 7) >> 3));
    let at = cursor;
    if (threshold == 0) {
      const stop = min(limit, at + (end - out));
      const offsets = i8x16.splat(<u8>offset), kept = i8x16.splat(<u8>range);
      for (; at + 16 <= stop; at += 16) {
        v128.store(out, i8x16.add(v128.and(i64x2.shr_u(v128.load(at), shift), kept), offsets));
        out += 16;
      }
      for (; at < stop; at++) {
        store<u8>(out, (load<u8>(at) >> <u8>shift) + <u8>offset);
        out++;
      }
    } else {
      for (; at < limit && out < end; at++) {
        const product = <u32>load<u8>(at) * size;
        store<u8>(out, (product >> 8) + offset);
        out += usize((product & 0xFF) >= threshold);
      }
    }
    cursor = at;
  }
}

/** As bounded8, 16 bits. */
export function bounded16(offset: u32, range: u32, count: i32): void {
  const size = range + 1;
  const threshold : u32 = <u32>65536 % size;
  let out = RESULTS;
  const end = RESULTS + (<usize>count << 1);
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out + 7) >> 3));
    let at = cursor;
    for (; at < limit && out < end; at += 2) {
      const product = <u32>load<u16>(at) * size;
      store<u16>(out, (product >> 16) + offset);
      out += usize((product & 0xFFFF) >= threshold) << 1;
    }
    cursor = at;
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function bounded32To<T>(offset: T, range: u32, count: i32): void {
  const size = <u64>range + 1;
  const threshold: u64 = <u64>0x100000000 % size;
  let out = RESULTS;
  const end = RESULTS + <usize>count * sizeof<T>();
  while (out < end) {
    if (cursor == limit) refill(<i32>((end - out) / (2 * sizeof<T>()) + 1));
    let at = cursor;
    const stop = min(limit, at + (end - out) / sizeof<T>() * 4);
    // Four words at a time while none is rejected, for a size of at most 32 bits.
    const whole = size >> 32 ? at : stop;
    const sizes = i32x4.splat(<i32>size), thresholds = i32x4.splat(<i32>threshold);
    for (; at + 16 <= whole; at += 16) {
      const words = v128.load(at);
      const low = i64x2.extmul_low_i32x4_u(words, sizes), high = i64x2.extmul_high_i32x4_u(words, sizes);
      if (threshold != 0 && v128.any_true(i32x4.lt_u(v128.shuffle<i32>(low, high, 0, 2, 4, 6), thresholds))) break;
      if (sizeof<T>() == 4) {
        v128.store(out, i32x4.add(v128.shuffle<i32>(low, high, 1, 3, 5, 7), i32x4.splat(<i32>offset)));
      } else {
        v128.store(out, i64x2.add(i64x2.shr_u(low, 32), i64x2.splat(<i64>offset)));
        v128.store(out, i64x2.add(i64x2.shr_u(high, 32), i64x2.splat(<i64>offset)), 16);
      }
      out += 4 * sizeof<T>();
    }
    for (const next = min(stop, at + 16); at < next; at += 4) {
      const product = <u64>load<u32>(at) * size;
      if ((product & 0xFFFFFFFF) < threshold) continue;
      store<T>(out, <T>(product >> 32) + offset);
      out += sizeof<T>();
    }
    cursor = at;
  }
}

/** As bounded8, 32 bits. */
export function bounded32(offset: u32, range: u32, count: i32): void {
  bounded32To<u32>(offset, range, count);
}

/** As bounded32 with 64-bit results: NumPy draws 32-bit words while the range fits them. */
export function bounded32Wide(offset: u64, range: u32, count: i32): void {
  bounded32To<u64>(offset, range, count);
}

/** As bounded8, 64 bits, for ranges of 2^32 and more. */
export function bounded64(offset: u64, range: u64, count: i32): void {
  const size = range + 1;
  const threshold: u64 = size == 0 ? 0 : (0 - size) % size;
  for (let i = 0; i < count; i++) {
    let value = next64();
    if (size != 0) {
      while (value * size < threshold) value = next64();
      value = highProduct(value, size);
    }
    store<u64>(RESULTS + (<usize>i << 3), value + offset);
  }
}

/** Integers in 0 … range for range = first, first + step, …, one each, by Lemire's method (32-bit). */
export function run(first: u32, step: i32, count: i32): void {
  for (let i = 0; i < count; i++) {
    const size = <u64>(first + i * step) + 1;
    let product: u64 = 0;
    if (size > 1) {
      product = <u64>next32() * size;
      if ((product & 0xFFFFFFFF) < size) {
        const threshold: u64 = <u64>0x100000000 % size;
        while ((product & 0xFFFFFFFF) < threshold) product = <u64>next32() * size;
      }
    }
    store<u32>(RESULTS + (<usize>i << 2), <u32>(product >> 32));
  }
}

/** Integers in 0 … range for range = first, first - 1, …, one each, by masking and rejection, as NumPy shuffles. */
export function shuffles(first: u32, count: i32): void {
  for (let i = 0; i < count; i++) {
    const range = first - i;
    const mask: u32 = 0xFFFFFFFF >> clz(range);
    let value = next32() & mask;
    while (value > range) value = next32() & mask;
    store<u32>(RESULTS + (<usize>i << 2), value);
  }
}
