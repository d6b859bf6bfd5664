/**
 * File images of finished steps in shared memory, so that a consumer need not read them again. An image is dropped when
 * its last consumer has finished, or early when memory is short: the consumer then reads the file and checks its hash.
 */

/** Images above this total are dropped, largest first. */
const RESIDENT_LIMIT_BYTES = 2 * 1024 ** 3;

interface Entry {
  bytes: Uint8Array | null;
  /** Consumers that have not finished. */
  waiting: number;
}

export class ValueStore {
  readonly #entries = new Map<string, Entry>();
  readonly #limit: number;
  #resident = 0;

  constructor(limit = RESIDENT_LIMIT_BYTES) {
    this.#limit = limit;
  }

  /** Keeps an image for its consumers; without consumers nothing is kept. */
  put(reference: string, bytes: Uint8Array, consumers: number): void {
    if (consumers === 0) return;
    this.#entries.set(reference, { bytes, waiting: consumers });
    this.#resident += bytes.length;
    while (this.#resident > this.#limit) {
      const largest = [...this.#entries.values()].reduce((a, b) =>
        (a.bytes?.length ?? 0) >= (b.bytes?.length ?? 0) ? a : b
      );
      this.#forget(largest);
    }
  }

  /** The image of an output, or null when it has to be read from its file. */
  get(reference: string): Uint8Array | null {
    return this.#entries.get(reference)?.bytes ?? null;
  }

  /** One consumer is done with an output. */
  release(reference: string): void {
    const entry = this.#entries.get(reference);
    if (entry === undefined || --entry.waiting > 0) return;
    this.#forget(entry);
    this.#entries.delete(reference);
  }

  #forget(entry: Entry): void {
    this.#resident -= entry.bytes?.length ?? 0;
    entry.bytes = null;
  }
}
