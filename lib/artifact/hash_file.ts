/** SHA-256 of files of any size, read in blocks. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { messageOf, SvcError } from "../contract/error.ts";
import type { Digest } from "../contract/names.ts";

const BLOCK_BYTES = 1 << 20;
/** A file of more bytes, with less than this share of them on the disk, is not read: it holds nothing but zeros. */
const SPARSE = { bytes: 2 ** 30, share: 1 / 1024 };

/**
 * Hashes a regular file.
 * @param maxBytes a larger file is refused, also one that grows while it is read
 * @returns its digest and the number of hashed bytes
 * @throws SvcError `file_unreadable` for a missing file, a symlink, a sparse giant, or a path that is not a regular file
 */
export function hashFile(path: string, maxBytes = Infinity): { sha256: Digest; size_bytes: number } {
  const unreadable = (why: string, cause?: unknown) =>
    new SvcError("file_unreadable", `Cannot hash the file ${path}: ${why}`, { cause });
  let descriptor: number;
  try {
    const before = lstatSync(path);
    if (before.isSymbolicLink()) throw unreadable("it is a symbolic link");
    if (!before.isFile()) throw unreadable("it is not a regular file");
    // A link created since the check is not followed either.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    throw error instanceof SvcError ? error : unreadable(messageOf(error), error);
  }
  try {
    const opened = fstatSync(descriptor);
    if (!opened.isFile()) throw unreadable("it is not a regular file");
    if (opened.size > SPARSE.bytes && 512 * (opened.blocks ?? Infinity) < SPARSE.share * opened.size) {
      throw unreadable(`it has ${opened.size} bytes and almost none of them on the disk`);
    }
    const hash = createHash("sha256");
    // Most files of a bundle are much smaller than a block.
    const block = new Uint8Array(Math.min(BLOCK_BYTES, opened.size + 1));
    let size_bytes = 0;
    for (let count; (count = readSync(descriptor, block, 0, block.length, null)) > 0; size_bytes += count) {
      if (size_bytes + count > maxBytes) throw unreadable(`it has more than ${maxBytes} bytes`);
      hash.update(count === block.length ? block : block.subarray(0, count));
    }
    return { sha256: hash.digest("hex") as Digest, size_bytes };
  } finally {
    closeSync(descriptor);
  }
}
