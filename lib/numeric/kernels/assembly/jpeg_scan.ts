/**
 * Decodes the entropy-coded data of JPEG scans, sequential or progressive (T.81 annexes F.2 and G.2), a run of units at a
 * time. After the data the reader returns zeros and counts them; each unit checks that all of its bits were data.
 *
 * A component is eight words of 32 bits: address of its samples or coefficients in this row of units, samples in a row,
 * blocks of a unit across and down, addresses of its DC table, its AC table and its divisors, last DC value.
 *
 * A table is a look-up by the next LOOKUP bits (length in bits 0-5, symbol in bits 6-13; where code and extra bits fit, their
 * joint length and in bits 16-31 the value; 0 for a longer or unknown code), then by length the first code beyond this
 * length, aligned to 16 bits, and the offset from a code to its symbol, then the symbols.
 */
import { bandSet, knownSet, OFFSETS } from "./jpeg_order";
import { inverse, inverseFlat } from "./jpeg_transform";

const LOOKUP: i32 = 10;
const LIMITS: usize = 4 << LOOKUP, PLACES: usize = LIMITS + 4 * 17, SYMBOLS: usize = PLACES + 4 * 17;
const TABLE_BYTES: usize = SYMBOLS + 256;

export function tableBytes(): usize {
  return TABLE_BYTES;
}

// Results of decoding.
const COMPLETE: i32 = 0, UNKNOWN_CODE: i32 = 1, LONG_BLOCK: i32 = 2, EARLY_END: i32 = 3, LONG_BAND: i32 = 4;
const MANY_BITS: i32 = 5;

/** The dequantised coefficients of one block. */
const BLOCK = memory.data(128, 16);

/**
 * Prepares a table.
 * @param counts codes of each length 1 … 16, a byte each, then the symbols
 */
export function buildTable(counts: usize, table: usize): void {
  const symbols = counts + 16;
  memory.fill(table, 0, TABLE_BYTES);
  let code: i32 = 0, at: i32 = 0;
  for (let length = 1; length <= 16; length++, code <<= 1) {
    store<i32>(table + PLACES + 4 * <usize>length, at - code);
    for (let rest = load<u8>(counts + <usize>length - 1); rest > 0; rest--, code++, at++) {
      const symbol = <i32>load<u8>(symbols + <usize>at);
      store<u8>(table + SYMBOLS + <usize>at, symbol);
      if (length > LOOKUP) continue;
      const spare = LOOKUP - length, category = symbol & 15, whole = category > 0 && category <= spare;
      for (let next = 0; next < 1 << spare; next++) {
        let entry = symbol << 6 | length;
        if (whole) entry = extended(next >> (spare - category), category) << 16 | symbol << 6 | (length + category);
        store<i32>(table + 4 * <usize>(code << spare | next), entry);
      }
    }
    store<i32>(table + LIMITS + 4 * <usize>length, code << (16 - length));
  }
}

/** The signed value of a category's bits (T.81 F.2.2.1, EXTEND). */
// @ts-ignore: decorator of AssemblyScript
@inline
function extended(bits: i32, category: i32): i32 {
  return bits < 1 << (category - 1) ? bits - (1 << category) + 1 : bits;
}

/** The high `pending` bits are read from the data and not yet used, the last `missing` of them are zeros after the data. */
let word: u64 = 0, pending: i32 = 0, missing: i32 = 0;
/** The next byte of the data, and the end of the bytes. */
let input: usize = 0, inputEnd: usize = 0;
/** Blocks without new coefficients that follow. */
let bandRun: i32 = 0;

/** Starts a run of entropy-coded data. */
export function startData(): void {
  word = 0;
  pending = missing = 0;
}

/** Starts a scan of AC coefficients. */
export function startBlocks(): void {
  bandRun = 0;
}

export function remainingBlocks(): i32 {
  return bandRun;
}

/** Tells where the data continue. */
export function setInput(from: usize, end: usize): void {
  input = from;
  inputEnd = end;
}

export function inputAt(): usize {
  return input;
}

/** Bits of the data that were read and not used; negative after their end. */
export function unusedBits(): i32 {
  return pending - missing;
}

