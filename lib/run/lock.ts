/**
 * The advisory lock that the process of a run holds while it executes. The system frees it when the process ends,
 * however it ends, so a free lock under a bundle that says `running` means that nobody is working on it any more.
 */
import { join } from "node:path";
import type { Workspace } from "./workspace.ts";

export interface RunLock {
  /** Frees the lock and removes its file. */
  release(): void;
}

/**
 * Takes the lock of a run id.
 *
 * @param create whether to make the lock file when there is none; without it a missing file counts as free
 * @returns null while another holder, of this process or another, has it
 */
export function tryLockRun(workspace: Workspace, runId: string, create = true): RunLock | null {
  const path = join(workspace.locks, `${runId}.lock`);
  if (create) Deno.mkdirSync(workspace.locks, { recursive: true });
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
  return {
    release() {
      // An id is given out once, so nobody can be waiting for this very file: it may go before it is unlocked.
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

/** Whether a run is executing right now, in this process or another. */
export function isRunLocked(workspace: Workspace, runId: string): boolean {
  const lock = tryLockRun(workspace, runId, false);
  lock?.release();
  return lock === null;
}
