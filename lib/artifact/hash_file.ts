/** SHA-256 of files, read in blocks so that size does not matter. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { messageOf, SvcError } from "../contract/error.ts";

const BLOCK_BYTES = 1 << 20;

/**
 * Hashes a regular file.
 *
 * @returns its digest and the number of bytes that were hashed
 * @throws SvcError `file_unreadable` when it is missing, no regular file, or a symlink
 */
export function hashFile(path: string): { sha256: string; size_bytes: number } {
  const unreadable = (why: string, cause?: unknown) =>
    new SvcError("file_unreadable", `Cannot hash the file ${path}: ${why}`, { cause });
  let descriptor: number;
  try {
    const before = lstatSync(path);
    if (before.isSymbolicLink()) throw unreadable("it is a symbolic link");
    if (!before.isFile()) throw unreadable("it is no regular file");
    // A link put there in between is not followed either.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    throw error instanceof SvcError ? error : unreadable(messageOf(error), error);
  }
  try {
    const opened = fstatSync(descriptor);
    if (!opened.isFile()) throw unreadable("it is no regular file");
    const hash = createHash("sha256");
    // Most files of a bundle are far smaller than a block.
    const block = new Uint8Array(Math.min(BLOCK_BYTES, opened.size + 1));
    let size_bytes = 0;
    for (let count; (count = readSync(descriptor, block, 0, block.length, null)) > 0; size_bytes += count) {
      hash.update(count === block.length ? block : block.subarray(0, count));
    }
    return { sha256: hash.digest("hex"), size_bytes };
  } finally {
    closeSync(descriptor);
  }
}
