/** Prunes and removes selected runs, with the freed bytes. */
import { join } from "node:path";
import { entryInside, inside, type InsidePath } from "../artifact/inside.ts";
import { entryInfo, exists } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import { type Digest, quoted } from "../contract/names.ts";
import type { JsonObject } from "../contract/value.ts";
import { contentsPath } from "../execute/contents.ts";
import { outputsOf } from "./bundle_schema.ts";
import { SUMMARY_FILE } from "./documents.ts";
import { type BundleFiles, DISK, listFiles } from "./files.ts";
import { pruneBundle, unlistPruned } from "./prune.ts";
import { readDocument } from "./read.ts";
import { putBack } from "./restore.ts";
import { type RunSelection, selectRuns } from "./select.ts";
import { lockRuns, removeRuns, type RunRow } from "./store.ts";
import { emptyTrash, prunedFolder, removalId, removals, removedRun, runsOf } from "./trash.ts";
import type { Workspace } from "./workspace.ts";

/** Result of pruning or removing selected runs, also with `dryRun`. */
export interface RetentionReport extends JsonObject {
  dry_run: boolean;
  /** `size_bytes` counts the removed files. */
  runs: { run_id: string; recipe_name: string | null; files: number; size_bytes: number }[];
  files: number;
  size_bytes: number;
  /** Without the bytes that other bundles share. */
  freed_bytes: number;
}

/** A report of files that {@link takeBack} puts back. */
export interface UndoableReport extends RetentionReport {
  /** Name of the removal. */
  removal: string;
}

/** The runs that were taken back. */
export interface TakenBack extends JsonObject {
  removal: string;
  /** Removed runs that are back. */
  runs: string[];
  /** Runs whose artifacts are back. */
  artifacts_of: string[];
}

export interface RetentionOptions {
  /** Whether nothing is changed; default false. */
  dryRun?: boolean;
  /** Whether the files are kept for ten minutes, or until the next removal, for {@link takeBack}; default false. */
  undoable?: boolean;
  files?: BundleFiles;
}

/**
 * Removes artifacts of the selected runs and keeps every document and digest.
 * @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing`, `bundle_schema_invalid`
 */
export function pruneRuns(
  workspace: Workspace,
  selection: RunSelection,
  { dryRun = false, undoable = false, files = DISK }: RetentionOptions = {},
): RetentionReport | UndoableReport {
  const rows = selectRuns(workspace, selection, "prune");
  const report = reportOf(
    workspace,
    rows,
    dryRun,
    (directory) =>
      outputsOf(readDocument(directory, SUMMARY_FILE))
        .map(({ output: { path, sha256 } }) => ({ path: inside(directory, path), sha256 })),
  );
  if (dryRun) return report;
  const ids = report.runs.map(({ run_id }) => run_id);
  using _locks = lockRuns(workspace, ids, "prune");
  emptyTrash(workspace, Infinity, files);
  const removal = undoable && ids.length > 0 ? removalId() : undefined;
  for (const id of ids) {
    const keptIn = removal === undefined ? undefined : prunedFolder(workspace, removal, id);
    pruneBundle(workspace, id, () => false, files, keptIn);
  }
  return removal === undefined ? report : { ...report, removal };
}

/** Removes the selected runs; their ids stay reserved. @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing` */
export function removeSelected(
  workspace: Workspace,
  selection: RunSelection,
  { dryRun = false, undoable = false, files = DISK }: RetentionOptions = {},
): RetentionReport | UndoableReport {
  const rows = selectRuns(workspace, selection, "remove");
  const report = reportOf(workspace, rows, dryRun, (directory, row) => {
    const digests = new Map(row.problem === undefined ? digestsByPath(directory) : []);
    return listFiles(directory).map(({ path }) => ({ path: join(directory, path), sha256: digests.get(path) ?? null }));
  });
  if (dryRun) return report;
  emptyTrash(workspace, Infinity, files);
  const ids = report.runs.map(({ run_id }) => run_id), removal = undoable && ids.length > 0 ? removalId() : undefined;
  removeRuns(workspace, ids, files, removal);
  return removal === undefined ? report : { ...report, removal };
}

