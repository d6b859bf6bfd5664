/**
 * Fetched models: `<state_dir>/models/<name>/<revision>/` has the files and their record `fetch.json`. The slash of a
 * published name is written `__`.
 */
import { inside, readText } from "../artifact/inside.ts";
import { entriesOf, isPlainFile } from "../artifact/path_kind.ts";
import { join } from "node:path";
import { SvcError } from "../contract/error.ts";
import { parseJson } from "../contract/json.ts";
import { isBundlePath, isDigest } from "../contract/names.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";

/** `fetch.json` of a fetched model. */
export interface FetchRecord extends JsonObject {
  id: string;
  /** The revision. */
  version: string;
  url: string;
  /** Digest over the canonical JSON of `files`. */
  sha256: string;
  files: { [path: string]: { sha256: string; size_bytes: number } };
  fetched_at_utc: string;
}

export const FETCH_RECORD = "fetch.json";
const MAX_RECORD_BYTES = 64 * 2 ** 20;

/** Folder of all revisions of a model. @throws SvcError `path_refused` for an invalid name */
export function modelFolder(stateDir: string, id: string): string {
  return join(stateDir, "models", folderName(id));
}

function folderName(id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/.test(id)) {
    throw new SvcError("path_refused", `Cannot use ${JSON.stringify(id)} as the name of a model`);
  }
  return id.replace("/", "__");
}

/** Whether a text is a valid name of a published or fetched model. */
export function isModelName(id: string): boolean {
  try {
    folderName(id);
    return true;
  } catch {
    return false;
  }
}

/** The fetched revisions of a model, ordered by name. */
export function fetchedRevisions(stateDir: string, id: string): string[] {
  const folder = modelFolder(stateDir, id);
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory && !entry.name.endsWith(".partial") && isFile(join(folder, entry.name)))
    .map(({ name }) => name)
    .sort();
}

const isFile = (folder: string) => Deno.statSync(folder).isDirectory && isPlainFile(join(folder, FETCH_RECORD));

/** Reads `fetch.json`. @throws SvcError `artifact_manifest_invalid` for an invalid document */
export function readFetchRecord(folder: string): FetchRecord {
  let record: Value = null;
  try {
    record = parseJson(readText(inside(folder, FETCH_RECORD), MAX_RECORD_BYTES));
  } catch (error) {
    // Refused below, as a record of another form is.
    if (!(error instanceof SvcError)) throw error;
  }
  if (!isRecord(record)) {
    throw new SvcError(
      "artifact_manifest_invalid",
      `Cannot read ${join(folder, FETCH_RECORD)}: it is not a fetch record`,
      {
        hint: "Fetch it again",
      },
    );
  }
  return record;
}

const isRecord = (value: Value): value is FetchRecord =>
  isObject(value) && typeof value.id === "string" && isObject(value.files) &&
  [value.version, value.url, value.sha256, value.fetched_at_utc].every((one) =>
    one === undefined || typeof one === "string"
  ) &&
  Object.entries(value.files).every(([path, file]) => isBundlePath(path) && isObject(file) && isDigest(file.sha256));
