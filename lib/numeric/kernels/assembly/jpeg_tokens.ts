/**
 * Entropy coding of the JPEG codec in two steps: blocks become tokens of one Huffman symbol with its extra bits (T.81
 * annexes F.1.2 and G.1.2), which are counted for fitted tables, and written.
 *
 * A token is one word: symbol (bits 0-7), slot of the table (8-10: twice the table id, plus one for AC; 4 for bits without a
 * symbol), number of extra bits (11-15) and the extra bits (16-31).
 *
 * A component is eight words of 32 bits: address of its blocks, blocks in a row, rows of blocks, blocks of a unit across and
 * down, table id, address of the sets of its blocks, last DC value.
 */
import { bandSet, coefficient, knownSet } from "./jpeg_order";

const BARE: i32 = 4;
/** The longest run of blocks without new coefficients for one symbol. */
const LONGEST_BAND_RUN: i32 = 0x7fff;
/** A run of blocks ends before its correction bits exceed libjpeg's buffer, so that streams agree. */
const MOST_CORRECTION_BITS: i32 = 1000 - 63;
/** Correction bits, a byte each: those of the blocks in the run, then those since the last symbol of this block. */
const CORRECTIONS = memory.data(1024 + 64, 16);

/** Blocks of the run that no symbol tells yet, and their correction bits. */
let bandRun: i32 = 0, bandBits: i32 = 0;

/** Stores a token. @returns the end of the tokens */
// @ts-ignore: decorator of AssemblyScript
@inline
function push(out: usize, slot: i32, symbol: i32, extraLength: i32, extra: i32): usize {
  store<i32>(out, extra << 16 | extraLength << 11 | slot << 8 | symbol);
  return out + 4;
}

/** Stores a value by its category and extra bits; `run` zeros come before it. */
// @ts-ignore: decorator of AssemblyScript
@inline
function pushValue(out: usize, slot: i32, run: i32, value: i32): usize {
  const sign = value >> 31, zeros = clz((value ^ sign) - sign), category = 32 - zeros;
  return push(out, slot, run << 4 | category, category, (value + sign) & ~(-2 << (31 - zeros)));
}

// @ts-ignore: decorator of AssemblyScript
@inline
function pads(part: usize, row: i32, column: i32): bool {
  return row >= load<i32>(part, 8) || column >= load<i32>(part, 4);
}

/** A block that pads a unit: the DC value of the block before it and no AC. */
const PADDING = memory.data(128, 16);

/** The address of a block; its DC value is replaced by the difference to the last one of the component. */
// @ts-ignore: decorator of AssemblyScript
@inline
function blockAt(part: usize, index: i32): usize {
  const block = <usize>load<u32>(part) + 128 * <usize>index, dc = <i32>load<i16>(block);
  store<i16>(block, dc - load<i32>(part, 28));
  store<i32>(part, dc, 28);
  return block;
}

/** The coefficients of a block that are coded one by one: the first and those that are not zero, by zigzag position. */
// @ts-ignore: decorator of AssemblyScript
@inline
function codedSet(part: usize, index: i32): u64 {
  return load<u64>(<usize>load<u32>(part, 24) + 8 * <usize>index) | 1;
}

/**
 * The tokens of a row of units in a sequential scan of quantised blocks, whose DC values are replaced.
 * @returns the end of the tokens
 */
