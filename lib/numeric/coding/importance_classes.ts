/**
 * Importance classes of the cells of an image: the cells of the largest mean importance are class 0.
 *
 *     n_c = round(M·(f_0 + … + f_c)) - round(M·(f_0 + … + f_{c-1}))   cells of class c out of M
 *
 * The sizes of the classes depend on the fractions f_c only, so a receiver knows them without the class map.
 */

/** Cells of each class. @param fractions shares of the classes, the most important first, with the sum 1 */
export function classSizes(fractions: readonly number[], cells: number): number[] {
  let share = 0, before = 0;
  return fractions.map((fraction, index) => {
    share += fraction;
    const end = index === fractions.length - 1 ? cells : Math.round(cells * share);
    const size = end - before;
    before = end;
    return size;
  });
}

/** Mean of each cell of `side` x `side` values; cells at the edges may be smaller. */
export function cellMeans(values: ArrayLike<number>, height: number, width: number, side: number): Float64Array {
  const columns = Math.ceil(width / side);
  const sums = new Float64Array(Math.ceil(height / side) * columns), counts = new Float64Array(sums.length);
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / side) * columns;
    for (let x = 0; x < width; x++, at++) {
      const cell = row + Math.floor(x / side);
      sums[cell] += values[at];
      counts[cell]++;
    }
  }
  return sums.map((sum, cell) => sum / counts[cell]);
}

/** The class of each cell; of equally important cells the first in reading order is of the lower class. */
export function classesOf(importance: Float64Array, sizes: readonly number[]): Uint8Array {
  const order = Array.from(importance, (_, cell) => cell).sort((a, b) => importance[b] - importance[a] || a - b);
  const classes = new Uint8Array(importance.length);
  let rank = 0;
  sizes.forEach((size, index) => {
    for (const end = rank + size; rank < end; rank++) classes[order[rank]] = index;
  });
  return classes;
}

/** Blocks of a grid by class, in reading order within each: a cell of the classes has `side` x `side` blocks. */
export function blocksByClass(classes: Uint8Array, count: number, grid: { columns: number; side: number }): number[][] {
  const { columns, side } = grid, cellColumns = columns / side;
  const blocks: number[][] = Array.from({ length: count }, () => []);
  for (let block = 0; block < classes.length * side * side; block++) {
    const row = Math.floor(block / columns), column = block % columns;
    blocks[classes[Math.floor(row / side) * cellColumns + Math.floor(column / side)]].push(block);
  }
  return blocks;
}

/** Remainder of bits divided by x^16 + x^12 + x^5 + 1, as CRC16 of TS 38.212 section 5.1. */
export function crc16(bits: Uint8Array): number {
  let register = 0;
  for (const bit of bits) {
    const carry = (register >> 15) ^ bit;
    register = ((register << 1) & 0xffff) ^ (carry ? 0x1021 : 0);
  }
  return register;
}
