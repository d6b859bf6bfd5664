/**
 * Removed runs and pruned artifacts that can be taken back for some time, in `runs/.trash/<time>-<random>/`: whole bundles in
 * `runs/<run id>`, and artifacts in `artifacts/<run id>/<path in the bundle>`.
 *
 * A file enters and leaves by one rename, so a process that stops loses nothing: what it had not moved stays in its run. The
 * next removal ends the one before, and each list of runs ends those that are older than ten minutes.
 */
import { entryInside, inside, type InsideEntry, type InsidePath, makeFolder } from "../artifact/inside.ts";
import { entriesOf } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import type { Digest } from "../contract/names.ts";
import { releaseContents } from "../execute/contents.ts";
import { type BundleFiles, DISK, listFiles } from "./files.ts";
import { tryLockRun } from "./lock.ts";
import { digestsOf, readPruned } from "./prune.ts";
import { isRunId } from "./reservation.ts";
import type { Workspace } from "./workspace.ts";

/** Time in which a removal can be taken back. */
export const UNDO_MS = 600_000;
const REMOVAL = /^(\d{13})-[0-9a-f]{12}$/;

/** A name for a removal of now. */
export const removalId = (): string =>
  `${String(Date.now()).padStart(13, "0")}-${crypto.getRandomValues(new Uint8Array(6)).toHex()}`;

/** The place of a removed run. */
export const removedRun = ({ trash }: Workspace, removal: string, runId: string): InsideEntry =>
  entryInside(trash, removal, "runs", runId);

/** The folder of the pruned artifacts of a run. */
export const prunedFolder = ({ trash }: Workspace, removal: string, runId: string): InsidePath =>
  inside(trash, removal, "artifacts", runId);

/** Removals that can be taken back, newest last. */
export const removals = ({ trash }: Workspace): string[] =>
  entriesOf(trash).filter(({ isDirectory, name }) => isDirectory && REMOVAL.test(name)).map(({ name }) => name).sort();

/** The runs of a removal: those that were removed, and those whose artifacts were. */
export function runsOf({ trash }: Workspace, removal: string): { removed: string[]; pruned: string[] } {
  const idsIn = (part: string) =>
    entriesOf(inside(trash, removal, part)).filter(({ isDirectory, name }) => isDirectory && isRunId(name))
      .map(({ name }) => name).sort();
  return { removed: idsIn("runs"), pruned: idsIn("artifacts") };
}

/** Ends the removals that began before a time: their files are deleted. */
export function emptyTrash(workspace: Workspace, before = Infinity, files: BundleFiles = DISK): void {
  for (const removal of removals(workspace)) {
    if (Number(REMOVAL.exec(removal)![1]) >= before) continue;
    // Somebody takes it back.
    const lock = tryLockRun(workspace, removal);
    if (lock === null) continue;
    try {
      const digests = digestsIn(workspace, removal), hidden = entryInside(workspace.transit, removal);
      makeFolder(workspace.transit);
      // Once it is hidden nothing can be taken back, however far the deletion comes.
      files.rename(entryInside(workspace.trash, removal), hidden);
      files.remove(hidden);
      releaseContents(workspace.contents, digests);
    } finally {
      lock.release();
    }
  }
}

/** Digests of the files of a removal; those of documents that cannot be read are left to the collection of garbage. */
function digestsIn(workspace: Workspace, removal: string): Digest[] {
  const { removed, pruned } = runsOf(workspace, removal);
  return [
    ...removed.flatMap((id) => digestsOf(inside(workspace.trash, removal, "runs", id))),
    ...pruned.flatMap((id) => {
      const paths = new Set(listFiles(prunedFolder(workspace, removal, id)).map(({ path }) => path));
      try {
        return (readPruned(inside(workspace.runs, id))?.files ?? []).filter(({ path }) => paths.has(path))
          .map(({ sha256 }) => sha256);
      } catch (error) {
        if (error instanceof SvcError || error instanceof Deno.errors.NotFound) return [];
        throw error;
      }
    }),
  ];
}
