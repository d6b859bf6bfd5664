/**
 * Codes of TS 38.212 for 1 to 11 bits of uplink control information, without a CRC. One bit is repeated, two have their sum as a third
 * bit; 3 to 11 bits are the sum of as many columns of 32 bits, d(i) = Σ c(k)·M(i, k). Rate matching repeats the code word, or cuts it.
 *
 * With 1 and 2 bits the standard fills a symbol of Qm bits with placeholders: x is a 1, and y repeats the bit before it, which leaves the
 * outermost points of a constellation. They are values of bits here, as no scrambling follows.
 *
 * The decoder compares the sums of the received values with all code words: the most likely word, and the soft values of max-log.
 *
 * Shapes: message uint8 [1 … 11] -> sent bits uint8 [E]; llr float32 [E], positive for bit 0.
 *
 * Source: TS 38.212 V16.2.0, 5.3.3 and 5.4.3; TS 38.211 V16.2.0, 6.3.1.1 (placeholders).
 */

export const MOST_SMALL_BITS = 11;

/** M of table 5.3.3.3-1: rows i = 0 … 31, columns k = 0 … 10 from the left. */
const BASIS = `
  11000000001 11100000011 10010010111 10110000101 11110001001 11001011101 10101010111 10011001101
  11011001011 10111010011 10100111011 11100110101 10010101111 11010101011 10001101001 11001111011
  11101110010 10011100100 11011111000 10000110000 10100010001 11010000011 10001001101 11101000111
  11111011110 11000111001 10110100110 11110101110 10101110100 10111111100 11111111111 10000000000
`.trim().split(/\s+/);

/** Code words before rate matching: word `value` has the message bits of the number, the first bit highest. */
export interface SmallBlockCode {
  readonly size: number;
  readonly length: number;
  /** [2^size][length] */
  readonly words: Uint8Array;
}

/** @param bitsPerSymbol Qm, which matters for 1 and 2 bits */
export function smallBlockCode(size: number, bitsPerSymbol: number): SmallBlockCode {
  const all = Array.from({ length: 2 ** size }, (_, value) => {
    const message = Array.from({ length: size }, (_, k) => value >> (size - 1 - k) & 1);
    return size > 2
      ? BASIS.map((row) => message.reduce((sum, bit, k) => sum ^ bit & Number(row[k]), 0))
      : size === 2
      ? pairs(message[0], message[1], bitsPerSymbol)
      : symbol([message[0], message[0]], bitsPerSymbol);
  });
  return { size, length: all[0].length, words: Uint8Array.from(all.flat()) };
}

/** A symbol with its first two bits; the others are ones. */
const symbol = (bits: readonly number[], width: number): number[] =>
  Array.from({ length: width }, (_, i) => bits[i] ?? 1);

function pairs(first: number, second: number, width: number): number[] {
  const sum = first ^ second, three = [first, second, sum];
  if (width === 1) return three;
  return [0, 2, 4].flatMap((at) => symbol([three[at % 3], three[(at + 1) % 3]], width));
}

/** The sent bits of a message. */
export function encodeSmallBlock(message: Uint8Array, code: SmallBlockCode, sent: number): Uint8Array {
  const value = message.reduce((sum, bit) => 2 * sum + bit, 0), { length, words } = code;
  return Uint8Array.from({ length: sent }, (_, i) => words[value * length + i % length]);
}

/** The most likely message and its soft values. @param llr finite */
export function decodeSmallBlock(llr: Float32Array, { size, length, words }: SmallBlockCode) {
  const sums = new Float64Array(length), best = new Float64Array(2 * size).fill(-Infinity);
  llr.forEach((value, i) => sums[i % length] += value);
  let found = 0, most = -Infinity;
  for (let value = 0; value < 2 ** size; value++) {
    let metric = 0;
    for (let i = 0; i < length; i++) metric -= words[value * length + i] * sums[i];
    if (metric > most) {
      most = metric;
      found = value;
    }
    for (let k = 0; k < size; k++) {
      const at = 2 * k + (value >> (size - 1 - k) & 1);
      best[at] = Math.max(best[at], metric);
    }
  }
  return {
    bits: Uint8Array.from({ length: size }, (_, k) => found >> (size - 1 - k) & 1),
    llr: Float32Array.from({ length: size }, (_, k) => best[2 * k] - best[2 * k + 1]),
  };
}
