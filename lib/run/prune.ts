/**
 * Removes artifacts of a finished bundle and keeps its documents.
 *
 * `pruned.json` names the removed files with digest and size. It is written before the first file is removed and only
 * grows until files are back, so a bundle never claims a missing file, wherever the process stops. SHA256SUMS and other documents stay.
 */
import { dirname } from "node:path";
import { entryInside, inside, type InsidePath, makeFolder } from "../artifact/inside.ts";
import { entriesOf, entryInfo } from "../artifact/path_kind.ts";
import { compareCodePoints, prettyJson } from "../contract/json.ts";
import { type BundlePath, type Digest, isBundlePath, isDigest, quoted } from "../contract/names.ts";
import { nearestName } from "../contract/nearest.ts";
import { SvcError } from "../contract/error.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
import { REPORT } from "../contract/kinds.ts";
import { releaseContents } from "../execute/contents.ts";
import { outputsOf } from "./bundle_schema.ts";
import { ARTIFACTS_FOLDER, PRUNED_FILE, SUMMARY_FILE } from "./documents.ts";
import type { BundleFiles } from "./files.ts";
import { readDocument } from "./read.ts";
import type { Workspace } from "./workspace.ts";

/** Which artifacts of a completed run are kept. */
export type KeepOptions = {
  /** `metrics` keeps the reports of metrics only, which verification compares with the metrics; default `all`. */
  keep?: "all" | "metrics";
  /** Steps whose artifacts are not kept. */
  drop?: readonly string[];
};

export interface PrunedFile extends JsonObject {
  path: BundlePath;
  sha256: Digest;
  size_bytes: number;
}

export interface PrunedDocument extends JsonObject {
  schema_version: 1;
  pruned_at_utc: string;
  /** Sorted by path. */
  files: PrunedFile[];
}

/** The record of the pruned files, or null for a bundle with all its artifacts. @throws SvcError `bundle_schema_invalid` */
export function readPruned(directory: string): PrunedDocument | null {
  let document: JsonObject;
  try {
    document = readDocument(directory, PRUNED_FILE);
  } catch (error) {
    if (error instanceof SvcError && error.code === "bundle_file_missing") return null;
    throw error;
  }
  if (!isPrunedDocument(document)) {
    throw new SvcError("bundle_schema_invalid", `Cannot read ${PRUNED_FILE}: it has an invalid structure`);
  }
  return document;
}

/** Whether a value has the form of `pruned.json`. */
export function isPrunedDocument(value: Value): value is PrunedDocument {
  const isFile = (file: Value): boolean =>
    isObject(file) && isBundlePath(file.path) && file.path.startsWith(`${ARTIFACTS_FOLDER}/`) &&
    isDigest(file.sha256) && isInteger(file.size_bytes);
  return isObject(value) && value.schema_version === 1 && typeof value.pruned_at_utc === "string" &&
    Array.isArray(value.files) && value.files.every(isFile);
}

/** Digests of the artifacts of a bundle; none where its summary cannot be read. */
export function digestsOf(directory: string): Digest[] {
  try {
    return outputsOf(readDocument(directory, SUMMARY_FILE)).map(({ output }) => output.sha256);
  } catch (error) {
    if (error instanceof SvcError) return [];
    throw error;
  }
}

/** Whether an artifact of a step is kept, by its kind. */
export type IsKept = (stepId: string, kind: string) => boolean;

/** @returns which artifacts are kept. @throws SvcError `execution_invalid` for an unknown step */
export function keptArtifacts({ keep = "all", drop = [] }: KeepOptions, steps: readonly string[]): IsKept {
  for (const step of drop) {
    if (steps.includes(step)) continue;
    const near = nearestName(step, steps);
    throw new SvcError("execution_invalid", `Cannot drop the artifacts of ${step}: the recipe has no such step`, {
      hint: near === null ? `Steps: ${steps.join(", ")}` : `Did you mean ${near}?`,
    });
  }
  return keptBy({ keep, drop });
}

/** Which artifacts are kept, by options whose steps were checked. */
export const keptBy = ({ keep = "all", drop = [] }: KeepOptions): IsKept => (step, kind) =>
  !drop.includes(step) && (keep === "all" || kind === REPORT);

