/**
 * Bundles of short runs, each written at once at its end. Runs that end while others become durable wait for the disk
 * together.
 *
 * A bundle is written in a folder of this process in the transit folder. One rename puts it among the runs, after its
 * documents are durable: a process that stops earlier leaves nothing of the run but its reserved id.
 */
import { discardEntry, entryOf, inside, makeFolder, makeNewFolder, type NewFolder } from "../artifact/inside.ts";
import { SvcError } from "../contract/error.ts";
import { KnownContents } from "../execute/contents.ts";
import type { SummaryDocument } from "./bundle_schema.ts";
import { type BundleFiles, DISK } from "./files.ts";
import type { HeldFiles } from "./held.ts";
import { type RunLock, tryLockRun } from "./lock.ts";
import type { IsKept, PrunedFile } from "./prune.ts";
import type { Workspace } from "./workspace.ts";

const SHORT_MS = 200;

/** A written bundle that is not among the runs yet. */
interface Written {
  nursery: NewFolder;
  runId: string;
  /** Paths whose contents become durable first. */
  documents: readonly string[];
  settled: PromiseWithResolvers<void>;
}

export class BundleCommits implements Disposable {
  readonly workspace: Workspace;
  readonly files: BundleFiles;
  /** A run that executes for this time is seen among the runs from then on. */
  readonly shortMs: number;
  readonly contents: KnownContents | undefined;
  #place: { folder: NewFolder; lock: RunLock } | undefined;
  #waiting: Written[] = [];
  #working = false;

  /** @param options `share` stores equal artifacts once, as `RunOptions.share` */
  constructor(
    workspace: Workspace,
    { files = DISK, share = true, shortMs = SHORT_MS }: { files?: BundleFiles; share?: boolean; shortMs?: number } = {},
  ) {
    this.workspace = workspace;
    this.files = files;
    this.shortMs = shortMs;
    this.contents = share ? new KnownContents(workspace.contents) : undefined;
  }

  /**
   * Writes the bundle of a finished run.
   * @returns the artifacts that were not kept, once the bundle is durable and among the runs
   */
  async commit(summary: SummaryDocument, held: HeldFiles, isKept?: IsKept): Promise<PrunedFile[]> {
    const { files, contents } = this, runId = summary.run_id;
    const nursery = makeNewFolder(entryOf(this.#folder(), runId));
    try {
      const left = await held.write(nursery, summary, { isKept, contents, files });
      const documents = [...held.documents.map((name) => entryOf(nursery, name)), nursery];
      const settled = Promise.withResolvers<void>();
      this.#waiting.push({ nursery, runId, documents, settled });
      if (!this.#working) this.#work();
      await settled.promise;
      return left;
    } catch (error) {
      discardEntry(nursery, files.remove);
      throw error;
    }
  }

  /** Makes the waiting bundles durable and puts them among the runs, all that came meanwhile at once; never rejects. */
  async #work(): Promise<void> {
    this.#working = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      const ends = await Promise.allSettled(batch.map(async ({ documents, nursery, runId }) => {
        await this.files.syncAll(documents);
        this.files.rename(nursery, inside(this.workspace.runs, runId));
      }));
      const moved = await Promise.try(() => this.files.syncFolder(this.workspace.runs)).then(
        () => null,
        (error) => error,
      );
      for (const [index, { settled }] of batch.entries()) {
        const end = ends[index];
        if (end.status === "rejected") settled.reject(end.reason);
        else if (moved !== null) settled.reject(moved);
        else settled.resolve();
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
