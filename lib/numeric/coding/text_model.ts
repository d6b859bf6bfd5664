/**
 * Context model of text for arithmetic coding: the probability of the next byte given up to six bytes before it, from
 * counts of a corpus, blended over the orders.
 *
 *     p_k(s | context) = (count(s) + d·p_(k-1)(s)) / (n + d),   p_(-1) uniform over 256 bytes and the end of the text
 *
 * n: occurrences of the context of k bytes, d: number of different symbols after it (method C of Witten and Bell). A context
 * that the corpus lacks leaves the lower order as it is. Only additions, products and quotients of binary64 are used, so that
 * both ends have equal probabilities on every machine.
 *
 * Source: Bell, Cleary, Witten, Text Compression, 1990, ch. 6; Witten and Bell, IEEE Trans. Information Theory 37(4), 1991.
 */
import { PROBABILITY_BITS, RangeDecoder, RangeEncoder } from "./range_coder.ts";

/** Symbols 0 … 255 are bytes, 256 ends a text. */
export const END = 256, SYMBOLS = 257;
const TOTAL = 2 ** PROBABILITY_BITS;

interface Context {
  total: number;
  counts: Map<number, number>;
}

/** Number of the last `order` bytes before a position, unique over the orders; bytes before the text are 0. */
function contextAt(bytes: ArrayLike<number>, at: number, order: number): number {
  let key = order;
  for (let back = 1; back <= order; back++) key = key * 256 + (at >= back ? bytes[at - back] : 0);
  return key;
}

/** A trained model. */
export class TextModel {
  private readonly contexts = new Map<number, Context>();

  /**
   * @param texts of the corpus, each as it may stand alone, such as sentences
   * @param order number of bytes that a probability depends on, 0 … 6
   */
  constructor(texts: readonly string[], private readonly order: number) {
    const encoder = new TextEncoder();
    for (const text of texts) {
      const bytes = encoder.encode(text);
      for (let at = 0; at <= bytes.length; at++) {
        const symbol = at < bytes.length ? bytes[at] : END;
        for (let k = 0; k <= order; k++) {
          const context = this.contexts.getOrInsertComputed(
            contextAt(bytes, at, k),
            () => ({ total: 0, counts: new Map() }),
          );
          context.total++;
          context.counts.set(symbol, (context.counts.get(symbol) ?? 0) + 1);
        }
      }
    }
  }

  /** Counts of the symbols at a position, each at least 1, cumulated; the last is 2^16. */
  private cumulative(bytes: ArrayLike<number>, at: number): Uint32Array {
    const p = new Float64Array(SYMBOLS).fill(1 / SYMBOLS);
    for (let k = 0; k <= this.order; k++) {
      const context = this.contexts.get(contextAt(bytes, at, k));
      if (context === undefined) break;
      const { total, counts } = context, weight = counts.size / (total + counts.size);
      for (let symbol = 0; symbol < SYMBOLS; symbol++) p[symbol] *= weight;
      for (const [symbol, count] of counts) p[symbol] += count / (total + counts.size);
    }
    const cumulative = new Uint32Array(SYMBOLS + 1);
    let likeliest = 0, sum = 0;
    const counts = Uint32Array.from(p, (value, symbol) => {
      if (value > p[likeliest]) likeliest = symbol;
      return 1 + Math.floor(value * (TOTAL - SYMBOLS));
    });
    for (const count of counts) sum += count;
    // The rounding remainder goes where it changes the ratio least.
    counts[likeliest] += TOTAL - sum;
    counts.forEach((count, symbol) => cumulative[symbol + 1] = cumulative[symbol] + count);
    return cumulative;
  }

  /** The shortest bytes that {@link decode} turns into the text. */
  encode(text: string): Uint8Array {
    const bytes = new TextEncoder().encode(text), encoder = new RangeEncoder();
    for (let at = 0; at <= bytes.length; at++) {
      const symbol = at < bytes.length ? bytes[at] : END, cumulative = this.cumulative(bytes, at);
      encoder.encode(cumulative[symbol], cumulative[symbol + 1] - cumulative[symbol]);
    }
    return encoder.finish();
  }

  /**
   * The UTF-8 bytes of a coded text; a damaged message gives other bytes.
   * @param limit most bytes of a text
   * @returns undefined if the text does not end within the limit
   */
  decode(message: Uint8Array, limit: number): Uint8Array | undefined {
    const decoder = new RangeDecoder(message), bytes: number[] = [];
    while (bytes.length <= limit) {
      const cumulative = this.cumulative(bytes, bytes.length), target = decoder.target();
      const symbol = cumulative.findIndex((count) => count > target) - 1;
      decoder.advance(cumulative[symbol], cumulative[symbol + 1] - cumulative[symbol]);
      if (symbol === END) return Uint8Array.from(bytes);
      bytes.push(symbol);
    }
    return undefined;
  }
}
