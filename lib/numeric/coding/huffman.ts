/**
 * Huffman code: the prefix code of least mean length for symbols of given frequencies, in its canonical form, in which code words
 * of one length count up in the order of the symbols.
 *
 * Source: Huffman, "A method for the construction of minimum-redundancy codes", Proc. IRE 40(9), 1952.
 */

/** Length of the code word of each symbol. Of equal weights the subtree that was there first is joined first. */
function codeLengths(frequencies: readonly number[]): number[] {
  const lengths = frequencies.map(() => 0);
  const trees = frequencies.map((weight, symbol) => ({ weight, order: symbol, symbols: [symbol] }));
  for (let order = trees.length; trees.length > 1; order++) {
    trees.sort((a, b) => a.weight - b.weight || a.order - b.order);
    const [a, b] = trees.splice(0, 2), symbols = [...a.symbols, ...b.symbols];
    for (const symbol of symbols) lengths[symbol]++;
    trees.push({ weight: a.weight + b.weight, order, symbols });
  }
  return lengths;
}

/** Code words of symbols 0 … n - 1, n ≥ 2. */
export class HuffmanCode {
  private readonly words: string[] = [];
  private readonly symbols = new Map<string, number>();

  /** @param frequencies of the symbols, at least two, each positive */
  constructor(frequencies: readonly number[]) {
    const lengths = codeLengths(frequencies);
    const order = frequencies.map((_, symbol) => symbol).sort((a, b) => lengths[a] - lengths[b] || a - b);
    let word = -1n, length = 0;
    for (const symbol of order) {
      word = (word + 1n) << BigInt(lengths[symbol] - length);
      length = lengths[symbol];
      this.words[symbol] = word.toString(2).padStart(length, "0");
      this.symbols.set(this.words[symbol], symbol);
    }
  }

  encode(symbols: Iterable<number>): Uint8Array {
    let text = "";
    for (const symbol of symbols) text += this.words[symbol];
    return Uint8Array.from(text, Number);
  }

  /** Symbols up to and without `end`, or all whole code words of bits that do not have it. */
  decode(bits: Uint8Array, end: number): number[] {
    const found: number[] = [];
    let word = "";
    for (const bit of bits) {
      word += bit;
      const symbol = this.symbols.get(word);
      if (symbol === end) break;
      if (symbol === undefined) continue;
      found.push(symbol);
      word = "";
    }
    return found;
  }
}
