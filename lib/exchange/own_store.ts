/**
 * Check and repair of everything that a state directory keeps by digest: artifacts of runs, with the links that they share,
 * and fetched models and datasets.
 *
 * A damaged artifact is replaced by an intact copy of the same digest from any run. Without one its shared link is removed, so
 * that no later run gets it, and the file of the run stays as evidence. Fetched files are fetched again.
 */
import { join } from "node:path";
import { inside, type InsidePath, makeFolder, moveEntry, removeEntry } from "../artifact/inside.ts";
import { exists } from "../artifact/path_kind.ts";
import { publishedDataset } from "../artifact/published_datasets.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { SvcError } from "../contract/error.ts";
import type { Digest } from "../contract/names.ts";
import { sha256Json } from "../contract/hash.ts";
import type { JsonObject } from "../contract/value.ts";
import { contentsPath, copyShared, forgetContent, storedContents } from "../execute/contents.ts";
import { bring, verifyFetched } from "../fetch/bring.ts";
import { checkAddress } from "../fetch/download.ts";
import { FETCH_RECORD, type FetchRecord, readFetchRecord } from "../model/store.ts";
import { SUMMARY_FILE } from "../run/documents.ts";
import { listFiles } from "../run/files.ts";
import { tryLockRun } from "../run/lock.ts";
import { outputsOf } from "../run/bundle_schema.ts";
import { readDocument } from "../run/read.ts";
import { runIds } from "../run/store.ts";
import type { Workspace } from "../run/workspace.ts";
import { fetchedItems } from "./exchange.ts";

export interface StoreOptions {
  /** Whether damage is repaired; default false. */
  repair?: boolean;
  signal?: AbortSignal;
  /** Called for each file of a download. */
  onProgress?(file: string, received: number, total: number | null): void;
}

/** Something damaged. */
export interface StoreItem extends JsonObject {
  what: "content" | "model" | "dataset";
  /** Digest of a content; name of a model or dataset. */
  id: string;
  /** `lost`: it could not be repaired. */
  status: "damaged" | "repaired" | "lost";
  /** Paths of the damaged files in the state directory. */
  files: string[];
  hint: string | null;
}

export interface StoreReport extends JsonObject {
  /** Number of files that were read. */
  files: number;
  size_bytes: number;
  items: StoreItem[];
}

/**
 * Reads everything that is kept by digest, and repairs what is damaged.
 * @throws SvcError `gc_running` while garbage is collected
 */
export async function checkStore(workspace: Workspace, options: StoreOptions = {}): Promise<StoreReport> {
  const report: StoreReport = { files: 0, size_bytes: 0, items: [] };
  const lock = tryLockRun(workspace, "gc");
  if (lock === null) {
    throw new SvcError(
      "gc_running",
      `Cannot check ${workspace.stateDir}: a collection of garbage or a check is running`,
    );
  }
  try {
    await checkContents(workspace, report, options);
  } finally {
    lock.release();
  }
  for (const [what, id, folder] of fetchedItems(workspace)) {
    const item = await checkFetched(what, id, folder, report, options);
    if (item !== null) {
      report.items.push({
        ...item,
        files: item.files.map((path) => shown(workspace, join(folder, path))),
      });
    }
  }
  return report;
}

const shown = ({ stateDir }: Workspace, path: string) => path.slice(stateDir.length + 1).replaceAll("\\", "/");

/** A name of a stored file; null for the run of the shared link. */
interface Copy {
  path: InsidePath;
  runId: string | null;
}

/** Checks artifacts and their shared links: each file once, whatever its number of names. */
async function checkContents(workspace: Workspace, report: StoreReport, { repair = false, signal }: StoreOptions) {
  const digests = new Map<string, string>(), copies = new Map<Digest, Copy[]>();
  const add = (sha256: Digest, copy: Copy) => {
    const known = copies.get(sha256);
    if (known === undefined) copies.set(sha256, [copy]);
    else known.push(copy);
  };
  for (const sha256 of storedContents(workspace.contents)) {
    add(sha256, { path: contentsPath(workspace.contents, sha256), runId: null });
  }
  for (const runId of runIds(workspace)) {
    for (const [sha256, path] of artifactsOf(workspace, runId)) add(sha256, { path, runId });
  }
  /** The digest of a file, read once for all its names. */
  const digestOf = (path: string): string => {
    const { dev, ino, isFile, size } = Deno.lstatSync(path), key = ino === null ? path : `${dev}:${ino}`;
    const known = digests.get(key);
    if (known !== undefined) return known;
    const digest = isFile ? hashFile(path).sha256 : "";
    report.files++;
    report.size_bytes += size;
    digests.set(key, digest);
    return digest;
  };
  for (const [sha256, names] of copies) {
    signal?.throwIfAborted();
    // A run may have been removed meanwhile.
    const there = names.filter(({ path }) => exists(path));
    const bad = there.filter(({ path }) => digestOf(path) !== sha256), good = there.find((name) => !bad.includes(name));
    if (bad.length === 0) continue;
    const runs = [...new Set(bad.flatMap(({ runId }) => runId ?? []))];
    const files = bad.map(({ path }) => shown(workspace, path));
    const item: StoreItem = { what: "content", id: sha256, status: "damaged", files, hint: null };
    report.items.push(item);
    if (repair && good !== undefined) {
      item.status = "repaired";
      for (const name of bad) if (!await replace(workspace, name, good.path, sha256)) item.status = "damaged";
      if (item.status === "damaged") item.hint = "Wait for the end of the runs that are executing, and repair again";
    } else if (repair) {
      if (bad.some(({ runId }) => runId === null)) forgetContent(workspace.contents, sha256);
      item.status = runs.length === 0 ? "repaired" : "lost";
      if (runs.length > 0) item.hint = `Compute it again: svc runs prune ${runs[0]}, then svc runs restore ${runs[0]}`;
    } else item.hint = "Run svc store repair";
  }
}