/**
 * Takes back a removal or a pruning whose files were kept. A process that stops on the way leaves the rest to be taken back.
 * @param wanted name of the removal; the latest when left out
 * @throws SvcError `removal_not_found`, `run_still_executing`, `removal_not_empty` where a run of that name came meanwhile
 */
export function takeBack(workspace: Workspace, wanted?: string, files: BundleFiles = DISK): TakenBack {
  const removal = removals(workspace).findLast((name) => wanted === undefined || name === wanted);
  if (removal === undefined) {
    throw new SvcError(
      "removal_not_found",
      `Cannot find ${wanted === undefined ? "a removal" : quoted(wanted)} to undo`,
      {
        hint: "A removal with --undoable can be undone for 10 minutes, until the next one",
      },
    );
  }
  using _removal = lockRuns(workspace, [removal], "take back");
  const { removed, pruned } = runsOf(workspace, removal);
  using _locks = lockRuns(workspace, [...new Set([...removed, ...pruned])], "take back");
  const occupied = removed.find((id) => exists(entryInside(workspace.runs, id)));
  if (occupied !== undefined) {
    throw new SvcError("removal_not_empty", `Cannot take back ${occupied}: a run has this id now`, {
      hint: `Remove it, or move it away: svc runs remove ${occupied}`,
    });
  }
  for (const id of removed) files.rename(removedRun(workspace, removal, id), entryInside(workspace.runs, id));
  for (const id of pruned) {
    const directory = inside(workspace.runs, id), kept = prunedFolder(workspace, removal, id);
    // A restore may have made some of them again.
    putBack(directory, kept, listFiles(kept).filter(({ path }) => !exists(inside(directory, path))), files);
    unlistPruned(workspace, id, files);
  }
  files.remove(entryInside(workspace.trash, removal));
  return { removal, runs: removed, artifacts_of: pruned };
}

const digestsByPath = (directory: InsidePath): [string, Digest][] =>
  outputsOf(readDocument(directory, SUMMARY_FILE)).map(({ output: { path, sha256 } }) => [path, sha256]);

interface LeavingFile {
  /** Absolute. */
  path: string;
  sha256: Digest | null;
}

function reportOf(
  workspace: Workspace,
  rows: readonly RunRow[],
  dry_run: boolean,
  leaving: (directory: InsidePath, row: RunRow) => readonly LeavingFile[],
): RetentionReport {
  const disk = new DiskBytes(workspace.contents);
  const runs = rows.map((row) => {
    const directory = inside(workspace.runs, row.run_id);
    const sizes = leaving(directory, row).map(({ path, sha256 }) => disk.remove(path, sha256))
      .filter((size) => size !== null);
    const size_bytes = sizes.reduce((total, size) => total + size, 0);
    return { run_id: row.run_id, recipe_name: row.recipe_name, files: sizes.length, size_bytes };
  }).filter(({ files }) => files > 0);
  const sum = (key: "files" | "size_bytes") => runs.reduce((total, run) => total + run[key], 0);
  return { dry_run, runs, files: sum("files"), size_bytes: sum("size_bytes"), freed_bytes: disk.freed };
}

/** Counts the bytes of files without a remaining name. */
class DiskBytes {
  freed = 0;
  /** Remaining names, by file. */
  readonly #names = new Map<string, number>();

  constructor(private readonly contents: string) {}

  /** @returns the size of the file, or null where there is none */
  remove(path: string, sha256: Digest | null): number | null {
    const info = entryInfo(path);
    if (info === null) return null;
    const { dev, ino, nlink, size } = info;
    const file = `${dev}:${ino}`;
    const stored = sha256 === null ? null : entryInfo(contentsPath(this.contents, sha256));
    const names = (this.#names.get(file) ?? (nlink ?? 1) - (stored !== null && stored.ino === ino ? 1 : 0)) - 1;
    this.#names.set(file, names);
    if (names === 0) this.freed += size;
    return size;
  }
}
