/**
 * Constants of ITU-T T.81 (JPEG): the zigzag sequence and the example tables of Annex K.
 *
 * Quantisation tables are in natural (row by row) order, as in the standard.
 */

/** Natural position of the k-th coefficient of the zigzag sequence (T.81 figure A.6). */
export const ZIGZAG: Uint8Array = zigzag();

function zigzag(): Uint8Array {
  const sequence = new Uint8Array(64);
  let at = 0;
  for (let diagonal = 0; diagonal < 15; diagonal++) {
    const first = Math.max(0, diagonal - 7), last = Math.min(7, diagonal);
    for (let step = first; step <= last; step++) {
      // Even diagonals run upwards, odd ones downwards.
      const row = diagonal % 2 === 0 ? first + last - step : step;
      sequence[at++] = row * 8 + (diagonal - row);
    }
  }
  return sequence;
}

/** Table K.1. */
export const LUMINANCE_QUANTIZATION: readonly number[] = [
  [16, 11, 10, 16, 24, 40, 51, 61],
  [12, 12, 14, 19, 26, 58, 60, 55],
  [14, 13, 16, 24, 40, 57, 69, 56],
  [14, 17, 22, 29, 51, 87, 80, 62],
  [18, 22, 37, 56, 68, 109, 103, 77],
  [24, 35, 55, 64, 81, 104, 113, 92],
  [49, 64, 78, 87, 103, 121, 120, 101],
  [72, 92, 95, 98, 112, 100, 103, 99],
].flat();

/** Table K.2. */
export const CHROMINANCE_QUANTIZATION: readonly number[] = [
  [17, 18, 24, 47, 99, 99, 99, 99],
  [18, 21, 26, 66, 99, 99, 99, 99],
  [24, 26, 56, 99, 99, 99, 99, 99],
  [47, 66, 99, 99, 99, 99, 99, 99],
  [99, 99, 99, 99, 99, 99, 99, 99],
  [99, 99, 99, 99, 99, 99, 99, 99],
  [99, 99, 99, 99, 99, 99, 99, 99],
  [99, 99, 99, 99, 99, 99, 99, 99],
].flat();

/** A Huffman table as in a DHT segment: codes per length 1 … 16, then the symbols in code order. */
export interface HuffmanSpec {
  readonly counts: Uint8Array;
  readonly symbols: Uint8Array;
}

const spec = (counts: number[], symbols: Iterable<number>): HuffmanSpec => ({
  counts: Uint8Array.from(counts),
  symbols: Uint8Array.from(symbols),
});

const bytes = (hex: string): number[] => hex.replace(/\s/g, "").match(/../g)!.map((pair) => parseInt(pair, 16));

const DC_SYMBOLS = Array.from({ length: 12 }, (_, category) => category);

/** Table K.3. */
const LUMINANCE_DC = spec([0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], DC_SYMBOLS);

/** Table K.4. */
const CHROMINANCE_DC = spec([0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], DC_SYMBOLS);

/** Table K.5. */
const LUMINANCE_AC = spec(
  [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
  bytes(`
    01 02 03 00 04 11 05 12 21 31 41 06 13 51 61 07 22 71 14 32 81 91 a1 08 23 42 b1 c1 15 52 d1 f0 24 33 62 72 82
    09 0a 16 17 18 19 1a 25 26 27 28 29 2a 34 35 36 37 38 39 3a 43 44 45 46 47 48 49 4a 53 54 55 56 57 58 59 5a
    63 64 65 66 67 68 69 6a 73 74 75 76 77 78 79 7a 83 84 85 86 87 88 89 8a 92 93 94 95 96 97 98 99 9a
    a2 a3 a4 a5 a6 a7 a8 a9 aa b2 b3 b4 b5 b6 b7 b8 b9 ba c2 c3 c4 c5 c6 c7 c8 c9 ca d2 d3 d4 d5 d6 d7 d8 d9 da
    e1 e2 e3 e4 e5 e6 e7 e8 e9 ea f1 f2 f3 f4 f5 f6 f7 f8 f9 fa`),
);

/** Table K.6. */
const CHROMINANCE_AC = spec(
  [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119],
  bytes(`
    00 01 02 03 11 04 05 21 31 06 12 41 51 07 61 71 13 22 32 81 08 14 42 91 a1 b1 c1 09 23 33 52 f0 15 62 72 d1
    0a 16 24 34 e1 25 f1 17 18 19 1a 26 27 28 29 2a 35 36 37 38 39 3a 43 44 45 46 47 48 49 4a 53 54 55 56 57 58 59 5a
    63 64 65 66 67 68 69 6a 73 74 75 76 77 78 79 7a 82 83 84 85 86 87 88 89 8a 92 93 94 95 96 97 98 99 9a
    a2 a3 a4 a5 a6 a7 a8 a9 aa b2 b3 b4 b5 b6 b7 b8 b9 ba c2 c3 c4 c5 c6 c7 c8 c9 ca d2 d3 d4 d5 d6 d7 d8 d9 da
    e2 e3 e4 e5 e6 e7 e8 e9 ea f2 f3 f4 f5 f6 f7 f8 f9 fa`),
);

/** The standard Huffman tables by slot: twice the table id, plus one for AC. */
export const STANDARD_HUFFMAN: readonly HuffmanSpec[] = [LUMINANCE_DC, LUMINANCE_AC, CHROMINANCE_DC, CHROMINANCE_AC];
