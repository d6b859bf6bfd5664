/**
 * NPZ files of one array that are made in blocks, with the bytes of `writeNpz` for a streamed array and constant memory. Without a
 * path the file is hashed and not written.
 */
import { createHash } from "node:crypto";
import { bytesOf, type Dtype, DTYPES, type NdArray } from "../numeric/array/ndarray.ts";
import { hashStream } from "./hash_thread.ts";
import { crc32Of } from "./crc32.ts";
import { joinBytes } from "./join_bytes.ts";
import { npyHeader } from "./npy_header.ts";
import { writeNpyText } from "./npy.ts";
import { descriptor, directory, localHeader, placeEntries } from "./zip_write.ts";

/** Consecutive bytes of a written file: the bytes themselves, or their number and CRC-32. */
export type FilePart = Uint8Array | {
  readonly size: number;
  /** CRC-32 of the bytes that `crc` counts before these. */
  readonly crcBefore: number;
  readonly crc: number;
};

/** Where the bytes of a file go, in order. */
interface Sink {
  write(bytes: Uint8Array): void;
  /** SHA-256 of the file, where it was not written. */
  digest(): string | null;
  close(): void;
}

export class NpzBlocks implements Disposable {
  readonly #sink: Sink;
  readonly #header: Uint8Array;
  readonly #array: string;
  readonly #texts: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly #dataBytes: number;
  readonly #head: Uint8Array;
  #written = 0;
  #crc: number;

  /**
   * Creates the file.
   * @param path null for a file that is hashed only
   * @param array name, element type and number of the elements of its one dimension
   * @param texts further members
   * @param beside whether a file that is hashed only is hashed on a thread of its own, where one can be had
   * @throws SvcError `artifact_limit_exceeded` beyond 4 GiB
   */
  constructor(
    path: string | null,
    array: { name: string; dtype: Dtype; length: number },
    texts: Readonly<Record<string, string>>,
    beside = false,
  ) {
    this.#array = array.name;
    this.#header = npyHeader(array.dtype, [array.length]);
    this.#crc = crc32Of(this.#header);
    this.#dataBytes = array.length * DTYPES[array.dtype].itemSize;
    this.#texts = Object.entries(texts).map(([name, text]) => [name, writeNpyText(text)]);
    this.#head = this.#place().head;
    this.#sink = path === null ? hashed(beside) : written(path);
    this.#sink.write(this.#head);
  }

  /** The next elements. */
  write(block: NdArray["data"]): void {
    const bytes = bytesOf({ data: block });
    this.#crc = crc32Of(bytes, this.#crc);
    this.#written += bytes.length;
    this.#sink.write(bytes);
  }

  /**
   * Writes the bytes after the array.
   * @returns the parts of the file, in order, and the digest of a file that is hashed only
   * @throws RangeError for an array that is not complete (a defect of the caller)
   */
  finish(): { parts: FilePart[]; sha256: string | null } {
    if (this.#written !== this.#dataBytes) {
      throw new RangeError(`The array ${this.#array} has ${this.#written} of its ${this.#dataBytes} bytes`);
    }
    const { tail } = this.#place();
    this.#sink.write(tail);
    const data = { size: this.#dataBytes, crcBefore: crc32Of(this.#header), crc: this.#crc };
    return { parts: [this.#head, data, tail], sha256: this.#sink.digest() };
  }

  [Symbol.dispose](): void {
    this.#sink.close();
  }

  /** The bytes before and after the data of the array; the latter depend on its CRC. */
  #place(): { head: Uint8Array; tail: Uint8Array } {
    const array = {
      name: `${this.#array}.npy`,
      size: this.#header.length + this.#dataBytes,
      crc: this.#crc,
      contents: this.#header,
      streamed: true,
    };
    const texts = this.#texts.map(([name, contents]) => ({
      name: `${name}.npy`,
      size: contents.length,
      crc: crc32Of(contents),
      contents,
      streamed: false,
    }));
    const { entries, directoryAt } = placeEntries([array, ...texts]);
    const at = entries.findIndex(({ name }) => name === array.name);
    const whole = entries.map((entry) => joinBytes([localHeader(entry), entry.contents]));
    return {
      head: joinBytes(whole.slice(0, at + 1)),
      tail: joinBytes([descriptor(entries[at]), ...whole.slice(at + 1), directory(entries, directoryAt)]),
    };
  }
}

function written(path: string): Sink {
  const file = Deno.openSync(path, { write: true, createNew: true });
  return {
    write(bytes) {
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    },
    digest: () => null,
    close: () => file.close(),
  };
}

function hashed(beside: boolean): Sink {
  const stream = beside ? hashStream() : null;
  if (stream !== null) {
    return { write: (bytes) => stream.update(bytes), digest: () => stream.digest(), close: () => stream.close() };
  }
  const hash = createHash("sha256");
  return { write: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex"), close() {} };
}
