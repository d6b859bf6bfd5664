/** A growing array of bytes with marker segments and entropy-coded data. */
export class ByteWriter {
  #bytes = new Uint8Array(1 << 14);
  #length = 0;

  bytes(values: ArrayLike<number>): void {
    const end = this.#length + values.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, end));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(values, this.#length);
    this.#length = end;
  }

  /** Appends a marker segment. */
  segment(marker: number, payload: readonly number[]): void {
    const length = payload.length + 2;
    this.bytes([0xff, marker, length >> 8, length & 255, ...payload]);
  }

  /** The written bytes, as a new array. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}
