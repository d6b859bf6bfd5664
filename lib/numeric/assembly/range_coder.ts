/**
 * Integers through the range coder of ../range_coder.ts with the tables of ../frequency_table.ts, block by block.
 *
 * Memory: the state, the values and table indexes of a block, the bytes of a block, then the tables: for each a head of
 * (smallest, place of the escape, address of the cumulative counts), then all counts.
 */

/** Most integers of a block. An integer takes at most three bytes. */
const BLOCK: i32 = 1 << 14;
const STATE: usize = 1024, VALUES: usize = STATE + 64, INDEXES: usize = VALUES + 4 * BLOCK;
const BYTES: usize = INDEXES + 4 * BLOCK, TABLES: usize = BYTES + 4 * BLOCK;
const TOP: u64 = 1 << 48, BOTTOM: u64 = 1 << 40;

export function block(): i32 {
  return BLOCK;
}
export function stateOffset(): usize {
  return STATE;
}
export function valuesOffset(): usize {
  return VALUES;
}
export function indexesOffset(): usize {
  return INDEXES;
}
export function bytesOffset(): usize {
  return BYTES;
}
export function tablesOffset(): usize {
  return TABLES;
}

/** Makes the memory reach to an address. @returns whether it does */
export function reserve(end: usize): bool {
  const pages = <i32>((end + 0xffff) >>> 16);
  return pages <= memory.size() || memory.grow(pages - memory.size()) >= 0;
}

let low: u64, range: u64, held: i32, full: i32, out: usize;

function shift(): void {
  const carry = low >= TOP ? 1 : 0, inner = low & (TOP - 1), leading = <i32>(inner >> 40);
  if (leading == 255 && !carry && held >= 0) {
    full++;
  } else {
    if (held >= 0) store<u8>(out++, held + carry);
    for (; full > 0; full--) store<u8>(out++, carry ? 0 : 255);
    held = leading;
  }
  low = (inner & (BOTTOM - 1)) << 8;
  range <<= 8;
}

/**
 * Encodes values[from … to - 1] up to an escape. State: low, range, held byte, count of 255s, end of the written bytes.
 * The count of 255s is at most BLOCK at the start.
 * @returns the number of the first value that is not encoded
 */
export function encode(from: i32, to: i32): i32 {
  low = <u64>load<f64>(STATE);
  range = <u64>load<f64>(STATE, 8);
  held = <i32>load<f64>(STATE, 16);
  full = <i32>load<f64>(STATE, 24);
  out = BYTES;
  let at = from;
  for (; at < to; at++) {
    const head = TABLES + 12 * <usize>load<u32>(INDEXES + 4 * <usize>at);
    const place = <i64>load<i32>(VALUES + 4 * <usize>at) - <i64>load<i32>(head);
    if (place < 0 || place >= <i64>load<i32>(head, 4)) break;
    const counts = <usize>load<u32>(head, 8) + 4 * <usize>place;
    const start = load<u32>(counts), part = range >> 16;
    low += part * <u64>start;
    range = part * <u64>(load<u32>(counts, 4) - start);
    while (range < BOTTOM) shift();
  }
  store<f64>(STATE, <f64>low);
  store<f64>(STATE, <f64>range, 8);
  store<f64>(STATE, <f64>held, 16);
  store<f64>(STATE, <f64>full, 24);
  store<f64>(STATE, <f64>(out - BYTES), 32);
  return at;
}

/**
 * Decodes values[from … to - 1] up to an escape. State: offset, range, number of bytes used.
 * @param available bytes of the message from BYTES on; zeros follow
 * @returns the number of the first value that is not decoded
 */
export function decode(from: i32, to: i32, available: i32): i32 {
  let offset = <u64>load<f64>(STATE), range = <u64>load<f64>(STATE, 8), input = BYTES, at = from;
  const end = BYTES + <usize>available;
  for (; at < to; at++) {
    const head = TABLES + 12 * <usize>load<u32>(INDEXES + 4 * <usize>at), escape = load<u32>(head, 4);
    const counts = <usize>load<u32>(head, 8), part = range >> 16, found = offset / part;
    const target = found < 65535 ? <u32>found : 65535;
    let entry: u32 = 0;
    for (let most = escape + 1; most - entry > 1;) {
      const middle = (entry + most) >> 1;
      if (load<u32>(counts + 4 * <usize>middle) <= target) entry = middle;
      else most = middle;
    }
    if (entry == escape) break;
    const start = load<u32>(counts + 4 * <usize>entry);
    offset -= part * <u64>start;
    range = part * <u64>(load<u32>(counts + 4 * <usize>entry, 4) - start);
    while (range < BOTTOM) {
      offset = offset << 8 | (input < end ? <u64>load<u8>(input++) : 0);
      range <<= 8;
    }
    store<i32>(VALUES + 4 * <usize>at, load<i32>(head) + <i32>entry);
  }
  store<f64>(STATE, <f64>offset);
  store<f64>(STATE, <f64>range, 8);
  store<f64>(STATE, <f64>(input - BYTES), 16);
  return at;
}
