/**
 * The evidence of a row: a gzip snapshot of the documents of its backing run, small enough to keep when the run is
 * pruned. It contains the documents of the bundle verbatim, the reports with its metrics, and the digests of all other
 * files.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { canonicalJson, parseJson } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE, SUMMARY_FILE, SUMS_FILE } from "../run/documents.ts";
import { EVIDENCE_FOLDER } from "./types.ts";

const DOCUMENTS = [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE, SUMS_FILE] as const;
/** Limit of a report; larger artifacts are not reports. */
const REPORT_LIMIT_BYTES = 256 * 1024;
/** Of an unpacked snapshot. */
const MAX_SNAPSHOT_BYTES = 256 * 2 ** 20;

/** The contents of a snapshot. */
export type Snapshot = {
  schema_version: 1;
  kind: "svc.run_evidence_snapshot";
  run_id: string;
  /** File name to its text. */
  documents: { [name: string]: string };
  /** Path in the bundle to the text of a report. */
  reports: { [path: string]: string };
  /** Path in the bundle to the bytes of an artifact that the pack retains, as base64. */
  retained: { [path: string]: string };
};

/** A written snapshot: the record of the row. */
export interface SnapshotRecord {
  /** Relative to the result. */
  relative_path: string;
  sha256: string;
  size_bytes: number;
}

/** Name of the snapshot of a row. */
const snapshotPath = (recipeId: string, replicate: number): string =>
  `${EVIDENCE_FOLDER}/${recipeId}__r${replicate}.json.gz`;

/**
 * Writes the snapshot of a finished run.
 * @param directory of the result
 * @param bundle absolute path of the run's bundle
 * @param retained paths in the bundle of artifacts to keep
 */
export function writeSnapshot(
  directory: string,
  row: { id: string; replicate: number; run_id: string },
  bundle: string,
  retained: readonly string[] = [],
): SnapshotRecord {
  const documents = Object.fromEntries(
    DOCUMENTS.map((name) => [name, Deno.readTextFileSync(join(bundle, name))]),
  );
  const summary = parseJson(documents[SUMMARY_FILE]) as JsonObject;
  const snapshot: Snapshot = {
    schema_version: 1,
    kind: "svc.run_evidence_snapshot",
    run_id: row.run_id,
    documents,
    reports: readReports(bundle, summary),
    retained: Object.fromEntries(retained.map((path) => [path, readRetained(bundle, path)])),
  };
  // Level 1 takes a third of the time of the default level, with a slightly larger file.
  const bytes = gzipSync(canonicalJson(snapshot), { level: 1 });
  const relative_path = snapshotPath(row.id, row.replicate);
  Deno.mkdirSync(join(directory, EVIDENCE_FOLDER), { recursive: true });
  const path = join(directory, relative_path);
  Deno.writeFileSync(path + ".tmp", bytes);
  Deno.renameSync(path + ".tmp", path);
  return { relative_path, sha256: sha256Hex(bytes), size_bytes: bytes.length };
}

function readReports(bundle: string, summary: JsonObject): Snapshot["reports"] {
  const reports: Snapshot["reports"] = {};
  for (const step of (summary.steps ?? []) as JsonObject[]) {
    for (const output of Object.values((step.outputs ?? {}) as { [name: string]: JsonObject })) {
      const path = String(output.path);
      if (!path.endsWith(".json") || Deno.statSync(join(bundle, path)).size > REPORT_LIMIT_BYTES) continue;
      reports[path] = Deno.readTextFileSync(join(bundle, path));
    }
  }
  return reports;
}

function readRetained(bundle: string, path: string): string {
  if (path.startsWith("/") || path.split("/").some((part) => part === ".." || part === "")) {
    throw new SvcError("pack_path_outside", `Cannot keep ${path}: it is no path in a bundle`);
  }
  try {
    return Deno.readFileSync(join(bundle, path)).toBase64();
  } catch (error) {
    throw new SvcError("bundle_file_missing", `Cannot keep ${path}: the run did not write it`, { cause: error });
  }
}

/**
 * Reads a snapshot.
 * @param expected record in the row; its digest is checked
 * @throws SvcError `bundle_file_missing`, `bundle_hash_mismatch`, `bundle_schema_invalid`
 */
export function readSnapshot(directory: string, { relative_path, sha256 }: JsonObject): Snapshot {
  let bytes;
  try {
    bytes = Deno.readFileSync(join(directory, String(relative_path)));
  } catch (error) {
    throw new SvcError("bundle_file_missing", `Cannot find ${relative_path}`, { cause: error });
  }
  if (sha256Hex(bytes) !== sha256) {
    throw new SvcError("bundle_hash_mismatch", `Cannot trust ${relative_path}: it is not the file that was written`);
  }
  let value: Value;
  try {
    value = parseJson(new TextDecoder().decode(gunzipSync(bytes, { maxOutputLength: MAX_SNAPSHOT_BYTES })));
  } catch (error) {
    throw new SvcError("bundle_schema_invalid", `Cannot read ${relative_path}: ${messageOf(error)}`, { cause: error });
  }
  if (!isObject(value) || value.kind !== "svc.run_evidence_snapshot") {
    throw new SvcError("bundle_schema_invalid", `Cannot read ${relative_path} as the snapshot of a run`);
  }
  return value as Snapshot;
}
