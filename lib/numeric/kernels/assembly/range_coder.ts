/**
 * Integers through the range coder of ../range_coder.ts with the tables of ../frequency_table.ts, block by block.
 *
 * Memory: the state, the values and table indexes of a block, the bytes of a block, then the tables: for each a head of
 * (smallest, place of the escape, address of the cumulative counts, address of the buckets), then counts and buckets.
 */

/** Most integers of a block. An integer takes at most two bytes. */
const BLOCK: i32 = 1 << 14;
const STATE: usize = 1024, VALUES: usize = STATE + 64, INDEXES: usize = VALUES + 4 * BLOCK;
const BYTES: usize = INDEXES + 4 * BLOCK, TABLES: usize = BYTES + 4 * BLOCK;
/** Bytes of the head of a table. */
const HEAD: usize = 16;
const TOP: u64 = 1 << 48;

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

/** Tables have this many buckets of counts, each of 2^BUCKET_BITS. */
const BUCKETS: i32 = 256, BUCKET_BITS: u32 = 8;

/**
 * Makes the buckets of tables: the last entry that starts at or below each bucket, and that of the next one. A target lies in an
 * entry between the two, most often in the only one.
 */
export function prepare(tables: i32): void {
  for (let head = TABLES, end = TABLES + HEAD * <usize>tables; head < end; head += HEAD) {
    const counts = <usize>load<u32>(head, 8), buckets = <usize>load<u32>(head, 12), escape = load<u32>(head, 4);
    let entry: u32 = 0;
    for (let bucket = 0; bucket <= BUCKETS; bucket++) {
      while (entry < escape && load<u32>(counts + 4 * <usize>entry, 4) <= <u32>bucket << BUCKET_BITS) entry++;
      store<u16>(buckets + 2 * <usize>bucket, <u16>entry);
    }
  }
}

/** Bits that have to follow a range of at least 2^24 until it is at least 2^40: whole bytes, at most two. */
// @ts-ignore: decorator of AssemblyScript
@inline
function missing(range: u64): u64 {
  return (clz(range) - 16) & ~7;
}

/**
 * Encodes values[from … to - 1] up to an escape. State: low, range, held byte, count of 255s, end of the written bytes.
 * The count of 255s is at most BLOCK at the start. Bytes go out at once, and a carry changes them; the last ones that a carry can
 * still change are held back at the end.
 * @returns the number of the first value that is not encoded
 */
export function encode(from: i32, to: i32): i32 {
  let low = <u64>load<f64>(STATE), range = <u64>load<f64>(STATE, 8), out = BYTES, at = from;
  if (load<f64>(STATE, 16) >= 0) {
    store<u8>(out++, <i32>load<f64>(STATE, 16));
    for (let full = <i32>load<f64>(STATE, 24); full > 0; full--) store<u8>(out++, 255);
  }
  for (; at < to; at++) {
    const head = TABLES + HEAD * <usize>load<u32>(INDEXES + 4 * <usize>at);
    const place = <u64>(<i64>load<i32>(VALUES + 4 * <usize>at) - <i64>load<i32>(head));
    if (place >= <u64>load<u32>(head, 4)) break;
    const counts = <usize>load<u32>(head, 8) + 4 * <usize>place, start = load<u32>(counts), part = range >> 16;
    low += part * <u64>start;
    if (low >= TOP) {
      low -= TOP;
      let byte = out - 1;
      for (; load<u8>(byte) === 255; byte--) store<u8>(byte, 0);
      store<u8>(byte, load<u8>(byte) + 1);
    }
    range = part * <u64>(load<u32>(counts, 4) - start);
    const bits = missing(range);
    store<u8>(out, low >> 40);
    store<u8>(out, low >> 32, 1);
    out += <usize>bits >> 3;
    low = (low << bits) & (TOP - 1);
    range <<= bits;
  }
  let held = -1, full = 0;
  if (out > BYTES) {
    for (out--; out > BYTES && load<u8>(out) === 255; out--) full++;
    held = load<u8>(out);
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
  const most = 2 * (to - from) + 2;
  if (available < most) memory.fill(BYTES + <usize>available, 0, <usize>(most - available));
  for (; at < to; at++) {
    const head = TABLES + HEAD * <usize>load<u32>(INDEXES + 4 * <usize>at), part = range >> 16, found = offset / part;
    const target = found < 65535 ? <u32>found : 65535, counts = <usize>load<u32>(head, 8);
    const bucket = <usize>load<u32>(head, 12) + 2 * <usize>(target >> BUCKET_BITS);
    let entry = <u32>load<u16>(bucket);
    for (let end = <u32>load<u16>(bucket, 2) + 1; end - entry > 1;) {
      const middle = (entry + end) >> 1;
      if (load<u32>(counts + 4 * <usize>middle) <= target) entry = middle;
      else end = middle;
    }
    if (entry === load<u32>(head, 4)) break;
    const start = load<u32>(counts + 4 * <usize>entry);
    offset -= part * <u64>start;
    range = part * <u64>(load<u32>(counts + 4 * <usize>entry, 4) - start);
    const bits = missing(range), next = <u64>load<u8>(input) << 8 | <u64>load<u8>(input, 1);
    offset = offset << bits | next >> (16 - bits);
    range <<= bits;
    input += <usize>bits >> 3;
    store<i32>(VALUES + 4 * <usize>at, load<i32>(head) + <i32>entry);
  }
  const used = <i32>(input - BYTES);
  store<f64>(STATE, <f64>offset);
  store<f64>(STATE, <f64>range, 8);
  store<f64>(STATE, <f64>(used < available ? used : available), 16);
  return at;
}
