/**
 * The advisory lock of a running process. The system frees it when the process ends, so a bundle with status `running`
 * and a free lock has no process.
 *
 * On a network file system a lock may hold on its host alone. The file then has the name of the host: for others it is
 * held as long as the file is there. After a crash a process of the same host frees it.
 */
import {
  createFile,
  discardEntry,
  entryOf,
  inside,
  type InsideEntry,
  type InsidePath,
  linkFile,
  makeFolder,
  openFile,
  writeFile,
} from "../artifact/inside.ts";
import { entryInfo } from "../artifact/path_kind.ts";
import { basename } from "node:path";
import type { Workspace } from "./workspace.ts";

export interface RunLock {
  /** Frees the lock and removes its file; never fails: a file that stays is free, and the next holder takes it. */
  release(): void;
}

/**
 * Takes the lock of a run id.
 * @param create whether to create a missing lock file; without it a missing file counts as free
 * @returns null while another holder, in this or another process or on another host, has it, and where its place holds
 *   anything but a file: nothing can take it then
 */
export function tryLockRun(workspace: Workspace, runId: string, create = true): RunLock | null {
  const { locks, host } = workspace;
  for (;;) {
    const path = entryOf(locks, `${runId}.lock`);
    let file = create && host === undefined ? openFresh(path, locks) : null;
    if (file === null && entryInfo(path)?.isFile === false) return null;
    if (create && host !== undefined) claim(locks, path as InsidePath, host);
    try {
      file ??= openFile(path as InsidePath, { read: true, write: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      if (create) continue;
      return { release() {} };
    }
    const lock = lockFile(file, path, create, host);
    if (lock !== "replaced") return lock;
  }
}

/** Makes the file of a lock, and the folder of locks. @returns null where there is an entry */
function openFresh(path: InsideEntry, locks: InsidePath): Deno.FsFile | null {
  for (;;) {
    try {
      return createFile(path, { read: true });
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return null;
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      makeFolder(locks);
    }
  }
}

function lockFile(
  file: Deno.FsFile,
  path: InsideEntry,
  create: boolean,
  host: string | undefined,
): RunLock | "replaced" | null {
  if (!file.tryLockSync(true) || host !== undefined && textOf(file) !== host) {
    file.close();
    return null;
  }
  // The holder before may have removed the file between opening and locking.
  if (create && !isSameFile(path, file)) {
    file.close();
    return "replaced";
  }
  return {
    release() {
      // Removed before it is unlocked, so that no process locks a file that is removed next.
      discardEntry(path);
      file.close();
    },
  };
}

/** Makes the file of a lock with the name of a host, unless there is one: a link appears with its text, on one host only. */
function claim(locks: InsidePath, path: InsidePath, host: string): void {
  makeFolder(locks);
  const own = inside(locks, `${basename(path)}.${host}.${Deno.pid}`);
  writeFile(own, host);
  try {
    linkFile(own, path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  } finally {
    discardEntry(own);
  }
}

function textOf(file: Deno.FsFile): string {
  const bytes = new Uint8Array(Math.min(file.statSync().size, 1024));
  file.readSync(bytes);
  return new TextDecoder().decode(bytes);
}

/** Whether this or another process executes the run. */
export function isRunLocked(workspace: Workspace, runId: string): boolean {
  const lock = tryLockRun(workspace, runId, false);
  lock?.release();
  return lock === null;
}

/** Whether a path still names an open file. */
export function isSameFile(path: string, file: Deno.FsFile): boolean {
  try {
    return Deno.statSync(path).ino === file.statSync().ino;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