/** Size of a file that exists, else null. @throws SvcError `path_refused` for anything but a regular file */
export function sizeOf(path: InsidePath): number | null {
  const info = entryInfo(path);
  if (info?.isFile === false) {
    throw new SvcError("path_refused", `Cannot use ${quoted(path)}: it is not a regular file`);
  }
  return info?.size ?? null;
}

/**
 * Removes the artifacts of steps from a finished bundle. The caller holds the lock of the run.
 * @param isKept which artifacts stay
 * @param keptIn folder that the artifacts are moved to, from which they can be taken back; they are deleted without it
 * @returns the removed files
 */
export function pruneBundle(
  workspace: Workspace,
  runId: string,
  isKept: IsKept,
  files: BundleFiles,
  keptIn?: InsidePath,
): PrunedFile[] {
  const directory = inside(workspace.runs, runId);
  const found = outputsOf(readDocument(directory, SUMMARY_FILE)).flatMap(
    ({ step_id, output: { path, sha256, kind } }) => {
      const size_bytes = isKept(step_id, kind) ? null : sizeOf(inside(directory, path));
      return size_bytes === null ? [] : [{ path, sha256, size_bytes }];
    },
  );
  if (found.length === 0) return [];
  listPruned(workspace, runId, found, files);
  for (const { path } of found) {
    if (keptIn === undefined) {
      files.remove(inside(directory, path));
      continue;
    }
    makeFolder(inside(keptIn, dirname(path)));
    files.rename(inside(directory, path), inside(keptIn, path));
  }
  for (const path of new Set(found.map(({ path }) => dirname(path)))) {
    const folder = inside(directory, path);
    if (entriesOf(folder).length === 0) files.remove(folder);
  }
  if (keptIn === undefined) releaseContents(workspace.contents, found.map(({ sha256 }) => sha256));
  touchSummary(directory);
  return found;
}

/** Adds files to `pruned.json`, before they are removed, or before a summary names those that were never written. */
export function listPruned(
  workspace: Workspace,
  runId: string,
  found: readonly PrunedFile[],
  files: BundleFiles,
): void {
  const before = readPruned(inside(workspace.runs, runId))?.files ?? [];
  writePruned(workspace, runId, new Map([...before, ...found].map((file) => [file.path, file])).values(), files);
}

/** Takes files that are in their place again out of `pruned.json`. The caller holds the lock of the run. */
export function unlistPruned(workspace: Workspace, runId: string, files: BundleFiles): void {
  const directory = inside(workspace.runs, runId);
  const left = (readPruned(directory)?.files ?? []).filter(({ path }) => sizeOf(inside(directory, path)) === null);
  if (left.length > 0) writePruned(workspace, runId, left, files);
  else {
    files.remove(entryInside(directory, PRUNED_FILE));
    files.sync(directory);
  }
  touchSummary(directory);
}

/** The text of `pruned.json`. */
export function prunedText(listed: Iterable<PrunedFile>): string {
  const document: PrunedDocument = {
    schema_version: 1,
    pruned_at_utc: new Date().toISOString(),
    files: [...listed].sort((a, b) => compareCodePoints(a.path, b.path)),
  };
  return prettyJson(document);
}

function writePruned(workspace: Workspace, runId: string, listed: Iterable<PrunedFile>, files: BundleFiles): void {
  const directory = inside(workspace.runs, runId);
  const scratch = inside(workspace.transit, runId);
  makeFolder(scratch);
  // Written outside the bundle, where an interrupted write leaves no file that the bundle does not list.
  files.write(inside(scratch, PRUNED_FILE), prunedText(listed), true);
  files.rename(inside(scratch, PRUNED_FILE), entryInside(directory, PRUNED_FILE));
  files.sync(directory);
  files.remove(scratch);
}

/** Touches the summary, so that the index reads the size of the bundle again. */
export function touchSummary(directory: InsidePath): void {
  const now = new Date();
  Deno.utimeSync(inside(directory, SUMMARY_FILE), now, now);
}
