/** Prunes and removes selected runs, with the freed bytes. */
import { join } from "node:path";
import { inside, type InsidePath } from "../artifact/inside.ts";
import { entryInfo } from "../artifact/path_kind.ts";
import type { Digest } from "../contract/names.ts";
import type { JsonObject } from "../contract/value.ts";
import { contentsPath } from "../execute/contents.ts";
import { outputsOf } from "./bundle_schema.ts";
import { SUMMARY_FILE } from "./documents.ts";
import { type BundleFiles, DISK, listFiles } from "./files.ts";
import { pruneBundle } from "./prune.ts";
import { readDocument } from "./read.ts";
import { type RunSelection, selectRuns } from "./select.ts";
import { lockRuns, removeRuns, type RunRow } from "./store.ts";
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

export interface RetentionOptions {
  /** Whether nothing is changed; default false. */
  dryRun?: boolean;
  files?: BundleFiles;
}

/**
 * Removes artifacts of the selected runs and keeps every document and digest.
 * @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing`, `bundle_schema_invalid`
 */
export function pruneRuns(
  workspace: Workspace,
  selection: RunSelection,
  { dryRun = false, files = DISK }: RetentionOptions = {},
): RetentionReport {
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
  for (const id of ids) pruneBundle(workspace, id, () => false, files);
  return report;
}

/** Removes the selected runs; their ids stay reserved. @throws SvcError `usage_invalid`, `run_not_found`, `run_still_executing` */
export function removeSelected(
  workspace: Workspace,
  selection: RunSelection,
  { dryRun = false, files = DISK }: RetentionOptions = {},
): RetentionReport {
  const rows = selectRuns(workspace, selection, "remove");
  const report = reportOf(workspace, rows, dryRun, (directory, row) => {
    const digests = new Map(row.problem === undefined ? digestsByPath(directory) : []);
    return listFiles(directory).map(({ path }) => ({ path: join(directory, path), sha256: digests.get(path) ?? null }));
  });
  if (!dryRun) removeRuns(workspace, report.runs.map(({ run_id }) => run_id), files);
  return report;
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
