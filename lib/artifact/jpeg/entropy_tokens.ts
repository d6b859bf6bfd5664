/**
 * Two-step entropy coding: a scan becomes tokens of one Huffman symbol with its extra bits. The tokens are then counted
 * for fitted tables, and written.
 */
import type { BitWriter } from "./bit_writer.ts";
import { huffmanCodes } from "./huffman.ts";
import type { HuffmanSpec } from "./tables.ts";

/** Table slots: twice the table id, plus one for AC. A token without a symbol uses {@link BARE}. */
export const BARE = 4;
const SLOTS = 5;

/**
 * A growing list of tokens. Each is one word: symbol (bits 0-7), slot (8-10), number of extra bits (11-15) and the
 * extra bits themselves (16-31).
 */
export class Tokens {
  words = new Int32Array(1 << 12);
  length = 0;

  /** Reserves `count` more tokens; {@link push} checks nothing. */
  reserve(count: number): void {
    if (this.length + count <= this.words.length) return;
    const grown = new Int32Array(Math.max(this.words.length * 2, this.length + count));
    grown.set(this.words.subarray(0, this.length));
    this.words = grown;
  }

  push(slot: number, symbol: number, extraLength: number, extra: number): void {
    this.words[this.length++] = extra << 16 | extraLength << 11 | slot << 8 | symbol;
  }

  /** Symbol counts of each slot. */
  frequencies(): Uint32Array[] {
    const counts = new Uint32Array(SLOTS * 256);
    for (let index = 0; index < this.length; index++) counts[this.words[index] & 0x7ff]++;
    return Array.from({ length: BARE }, (_, slot) => counts.subarray(slot * 256, (slot + 1) * 256));
  }
}

/** Code words of all slots, indexed by the low eleven bits of a token. */
export class TokenCodes {
  readonly #codes = new Uint16Array(SLOTS * 256);
  readonly #lengths = new Uint8Array(SLOTS * 256);

  /** @param specs tables by slot; unused slots may be undefined */
  constructor(specs: readonly (HuffmanSpec | undefined)[]) {
    specs.forEach((spec, slot) => {
      if (spec === undefined) return;
      const { codes, lengths } = huffmanCodes(spec);
      this.#codes.set(codes, slot * 256);
      this.#lengths.set(lengths, slot * 256);
    });
  }

  write(tokens: Tokens, writer: BitWriter): void {
    const words = tokens.words, codes = this.#codes, lengths = this.#lengths;
    for (let start = 0; start < tokens.length; start += 1024) {
      const end = Math.min(tokens.length, start + 1024);
      writer.reserve((end - start) * 8 + 16);
      for (let index = start; index < end; index++) {
        const word = words[index], key = word & 0x7ff, extra = word >>> 11 & 31;
        writer.put(codes[key] << extra | word >>> 16, lengths[key] + extra);
      }
    }
  }
}