export function sequentialTokens(components: usize, count: i32, unitsWide: i32, out: usize): usize {
  const end = components + 32 * <usize>count;
  for (let unit = 0; unit < unitsWide; unit++) {
    for (let part = components; part < end; part += 32) {
      const wide = load<i32>(part, 12), high = load<i32>(part, 16);
      for (let row = 0; row < high; row++) {
        for (let column = unit * wide; column < (unit + 1) * wide; column++) {
          const index = row * load<i32>(part, 4) + column, outside = pads(part, row, column);
          const block = outside ? PADDING : blockAt(part, index);
          let slot = 2 * load<i32>(part, 20), last: i32 = -1;
          for (let rest = outside ? 1 : codedSet(part, index); rest != 0; rest &= rest - 1) {
            const k = <i32>ctz(rest);
            let run = k - last - 1;
            last = k;
            for (; run > 15; run -= 16) out = push(out, slot, 0xf0, 0, 0);
            out = pushValue(out, slot, run, coefficient(block, k));
            if (k == 0) slot++;
          }
          if (last != 63) out = push(out, slot, 0, 0, 0);
        }
      }
    }
  }
  return out;
}

/**
 * The tokens of a row of units in a scan of DC coefficients, quantised.
 * @param refines whether the scan refines; otherwise it is the first
 * @returns the end of the tokens
 */
export function dcTokens(
  components: usize,
  count: i32,
  unitsWide: i32,
  refines: bool,
  low: i32,
  out: usize,
): usize {
  const end = components + 32 * <usize>count;
  for (let unit = 0; unit < unitsWide; unit++) {
    for (let part = components; part < end; part += 32) {
      const wide = load<i32>(part, 12), high = load<i32>(part, 16), previous = part + 28;
      for (let row = 0; row < high; row++) {
        for (let column = unit * wide; column < (unit + 1) * wide; column++) {
          const at = <usize>load<u32>(part) + 128 * <usize>(row * load<i32>(part, 4) + column);
          const value = pads(part, row, column) ? load<i32>(previous) : <i32>load<i16>(at) >> low;
          if (refines) out = push(out, BARE, 0, 1, value & 1);
          else out = pushValue(out, 2 * load<i32>(part, 20), 0, value - load<i32>(previous));
          store<i32>(previous, value);
        }
      }
    }
  }
  return out;
}

function pushBits(out: usize, from: i32, to: i32): usize {
  for (let at = from; at < to; at++) out = push(out, BARE, 0, 1, load<u8>(CORRECTIONS + <usize>at));
  return out;
}

/** Ends the run of blocks. */
function endBand(out: usize, slot: i32): usize {
  if (bandRun == 0) return out;
  const bits = 31 - clz(bandRun);
  out = pushBits(push(out, slot, bits << 4, bits, bandRun - (1 << bits)), 0, bandBits);
  bandRun = bandBits = 0;
  return out;
}

/** Starts a scan of AC coefficients. */
export function startBand(): void {
  bandRun = bandBits = 0;
}

/** The tokens of the last run of a scan. @returns the end of the tokens */
export function finishBand(slot: i32, out: usize): usize {
  return endBand(out, slot);
}

/**
 * The tokens of quantised blocks in the first scan of a band of AC coefficients.
 * @returns the end of the tokens
 */
export function acTokens(
  blocks: usize,
  count: i32,
  slot: i32,
  start: i32,
  end: i32,
  low: i32,
  out: usize,
): usize {
  const band = bandSet(start, end);
  for (const stop = blocks + 128 * <usize>count; blocks < stop; blocks += 128) {
    let last = start - 1;
    for (let rest = knownSet(blocks, low) & band; rest != 0; rest &= rest - 1) {
      const k = <i32>ctz(rest), value = coefficient(blocks, k), sign = value >> 31;
      let run = k - last - 1;
      out = endBand(out, slot);
      for (; run > 15; run -= 16) out = push(out, slot, 0xf0, 0, 0);
      // The point transform of AC coefficients rounds towards zero.
      out = pushValue(out, slot, run, ((((value ^ sign) - sign) >> low) ^ sign) - sign);
      last = k;
    }
    if (last != end && ++bandRun == LONGEST_BAND_RUN) out = endBand(out, slot);
  }
  return out;
}

/**
 * The tokens of quantised blocks in a scan that refines a band of AC coefficients.
 * @returns the end of the tokens
 */
