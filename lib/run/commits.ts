/**
 * Bundles of short runs, each written at once at its end, on a step thread where there is one. Runs that end while others
 * become durable wait for the disk together.
 *
 * A bundle is written in a folder of this process in the transit folder. One rename puts it among the runs, after its
 * documents are durable: a process that stops earlier leaves nothing of the run but its reserved id.
 */
import {
  discardEntry,
  entryOf,
  inside,
  type InsideEntry,
  makeFolder,
  makeNewFolder,
  type NewFolder,
} from "../artifact/inside.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { systemCodeOf } from "../contract/system_error.ts";
import { type BundleJob, type WholeBundle, writeBundle } from "../execute/bundle_files.ts";
import { KnownContents } from "../execute/contents.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import { type BundleFiles, DISK } from "./files.ts";
import type { HeldFiles } from "./held.ts";
import { type RunLock, tryLockRun } from "./lock.ts";
import type { IsKept, PrunedFile } from "./prune.ts";
import type { Workspace } from "./workspace.ts";

const SHORT_MS = 200;

/** A durable bundle that is not among the runs yet. */
interface Written {
  nursery: InsideEntry;
  runId: string;
  settled: PromiseWithResolvers<void>;
}

export interface CommitOptions {
  files?: BundleFiles;
  /** Whether equal artifacts are stored once, as `RunOptions.share`. */
  share?: boolean;
  shortMs?: number;
  /** Writes bundles on another thread; without it this one does. */
  save?: (job: BundleJob) => Promise<void>;
}

export class BundleCommits implements Disposable {
  readonly workspace: Workspace;
  readonly files: BundleFiles;
  /** A run that executes for this time is seen among the runs from then on. */
  readonly shortMs: number;
  readonly contents: KnownContents | undefined;
  readonly #save: CommitOptions["save"];
  #place: { folder: NewFolder; lock: RunLock } | undefined;
  #waiting: Written[] = [];
  #working = false;

  constructor(workspace: Workspace, { files = DISK, share = true, shortMs = SHORT_MS, save }: CommitOptions = {}) {
    this.workspace = workspace;
    this.files = files;
    this.shortMs = shortMs;
    this.contents = share ? new KnownContents(workspace.contents) : undefined;
    this.#save = save;
  }

  /**
   * Writes the bundle of a finished run.
   * @returns the artifacts that were not kept, once the bundle is durable and among the runs
   */
  async commit(summary: SummaryDocument, held: HeldFiles, isKept?: IsKept): Promise<PrunedFile[]> {
    const { files } = this, runId = summary.run_id, nursery = entryOf(this.#folder(), runId);
    const settled = Promise.withResolvers<void>();
    let left = isKept === undefined ? [] : held.dropped(summary, isKept);
    try {
      try {
        await this.#write(nursery, held.bundle(summary, left));
      } catch (error) {
        if (!(error instanceof SvcError && error.code === "output_hash_mismatch")) throw error;
        left = [...new Map([...left, ...held.changed(summary)].map((file) => [file.path, file])).values()];
        await this.#write(nursery, held.bundle(summary, left));
      }
      this.#waiting.push({ nursery, runId, settled });
      if (!this.#working) this.#work();
      await settled.promise;
      return left;
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
  }

  async #write(place: InsideEntry, bundle: WholeBundle): Promise<void> {
    const { files, contents } = this, save = this.#save;
    if (save === undefined) return await writeBundle(place, bundle, { files, contents });
    try {
      await save({ ...bundle, place, contents: contents === undefined ? null : this.workspace.contents });
    } catch (error) {
      const code = systemCodeOf(error);
      // As the error of this thread would be.
      throw code === null ? error : Object.assign(new Error(messageOf(error)), { code });
    }
  }

  /** Puts the waiting bundles among the runs, all that came meanwhile at once; never rejects. */
  async #work(): Promise<void> {
    this.#working = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0), { workspace, files } = this;
      const moved = await Promise.allSettled(
        batch.map(({ nursery, runId }) => Promise.try(() => files.rename(nursery, entryOf(workspace.runs, runId)))),
      );
      const [durable] = await Promise.allSettled([Promise.try(() => files.syncFolder(workspace.runs))]);
      for (const [index, { settled }] of batch.entries()) {
        const failed = [moved[index], durable].find((end) => end.status === "rejected");
        if (failed === undefined) settled.resolve();
        else settled.reject(failed.reason);
      }
    }
    this.#working = false;
  }

  #folder(): NewFolder {
    if (this.#place !== undefined) return this.#place.folder;
    const { transit } = this.workspace, name = `points-${crypto.randomUUID()}`;
    makeFolder(transit);
    // Recovery removes what is in transit without a lock.
    const lock = tryLockRun(this.workspace, name);
    if (lock === null) throw new SvcError("internal_error", `Cannot lock the new folder ${name}`);
    this.#place = { folder: makeNewFolder(inside(transit, name)), lock };
    return this.#place.folder;
  }

  [Symbol.dispose](): void {
    if (this.#place === undefined) return;
    const { folder, lock } = this.#place;
    this.#place = undefined;
    try {
      discardEntry(folder, this.files.remove);
    } finally {
      lock.release();
    }
  }
}
