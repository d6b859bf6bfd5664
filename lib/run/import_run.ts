/**
 * Files a bundle of somebody else in the workspace. Its documents stay as they are; `import.json`, which nothing seals, says where it
 * came from.
 */
import { posix } from "node:path";
import {
  copyFile,
  discardEntry,
  inside,
  type InsidePath,
  makeFolder,
  makeFolderOf,
  moveEntry,
  readFile,
  writeFile,
} from "../artifact/inside.ts";
import { entryInfo, exists } from "../artifact/path_kind.ts";
import { readBounded } from "../artifact/read_file.ts";
import { MAX_ARCHIVE_BYTES } from "../artifact/zip_format.ts";
import { openZip, type ZipEntry } from "../artifact/zip_read.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import type { JsonObject } from "../contract/value.ts";
import { bundleFolder } from "./bundle_place.ts";
import { IMPORT_FILE, SUMMARY_FILE, SUMS_FILE } from "./documents.ts";
import { listFiles } from "./files.ts";
import { tryLockRun } from "./lock.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "./read.ts";
import { isRunId } from "./reservation.ts";
import { verifyBundle } from "./verify.ts";
import type { Workspace } from "./workspace.ts";

export interface ImportReport extends JsonObject {
  /** `present` where the workspace has the same bundle. */
  outcome: "imported" | "present";
  /** Id in the workspace: that of the bundle, with `-2` and so on where another run has it. */
  run_id: string;
  /** Id in the documents of the bundle. */
  original_id: string;
  /** Digest of SHA256SUMS. */
  sha256sums: string;
}

/** Of an archive: so many files, and so many bytes of all of them. */
const MOST_FILES = 100_000;

/**
 * Verifies a bundle in a folder or a ZIP file, and files it under its id.
 * @param source path of the user
 * @throws SvcError `run_not_found`, `run_import_refused` with every finding, `run_still_executing` for a run without an end,
 *   `path_refused`, `artifact_archive_invalid`, `artifact_limit_exceeded`; nothing is filed before these errors
 */
export async function importRun(workspace: Workspace, source: string): Promise<ImportReport> {
  const staged = `import-${crypto.randomUUID()}`;
  makeFolder(workspace.transit);
  const lock = tryLockRun(workspace, staged), folder = inside(workspace.transit, staged);
  if (lock === null) throw new SvcError("internal_error", "Cannot lock the new folder of an import");
  try {
    const archive = await stage(source, folder);
    const summary = readDocument(folder, SUMMARY_FILE), { run_id: original } = summary;
    if (!isRunId(original)) throw refused(source, `${original} is no id of a run`);
    if (summary.status === "running") {
      throw new SvcError("run_still_executing", `Cannot import ${source}: the run has not ended`, {
        hint: "Import it when it has ended",
      });
    }
    const report = await verifyBundle(folder, original), { sha256sums } = report;
    if (report.status === "invalid" || sha256sums === null) {
      throw refused(source, "the bundle does not verify", report);
    }
    return file(workspace, folder, { source, archive, original, sha256sums });
  } finally {
    discardEntry(folder);
    lock.release();
  }
}

const refused = (source: string, why: string, report?: { errors: readonly JsonObject[] }) =>
  new SvcError("run_import_refused", `Cannot import ${source}: ${why}`, {
    hint: report === undefined ? undefined : "svc runs verify names what differs",
    extra: report === undefined ? {} : { errors: report.errors.slice(0, 20) as JsonObject[] },
  });

/** Copies the bundle into a new folder. @returns the digest of the archive, or null for a folder */
async function stage(source: string, folder: InsidePath): Promise<string | null> {
  if (entryInfo(source)?.isFile) {
    const bytes = await readBounded(source, MAX_ARCHIVE_BYTES, source);
    for (const [path, entry] of membersOf(bytes, source)) {
      const target = inside(folder, path);
      makeFolderOf(target);
      writeFile(target, entry.read());
    }
    return sha256Hex(bytes);
  }
  const from = bundleFolder(source), files = listFiles(from);
  const special = files.find(({ kind }) => kind !== "file");
  if (special !== undefined) throw refused(source, `${special.path} is not a regular file`);
  for (const { path } of files) {
    const target = inside(folder, path);
    makeFolderOf(target);
    copyFile(inside(from, path), target);
  }
  return null;
}

/** The files of an archive by their paths in the bundle, which may lie in a folder of the archive. */
function membersOf(bytes: Uint8Array, source: string): Map<string, ZipEntry> {
  const entries = openZip(bytes, source, { maxEntries: MOST_FILES, maxExpandedBytes: MAX_ARCHIVE_BYTES })
    .filter(({ name }) => !name.endsWith("/"));
  const link = entries.find(({ externalAttributes }) => ((externalAttributes >>> 16) & 0xf000) === 0xa000);
  if (link !== undefined) throw refused(source, `${link.name} is a symbolic link`);
  const summaries = entries.filter(({ name }) => posix.basename(name) === SUMMARY_FILE)
    .sort((a, b) => a.name.length - b.name.length);
  if (summaries.length === 0) throw refused(source, `it has no ${SUMMARY_FILE}`);
  const prefix = summaries[0].name.slice(0, -SUMMARY_FILE.length);
  return new Map(
    entries.filter(({ name }) => name.startsWith(prefix)).map((entry) => [entry.name.slice(prefix.length), entry]),
  );
}

/** Moves a verified bundle to its place. */
function file(
  workspace: Workspace,
  folder: InsidePath,
  { source, archive, original, sha256sums }: {
    source: string;
    archive: string | null;
    original: string;
    sha256sums: string;
  },
): ImportReport {
  for (let copy = 1;; copy++) {
    const run_id = copy === 1 ? original : `${original}-${copy}`, target = inside(workspace.runs, run_id);
    const lock = tryLockRun(workspace, run_id);
    // A run that executes under this id is another one.
    if (lock === null) continue;
    try {
      if (exists(target)) {
        if (sumsOf(target) !== sha256sums) continue;
        return { outcome: "present", run_id, original_id: original, sha256sums };
      }
      const record = {
        schema_version: 1,
        kind: "svc.run_import",
        run_id: original,
        source,
        archive_sha256: archive,
        sha256sums,
      };
      writeFile(inside(folder, IMPORT_FILE), prettyJson(record), true);
      moveEntry(folder, target);
      return { outcome: "imported", run_id, original_id: original, sha256sums };
    } finally {
      lock.release();
    }
  }
}

/** Digest of SHA256SUMS of a bundle, or null without one. */
function sumsOf(folder: InsidePath): string | null {
  const path = inside(folder, SUMS_FILE);
  return exists(path) ? sha256Hex(readFile(path, MAX_DOCUMENT_BYTES)) : null;
}
