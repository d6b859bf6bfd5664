/**
 * Reads entropy-coded bits up to the next marker. After the data it returns zeros and counts them, so that decoding
 * loops need one check per block: {@link BitReader.check}.
 */
import { SvcError } from "../../contract/error.ts";
import { type HuffmanDecoder, LOOKUP_BITS } from "./huffman.ts";

export const invalid = (what: string): SvcError =>
  new SvcError("jpeg_invalid", `Cannot decode a damaged JPEG file: ${what}`);

export class BitReader {
  readonly #bytes: Uint8Array;
  #position: number;
  /** The low `count` bits are pending. */
  #word = 0;
  #count = 0;
  /** Zero bits returned in place of data. */
  #missing = 0;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.#position = position;
  }

  #fill(): void {
    const bytes = this.#bytes;
    while (this.#count <= 24) {
      const at = this.#position;
      let byte = bytes[at];
      if (byte === 0xff && bytes[at + 1] !== 0 || at >= bytes.length) {
        byte = 0;
        this.#missing += 8;
      } else {
        this.#position = at + (byte === 0xff ? 2 : 1);
      }
      this.#word = this.#word << 8 | byte;
      this.#count += 8;
    }
  }

  /** The next Huffman symbol. @throws SvcError `jpeg_invalid` for an unknown code */
  symbol(table: HuffmanDecoder): number {
    if (this.#count < 16) this.#fill();
    const entry = table.lookup[this.#word >>> (this.#count - LOOKUP_BITS) & ((1 << LOOKUP_BITS) - 1)];
    if (entry !== 0) {
      this.#count -= entry >> 8;
      return entry & 255;
    }
    const next = this.#word >>> (this.#count - 16) & 0xffff;
    let length = LOOKUP_BITS + 1;
    while (length <= 16 && next >= table.limit[length]) length++;
    if (length > 16) throw invalid("unknown Huffman code");
    this.#count -= length;
    return table.symbols[(next >> (16 - length)) + table.offset[length]];
  }

  /** The next bits as an unsigned number; `length` 1 ... 16. */
  bits(length: number): number {
    if (this.#count < length) this.#fill();
    this.#count -= length;
    return this.#word >>> this.#count & ((1 << length) - 1);
  }

  /** The next signed value of a category (T.81 F.2.2.1, EXTEND); 0 for category 0. */
  value(category: number): number {
    if (category === 0) return 0;
    const bits = this.bits(category);
    return bits < 1 << (category - 1) ? bits - (1 << category) + 1 : bits;
  }

  /** Checks that all bits read were data. @throws SvcError `jpeg_invalid` after the end of the data */
  check(): void {
    if (this.#missing > this.#count) throw invalid("the entropy-coded data end early");
  }

  /**
   * Ends a run of entropy-coded data.
   * @returns position of the following marker
   * @throws SvcError `jpeg_invalid` when the data ended before, or continue
   */
  finish(): number {
    this.check();
    if (this.#count - this.#missing >= 8) throw invalid("the entropy-coded data continue after the last block");
    let at = this.#position;
    if (this.#bytes[at] !== 0xff || this.#bytes[at + 1] === 0) {
      throw invalid(at >= this.#bytes.length ? "it ends without a marker" : "the entropy-coded data continue");
    }
    // Fill bytes may precede a marker.
    while (this.#bytes[at + 1] === 0xff) at++;
    return at;
  }

  /** Skips a restart marker. @throws SvcError `jpeg_invalid` for another marker */
  restart(number: number): void {
    const at = this.finish();
    if (this.#bytes[at + 1] !== 0xd0 + number) throw invalid(`restart marker ${number} is missing`);
    this.#position = at + 2;
    this.#word = this.#count = this.#missing = 0;
  }
}
