/**
 * Staging for the managed store: a package is written in a folder of its own and renamed into place, so that a reader, or
 * a program that starts after a crash, sees all of it or nothing. Remains of a crash are removed by the next caller
 * that stages a file; a lock, which the system frees with its process, marks staging that is in progress.
 */
import { randomUUID } from "node:crypto";
import {
  discardEntry,
  entryInside,
  inside,
  type InsidePath,
  makeFolder,
  makeFolderOf,
  openFile,
} from "../artifact/inside.ts";
import { entriesOf, isPlainFile } from "../artifact/path_kind.ts";
import { writeNewFile } from "../artifact/write_file.ts";

/** Folder of staged packages in the store; its name is no digest. Exported for tests. */
export const TRANSIT = ".transit";
const LOCK_SUFFIX = ".lock";

/** A folder of one's own to prepare something in. */
export interface Staging {
  readonly folder: string;
  /** Writes a file and waits until it is on the disk. */
  write(path: string, bytes: Uint8Array): void;
  /** Removes the folder with all that is left in it; never fails: the next caller clears what the storage keeps. */
  release(): void;
}

/** Makes a staging folder in the store, after clearing those whose makers are gone. */
export function stage(store: string): Staging {
  const transit = inside(store, TRANSIT);
  makeFolder(transit);
  clearAbandoned(transit);
  const name = randomUUID();
  const folder = inside(transit, name), lockPath = inside(transit, name + LOCK_SUFFIX);
  const lock = openFile(lockPath, { read: true, write: true, create: true });
  lock.lockSync(true);
  makeFolder(folder);
  return {
    folder,
    write(path, bytes) {
      const place = inside(folder, path);
      makeFolderOf(place);
      writeNewFile(place, bytes);
    },
    release() {
      discardEntry(folder);
      discardEntry(lockPath);
      lock.close();
    },
  };
}

function clearAbandoned(transit: InsidePath): void {
  const names = entriesOf(transit).map(({ name }) => name);
  for (const name of names) {
    const isLock = name.endsWith(LOCK_SUFFIX);
    const own = isLock ? name.slice(0, -LOCK_SUFFIX.length) : name;
    // A folder is cleared with its lock; one without a lock has lost its maker between two steps of clearing.
    if (!isLock && names.includes(name + LOCK_SUFFIX)) continue;
    let lock: Deno.FsFile | undefined;
    try {
      if (isLock && isPlainFile(entryInside(transit, name))) {
        lock = openFile(inside(transit, name), { read: true, write: true });
        if (!lock.tryLockSync(true)) continue;
      }
      discardEntry(entryInside(transit, own));
      discardEntry(entryInside(transit, own + LOCK_SUFFIX));
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    } finally {
      lock?.close();
    }
  }
}
