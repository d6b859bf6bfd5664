/** Huffman codes of T.81: code words of a table, and the optimal table for given counts. */
import type { HuffmanSpec } from "./tables.ts";

/**
 * Code words by symbol (T.81 annex C); length zero means no code.
 * @throws RangeError when the lengths oversubscribe the code space
 */
export function huffmanCodes(spec: HuffmanSpec): { codes: Uint16Array; lengths: Uint8Array } {
  const codes = new Uint16Array(256), lengths = new Uint8Array(256);
  let code = 0, at = 0;
  for (let length = 1; length <= 16; length++, code <<= 1) {
    for (let count = spec.counts[length - 1]; count > 0; count--, code++, at++) {
      if (code >= 1 << length) throw new RangeError("The Huffman table is oversubscribed");
      codes[spec.symbols[at]] = code;
      lengths[spec.symbols[at]] = length;
    }
  }
  return { codes, lengths };
}

/**
 * The optimal table for symbol counts (T.81 annex K.2): no code longer than 16 bits, none of ones only.
 *
 * Ties take the largest symbol first and long codes are shortened by the procedure of figure K.3, so that equal counts
 * give libjpeg's tables.
 * @param frequencies counts of the 256 symbols
 */
export function optimalHuffman(frequencies: Uint32Array): HuffmanSpec {
  // Entry 256 reserves the code of ones only: as the rarest it has one of the longest codes.
  const weight = new Float64Array(257);
  weight.set(frequencies);
  weight[256] = 1;
  const length = new Uint16Array(257);
  const next = new Int16Array(257).fill(-1);
  const rarest = (other: number) => {
    let best = -1;
    for (let symbol = 0; symbol <= 256; symbol++) {
      if (weight[symbol] > 0 && symbol !== other && (best < 0 || weight[symbol] <= weight[best])) best = symbol;
    }
    return best;
  };
  for (;;) {
    const first = rarest(-1), second = rarest(first);
    if (second < 0) break;
    weight[first] += weight[second];
    weight[second] = 0;
    let at = first;
    for (; next[at] >= 0; at = next[at]) length[at]++;
    length[at]++;
    next[at] = second;
    for (at = second; at >= 0; at = next[at]) length[at]++;
  }
  const counts = new Uint16Array(258);
  for (const bits of length) if (bits > 0) counts[bits]++;
  for (let bits = 257; bits > 16; bits--) {
    while (counts[bits] > 0) {
      // Two siblings become one code a bit shorter; the other moves next to a code of a shorter length.
      let shorter = bits - 2;
      while (counts[shorter] === 0) shorter--;
      counts[bits] -= 2;
      counts[bits - 1]++;
      counts[shorter + 1] += 2;
      counts[shorter]--;
    }
  }
  let longest = 16;
  while (counts[longest] === 0) longest--;
  counts[longest]--;
  const symbols = Array.from({ length: 256 }, (_, symbol) => symbol).filter((symbol) => length[symbol] > 0);
  // The sort is stable: symbols of one length stay in ascending order.
  symbols.sort((left, right) => length[left] - length[right]);
  return { counts: Uint8Array.from(counts.subarray(1, 17)), symbols: Uint8Array.from(symbols) };
}
