/**
 * Kernels of the LDPC codes of TS 38.212: encoder, layered min-sum decoder, CRC, interleaving. Compiled to ../nr_ldpc.wasm by
 * `deno task build:wasm`; ../nr_ldpc/ calls them.
 *
 * A column of Z elements, one byte each, lies in a strip of 2 Z bytes: element k is at place p = k or k + Z. The Z
 * places from `origin` on are valid, 0 <= origin < Z. A rotation by s reads places s … s + Z - 1 as one run, after the
 * places between the old origin and s have been copied by ±Z. Vectors run past the end of a column; they write outside
 * the window, which is never read.
 *
 * Decoder (Hocevar 2004; Chen, Dholakia, Eleftheriou, Fossorier and Hu 2005): a value per bit and a message per entry, int8
 * with saturation, positive for bit 0. A row takes the values q of its bits without its own messages; the new message to a
 * bit has the sign that makes the check hold and the least magnitude of the others less an offset; value = q + message. A
 * parity bit that no other row checks is only read.
 */
import { ADDRESSES, CAP, longRow, OFFSET, row } from "./nr_ldpc_row";

const STRIP: i32 = 832;
/** Padding before a column for copies that run past it. */
const PAD: i32 = 32;

const COLUMNS = memory.data(72 * 832, 64);
const MESSAGES = memory.data(320 * 384, 64);
const ORIGINS = memory.data(72 * 4, 16);
/**
 * Encoder: target column, number of terms, then column and shift of each. Decoder: own parity column or -1, number of
 * entries, then column and shift of each. All i32.
 */
const PROGRAM = memory.data(2048 * 4, 16);
/** Information bits, one per byte, and packed with the first bit lowest. */
const BITS = memory.data(22 * 384 + 64, 64);
const PACKED = memory.data(22 * 48 + 16, 16);
/** Per polynomial four tables of 256 words. */
const CRC_TABLES = memory.data(3 * 4096, 64);
/** Number of the 16-bit polynomial. */
const CRC16: i32 = 2;
/** Rows that check the information bits and the first four parity columns; the last ones of the decoder's program. */
const CORE_ROWS: i32 = 4;

