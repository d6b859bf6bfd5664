/**
 * The advisory lock of a running process. The system frees it when the process ends, so a bundle with status `running`
 * and a free lock has no process.
 */
import { join } from "node:path";
import type { Workspace } from "./workspace.ts";

export interface RunLock {
  /** Frees the lock and removes its file. */
  release(): void;
}

/**
 * Takes the lock of a run id.
 * @param create whether to create a missing lock file; without it a missing file counts as free
 * @returns null while another holder, in this or another process, has it
 */
export function tryLockRun(workspace: Workspace, runId: string, create = true): RunLock | null {
  for (;;) {
    const lock = tryLock(join(workspace.locks, `${runId}.lock`), workspace.locks, create);
    if (lock !== "replaced") return lock;
  }
}

function tryLock(path: string, folder: string, create: boolean): RunLock | "replaced" | null {
  if (create) Deno.mkdirSync(folder, { recursive: true });
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(path, { read: true, write: true, create });
  } catch (error) {
    if (!create && error instanceof Deno.errors.NotFound) return { release() {} };
    throw error;
  }
  if (!file.tryLockSync(true)) {
    file.close();
    return null;
  }
  // The holder before may have removed the file between opening and locking.
  if (create && !isFileOf(path, file)) {
    file.close();
    return "replaced";
  }
  return {
    release() {
      // Removed before it is unlocked, so that no process locks a file that is removed next.
      try {
        Deno.removeSync(path);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      } finally {
        file.close();
      }
    },
  };
}

/** Whether this or another process executes the run. */
export function isRunLocked(workspace: Workspace, runId: string): boolean {
  const lock = tryLockRun(workspace, runId, false);
  lock?.release();
  return lock === null;
}

function isFileOf(path: string, file: Deno.FsFile): boolean {
  try {
    return Deno.statSync(path).ino === file.statSync().ino;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
