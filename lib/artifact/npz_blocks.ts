/** NPZ files of one array that are written in blocks, with the bytes of `writeNpz` and constant memory. */
import { bytesOf, type Dtype, DTYPES, type NdArray } from "../numeric/array/ndarray.ts";
import { crc32Of } from "./crc32.ts";
import { joinBytes } from "./join_bytes.ts";
import { npyHeader } from "./npy_header.ts";
import { writeNpyText } from "./npy.ts";
import { directory, localHeader, placeEntries } from "./zip_write.ts";

/** Consecutive bytes of a written file: the bytes themselves, or their number and CRC-32. */
export type FilePart = Uint8Array | {
  readonly size: number;
  /** CRC-32 of the bytes that `crc` counts before these. */
  readonly crcBefore: number;
  readonly crc: number;
};

export class NpzBlocks implements Disposable {
  readonly #file: Deno.FsFile;
  readonly #header: Uint8Array;
  readonly #array: string;
  readonly #texts: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly #dataBytes: number;
  #written = 0;
  #crc: number;

  /**
   * Creates the file.
   * @param array name, element type and number of the elements of its one dimension
   * @param texts further members
   * @throws SvcError `artifact_limit_exceeded` beyond 4 GiB
   */
  constructor(
    path: string,
    array: { name: string; dtype: Dtype; length: number },
    texts: Readonly<Record<string, string>>,
  ) {
    this.#array = array.name;
    this.#header = npyHeader(array.dtype, [array.length]);
    this.#crc = crc32Of(this.#header);
    this.#dataBytes = array.length * DTYPES[array.dtype].itemSize;
    this.#texts = Object.entries(texts).map(([name, text]) => [name, writeNpyText(text)]);
    const start = this.#place().head.length;
    this.#file = Deno.openSync(path, { write: true, createNew: true });
    this.#file.seekSync(start, Deno.SeekMode.Start);
  }

  /** The next elements. */
  write(block: NdArray["data"]): void {
    const bytes = bytesOf({ data: block });
    this.#crc = crc32Of(bytes, this.#crc);
    this.#written += bytes.length;
    writeAll(this.#file, bytes);
  }

  /**
   * Writes what lies around the array.
   * @returns the parts of the file, in order
   * @throws RangeError for an array that is not complete (a defect of the caller)
   */
  finish(): FilePart[] {
    if (this.#written !== this.#dataBytes) {
      throw new RangeError(`The array ${this.#array} has ${this.#written} of its ${this.#dataBytes} bytes`);
    }
    const { head, tail } = this.#place();
    writeAll(this.#file, tail);
    this.#file.seekSync(0, Deno.SeekMode.Start);
    writeAll(this.#file, head);
    return [head, { size: this.#dataBytes, crcBefore: crc32Of(this.#header), crc: this.#crc }, tail];
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** The bytes before and after the data of the array. */
  #place(): { head: Uint8Array; tail: Uint8Array } {
    const array = {
      name: `${this.#array}.npy`,
      size: this.#header.length + this.#dataBytes,
      crc: this.#crc,
      contents: this.#header,
    };
    const texts = this.#texts.map(([name, contents]) => ({
      name: `${name}.npy`,
      size: contents.length,
      crc: crc32Of(contents),
      contents,
    }));
    const { entries, directoryAt } = placeEntries([array, ...texts]);
    const at = entries.findIndex(({ name }) => name === array.name) + 1;
    const written = entries.map((entry) => joinBytes([localHeader(entry), entry.contents]));
    return {
      head: joinBytes(written.slice(0, at)),
      tail: joinBytes([...written.slice(at), directory(entries, directoryAt)]),
    };
  }
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}
