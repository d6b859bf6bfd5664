/**
 * Adaptive binary arithmetic coding: every binary decision is coded with the probability estimated in its context.
 *
 * A context holds P(0) in units of 2^-12 and moves by 1/16 of the distance with each decision. The coder keeps a 32-bit
 * range and writes bytes; carries propagate into earlier bytes. A decoder that reads past the end gets zeros, so
 * damaged data decodes to values of the right length and never to an error.
 *
 * Source: Martin, Range encoding: an algorithm for removing redundancy from a digitised message, 1979.
 */

const BITS = 12, RATE = 4, TOP = 2 ** 24;

/** Probabilities of `count` kinds of decisions, initially 1/2. */
export function contexts(count: number): Uint16Array {
  return new Uint16Array(count).fill(1 << (BITS - 1));
}

/** Codes or decodes decisions; a decoder ignores the value that is passed in. */
export interface Coder {
  /** One decision in a context; returns it. */
  decide(chances: Uint16Array, context: number, bit: number): number;
  /** One decision with probability 1/2. */
  plain(bit: number): number;
}

function learn(chances: Uint16Array, context: number, bit: number): void {
  chances[context] += bit === 0 ? ((1 << BITS) - chances[context]) >> RATE : -(chances[context] >> RATE);
}

export class RangeEncoder implements Coder {
  #low = 0;
  #range = 2 ** 32 - 1;
  #bytes: number[] = [];

  decide(chances: Uint16Array, context: number, bit: number): number {
    const bound = (this.#range >>> BITS) * chances[context];
    if (bit === 0) this.#range = bound;
    else {
      this.#low += bound;
      this.#range -= bound;
    }
    learn(chances, context, bit);
    this.#normalise();
    return bit;
  }

  plain(bit: number): number {
    this.#range = this.#range >>> 1;
    if (bit !== 0) this.#low += this.#range;
    this.#normalise();
    return bit;
  }

  #normalise(): void {
    this.#carry();
    while (this.#range < TOP) {
      this.#bytes.push(Math.floor(this.#low / TOP));
      this.#low = (this.#low % TOP) * 256;
      this.#range = this.#range * 256;
    }
  }

  #carry(): void {
    if (this.#low < 2 ** 32) return;
    this.#low -= 2 ** 32;
    let at = this.#bytes.length - 1;
    while (this.#bytes[at] === 255) this.#bytes[at--] = 0;
    this.#bytes[at]++;
  }

  /** The bytes of all decisions, without trailing zeros, which the decoder supplies. */
  finish(): Uint8Array {
    // The number with the most trailing zeros in the remaining range.
    for (const zeros of [2 ** 24, 2 ** 16, 2 ** 8, 1]) {
      const rounded = Math.ceil(this.#low / zeros) * zeros;
      if (rounded >= this.#low + this.#range) continue;
      this.#low = rounded;
      break;
    }
    this.#carry();
    for (let i = 0; i < 4; i++) {
      this.#bytes.push(Math.floor(this.#low / TOP));
      this.#low = (this.#low % TOP) * 256;
    }
    let end = this.#bytes.length;
    while (end > 0 && this.#bytes[end - 1] === 0) end--;
    return Uint8Array.from(this.#bytes.slice(0, end));
  }
}

export class RangeDecoder implements Coder {
  #code = 0;
  #range = 2 ** 32 - 1;
  #at = 0;

  constructor(readonly bytes: Uint8Array) {
    for (let i = 0; i < 4; i++) this.#code = this.#code * 256 + this.#next();
  }

  #next(): number {
    return this.bytes[this.#at++] ?? 0;
  }

  decide(chances: Uint16Array, context: number, _bit: number): number {
    const bound = (this.#range >>> BITS) * chances[context];
    const bit = this.#code < bound ? 0 : 1;
    if (bit === 0) this.#range = bound;
    else {
      this.#code -= bound;
      this.#range -= bound;
    }
    learn(chances, context, bit);
    this.#normalise();
    return bit;
  }

  plain(_bit: number): number {
    this.#range = this.#range >>> 1;
    const bit = this.#code < this.#range ? 0 : 1;
    if (bit === 1) this.#code -= this.#range;
    this.#normalise();
    return bit;
  }

  #normalise(): void {
    while (this.#range < TOP) {
      this.#code = (this.#code * 256 + this.#next()) % 2 ** 32;
      this.#range = this.#range * 256;
    }
  }
}