export function programOffset(): usize {
  return PROGRAM;
}
export function bitsOffset(): usize {
  return BITS;
}
/** Memory from here on is the caller's. */
export function freeOffset(): usize {
  return (__heap_base + 63) & ~63;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function strip(column: i32): usize {
  return COLUMNS + <usize>(column * STRIP + PAD);
}

// @ts-ignore: decorator of AssemblyScript
@inline
function chunks(size: i32, chunk: i32): i32 {
  return (size + chunk - 1) / chunk * chunk;
}

// CRC ------------------------------------------------------------------------------------------------------------------

/** Polynomials with their bits reversed: CRC24A, CRC24B, CRC16. The register holds its highest power lowest. */
// @ts-ignore: decorator of AssemblyScript
@inline
function reversedPolynomial(kind: i32): u32 {
  return kind == 0 ? 0xdf3261 : kind == 1 ? 0xc60001 : 0x8408;
}

function buildTables(): void {
  for (let kind = 0; kind < 3; kind++) {
    const table = CRC_TABLES + <usize>(kind * 4096);
    for (let byte = 0; byte < 256; byte++) {
      let register: u32 = byte;
      for (let i = 0; i < 8; i++) register = register >> 1 ^ (register & 1 ? reversedPolynomial(kind) : 0);
      store<u32>(table + <usize>(byte << 2), register);
    }
    for (let i = 256; i < 1024; i++) {
      const before = load<u32>(table + <usize>((i - 256) << 2));
      store<u32>(table + <usize>(i << 2), before >> 8 ^ load<u32>(table + <usize>((before & 255) << 2)));
    }
  }
}
buildTables();

/** Continues a CRC over packed bytes. */
function crcBytes(kind: i32, register: u32, from: usize, count: i32): u32 {
  const table = CRC_TABLES + <usize>(kind * 4096);
  const end = from + <usize>count;
  for (; from + 4 <= end; from += 4) {
    const word = register ^ load<u32>(from);
    register = load<u32>(table + <usize>((word & 255) << 2), 3072) ^
      load<u32>(table + <usize>((word >> 8 & 255) << 2), 2048) ^
      load<u32>(table + <usize>((word >> 16 & 255) << 2), 1024) ^
      load<u32>(table + <usize>(word >> 24 << 2));
  }
  for (; from < end; from++) {
    register = register >> 8 ^ load<u32>(table + <usize>(((register ^ load<u8>(from)) & 255) << 2));
  }
  return register;
}

/** Packs bits (0 or 1 per byte) into PACKED and returns whether that changed it. Reads up to 15 bytes too many. */
function pack(from: usize, count: i32): bool {
  let changed: u32 = 0;
  for (let i = 0; i < count; i += 16) {
    // The highest bit of each lane.
    const bits = i8x16.bitmask(i8x16.neg(v128.load(from + <usize>i)));
    const at = PACKED + <usize>(i >> 3);
    // Clears the bits behind the last one.
    const kept = bits & (count - i >= 16 ? 0xffff : (1 << (count - i)) - 1);
    changed |= load<u16>(at) ^ kept;
    store<u16>(at, <u16>kept);
  }
  return changed != 0;
}

/**
 * Continues a CRC over bits at an address, one per byte, a multiple of 8 of them; 0 starts one.
 * @returns the register, first parity bit lowest
 */
export function crcBits(kind: i32, register: u32, from: usize, count: i32): u32 {
  for (let i = 0; i < count; i += 8448) {
    const part = min(8448, count - i);
    pack(from + <usize>i, part);
    register = crcBytes(kind, register, PACKED, part >> 3);
  }
  return register;
}

// Encoder --------------------------------------------------------------------------------------------------------------

/** Writes a column's second copy behind its first. */
// @ts-ignore: decorator of AssemblyScript
@inline
function double(column: usize, z: i32): void {
  for (let j = 0; j < z; j += 16) v128.store(column + <usize>(z + j), v128.load(column + <usize>j));
}

/** Spreads contiguous bits over doubled columns. */
export function spread(from: usize, columns: i32, z: i32): void {
  for (let c = 0; c < columns; c++) {
    const column = strip(c), source = from + <usize>(c * z);
    for (let j = 0; j < z; j += 16) v128.store(column + <usize>j, v128.load(source + <usize>j));
    double(column, z);
  }
}

/** Runs the program: each target column becomes the sum of rotated columns. */
export function combine(targets: i32, z: i32): void {
  let program = PROGRAM;
  for (let t = 0; t < targets; t++) {
    const target = strip(load<i32>(program)), terms = load<i32>(program, 4);
    program += 8;
    for (let e = 0; e < terms; e++) {
      store<usize>(ADDRESSES + <usize>(e << 2), strip(load<i32>(program)) + <usize>load<i32>(program, 4));
      program += 8;
    }
    for (let j = 0; j < z; j += 16) {
      let sum = v128.load(load<usize>(ADDRESSES) + <usize>j);
      for (let e = 1; e < terms; e++) {
        sum = v128.xor(sum, v128.load(load<usize>(ADDRESSES + <usize>(e << 2)) + <usize>j));
      }
      v128.store(target + <usize>j, sum);
    }
    double(target, z);
  }
}

/** Copies columns from … from + columns - 1 to contiguous bytes. Writes up to 15 bytes too many. */
export function gather(to: usize, from: i32, columns: i32, z: i32): void {
  for (let c = 0; c < columns; c++) {
    const column = strip(from + c), target = to + <usize>(c * z);
    for (let j = 0; j < z; j += 16) v128.store(target + <usize>j, v128.load(column + <usize>j));
  }
}

/**
 * Interleaves selected bits over the bits of a symbol and scrambles them.
 * @param count a multiple of `width`
 * @param scrambling bytes 0 or 1
 */
export function interleave(to: usize, from: usize, count: i32, width: i32, scrambling: usize): void {
  const length = count / width;
  if (width == 2) {
    let j = 0;
    for (; j + 16 <= length; j += 16) {
      const first = v128.load(from + <usize>j), second = v128.load(from + <usize>(length + j));
      const at = <usize>(2 * j);
      v128.store(
        to + at,
        v128.xor(
          v128.load(scrambling + at),
          i8x16.shuffle(first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
        ),
      );
      v128.store(
        to + at + 16,
        v128.xor(
          v128.load(scrambling + at + 16),
          i8x16.shuffle(first, second, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
        ),
      );
    }
    for (; j < length; j++) {
      const at = <usize>(2 * j);
      store<u8>(to + at, load<u8>(from + <usize>j) ^ load<u8>(scrambling + at));
      store<u8>(to + at + 1, load<u8>(from + <usize>(length + j)) ^ load<u8>(scrambling + at + 1));
    }
    return;
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < length; j++) {
      const at = <usize>(j * width + i);
      store<u8>(to + at, load<u8>(from + <usize>(i * length + j)) ^ load<u8>(scrambling + at));
    }
  }
}

// Decoder --------------------------------------------------------------------------------------------------------------

/** Four log-likelihood ratios as integers. */
// @ts-ignore: decorator of AssemblyScript
@inline
function quantised(from: usize, scale: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(v128.load(from), scale)));
}

