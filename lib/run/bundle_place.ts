/** Runs outside the workspace: the bundle in a folder that the user names. Nothing is written there. */
import { basename, dirname, join, resolve } from "node:path";
import { inside, type InsidePath } from "../artifact/inside.ts";
import { entryInfo, exists } from "../artifact/path_kind.ts";
import { type Diagnostic, SvcError } from "../contract/error.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PRUNED_FILE, RECIPE_FILE, SUMMARY_FILE } from "./documents.ts";
import { metricFindings } from "./metric_remarks.ts";
import { readDocument } from "./read.ts";
import { isRunId } from "./reservation.ts";
import { listFiles } from "./files.ts";
import { describe, type RunRow, type ShownRun, showRun, sortKey, unknownRow } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** Whether the name of a run is a path; over the network it is none. */
export interface ByPath {
  /** Whether a run may be named by the path of its folder, as on the command line; false when left out. */
  paths?: boolean;
}

/** A path has a separator or begins with a point; ids have neither. */
export const isPath = (wanted: string): boolean => /^\.|[/\\]/.test(wanted);

/**
 * The folder that a path names.
 * @returns its absolute path
 * @throws SvcError `run_not_found` where there is no folder
 */
export function bundleFolder(path: string): InsidePath {
  const folder = resolve(path);
  if (entryInfo(folder)?.isDirectory) return inside(dirname(folder), basename(folder));
  const hint = /\.zip$/i.test(path) ? `Import it: svc runs import ${path}` : "Check the path";
  throw new SvcError("run_not_found", `Cannot find the folder of a run at ${path}`, { hint });
}

/**
 * Summary and manifest of a run by its id, or by its folder where `paths` allows one.
 * @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid`
 */
export function openRun(workspace: Workspace, wanted: string, { paths = false }: ByPath = {}): ShownRun {
  if (!paths || !isPath(wanted)) return showRun(workspace, wanted);
  const directory = bundleFolder(wanted), summary = readDocument(directory, SUMMARY_FILE);
  if (!isRunId(summary.run_id)) {
    throw new SvcError("bundle_schema_invalid", `Cannot use ${wanted}: ${summary.run_id} is no id of a run`);
  }
  return { run_id: summary.run_id, directory, summary, manifest: readDocument(directory, MANIFEST_FILE) };
}

/** The remarks on the metrics of a stored run; a damaged bundle is shown without those that need its recipe. */
export function storedFindings({ directory, summary }: Pick<ShownRun, "directory" | "summary">): Diagnostic[] {
  return metricFindings(summary.steps, () => {
    try {
      return readDocument(directory, RECIPE_FILE).steps;
    } catch (error) {
      if (error instanceof SvcError) return [];
      throw error;
    }
  }, ["steps"]);
}

/** The row of a run, and the folder of its bundle. */
export interface PlacedRun {
  row: RunRow;
  directory: InsidePath;
}

/**
 * The rows of named runs, newest first; a run that is named twice counts once.
 * @param wanted ids or, where `paths` allows them, folders of bundles
 * @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid`, `usage_invalid` for two bundles of one id
 */
export function placedRuns(workspace: Workspace, wanted: readonly string[], options: ByPath = {}): PlacedRun[] {
  const found = new Map<string, PlacedRun>();
  for (const name of wanted) {
    const { run_id, directory, summary } = openRun(workspace, name, options), known = found.get(run_id);
    if (known !== undefined && known.directory !== directory) {
      throw new SvcError("usage_invalid", `Cannot use two bundles with the id ${run_id}`, {
        hint: "Import one of them: svc runs import <path> gives it an id of its own",
      });
    }
    const row = unknownRow(run_id);
    describe(row, summary, readDocument(directory, AUTHORED_FILE));
    if (exists(join(directory, PRUNED_FILE))) row.artifacts = "pruned";
    row.size_bytes = listFiles(directory).reduce((total, { size }) => total + size, 0);
    found.set(run_id, { row, directory });
  }
  return [...found.values()].sort((a, b) => sortKey(a.row) < sortKey(b.row) ? 1 : -1);
}
