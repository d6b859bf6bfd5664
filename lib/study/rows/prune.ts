/**
 * Removes backing runs whose snapshot is kept: renamed at once, deleted while the next row runs. The reservation of an id
 * is deleted after its second has passed, because no later run can then get the id. `runs gc` deletes those of the last second.
 */
import { entryInside, makeFolder, moveEntry, removeEntry } from "../../artifact/inside.ts";
import { tryLockRun } from "../../run/lock.ts";
import { reservedBefore } from "../../run/reservation.ts";
import type { Workspace } from "../../run/workspace.ts";

/** Maximum number of folders that wait for deletion; beyond it the benchmark waits. */
const MOST_WAITING = 4;

export class Pruner {
  readonly #workspace: Workspace;
  readonly #waiting = new Set<Promise<void>>();
  #reserved: string[] = [];
  #failure: unknown;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Moves a finished run away and starts to delete it; a run that another process has locked stays. */
  async prune(runId: string): Promise<void> {
    const { transit, runs } = this.#workspace;
    const lock = tryLockRun(this.#workspace, runId);
    if (lock === null) return;
    const grave = entryInside(transit, runId);
    try {
      makeFolder(transit);
      // One rename, so that no reader sees a partial bundle.
      moveEntry(entryInside(runs, runId), grave);
    } catch (error) {
      lock.release();
      throw error;
    }
    this.#reserved.push(runId);
    this.#release();
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

  /** Removes the reservations of ids that cannot be made again. */
  #release(): void {
    const now = new Date(), gone = this.#reserved.filter((id) => reservedBefore(id, now));
    if (gone.length === 0) return;
    this.#reserved = this.#reserved.filter((id) => !gone.includes(id));
    for (const id of gone) removeEntry(entryInside(this.#workspace.reservations, id));
  }

  /** Waits until everything is deleted. @throws the first error of a deletion */
  async finish(): Promise<void> {
    await Promise.all(this.#waiting);
    this.#release();
    if (this.#failure !== undefined) throw this.#failure;
  }
}
