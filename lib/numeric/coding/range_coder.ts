/**
 * A range coder: symbols of known probability as bytes, within a millionth of a bit of the information content of each.
 *
 * The coder narrows an interval [low, low + range) to the symbol's part of it and writes the leading byte whenever the
 * range has become small: 2^40 ≤ range < 2^48 between symbols. Probabilities are counts out of 2^16. All quantities are
 * integers below 2^50 and exact in JavaScript numbers; a step cuts off less than 2^-24 of the range, so the redundancy
 * is below 1e-7 bits per symbol. An addition may carry into earlier bytes, so the last byte that can still change is
 * held back, with the count of 255s after it.
 *
 * The end is as short as possible: of all numbers in the last interval the one with the fewest bytes, without trailing
 * zero bytes. The reader substitutes zeros for missing bytes, so zero symbols take zero bytes. The message does not
 * mark its end: the number of symbols must be known.
 *
 * Source: G. N. N. Martin, Range encoding: an algorithm for removing redundancy from a digitised message, 1979; the
 * held-back byte as in I. Pavlov's LZMA.
 */

/** Frequencies of all symbols add up to 2^PROBABILITY_BITS. */
export const PROBABILITY_BITS = 16;
const TOTAL = 2 ** PROBABILITY_BITS, PART = 1 / TOTAL;
const TOP = 2 ** 48, BOTTOM = 2 ** 40;

/** Writes symbols; the module comment gives the method. */
export class RangeEncoder {
  private low = 0;
  private range = TOP - 1;
  /** The held-back byte, -1 before the first, and the number of following bytes 255. */
  private held = -1;
  private full = 0;
  private bytes = new Uint8Array(256);
  private count = 0;

  /**
   * Appends a symbol with the counts [start, start + frequency) out of 2^16.
   * @param frequency at least 1
   */
  encode(start: number, frequency: number): void {
    const part = Math.floor(this.range * PART);
    this.low += part * start;
    this.range = part * frequency;
    while (this.range < BOTTOM) this.shift();
  }

  /** Appends the lowest `count` ≤ 16 bits of `value`, each with probability 1/2. */
  encodeBits(value: number, count: number): void {
    const frequency = TOTAL >> count;
    this.encode(value * frequency, frequency);
  }

  /** Count of 255s that are held back. */
  get heldBack(): number {
    return this.full;
  }

  /**
   * Lends the state to another implementation of the same coder: low, range, held byte, count of 255s.
   * @param encode changes the state and returns the bytes that it wrote
   */
  lend(encode: (state: number[]) => Uint8Array): void {
    const state = [this.low, this.range, this.held, this.full], bytes = encode(state);
    [this.low, this.range, this.held, this.full] = state;
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.count);
    this.count += bytes.length;
  }

  /** Ends the message. The encoder must not be used afterwards. */
  finish(): Uint8Array {
    // The number in the interval with the most trailing zero bits, so that most of its bytes are omitted.
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

  /**
   * Shifts the interval by a byte: its leading byte is held back, and the previous one is written once no carry can
   * change it.
   */
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
    this.reserve(1);
    this.bytes[this.count++] = byte;
  }

  private reserve(more: number): void {
    if (this.count + more <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.count + more));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}

/** Reads what a RangeEncoder wrote, symbol by symbol: `target`, look the symbol up, `advance`. */
export class RangeDecoder {
  /** The message minus the start of the interval; below `range` for an undamaged message. */
  private offset = 0;
  private range = TOP - 1;
  private part = 0;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    for (let index = 0; index < 6; index++) this.offset = this.offset * 256 + this.next();
  }

  /** The count in 0 … 65535 that selects the next symbol. A damaged message gives any count in this range. */
  target(): number {
    this.part = Math.floor(this.range * PART);
    const target = Math.floor(this.offset / this.part);
    return target < TOTAL ? target : TOTAL - 1;
  }

  /** Consumes the symbol with [start, start + frequency), which contains the target. */
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

  /**
   * Lends the state to another implementation of the same coder: offset, range.
   * @param decode takes the state and the rest of the message, changes the state and returns how many bytes it used
   */
  lend(decode: (state: number[], rest: Uint8Array) => number): void {
    const state = [this.offset, this.range], used = decode(state, this.bytes.subarray(this.at));
    [this.offset, this.range] = state;
    this.at += used;
  }

  private next(): number {
    return this.at < this.bytes.length ? this.bytes[this.at++] : 0;
  }
}
