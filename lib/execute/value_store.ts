/**
 * File images of finished steps in shared memory, so that consumers need not read the files. An image is dropped after
 * its last consumer, or early when memory is short; a consumer then reads the file and checks its hash.
 */
import { dropShared } from "./memory.ts";

/** Largest total size; beyond it, images are dropped, largest first. */
const RESIDENT_LIMIT_BYTES = 2 * 1024 ** 3;

interface Entry {
  bytes: Uint8Array | null;
  /** Unfinished consumers. */
  waiting: number;
}

export class ValueStore {
  readonly #entries = new Map<string, Entry>();
  readonly #limit: number;
  #resident = 0;

  constructor(limit = RESIDENT_LIMIT_BYTES) {
    this.#limit = limit;
  }

  /** Keeps an image for its consumers; without consumers it is not kept. */
  put(reference: string, bytes: Uint8Array, consumers: number): void {
    if (consumers === 0) return dropShared(bytes.length);
    this.#entries.set(reference, { bytes, waiting: consumers });
    this.#resident += bytes.length;
    while (this.#resident > this.#limit) {
      const largest = [...this.#entries.values()].reduce((a, b) =>
        (a.bytes?.length ?? 0) >= (b.bytes?.length ?? 0) ? a : b
      );
      this.#forget(largest);
    }
  }

  /** The image of an output, or null when its file must be read. */
  get(reference: string): Uint8Array | null {
    return this.#entries.get(reference)?.bytes ?? null;
  }

  /** Whether one consumer is left. */
  isLast(reference: string): boolean {
    return this.#entries.get(reference)?.waiting === 1;
  }

  /** Reports that one consumer finished. */
  release(reference: string): void {
    const entry = this.#entries.get(reference);
    if (entry === undefined || --entry.waiting > 0) return;
    this.#forget(entry);
    this.#entries.delete(reference);
  }

  #forget(entry: Entry): void {
    const size = entry.bytes?.length ?? 0;
    this.#resident -= size;
    entry.bytes = null;
    dropShared(size);
  }
}
