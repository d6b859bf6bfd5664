/** Random access to the bytes of a file of unknown origin, in memory or on the disk. */
import { SvcError } from "../contract/error.ts";

export interface ByteSource {
  readonly size: number;
  /** Where the file lies, for a thread that opens it again. */
  readonly path?: string;
  /** Bytes from an offset, fewer at the end; of memory a view. */
  at(from: number, length: number): Uint8Array;
}

export const memorySource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  at: (from, length) => bytes.subarray(from, from + length),
});

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * Opens a regular file.
 * @param name names the file in messages
 * @throws SvcError `path_refused` for a pipe, a device, a folder or a link, `artifact_limit_exceeded`, `file_unreadable` when
 *   the file shrinks; errors of the system
 */
export function fileSource(path: string, maxBytes: number, name = path): ByteSource & Disposable {
  // Before it is opened: opening a pipe waits for its writer.
  if (!Deno.lstatSync(path).isFile) {
    throw new SvcError("path_refused", `Cannot read ${name}: it is not a regular file`);
  }
  const file = Deno.openSync(path, { read: true }), { size } = file.statSync();
  if (size > maxBytes) {
    file.close();
    throw new SvcError("artifact_limit_exceeded", `Cannot read ${name}: it has more than ${maxBytes} bytes`, {
      hint: "Split the file",
    });
  }
  return {
    size,
    path,
    at(from, length) {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - from)));
      file.seekSync(from, Deno.SeekMode.Start);
      for (let at = 0; at < bytes.length;) {
        const count = file.readSync(bytes.subarray(at));
        if (count === null) throw new SvcError("file_unreadable", `Cannot read ${name}: it became shorter`);
        at += count;
      }
      return bytes;
    },
    [Symbol.dispose]: () => file.close(),
  };
}
