/** The zigzag sequence of T.81 figure A.6 and its use on sets of coefficients. */

/** Twice the natural position of the k-th coefficient: its offset in a block of 16-bit values. */
export const OFFSETS = memory.data(64, 16);
/** By row of a block: the zigzag positions, a bit each, of a set of its columns. */
const POSITIONS = memory.data(8 * 256 * 8, 16);

/** Fills the tables, once. */
export function prepareOrder(): void {
  let k: usize = 0;
  for (let diagonal = 0; diagonal < 15; diagonal++) {
    const first = diagonal > 7 ? diagonal - 7 : 0, last = diagonal < 7 ? diagonal : 7;
    for (let step = first; step <= last; step++, k++) {
      // Even diagonals run upwards, odd ones downwards.
      const row = diagonal & 1 ? step : first + last - step, column = diagonal - row;
      store<u8>(OFFSETS + k, 16 * row + 2 * column);
      for (let set = 0; set < 256; set++) {
        if (!(set >> column & 1)) continue;
        const at = POSITIONS + 8 * <usize>(256 * row + set);
        store<u64>(at, load<u64>(at) | <u64>1 << k);
      }
    }
  }
}

// @ts-ignore: decorator of AssemblyScript
@inline
function ofRow(natural: u64, row: usize): u64 {
  return load<u64>(POSITIONS + 2048 * row + 8 * <usize>(natural >> (8 * row) & 255));
}

/** A set of coefficients by natural position as a set by zigzag position. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function zigzagSet(natural: u64): u64 {
  return ofRow(natural, 0) | ofRow(natural, 1) | ofRow(natural, 2) | ofRow(natural, 3) |
    ofRow(natural, 4) | ofRow(natural, 5) | ofRow(natural, 6) | ofRow(natural, 7);
}

/** The k-th coefficient of a block. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function coefficient(block: usize, k: usize): i32 {
  return load<i16>(block + load<u8>(OFFSETS + k));
}

/** A bit for each of sixteen values that is not zero. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function nonZero(first: v128, second: v128): u32 {
  return <u32>i8x16.bitmask(i8x16.eq(i8x16.narrow_i16x8_s(first, second), i8x16.splat(0))) ^ 0xffff;
}

/** The coefficients of a block whose magnitudes keep a bit at `low` or above it, by zigzag position. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function knownSet(block: usize, low: i32): u64 {
  let natural: u64 = 0;
  for (let row: usize = 0; row < 4; row++) {
    const first = i16x8.shr_u(i16x8.abs(v128.load(block + 32 * row)), low);
    const second = i16x8.shr_u(i16x8.abs(v128.load(block + 32 * row, 16)), low);
    natural |= <u64>nonZero(first, second) << (16 * row);
  }
  return zigzagSet(natural);
}

/** The coefficients of a band. */
// @ts-ignore: decorator of AssemblyScript
@inline
export function bandSet(start: i32, end: i32): u64 {
  return ((<u64>2 << end) - 1) & ~((<u64>1 << start) - 1);
}
