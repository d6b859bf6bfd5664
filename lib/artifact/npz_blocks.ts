/**
 * NPZ files of arrays that are made in blocks, with the bytes of `writeNpz` for streamed arrays. Without a path the file is hashed
 * and not written; then all arrays but the first in the order of the file are kept until the end. Other memory is constant.
 */
import { createHash } from "node:crypto";
import { bytesOf, DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import type { Digest } from "../contract/names.ts";
import { type HashStream, hashStream } from "./hash_thread.ts";
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

/** Where the bytes of a file go. */
interface Sink {
  write(bytes: Uint8Array, at: number): void;
  /** SHA-256 of the file, where it was not written. */
  digest(): string | null;
  close(): void;
}

/** An array of a file. */
interface ArrayMember {
  readonly header: Uint8Array;
  readonly dataBytes: number;
  written: number;
  crc: number;
}

export class NpzBlocks implements Disposable {
  readonly #sink: Sink;
  readonly #arrays: ReadonlyMap<string, ArrayMember>;
  readonly #texts: readonly (readonly [name: string, bytes: Uint8Array])[];
  /** Place of the data of each array. */
  readonly #dataAt = new Map<string, number>();

  /**
   * Creates the file.
   * @param path null for a file that is hashed only
   * @param arrays their forms by name
   * @param texts further members
   * @param beside whether a file that is hashed only is hashed on a thread of its own, where one can be had
   * @throws SvcError `artifact_limit_exceeded` beyond 4 GiB
   */
  constructor(
    path: string | null,
    arrays: Readonly<Record<string, Pick<NdArray, "dtype" | "shape">>>,
    texts: Readonly<Record<string, string>>,
    beside = false,
  ) {
    this.#arrays = new Map(
      Object.entries(arrays).map(([name, { dtype, shape }]) => {
        const header = npyHeader(dtype, shape), dataBytes = elementCount(shape) * DTYPES[dtype].itemSize;
        return [name, { header, dataBytes, written: 0, crc: crc32Of(header) }];
      }),
    );
    this.#texts = Object.entries(texts).map(([name, text]) => [name, writeNpyText(text)]);
    const pieces = this.#pieces();
    for (const { array, at } of pieces) if (array !== null) this.#dataAt.set(array, at);
    this.#sink = path === null ? hashed(beside) : written(path);
    this.#sink.write(pieces[0].bytes, 0);
  }

  /** The next elements of an array. */
  write(name: string, block: NdArray["data"]): void {
    const bytes = bytesOf({ data: block }), array = this.#arrays.get(name)!;
    array.crc = crc32Of(bytes, array.crc);
    this.#sink.write(bytes, this.#dataAt.get(name)! + array.written);
    array.written += bytes.length;
  }

  /**
   * Writes the bytes around the arrays.
   * @returns the parts of the file, in order, and the digest of a file that is hashed only
   * @throws RangeError for an array that is not complete (a defect of the caller)
   */
  finish(): { parts: FilePart[]; sha256: string | null } {
    for (const [name, { written, dataBytes }] of this.#arrays) {
      if (written !== dataBytes) throw new RangeError(`The array ${name} has ${written} of its ${dataBytes} bytes`);
    }
    const parts = this.#pieces().map(({ bytes, array, at }): FilePart => {
      if (array === null) {
        if (at > 0) this.#sink.write(bytes, at);
        return bytes;
      }
      const { header, dataBytes: size, crc } = this.#arrays.get(array)!;
      return { size, crcBefore: crc32Of(header), crc };
    });
    return { parts, sha256: this.#sink.digest() };
  }

  [Symbol.dispose](): void {
    this.#sink.close();
  }

  /** Bytes around the arrays and places of their data, in order; the former depend on the CRCs. */
  #pieces(): { bytes: Uint8Array; array: string | null; at: number }[] {
    const arrays = [...this.#arrays].map(([array, { header: contents, dataBytes, crc }]) => {
      return { name: `${array}.npy`, size: contents.length + dataBytes, crc, contents, array, streamed: true };
    });
    const texts = this.#texts.map(([name, contents]) => ({
      name: `${name}.npy`,
      size: contents.length,
      crc: crc32Of(contents),
      contents,
      array: null,
      streamed: false,
    }));
    const { entries, directoryAt } = placeEntries([...arrays, ...texts]);
    const pieces: { bytes: Uint8Array; array: string | null; at: number }[] = [];
    let around: Uint8Array[] = [], start = 0;
    for (const entry of entries) {
      around.push(localHeader(entry), entry.contents);
      if (entry.array === null) continue;
      const bytes = joinBytes(around), at = start + bytes.length;
      pieces.push({ bytes, array: null, at: start }, { bytes: new Uint8Array(0), array: entry.array, at });
      around = [descriptor(entry)];
      start = at + entry.size - entry.contents.length;
    }
    pieces.push({ bytes: joinBytes([...around, directory(entries, directoryAt)]), array: null, at: start });
    return pieces;
  }
}

function written(path: string): Sink {
  const file = Deno.openSync(path, { write: true, createNew: true });
  let end = 0;
  return {
    write(bytes, at) {
      if (at !== end) file.seekSync(at, Deno.SeekMode.Start);
      for (let from = 0; from < bytes.length;) from += file.writeSync(bytes.subarray(from));
      end = at + bytes.length;
    },
    digest: () => null,
    close: () => file.close(),
  };
}

/** Hashes bytes in the order of the file; later ones are kept until those before them are there. */
function hashed(beside: boolean): Sink {
  const stream = (beside ? hashStream() : null) ?? hashHere(), kept: { bytes: Uint8Array; at: number }[] = [];
  let end = 0;
  const take = (bytes: Uint8Array) => {
    stream.update(bytes);
    end += bytes.length;
  };
  return {
    write(bytes, at) {
      if (at === end) take(bytes);
      else kept.push({ bytes: bytes.slice(), at });
    },
    digest() {
      kept.sort((a, b) => a.at - b.at);
      for (const { bytes } of kept) take(bytes);
      return stream.digest();
    },
    close: () => stream.close(),
  };
}

function hashHere(): HashStream {
  const hash = createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") as Digest, close() {} };
}
