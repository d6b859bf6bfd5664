/**
 * The evidence of a row: a gzip snapshot of the documents of its backing run, small enough to keep when the run is
 * pruned. It contains the documents of the bundle verbatim, the reports with its metrics, and the digests of all other
 * files.
 *
 * Snapshots are appended to `evidence/part-00000.tar.gz`, a thousand to a file. Each is a gzip member of its own with the
 * header and the text of one archive entry, so the file is an ordinary archive, and one snapshot is read alone.
 */
import { inside, makeFolder, openFile, readFile } from "../../artifact/inside.ts";
import { promisify } from "node:util";
import { gunzipSync, gzip as gzipWith, gzipSync, type ZlibOptions } from "node:zlib";
import { messageOf, SvcError } from "../../contract/error.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { canonicalJson, parseJson } from "../../contract/json.ts";
import type { JsonObject } from "../../contract/value.ts";
import { collectGarbage } from "../../execute/memory.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE, SUMMARY_FILE, SUMS_FILE } from "../../run/documents.ts";
import type { RunFiles } from "../../run/files.ts";
import { MAX_DOCUMENT_BYTES } from "../../run/read.ts";
import type { EvidenceEnd } from "./ledger.ts";
import {
  checkSnapshotForm,
  COLLECTED_PARTS,
  EVIDENCE_FOLDER,
  type Snapshot,
  type SnapshotRecord,
} from "../pack/types.ts";

