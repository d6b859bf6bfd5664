/** Writing files so that a reader sees the old bytes or the new ones, never a part. */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";

/**
 * Replaces a file atomically: the bytes go to a temporary file beside it, reach the disk, and are renamed into place.
 * After a failure the old file is as it was and nothing else is left.
 *
 * @param contents bytes, or a text written as UTF-8
 * @throws SvcError `file_write_failed`
 */
export function writeFileAtomic(path: string, contents: Uint8Array | string): void {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  let made = false;
  try {
    const descriptor = openSync(temporary, "wx", 0o644);
    made = true;
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    if (made) {
      try {
        unlinkSync(temporary);
      } catch {
        // It was renamed, or its folder is gone.
      }
    }
    // Without the system call and the temporary name, which say nothing to a reader.
    const why = messageOf(error).replace(/, \w+ '[^']*'( -> '[^']*')?$/, "");
    const hint = (error as { code?: unknown }).code === "ENOENT" ? `Make the folder ${dirname(path)} first` : null;
    throw new SvcError("file_write_failed", `Cannot write ${path}: ${why}`, { hint, cause: error });
  }
}
