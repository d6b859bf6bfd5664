/**
 * Staging for the managed store: a package is written in a folder of its own and renamed into place, so that a reader, or
 * a program that starts after a crash, sees all of it or nothing. Remains of a crash are removed by the next caller
 * that stages a file; a lock, which the system frees with its process, marks staging that is in progress.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeNewFile } from "../artifact/write_file.ts";

/** Folder of staged packages in the store; its name is no digest. Exported for tests. */
export const TRANSIT = ".transit";
const LOCK_SUFFIX = ".lock";

/** A folder of one's own to prepare something in. */
export interface Staging {
  readonly folder: string;
  /** Writes a file and waits until it is on the disk. */
  write(path: string, bytes: Uint8Array): void;
  /** Removes the folder with all that is left in it. */
  release(): void;
}

/** Makes a staging folder in the store, after clearing those whose makers are gone. */
export function stage(store: string): Staging {
  const transit = join(store, TRANSIT);
  mkdirSync(transit, { recursive: true });
  clearAbandoned(transit);
  const name = randomUUID();
  const folder = join(transit, name), lockPath = folder + LOCK_SUFFIX;
  const lock = Deno.openSync(lockPath, { read: true, write: true, create: true });
  lock.lockSync(true);
  mkdirSync(folder);
  return {
    folder,
    write(path, bytes) {
      const place = join(folder, path);
      mkdirSync(dirname(place), { recursive: true });
      writeNewFile(place, bytes);
    },
    release() {
      rmSync(folder, { recursive: true, force: true });
      rmSync(lockPath, { force: true });
      lock.close();
    },
  };
}

function clearAbandoned(transit: string): void {
  const names = readdirSync(transit);
  for (const name of names) {
    const isLock = name.endsWith(LOCK_SUFFIX);
    const own = isLock ? name.slice(0, -LOCK_SUFFIX.length) : name;
    // A folder is cleared with its lock; one without a lock has lost its maker between two steps of clearing.
    if (!isLock && names.includes(name + LOCK_SUFFIX)) continue;
    let lock: Deno.FsFile | undefined;
    try {
      if (isLock) {
        lock = Deno.openSync(join(transit, name), { read: true, write: true });
        if (!lock.tryLockSync(true)) continue;
      }
      rmSync(join(transit, own), { recursive: true, force: true });
      rmSync(join(transit, own + LOCK_SUFFIX), { force: true });
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    } finally {
      lock?.close();
    }
  }
}