export function refinementTokens(
  blocks: usize,
  count: i32,
  slot: i32,
  start: i32,
  end: i32,
  low: i32,
  out: usize,
): usize {
  const band = bandSet(start, end);
  for (const stop = blocks + 128 * <usize>count; blocks < stop; blocks += 128) {
    const known = knownSet(blocks, low) & band, fresh = known & ~knownSet(blocks, low + 1);
    const lastNew = fresh == 0 ? 0 : 63 - <i32>clz(fresh);
    let run: i32 = 0, from = bandBits, to = bandBits, last = start - 1;
    for (let rest = known; rest != 0; rest &= rest - 1) {
      const k = <i32>ctz(rest), value = coefficient(blocks, k);
      run += k - last - 1;
      last = k;
      while (run > 15 && k <= lastNew) {
        out = endBand(out, slot);
        out = push(out, slot, 0xf0, 0, 0);
        run -= 16;
        out = pushBits(out, from, to);
        from = to = 0;
      }
      if (!(fresh >> k & 1)) { // already known: its next bit follows the next symbol
        store<u8>(CORRECTIONS + <usize>to, abs(value) >> low & 1);
        to++;
        continue;
      }
      out = endBand(out, slot);
      out = push(out, slot, run << 4 | 1, 1, value < 0 ? 0 : 1);
      out = pushBits(out, from, to);
      from = to = run = 0;
    }
    run += end - last;
    if (run > 0 || to > from) {
      bandRun++;
      bandBits += to - from;
      if (bandRun == LONGEST_BAND_RUN || bandBits > MOST_CORRECTION_BITS) out = endBand(out, slot);
    }
  }
  return out;
}

/** Adds the tokens to counts of 32 bits by slot and symbol. */
export function countTokens(tokens: usize, end: usize, counts: usize): void {
  for (; tokens < end; tokens += 4) {
    const at = counts + 4 * <usize>(load<u32>(tokens) & 0x7ff);
    store<u32>(at, load<u32>(at) + 1);
  }
}

/** Bits that are not written yet: the low `used` bits of the word, less than 32. */
let word: u64 = 0, used: i32 = 0;

export function startBits(): void {
  word = 0;
  used = 0;
}

/** Appends a byte of entropy-coded data; a zero byte follows 0xFF. */
// @ts-ignore: decorator of AssemblyScript
@inline
function stuffed(byte: u32, target: usize): usize {
  store<u16>(target, <u16>byte);
  return target + (byte == 0xff ? 2 : 1);
}

/**
 * Writes tokens, at most eight bytes each.
 * @param codes by slot and symbol: code word << 8 | length
 * @returns the end of the bytes
 */
export function writeTokens(tokens: usize, end: usize, codes: usize, target: usize): usize {
  let bits = word, count = used;
  for (; tokens < end; tokens += 4) {
    const token = load<u32>(tokens), extra = token >> 11 & 31, code = load<u32>(codes + 4 * <usize>(token & 0x7ff));
    const length = (code & 255) + extra;
    bits = bits << length | <u64>((code >> 8) << extra | token >> 16);
    count += length;
    if (count < 32) continue;
    count -= 32;
    const full = <u32>(bits >> count);
    if ((full & 0x80808080 & ~(full + 0x01010101)) == 0) { // no byte is 0xFF
      store<u32>(target, bswap(full));
      target += 4;
    } else {
      target = stuffed(full >> 24, target);
      target = stuffed(full >> 16 & 255, target);
      target = stuffed(full >> 8 & 255, target);
      target = stuffed(full & 255, target);
    }
  }
  word = bits;
  used = count;
  return target;
}

/** Ends entropy-coded data, padded with ones to a whole byte. @returns the end of the bytes */
export function finishBits(target: usize): usize {
  const pad = -used & 7;
  word = word << pad | ((1 << pad) - 1);
  for (used += pad; used > 0;) {
    used -= 8;
    target = stuffed(<u32>(word >> used) & 255, target);
  }
  return target;
}