/** Appends bytes, without those of stuffing, or zeros after the data. */
function fillSlowly(): void {
  while (pending <= 56) {
    let byte: u64 = 0;
    if (input >= inputEnd) missing += 8;
    else {
      byte = load<u8>(input);
      if (byte != 0xff) input++;
      else if (input + 1 < inputEnd && load<u8>(input, 1) == 0) input += 2;
      else {
        byte = 0;
        missing += 8;
      }
    }
    word |= byte << <u64>(56 - pending);
    pending += 8;
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function holdsMarker(four: u32): bool {
  return (four & 0x80808080 & ~(four + 0x01010101)) != 0;
}

/** The entry of a code longer than the look-up, or 0. @param next 16 bits */
function longCode(table: usize, next: i32): i32 {
  let length: i32 = LOOKUP + 1;
  while (length <= 16 && next >= load<i32>(table + LIMITS + 4 * <usize>length)) length++;
  if (length > 16) return 0;
  const place = (next >> (16 - length)) + load<i32>(table + PLACES + 4 * <usize>length);
  return <i32>load<u8>(table + SYMBOLS + <usize>place) << 6 | length;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function clearBlock(): void {
  const zero = i32x4.splat(0);
  for (let at: usize = 0; at < 128; at += 32) {
    v128.store(BLOCK + at, zero);
    v128.store(BLOCK + at, zero, 16);
  }
}

/**
 * Decodes units of a sequential scan into samples. The state of the reader is in local variables.
 * @param column of the first unit
 */
export function sequentialUnits(components: usize, count: i32, column: i32, units: i32): i32 {
  let bits = word, left = pending, at = input;
  const end = inputEnd, lastPart = components + 32 * <usize>count;
  for (const lastUnit = column + units; column < lastUnit; column++) {
    for (let part = components; part < lastPart; part += 32) {
      const stride = <usize>load<u32>(part, 4), wide = load<i32>(part, 8), high = load<i32>(part, 12);
      const ac = <usize>load<u32>(part, 20), divisors = <usize>load<u32>(part, 24);
      for (let row = 0; row < high; row++) {
        for (let across = 0; across < wide; across++) {
          clearBlock();
          let k: i32 = 0, last: i32 = 0, table = <usize>load<u32>(part, 16);
          do {
            if (left <= 32) {
              const four = at + 4 <= end ? load<u32>(at) : 0xffffffff;
              if (!holdsMarker(four)) {
                bits |= <u64>bswap(four) << <u64>(32 - left);
                left += 32;
                at += 4;
              } else {
                word = bits;
                pending = left;
                input = at;
                fillSlowly();
                bits = word;
                left = pending;
                at = input;
              }
            }
            let entry = load<i32>(table + 4 * <usize>(bits >> (64 - LOOKUP)));
            if (entry == 0) {
              entry = longCode(table, <i32>(bits >> 48));
              if (entry == 0) return UNKNOWN_CODE;
            }
            bits <<= <u64>entry;
            left -= entry & 63;
            let value = entry >> 16;
            if (value == 0) {
              const category = entry >> 6 & 15;
              if (category != 0) {
                value = extended(<i32>(bits >> <u64>(64 - category)), category);
                bits <<= <u64>category;
                left -= category;
              } else if (k != 0) {
                if ((entry >> 6) != 0xf0) break;
                k += 16;
                continue;
              }
            }
            if (k == 0) {
              value += load<i32>(part, 28);
              store<i32>(part, value, 28);
              table = ac;
            } else {
              k += entry >> 10 & 15;
              if (k > 63) return LONG_BLOCK;
              last = k;
            }
            const divisor = load<u32>(divisors + 4 * <usize>k);
            store<i16>(BLOCK + <usize>(divisor & 0xffff), value * <i32>(divisor >> 16));
            k++;
          } while (k < 64);
          const target = <usize>load<u32>(part) + 8 * (<usize>row * stride + <usize>(column * wide + across));
          if (last == 0) inverseFlat(load<i16>(BLOCK), target, stride);
          else inverse(BLOCK, target, stride);
        }
      }
    }
    if (missing > left) return EARLY_END;
  }
  word = bits;
  pending = left;
  input = at;
  return COMPLETE;
}

// @ts-ignore: decorator of AssemblyScript
@inline
function fill(): void {
  if (pending > 32) return;
  const four = input + 4 <= inputEnd ? load<u32>(input) : 0xffffffff;
  if (holdsMarker(four)) fillSlowly();
  else {
    word |= <u64>bswap(four) << <u64>(32 - pending);
    pending += 32;
    input += 4;
  }
}

/** The next symbol, or -1. 16 bits or more remain without another {@link fill}. */
// @ts-ignore: decorator of AssemblyScript
@inline
function nextSymbol(table: usize): i32 {
  fill();
  let entry = load<i32>(table + 4 * <usize>(word >> (64 - LOOKUP)));
  if (entry == 0) {
    entry = longCode(table, <i32>(word >> 48));
    if (entry == 0) return -1;
  }
  const symbol = entry >> 6 & 255;
  // The length may include that of the extra bits.
  const length = (entry & 63) - (entry >> 16 != 0 ? symbol & 15 : 0);
  word <<= <u64>length;
  pending -= length;
  return symbol;
}

/** The next bits, 1 to 16 of them after a symbol and up to 32 after {@link fill}. */
// @ts-ignore: decorator of AssemblyScript
@inline
function nextBits(length: i32): i32 {
  const bits = <i32>(word >> <u64>(64 - length));
  word <<= <u64>length;
  pending -= length;
  return bits;
}

/**
 * Decodes units of a scan of DC coefficients.
 * @param refines whether the scan refines; otherwise it is the first
 */
export function dcUnits(components: usize, count: i32, column: i32, units: i32, refines: bool, low: i32): i32 {
  const lastPart = components + 32 * <usize>count;
  for (const lastUnit = column + units; column < lastUnit; column++) {
    for (let part = components; part < lastPart; part += 32) {
      const stride = <usize>load<u32>(part, 4), wide = load<i32>(part, 8), high = load<i32>(part, 12);
      for (let row = 0; row < high; row++) {
        for (let across = 0; across < wide; across++) {
          const block = <usize>load<u32>(part) + 16 * (<usize>row * stride + 8 * <usize>(column * wide + across));
          if (refines) {
            fill();
            if (nextBits(1)) store<i16>(block, <i32>load<i16>(block) | 1 << low);
            continue;
          }
          const category = nextSymbol(load<u32>(part, 16));
          if (category < 0) return UNKNOWN_CODE;
          let value = load<i32>(part, 28);
          if (category > 0) value += extended(nextBits(category), category);
          store<i32>(part, value, 28);
          store<i16>(block, value << low);
        }
      }
    }
    if (missing > pending) return EARLY_END;
  }
  return COMPLETE;
}

/** Decodes blocks of the first scan of a band of AC coefficients. */
export function acBlocks(blocks: usize, count: i32, table: usize, start: i32, end: i32, low: i32): i32 {
  for (const stop = blocks + 128 * <usize>count; blocks < stop; blocks += 128) {
    if (bandRun > 0) {
      bandRun--;
      continue;
    }
    for (let k = start; k <= end; k++) {
      const symbol = nextSymbol(table), run = symbol >> 4, category = symbol & 15;
      if (symbol < 0) return UNKNOWN_CODE;
      if (category == 0) {
        if (run < 15) {
          bandRun = (1 << run) - 1 + (run > 0 ? nextBits(run) : 0);
          break;
        }
        k += 15;
        continue;
      }
      k += run;
      if (k > end) return LONG_BAND;
      store<i16>(blocks + load<u8>(OFFSETS + <usize>k), extended(nextBits(category), category) << low);
    }
    if (missing > pending) return EARLY_END;
  }
  return COMPLETE;
}

/** Reads the correction bit of a coefficient. */
// @ts-ignore: decorator of AssemblyScript
@inline
function correct(block: usize, k: i32, plus: i32): void {
  fill();
  const at = block + load<u8>(OFFSETS + <usize>k), value = <i32>load<i16>(at);
  if (nextBits(1) && !(value & plus)) store<i16>(at, value >= 0 ? value + plus : value - plus);
}

/** Decodes blocks of a scan that refines a band of AC coefficients. */
export function refinementBlocks(blocks: usize, count: i32, table: usize, start: i32, end: i32, low: i32): i32 {
  const plus = 1 << low, band = bandSet(start, end);
  for (const stop = blocks + 128 * <usize>count; blocks < stop; blocks += 128) {
    // Known coefficients that have not yet had their correction bit.
    let known = knownSet(blocks, 0) & band, k = start;
    while (bandRun == 0 && k <= end) {
      const symbol = nextSymbol(table), category = symbol & 15;
      let run = symbol >> 4, value: i32 = 0;
      if (symbol < 0) return UNKNOWN_CODE;
      if (category == 1) value = nextBits(1) ? plus : -plus;
      else if (category != 0) return MANY_BITS;
      else if (run < 15) {
        bandRun = (1 << run) + (run > 0 ? nextBits(run) : 0);
        break;
      }
      // The run counts the zeros between known coefficients.
      for (;;) {
        const next = known == 0 ? end + 1 : <i32>ctz(known), zeros = next - k;
        if (run < zeros) {
          k += run;
          break;
        }
        run -= zeros;
        k = next;
        if (known == 0) break;
        correct(blocks, k++, plus);
        known &= known - 1;
      }
      if (value != 0) {
        if (k > end) return LONG_BAND;
        store<i16>(blocks + load<u8>(OFFSETS + <usize>k), value);
      }
      k++;
    }
    if (bandRun > 0) {
      for (; known != 0; known &= known - 1) correct(blocks, <i32>ctz(known), plus);
      bandRun--;
    }
    if (missing > pending) return EARLY_END;
  }
  return COMPLETE;
}
