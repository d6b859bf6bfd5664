/** Removes backing runs whose snapshot is kept: renamed at once, deleted while the next row runs. */
import { join } from "node:path";
import { tryLockRun } from "../run/lock.ts";
import { markRemoved } from "../run/reservation.ts";
import type { Workspace } from "../run/workspace.ts";

/** Maximum number of folders that wait for deletion; beyond it the benchmark waits. */
const MOST_WAITING = 4;

export class Pruner {
  readonly #workspace: Workspace;
  readonly #waiting = new Set<Promise<void>>();
  #failure: unknown;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Moves a finished run away and starts to delete it; a run that another process has locked stays. */
  async prune(runId: string): Promise<void> {
    const { transit, runs } = this.#workspace;
    const lock = tryLockRun(this.#workspace, runId);
    if (lock === null) return;
    const grave = join(transit, runId);
    try {
      Deno.mkdirSync(transit, { recursive: true });
      // One rename, so that no reader sees a partial bundle.
      markRemoved(this.#workspace, runId);
      Deno.renameSync(join(runs, runId), grave);
    } catch (error) {
      lock.release();
      throw error;
    }
    const deleted = Deno.remove(grave, { recursive: true })
      .catch((error) => {
        // Another process that lists runs cleans the folder as well.
        if (!(error instanceof Deno.errors.NotFound)) this.#failure ??= error;
      })
      .finally(() => {
        lock.release();
        this.#waiting.delete(deleted);
      });
    this.#waiting.add(deleted);
    if (this.#waiting.size >= MOST_WAITING) await Promise.race(this.#waiting);
  }

  /** Waits until everything is deleted. @throws the first error of a deletion */
  async finish(): Promise<void> {
    await Promise.all(this.#waiting);
    if (this.#failure !== undefined) throw this.#failure;
  }
}