/** Digests and paths of the artifacts of a bundle that are plain files. */
function artifactsOf(workspace: Workspace, runId: string): [Digest, InsidePath][] {
  const directory = join(workspace.runs, runId);
  try {
    const plain = new Set(listFiles(directory).filter(({ kind }) => kind === "file").map(({ path }) => path));
    return outputsOf(readDocument(directory, SUMMARY_FILE)).filter(({ output }) => plain.has(output.path))
      .map(({ output }) => [output.sha256, inside(directory, output.path)]);
  } catch (error) {
    // Its verification reports an unreadable bundle; one that was removed meanwhile has nothing to check.
    if (error instanceof SvcError || error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Puts an intact copy into the place of a damaged file. @returns false while the run executes */
async function replace(
  workspace: Workspace,
  { path, runId }: Copy,
  good: InsidePath,
  sha256: Digest,
): Promise<boolean> {
  // Others clear transit of everything without a lock of its name.
  const name = runId ?? "store-repair", lock = tryLockRun(workspace, name);
  if (lock === null) return false;
  try {
    makeFolder(workspace.transit);
    const staging = inside(workspace.transit, name);
    removeEntry(staging);
    await copyShared(good, staging, sha256);
    moveEntry(staging, path);
    return true;
  } finally {
    lock.release();
  }
}

/** Checks a fetched model or dataset. @returns null when it is intact, or has no digests */
async function checkFetched(
  what: "model" | "dataset",
  id: string,
  folder: string,
  report: StoreReport,
  { repair = false, signal, onProgress }: StoreOptions,
): Promise<StoreItem | null> {
  const item = (status: StoreItem["status"], files: string[], hint: string | null = null): StoreItem => ({
    what,
    id,
    status,
    files,
    hint,
  });
  const entries = listFiles(folder);
  report.files += entries.length;
  report.size_bytes += entries.reduce((sum, { size }) => sum + size, 0);
  const [, digest] = /^url\/([0-9a-f]{64})$/.exec(id) ?? [];
  if (digest !== undefined) {
    const bad = entries.filter(({ kind, path }) => kind !== "file" || hashFile(join(folder, path)).sha256 !== digest);
    if (bad.length === 0 && entries.length === 1) return null;
    const hint = `Fetch it again: svc models fetch <address> --sha256 ${digest}`;
    return item(repair ? "lost" : "damaged", bad.map(({ path }) => path), hint);
  }
  if (!entries.some(({ path }) => path === FETCH_RECORD)) return null;
  const again = `Remove ${folder} and fetch it again`;
  let record: FetchRecord;
  try {
    record = readFetchRecord(folder);
    if (sha256Json(record.files) !== record.sha256) {
      throw new SvcError("artifact_manifest_invalid", "its digest differs");
    }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return item(repair ? "lost" : "damaged", [FETCH_RECORD], again);
  }
  const bad = verifyFetched(folder, record).filter(({ status }) => status !== "ok").map(({ path }) => path);
  if (bad.length === 0) return null;
  if (!repair) return item("damaged", bad, "Run svc store repair");
  const dataset = what === "dataset" ? publishedDataset(record.id) : undefined;
  const files = dataset?.files ?? Object.fromEntries(
    Object.entries(record.files).map(([path, { sha256 }]) => [path, { url: `${record.url}/${path}`, sha256 }]),
  );
  try {
    checkAddress(record.url);
    const { version, url, sha256 } = record, unpack = dataset?.unpack ?? false;
    // Files inside archives are unpacked again; others are kept.
    const intact = unpack ? [] : Object.keys(record.files).filter((path) => !bad.includes(path));
    await bring({ id: record.id, version, url, files, unpack, sha256, from: { folder, intact } }, folder, {
      code: what === "model" ? "model_unavailable" : "dataset_unavailable",
      signal,
      onProgress,
    });
    return item("repaired", bad);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof SvcError)) throw error;
    return item("lost", bad, `${error.message}. ${error.hint ?? "Run it again"}`);
  }
}