/** On a thread of its own, beside the next row. */
const gzip = promisify(gzipWith) as (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array<ArrayBuffer>>;

const DOCUMENTS = [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE, SUMS_FILE] as const;
/** Limit of a report; that of a declared metric is kept up to the second one, because it proves the metric. */
const REPORT_LIMIT_BYTES = 256 * 1024, SOURCE_LIMIT_BYTES = 64 * 2 ** 20;
/** Of an unpacked snapshot. */
const MAX_SNAPSHOT_BYTES = 256 * 2 ** 20;

/** An archive is complete with so many snapshots. */
const PART_SNAPSHOTS = 1000;
const BLOCK = 512;

const partPath = (part: number) => `${EVIDENCE_FOLDER}/part-${String(part).padStart(5, "0")}.tar.gz`;

/**
 * The snapshot of a finished run, from its files and its summary.
 * @param sources ids of the steps that declared metrics come from
 */
export function snapshotOf(
  run_id: string,
  files: RunFiles,
  summary: JsonObject,
  { retained, sources }: { retained: readonly string[]; sources: ReadonlySet<string> },
): Snapshot {
  const documents = Object.fromEntries(
    DOCUMENTS.map((name) => [name, new TextDecoder().decode(files.read(name, MAX_DOCUMENT_BYTES))]),
  );
  return {
    schema_version: 1,
    kind: "svc.run_evidence_snapshot",
    run_id,
    documents,
    reports: readReports(files, summary, sources),
    retained: Object.fromEntries(retained.map((path) => [path, readRetained(files, path)])),
  };
}

/** Appends snapshots to the archives of a result. */
export class EvidenceWriter {
  readonly #directory: string;
  #part: number;
  #count: number;
  #bytes: number;

  /**
   * @param directory of the result
   * @param end of the snapshots that rows name: bytes after it are of a process that ended before its row
   */
  constructor(directory: string, end: EvidenceEnd | null) {
    this.#directory = directory;
    [this.#part, this.#count, this.#bytes] = end === null ? [0, 0, 0] : [end.part, end.count, end.bytes];
  }

  /** Appends the snapshot of a row. */
  async write(row: { id: string; replicate: number }, snapshot: Snapshot): Promise<SnapshotRecord> {
    const text = new TextEncoder().encode(canonicalJson(snapshot));
    const entry = new Uint8Array(BLOCK + BLOCK * Math.ceil(text.length / BLOCK));
    entry.set(tarHeader(entryName(row.id, row.replicate), text.length));
    entry.set(text, BLOCK);
    // Level 1 takes a third of the time of the default level, with a slightly larger file.
    return this.append(await gzip(entry, { level: 1 }));
  }

  /** Appends the bytes of a snapshot as they are in another archive. */
  append(bytes: Uint8Array): SnapshotRecord {
    if (this.#count === PART_SNAPSHOTS) [this.#part, this.#count, this.#bytes] = [this.#part + 1, 0, 0];
    const relative_path = partPath(this.#part), offset = this.#bytes;
    if (offset === 0) makeFolder(inside(this.#directory, EVIDENCE_FOLDER));
    this.#put(relative_path, offset, bytes);
    this.#bytes += bytes.length;
    // Two empty blocks end an archive.
    if (++this.#count === PART_SNAPSHOTS) {
      this.#put(relative_path, this.#bytes, gzipSync(new Uint8Array(2 * BLOCK), { level: 1 }));
      if (this.#part % COLLECTED_PARTS === 0) collectGarbage();
    }
    return { relative_path, offset, size_bytes: bytes.length, sha256: sha256Hex(bytes) };
  }

  #put(relative_path: string, offset: number, bytes: Uint8Array): void {
    // Bytes of a snapshot without its row may be there.
    using file = openFile(inside(this.#directory, relative_path), { write: true, create: true });
    file.truncateSync(offset);
    file.seekSync(offset, Deno.SeekMode.Start);
    for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  }
}

/** Name of the entry of a row; names of archives are limited, and programs that unpack them take them for paths. */
function entryName(recipeId: string, replicate: number): string {
  const name = `${recipeId}__r${replicate}.json`;
  return /^[A-Za-z0-9_@][A-Za-z0-9_@.=+-]{0,98}$/.test(name)
    ? name
    : `${sha256Hex(recipeId).slice(0, 32)}__r${replicate}.json`;
}

/** Header block of a file in the form ustar. */
function tarHeader(name: string, size: number): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => header.set(new TextEncoder().encode(text), at);
  const octal = (value: number, width: number) => value.toString(8).padStart(width - 1, "0") + "\0";
  put(name, 0);
  put(octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(0, 12) + " ".repeat(8) + "0", 100);
  put("ustar\x0000", 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  put(checksum.toString(8).padStart(6, "0") + "\0 ", 148);
  return header;
}

function readReports(files: RunFiles, summary: JsonObject, sources: ReadonlySet<string>): Snapshot["reports"] {
  const reports: Snapshot["reports"] = {};
  for (const step of (summary.steps ?? []) as JsonObject[]) {
    const limit = sources.has(String(step.id)) ? SOURCE_LIMIT_BYTES : REPORT_LIMIT_BYTES;
    for (const output of Object.values((step.outputs ?? {}) as { [name: string]: JsonObject })) {
      const path = String(output.path);
      if (!path.endsWith(".json") || (files.size(path) ?? 0) > limit) continue;
      reports[path] = new TextDecoder().decode(files.read(path, limit));
    }
  }
  return reports;
}

function readRetained(files: RunFiles, path: string): string {
  if (path.startsWith("/") || path.split("/").some((part) => part === ".." || part === "")) {
    throw new SvcError("pack_path_outside", `Cannot keep ${path}: it is no path in a bundle`);
  }
  try {
    return files.read(path, SOURCE_LIMIT_BYTES).toBase64();
  } catch (error) {
    throw new SvcError("bundle_file_missing", `Cannot keep ${path}: the run did not write it`, { cause: error });
  }
}

/**
 * The stored bytes of a snapshot.
 * @param record in the row; its digest is checked
 * @throws SvcError `bundle_file_missing`, `bundle_hash_mismatch`
 */
export function snapshotBytes(directory: string, { relative_path, offset, size_bytes, sha256 }: SnapshotRecord) {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    if (offset === undefined) bytes = readFile(inside(directory, relative_path), MAX_SNAPSHOT_BYTES);
    else {
      using file = openFile(inside(directory, relative_path), { read: true });
      const left = Math.max(0, file.statSync().size - offset);
      bytes = new Uint8Array(Math.min(Number(size_bytes), left));
      file.seekSync(offset, Deno.SeekMode.Start);
      for (let done = 0; done < bytes.length;) done += file.readSync(bytes.subarray(done)) ?? bytes.length;
    }
  } catch (error) {
    throw new SvcError("bundle_file_missing", `Cannot find ${relative_path}`, { cause: error });
  }
  if (sha256Hex(bytes) !== sha256) {
    throw new SvcError("bundle_hash_mismatch", `Cannot trust ${relative_path}: it is not the file that was written`);
  }
  return bytes;
}

/**
 * Reads a snapshot.
 * @param record in the row; its digest is checked
 * @throws SvcError `bundle_file_missing`, `bundle_hash_mismatch`, `bundle_schema_invalid`
 */
export function readSnapshot(directory: string, record: SnapshotRecord): Snapshot {
  const { relative_path, offset } = record, bytes = snapshotBytes(directory, record);
  const refuse = (why: string, cause?: unknown) =>
    new SvcError("bundle_schema_invalid", `Cannot read ${relative_path}: ${why}`, { cause });
  let snapshot: Snapshot;
  try {
    const whole = gunzipSync(bytes, { maxOutputLength: MAX_SNAPSHOT_BYTES });
    const size = parseInt(new TextDecoder().decode(whole.subarray(124, 135)), 8);
    const text = offset === undefined ? whole : whole.subarray(BLOCK, BLOCK + size);
    snapshot = parseJson(new TextDecoder().decode(text)) as Snapshot;
  } catch (error) {
    throw refuse(messageOf(error), error);
  }
  const [problem] = checkSnapshotForm(snapshot);
  if (problem !== undefined) throw refuse(`${problem.path}: ${problem.message}`);
  return snapshot;
}
