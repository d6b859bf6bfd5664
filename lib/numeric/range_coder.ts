/**
 * A range coder: symbols of known probability as bytes, within a millionth of a bit of their information content each.
 *
 * The coder narrows an interval [low, low + range) to the symbol's part of it and writes the leading byte whenever the
 * range has become small: 2^40 ≤ range < 2^48 between symbols. Probabilities are counts out of 2^16. All quantities are
 * integers below 2^50 and stand exactly in JavaScript's numbers; a step cuts off less than 2^-24 of the range, so the
 * redundancy is below 1e-7 bits a symbol. An addition may carry into bytes that are already out: the last byte that can
 * still change is held back, with the count of 255s behind it.
 *
 * The end is as short as it can be: of all numbers in the last interval the one with the fewest bytes, zero bytes at the
 * end left out. The reader takes zeros for what is missing, so no symbols are no bytes, and neither reader nor writer
 * notices the end: how many symbols there are must be known.
 *
 * Source: G. N. N. Martin, Range encoding: an algorithm for removing redundancy from a digitised message, 1979; the held
 * back byte as in I. Pavlov's LZMA.
 */

/** Frequencies of all symbols add up to 2^PROBABILITY_BITS. */
export const PROBABILITY_BITS = 16;
const TOTAL = 2 ** PROBABILITY_BITS, PART = 1 / TOTAL;
const TOP = 2 ** 48, BOTTOM = 2 ** 40;

/** Writes symbols; see the module for the method. */
export class RangeEncoder {
  private low = 0;
  private range = TOP - 1;
  /** The byte held back, -1 before the first, and how many bytes 255 follow it. */
  private held = -1;
  private full = 0;
  private bytes = new Uint8Array(256);
  private count = 0;

  /**
   * Appends a symbol that owns the counts [start, start + frequency) out of 2^16.
   * @param frequency at least 1
   */
  encode(start: number, frequency: number): void {
    const part = Math.floor(this.range * PART);
    this.low += part * start;
    this.range = part * frequency;
    while (this.range < BOTTOM) this.shift();
  }

  /** Appends `count` ≤ 16 bits that are as likely 0 as 1, the lowest of `value`. */
  encodeBits(value: number, count: number): void {
    const frequency = TOTAL >> count;
    this.encode(value * frequency, frequency);
  }

  /** Ends the message. The encoder must not be used afterwards. */
  finish(): Uint8Array {
    // The number of the interval that ends in the most zero bits, so that most of its bytes need not be written.
    for (let unit = TOP; unit >= 1; unit /= 256) {
      const rounded = Math.ceil(this.low / unit) * unit;
      if (rounded >= this.low + this.range) continue;
      this.low = rounded;
      break;
    }
    for (let index = 0; index < 7; index++) this.shift();
    let { count } = this;
    while (count > 0 && this.bytes[count - 1] === 0) count--;
    return this.bytes.slice(0, count);
  }

  /** Moves the interval by a byte: its leading byte is held back, and what was held is written once no carry can come. */
  private shift(): void {
    const carry = this.low >= TOP ? 1 : 0;
    const inner = carry ? this.low - TOP : this.low;
    const leading = Math.floor(inner / BOTTOM);
    if (leading === 255 && !carry && this.held >= 0) {
      this.full++;
    } else {
      if (this.held >= 0) this.write(this.held + carry);
      for (; this.full > 0; this.full--) this.write(carry ? 0 : 255);
      this.held = leading;
    }
    this.low = (inner - leading * BOTTOM) * 256;
    this.range *= 256;
  }

  private write(byte: number): void {
    if (this.count === this.bytes.length) {
      const grown = new Uint8Array(2 * this.bytes.length);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes[this.count++] = byte;
  }
}

/** Reads what a RangeEncoder wrote, symbol by symbol: `target`, look the symbol up, `advance`. */
export class RangeDecoder {
  /** The message from the start of the interval, below `range` when the message is sound. */
  private offset = 0;
  private range = TOP - 1;
  private part = 0;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    for (let index = 0; index < 6; index++) this.offset = this.offset * 256 + this.next();
  }

  /** The count in 0 … 65535 that the next symbol owns. A damaged message gives any count, never more. */
  target(): number {
    this.part = Math.floor(this.range * PART);
    const target = Math.floor(this.offset / this.part);
    return target < TOTAL ? target : TOTAL - 1;
  }

  /** Goes past the symbol that owns [start, start + frequency), in which the target lies. */
  advance(start: number, frequency: number): void {
    this.offset -= this.part * start;
    this.range = this.part * frequency;
    while (this.range < BOTTOM) {
      this.offset = this.offset * 256 + this.next();
      this.range *= 256;
    }
  }

  /** The next `count` ≤ 16 bits that were appended with encodeBits. */
  decodeBits(count: number): number {
    const frequency = TOTAL >> count;
    const value = Math.floor(this.target() / frequency);
    this.advance(value * frequency, frequency);
    return value;
  }

  private next(): number {
    return this.at < this.bytes.length ? this.bytes[this.at++] : 0;
  }
}
