/**
 * One slice: the quantised coefficients of some blocks; one function writes and reads them. Decoding a slice needs no
 * data of other slices.
 *
 * Per block: the difference of the mean value (DC) to that of the previous block; then along the zigzag, after every
 * non-zero coefficient, whether there is another; if so, zeros and non-zeros until the next, its size and its sign.
 */
import { type Coder, contexts } from "./range_coder.ts";
import { ZIGZAG } from "./transform.ts";

/** Larger sizes are clipped, which limits the effect of damaged data. */
const LARGEST = 4095, UNARY = 14;

/** Offset of each kind of decision in the contexts of a plane. */
const DC = 0, MORE = DC + UNARY + 1, USED = MORE + 64, SIZE = USED + 3 * 64, COUNT = SIZE + 3 * UNARY;

/** A coder with the adaptive probabilities of one kind of plane. */
interface Learned {
  coder: Coder;
  chances: Uint16Array;
}

/**
 * Codes the blocks of a slice.
 *
 * @param planes for each plane its blocks of 64 levels in order; a decoder fills them
 */
export function codeSlice(coder: Coder, planes: readonly Int32Array[]): void {
  // Both colour differences share their probabilities.
  const luminance = { coder, chances: contexts(COUNT) }, colour = { coder, chances: contexts(COUNT) };
  planes.forEach((levels, plane) => {
    const learned = plane === 0 ? luminance : colour;
    let before = 0;
    for (let block = 0; block < levels.length; block += 64) {
      before = levels[block] = before + difference(learned, levels[block] - before);
      alternating(learned, levels.subarray(block, block + 64));
    }
  });
}

function difference(learned: Learned, value: number): number {
  const { coder, chances } = learned;
  if (coder.decide(chances, DC, value === 0 ? 0 : 1) === 0) return 0;
  const size = 1 + magnitude(learned, DC + 1, Math.abs(value) - 1);
  return coder.plain(value < 0 ? 1 : 0) === 1 ? -size : size;
}

function alternating(learned: Learned, levels: Int32Array): void {
  const { coder, chances } = learned;
  let last = 63;
  while (last > 0 && levels[ZIGZAG[last]] === 0) last--;
  for (let at = 1; at < 64; at++) {
    if (coder.decide(chances, MORE + at, last >= at ? 1 : 0) === 0) return;
    // The context of a coefficient depends on the number of zeros before it; the last context is for none.
    let zeros = 0;
    while (at < 63 && coder.decide(chances, USED + 3 * at + zeros, levels[ZIGZAG[at]] === 0 ? 0 : 1) === 0) {
      at++;
      zeros = Math.min(zeros + 1, 2);
    }
    const level = levels[ZIGZAG[at]], band = at < 4 ? 0 : at < 16 ? 1 : 2;
    const size = 1 + magnitude(learned, SIZE + band * UNARY, Math.abs(level) - 1);
    levels[ZIGZAG[at]] = coder.plain(level < 0 ? 1 : 0) === 1 ? -size : size;
  }
}

/** A non-negative number: up to UNARY as that many decisions, the rest in an exponential Golomb code. */
function magnitude({ coder, chances }: Learned, context: number, value: number): number {
  for (let at = 0; at < UNARY; at++) {
    if (coder.decide(chances, context + at, value > at ? 1 : 0) === 0) return at;
  }
  const rest = Math.min(value, LARGEST) - UNARY + 1;
  let width = 0;
  while (width < 12 && coder.plain(rest >> (width + 1) > 0 ? 1 : 0) === 1) width++;
  let read = 1;
  for (let at = width - 1; at >= 0; at--) read = read * 2 + coder.plain(rest >> at & 1);
  return Math.min(read - 1 + UNARY, LARGEST);
}
