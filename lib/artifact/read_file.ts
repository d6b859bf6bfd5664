/** Reads a file of unknown origin and size. */
import { SvcError } from "../contract/error.ts";

/**
 * Reads a regular file up to a limit. The size that the system reports is not relied on: files below `/proc` have more.
 * @param name names the file in messages
 * @throws SvcError `path_refused` for a pipe, a device, a folder or a link, `artifact_limit_exceeded`; errors of the system
 */
export async function readBounded(path: string, maxBytes: number, name = path): Promise<Uint8Array<ArrayBuffer>> {
  // Before it is opened: opening a pipe waits for its writer.
  if (!(await Deno.lstat(path)).isFile) {
    throw new SvcError("path_refused", `Cannot read ${name}: it is not a regular file`);
  }
  const exceeded = () =>
    new SvcError("artifact_limit_exceeded", `Cannot read ${name}: it has more than ${maxBytes} bytes`, {
      hint: "Split the file",
    });
  using file = await Deno.open(path, { read: true });
  const { size } = await file.stat();
  if (size > maxBytes) throw exceeded();
  let bytes = new Uint8Array(size), length = 0;
  const probe = new Uint8Array(1);
  for (;;) {
    if (length < bytes.length) {
      const count = await file.read(bytes.subarray(length));
      if (count === null) return bytes.slice(0, length);
      length += count;
      continue;
    }
    if (await file.read(probe) === null) return bytes;
    if (length === maxBytes) throw exceeded();
    const grown = new Uint8Array(Math.min(maxBytes, Math.max(65536, 2 * length)));
    grown.set(bytes);
    grown[length++] = probe[0];
    bytes = grown;
  }
}
