/**
 * Downloads a set of files into a folder with `fetch.json`. The folder appears when all files are complete; until then
 * they are in `<folder>.partial`, which the next attempt resumes.
 */
import { join } from "node:path";
import { copyFile, inside, type InsidePath, makeFolderOf, removeEntry, writeFile } from "../artifact/inside.ts";
import { isPlainFile } from "../artifact/path_kind.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { openZip } from "../artifact/zip_read.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { FETCH_RECORD, type FetchRecord } from "../model/store.ts";
import { download } from "./download.ts";

export interface BringFile {
  url: string;
  sha256?: string;
}

/** The requested files. */
export interface Bringing {
  id: string;
  version: string;
  /** Origin, for the record. */
  url: string;
  /** By path in the folder. */
  files: Readonly<Record<string, BringFile>>;
  /** Replaces archives by their contents, without a common top folder. */
  unpack?: boolean;
  /** Required digest of the whole set. */
  sha256?: string;
  /** Folder that the new one replaces, and its files that are copied instead of fetched. */
  from?: { folder: string; intact: readonly string[] };
}

export interface BringOptions {
  code: "model_unavailable" | "dataset_unavailable";
  signal?: AbortSignal;
  onProgress?(file: string, received: number, total: number | null): void;
  /** Time for the record; tests replace it. */
  now?: Date;
}

const MAX_UNPACKED_BYTES = 4 * 2 ** 30;

/**
 * Downloads files into a new folder.
 * @returns the record written with them
 * @throws SvcError as `download`; `artifact_archive_invalid` for a damaged archive
 */
export async function bring(bringing: Bringing, folder: string, options: BringOptions): Promise<FetchRecord> {
  const partial = `${folder}.partial`;
  await Deno.mkdir(partial, { recursive: true });
  for (const path of bringing.from?.intact ?? []) {
    copyFile(inside(bringing.from!.folder, path), inside(partial, path));
  }
  for (const [path, { url, sha256 }] of Object.entries(bringing.files)) {
    const target = inside(partial, path);
    makeFolderOf(target);
    if (isPlainFile(target)) continue;
    await download(url, target, {
      sha256,
      code: options.code,
      signal: options.signal,
      onProgress: (received, total) => options.onProgress?.(path, received, total),
    });
  }
  if (bringing.unpack) {
    for (const path of Object.keys(bringing.files)) await unpack(inside(partial, path), partial);
  }
  const files: FetchRecord["files"] = {};
  for (const path of listFiles(partial).sort()) files[path] = hashFile(join(partial, path));
  const sha256 = sha256Json(files);
  if (bringing.sha256 !== undefined && bringing.sha256 !== sha256) {
    await Deno.remove(partial, { recursive: true });
    throw new SvcError("artifact_hash_mismatch", `Cannot use the download of ${bringing.id}: its digest is ${sha256}`, {
      hint: `Expected ${bringing.sha256}`,
    });
  }
  const record: FetchRecord = {
    id: bringing.id,
    version: bringing.version,
    url: bringing.url,
    sha256,
    files,
    fetched_at_utc: (options.now ?? new Date()).toISOString(),
  };
  writeFile(inside(partial, FETCH_RECORD), prettyJson(record));
  if (bringing.from !== undefined) await Deno.remove(bringing.from.folder, { recursive: true });
  await Deno.rename(partial, folder);
  return record;
}

/** The parts of a relative path. @throws SvcError `path_refused` for a path that leaves the folder */
function safeParts(path: string): string[] {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || /[\\:\0]/.test(part))) {
    throw new SvcError("path_refused", `Cannot write ${JSON.stringify(path)}: it is not a path inside the folder`);
  }
  return parts;
}

/** Replaces an archive by its contents. */
async function unpack(archive: InsidePath, folder: string): Promise<void> {
  const entries = openZip(await Deno.readFile(archive), archive, { maxExpandedBytes: MAX_UNPACKED_BYTES })
    .filter(({ name }) => !name.endsWith("/") && !name.startsWith("__MACOSX/"));
  const tops = new Set(entries.map(({ name }) => name.split("/")[0]));
  const strip = tops.size === 1 && entries.every(({ name }) => name.includes("/")) ? 1 : 0;
  // Every name is checked before the first file is written.
  const targets = entries.map((entry) => ({ entry, parts: safeParts(entry.name).slice(strip) }));
  for (const { entry, parts } of targets) {
    const target = inside(folder, ...parts);
    makeFolderOf(target);
    writeFile(target, entry.read());
  }
  removeEntry(archive);
}

/** All files of a folder except its record, as relative paths. */
function listFiles(folder: string, below = ""): string[] {
  return [...Deno.readDirSync(join(folder, below))].flatMap(({ name, isDirectory, isFile }) => {
    const path = below === "" ? name : `${below}/${name}`;
    if (isDirectory) return listFiles(folder, path);
    return isFile && path !== FETCH_RECORD && !name.endsWith(".part") && !name.endsWith(".part.json") ? [path] : [];
  });
}

/** A file of a fetched folder, and whether it is unchanged. */
export interface VerifiedFile extends JsonObject {
  path: string;
  status: "ok" | "differs" | "missing" | "unexpected";
}

/** Hashes every file of a fetched folder again. */
export function verifyFetched(folder: string, { files }: FetchRecord): VerifiedFile[] {
  const there = new Set(listFiles(folder));
  const known = Object.entries(files).map(([path, { sha256 }]): VerifiedFile => {
    if (!there.has(path)) return { path, status: "missing" };
    return { path, status: hashFile(join(folder, path)).sha256 === sha256 ? "ok" : "differs" };
  });
  const extra = [...there].filter((path) => !Object.hasOwn(files, path)).sort();
  return [...known, ...extra.map((path): VerifiedFile => ({ path, status: "unexpected" }))];
}
