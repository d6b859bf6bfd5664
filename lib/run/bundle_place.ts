/** Runs outside the workspace: the bundle in a folder that the user names. Nothing is written there. */
import { basename, dirname, resolve } from "node:path";
import { inside, type InsidePath } from "../artifact/inside.ts";
import { entryInfo } from "../artifact/path_kind.ts";
import { SvcError } from "../contract/error.ts";
import { MANIFEST_FILE, SUMMARY_FILE } from "./documents.ts";
import { readDocument } from "./read.ts";
import { isRunId } from "./reservation.ts";
import { type ShownRun, showRun } from "./store.ts";
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
