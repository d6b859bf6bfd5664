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
      // An id is used once, so no process waits for this file: it can be removed before it is unlocked.
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
