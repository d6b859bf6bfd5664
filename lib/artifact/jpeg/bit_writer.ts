/** Writes marker segments and entropy-coded bits; a byte 0xFF inside entropy-coded data is followed by a zero byte. */
export class BitWriter {
  #bytes = new Uint8Array(1 << 14);
  #length = 0;
  /** Pending bits: the low `32 - free` bits of this word. */
  #word = 0;
  #free = 32;

  /** Reserves `count` more bytes; {@link put} checks nothing. */
  reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  bytes(values: ArrayLike<number>): void {
    this.reserve(values.length);
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Appends a marker segment. */
  segment(marker: number, payload: readonly number[]): void {
    const length = payload.length + 2;
    this.bytes([0xff, marker, length >> 8, length & 255, ...payload]);
  }

  /** Appends the low `length` bits of `value`, at most 31; eight bytes must be reserved. */
  put(value: number, length: number): void {
    const free = this.#free - length;
    if (free >= 0) {
      this.#word = this.#word << length | value;
      this.#free = free;
      return;
    }
    const word = this.#word << this.#free | value >>> -free;
    this.#free = free + 32;
    this.#word = value;
    const at = this.#length, bytes = this.#bytes;
    if ((word & 0x80808080 & ~(word + 0x01010101)) === 0) { // no byte is 0xFF
      bytes[at] = word >>> 24;
      bytes[at + 1] = word >>> 16;
      bytes[at + 2] = word >>> 8;
      bytes[at + 3] = word;
      this.#length = at + 4;
    } else {
      for (let shift = 24; shift >= 0; shift -= 8) this.#stuffed(word >>> shift & 255);
    }
  }

  #stuffed(byte: number): void {
    this.#bytes[this.#length++] = byte;
    if (byte === 0xff) this.#bytes[this.#length++] = 0;
  }

  /** Ends entropy-coded data, padded with ones to a whole byte. */
  align(): void {
    this.reserve(16);
    const pending = 32 - this.#free;
    const filled = (pending + 7) & ~7;
    // Pending bits in the high part of the word, ones below them.
    const word = pending === 0 ? 0 : this.#word << this.#free | (this.#free === 0 ? 0 : 0xffffffff >>> pending);
    for (let bits = 0; bits < filled; bits += 8) this.#stuffed(word >>> (24 - bits) & 255);
    this.#word = 0;
    this.#free = 32;
  }

  /** The written bytes, as a new array. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}