/**
 * Rounds log-likelihood ratios (f32) times `scale` to int8, saturating at ±127, and descrambles them.
 * @param scrambling bytes 0 or 1; a 1 inverts the sign
 * @returns whether any is not 0; reads up to 15 values too many, which must be 0
 */
export function quantise(to: usize, from: usize, count: i32, scale: f32, scrambling: usize): bool {
  const factor = f32x4.splat(scale), least = i8x16.splat(-127);
  let any = i8x16.splat(0);
  for (let i = 0; i < count; i += 16) {
    const at = from + <usize>(i << 2);
    const low = i16x8.narrow_i32x4_s(quantised(at, factor), quantised(at + 16, factor));
    const high = i16x8.narrow_i32x4_s(quantised(at + 32, factor), quantised(at + 48, factor));
    const value = i8x16.max_s(i8x16.narrow_i16x8_s(low, high), least);
    const turned = i8x16.neg(v128.load(scrambling + <usize>i));
    any = v128.or(any, value);
    v128.store(to + <usize>i, i8x16.sub(v128.xor(value, turned), turned));
  }
  return v128.any_true(any);
}

/** Undoes the interleaving over the bits of a symbol. */
export function deinterleave(to: usize, from: usize, count: i32, width: i32): void {
  const length = count / width;
  if (width == 2) {
    let j = 0;
    for (; j + 16 <= length; j += 16) {
      const low = v128.load(from + <usize>(2 * j)), high = v128.load(from + <usize>(2 * j), 16);
      v128.store(
        to + <usize>j,
        i8x16.shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
      );
      v128.store(
        to + <usize>(length + j),
        i8x16.shuffle(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31),
      );
    }
    for (; j < length; j++) {
      store<u8>(to + <usize>j, load<u8>(from + <usize>(2 * j)));
      store<u8>(to + <usize>(length + j), load<u8>(from + <usize>(2 * j + 1)));
    }
    return;
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < length; j++) {
      store<u8>(to + <usize>(i * length + j), load<u8>(from + <usize>(j * width + i)));
    }
  }
}

/** Spreads contiguous posterior values over the columns from `first` on; their windows then start at 0. */
export function place(from: usize, first: i32, columns: i32, z: i32): void {
  for (let c = 0; c < columns; c++) {
    const column = strip(first + c), source = from + <usize>(c * z);
    for (let j = 0; j < z; j += 16) v128.store(column + <usize>j, v128.load(source + <usize>j));
    store<i32>(ORIGINS + <usize>((first + c) << 2), 0);
  }
}

/** Moves the window of a column; returns its address. */
// @ts-ignore: decorator of AssemblyScript
@inline
function rotate(column: i32, shift: i32, z: i32): usize {
  const address = strip(column), place = ORIGINS + <usize>(column << 2);
  const origin = load<i32>(place);
  if (origin < shift) {
    for (let p = origin; p < shift; p += 16) v128.store(address + <usize>(p + z), v128.load(address + <usize>p));
  } else {
    for (let p = origin - 16; p > shift - 16; p -= 16) {
      v128.store(address + <usize>p, v128.load(address + <usize>(p + z)));
    }
  }
  store<i32>(place, shift);
  return address + <usize>shift;
}

/** One pass over all rows. */
function iterate(rows: i32, z: i32): void {
  let program = PROGRAM, messages = MESSAGES;
  for (let i = 0; i < rows; i++) {
    const parity = load<i32>(program), degree = load<i32>(program, 4);
    program += 8;
    for (let a = ADDRESSES, last = a + <usize>(degree << 2); a < last; a += 4) {
      store<usize>(a, rotate(load<i32>(program), load<i32>(program, 4), z));
      program += 8;
    }
    const own = parity < 0 ? 0 : strip(parity);
    switch (own ? degree : -degree) {
      case 2: row2(own, messages, z); break;
      case 3: row3(own, messages, z); break;
      case 4: row4(own, messages, z); break;
      case 5: row5(own, messages, z); break;
      case 6: row6(own, messages, z); break;
      case 7: row7(own, messages, z); break;
      case 8: row8(own, messages, z); break;
      case 9: row9(own, messages, z); break;
      case -8: core8(messages, z); break;
      case -10: core10(messages, z); break;
      case -19: core19(messages, z); break;
      default: longRow(degree, own, messages, z);
    }
    messages += <usize>(degree * chunks(z, 16));
  }
}

