/** Atomic file writes: a reader sees the old or the new bytes. */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";

/** Writes a new file, synced to disk. @throws Error `EEXIST` where there is one */
export function writeNewFile(path: string, bytes: Uint8Array): void {
  const descriptor = openSync(path, "wx", 0o644);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Syncs a file, or a folder after a rename in it, to disk; Windows cannot open folders, and their renames need no sync. */
export function syncEntry(path: string): void {
  if (Deno.build.os === "windows") return;
  const entry = Deno.openSync(path, { read: true });
  try {
    entry.syncSync();
  } finally {
    entry.close();
  }
}

/**
 * Replaces a file atomically: the bytes go to a temporary file in the same folder, are synced to disk, and renamed into
 * place. After a failure the old file is unchanged and the temporary one removed.
 * @param contents bytes, or a text written as UTF-8
 * @param mode of the file
 * @throws SvcError `file_write_failed`
 */
export function writeFileAtomic(path: string, contents: Uint8Array | string, mode = 0o644): void {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  const temporary = join(dirname(path), `.${basename(path).slice(0, 64)}.${randomUUID()}.tmp`);
  let made = false;
  try {
    const descriptor = openSync(temporary, "wx", mode);
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
    // Removes the system call and the temporary name.
    const why = messageOf(error).replace(/, \w+ '[^']*'( -> '[^']*')?$/, "");
    const hint = (error as { code?: unknown }).code === "ENOENT" ? `Create the folder ${dirname(path)} first` : null;
    throw new SvcError("file_write_failed", `Cannot write ${path}: ${why}`, { hint, cause: error });
  }
}