function row2(own: usize, messages: usize, z: i32): void { row(2, own, messages, z); }
function row3(own: usize, messages: usize, z: i32): void { row(3, own, messages, z); }
function row4(own: usize, messages: usize, z: i32): void { row(4, own, messages, z); }
function row5(own: usize, messages: usize, z: i32): void { row(5, own, messages, z); }
function row6(own: usize, messages: usize, z: i32): void { row(6, own, messages, z); }
function row7(own: usize, messages: usize, z: i32): void { row(7, own, messages, z); }
function row8(own: usize, messages: usize, z: i32): void { row(8, own, messages, z); }
function row9(own: usize, messages: usize, z: i32): void { row(9, own, messages, z); }
function core8(messages: usize, z: i32): void { row(8, 0, messages, z); }
function core10(messages: usize, z: i32): void { row(10, 0, messages, z); }
function core19(messages: usize, z: i32): void { row(19, 0, messages, z); }

/** Packs the hard decisions of the first `used` bits and returns whether any has changed. */
function decide(used: i32, z: i32): bool {
  if (z & 15) {
    writeBits(used, z);
    return pack(BITS, used);
  }
  let changed: u32 = 0, at = PACKED;
  for (let c = 0; c * z < used; c++) {
    const column = rotate(c, 0, z);
    for (let j = 0, left = used - c * z; j < z && j < left; j += 16) {
      let bits: u32 = i8x16.bitmask(v128.load(column + <usize>j));
      if (left - j < 16) bits &= (1 << (left - j)) - 1;
      changed |= bits ^ load<u16>(at);
      store<u16>(at, <u16>bits);
      at += 2;
    }
  }
  return changed != 0;
}

/** Writes hard decisions to BITS, one per byte. */
function writeBits(used: i32, z: i32): void {
  const one = i8x16.splat(1), zero = i8x16.splat(0);
  for (let c = 0; c * z < used; c++) {
    const column = rotate(c, 0, z), target = BITS + <usize>(c * z);
    for (let j = 0; j < z; j += 16) {
      v128.store(target + <usize>j, v128.and(one, i8x16.lt_s(v128.load(column + <usize>j), zero)));
    }
  }
}

/**
 * Whether the checks of a number of rows at the end of the program hold for the hard decisions. A parity bit of one
 * check is decided from its received value and the other bits of its row.
 */
function holds(rows: i32, checked: i32, columns: i32, z: i32): bool {
  for (let c = 0; c < columns; c++) double(rotate(c, 0, z), z);
  let program = PROGRAM;
  for (let i = 0; i < rows; i++) {
    const parity = load<i32>(program), degree = load<i32>(program, 4);
    const entries = program + 8;
    program = entries + <usize>(degree << 3);
    if (i < rows - checked) continue;
    for (let j = 0; j < z; j += 16) {
      let least = i8x16.splat(CAP), signs = i8x16.splat(0);
      for (let entry = entries; entry < program; entry += 8) {
        const value = v128.load(strip(load<i32>(entry)) + <usize>(load<i32>(entry, 4) + j));
        least = i8x16.min_u(least, i8x16.abs(value));
        signs = v128.xor(signs, value);
      }
      if (parity >= 0) {
        const size = i8x16.sub_sat_u(least, i8x16.splat(OFFSET)), negative = i8x16.lt_s(signs, i8x16.splat(0));
        const message = i8x16.sub(v128.xor(size, negative), negative);
        signs = v128.xor(signs, i8x16.add_sat_s(v128.load(strip(parity) + <usize>j), message));
      }
      const failed = i8x16.bitmask(signs);
      if (failed & (z - j >= 16 ? 0xffff : (1 << (z - j)) - 1)) return false;
    }
  }
  return true;
}

/**
 * Decodes the values in the columns; hard decisions are left in BITS.
 *
 * Stops early at a valid CRC, or at a codeword once a pass has changed no information bit. A 16-bit CRC passes one
 * wrong word in 65536 at each test, so before the last pass the core checks must hold as well.
 * @param columns columns in use
 * @param used information bits without filler bits, covered by the CRC, a multiple of 8
 * @param early false: stop after all iterations only
 * @returns iterations done; 2^16 is added where the CRC holds
 */
export function decode(rows: i32, columns: i32, z: i32, used: i32, crc: i32, iterations: i32, early: bool): i32 {
  let entries = 0, program = PROGRAM;
  for (let i = 0; i < rows; i++) {
    const degree = load<i32>(program, 4);
    entries += degree;
    program += <usize>(8 + (degree << 3));
  }
  memory.fill(MESSAGES, 0, <usize>(entries * chunks(z, 16)));
  let valid = false, done = 0, finished = false;
  while (!finished && done < iterations) {
    iterate(rows, z);
    const last = ++done == iterations;
    if (!early && !last) continue;
    const news = decide(used, z) || done == 1 || !early;
    if (news) valid = crcBytes(crc, 0, PACKED, used >> 3) == 0;
    finished = valid ? crc != CRC16 || last || holds(rows, CORE_ROWS, columns, z) : !news && holds(rows, rows, columns, z);
  }
  writeBits(used, z);
  return done | (valid ? 0x10000 : 0);
}
