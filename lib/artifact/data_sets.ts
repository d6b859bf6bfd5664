/**
 * Manifests of the project: their samples, and whether the files of the samples have the recorded bytes. Paths of a manifest are
 * those of somebody else: each is looked up as one of a request.
 */
import { parseImageManifest, samplePath } from "./dataset_manifest.ts";
import { hashFile } from "./hash_file.ts";
import { type InsidePath, readFile } from "./inside.ts";
import { isLines, lineCount, LINES_MANIFEST_KIND, parseTexts } from "./text_lines.ts";
import { besideManifest, TEXT_MANIFEST_KIND } from "./text_manifest.ts";
import { parseJson } from "../contract/json.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { isObject, type JsonObject } from "../contract/value.ts";

export interface DataSet extends JsonObject {
  /** Relative to the project. */
  path: string;
  kind: "images" | "texts" | "bits" | "recording" | "arrays" | "code";
  /** Of the manifest; null where it has none, and for other files. */
  id: string | null;
  sha256: string | null;
  sample_count: number | null;
  /** `changed`: files differ from the manifest; `not_checked`: their bytes exceed what a listing reads. */
  state: "unchanged" | "changed" | "not_checked" | "unreadable";
  /** The first files that differ, or why the manifest cannot be read. */
  problems: string[];
}

/** A sample and its file, null for a text in the manifest. */
export interface SetSample {
  id: string;
  path: string | null;
}

const MAX_MANIFEST_BYTES = 2 ** 26, MAX_PROBLEMS = 5;

/** Bytes that may still be hashed. */
export interface Room {
  bytes: number;
}

/**
 * Reads a manifest of images or texts.
 * @param place looks a path of the project up
 * @returns null for a manifest of another kind
 */
export function readSet(
  path: string,
  place: (path: string) => InsidePath,
  room: Room,
): { set: DataSet; samples: SetSample[]; splits: JsonObject } | null {
  const none = { id: null, sha256: null, sample_count: null };
  try {
    const bytes = readFile(place(path), MAX_MANIFEST_BYTES), sha256 = sha256Hex(bytes);
    const document = parseJson(new TextDecoder().decode(bytes)), kind = isObject(document) ? document.kind : null;
    if (kind === "svc.bit_payload_manifest") {
      return bitSet(path, { sha256, document: document as JsonObject, place, room });
    }
    const texts = kind === TEXT_MANIFEST_KIND || kind === LINES_MANIFEST_KIND;
    if (!texts && kind !== "svc.image_dataset_manifest") return null;
    const { id, splits, files, sample_count = files.length } = texts ? textFiles(bytes, path) : imageFiles(bytes, path);
    const problems: string[] = [], facts = { id, sha256, sample_count };
    const checked = checkFiles(files, { place, room, problems });
    const set: DataSet = { path, kind: texts ? "texts" : "images", ...facts, ...stateOf(problems, checked) };
    return {
      set,
      samples: sample_count === files.length ? files.map(({ id, path }) => ({ id, path })) : [],
      splits: splits as JsonObject,
    };
  } catch (error) {
    if (!(error instanceof SvcError || error instanceof SyntaxError)) throw error;
    const set: DataSet = { path, kind: "images", ...none, state: "unreadable", problems: [messageOf(error)] };
    return { set, samples: [], splits: {} };
  }
}

interface Check {
  place(path: string): InsidePath;
  room: Room;
  problems: string[];
}

/** Compares files with their digests. @returns whether there was room for all of them */
function checkFiles(files: Files["files"], { place, room, problems }: Check): boolean {
  for (const { path: file, sha256: recorded } of files) {
    if (file === null) continue;
    try {
      const full = place(file), { size } = Deno.lstatSync(full);
      if (room.bytes < size) return false;
      room.bytes -= size;
      if (hashFile(full).sha256 !== recorded) problems.push(`${file} changed`);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      problems.push(messageOf(error));
    }
  }
  return true;
}

const stateOf = (problems: readonly string[], checked: boolean): Pick<DataSet, "state" | "problems"> => ({
  state: problems.length > 0 ? "changed" : checked ? "unchanged" : "not_checked",
  problems: problems.slice(0, MAX_PROBLEMS),
});

/** A manifest of bit payloads: of its items only those in files of their own can change. */
function bitSet(
  path: string,
  { sha256, document, ...check }: Omit<Check, "problems"> & { sha256: string; document: JsonObject },
): NonNullable<ReturnType<typeof readSet>> {
  const items = (Array.isArray(document.items) ? document.items : []).filter(isObject), problems: string[] = [];
  const files = items.map((item) => ({
    id: String(item.id),
    path: typeof item.path === "string" ? besideManifest(path, item.path) : null,
    sha256: String(item.sha256),
  }));
  const checked = checkFiles(files, { ...check, problems });
  const facts = { id: null, sha256, sample_count: files.length };
  return { set: { path, kind: "bits", ...facts, ...stateOf(problems, checked) }, samples: [], splits: {} };
}

type Files = {
  id: string;
  splits: unknown;
  files: (SetSample & { sha256?: string | null })[];
  /** Where it is not the number of files. */
  sample_count?: number;
};

function imageFiles(bytes: Uint8Array, path: string): Files {
  const manifest = parseImageManifest(bytes), { id, splits, samples } = manifest;
  const files = samples.map((sample) => ({
    id: sample.sample_id,
    path: samplePath(path, manifest, sample),
    sha256: sample.sha256,
  }));
  return { id, splits, files };
}

function textFiles(bytes: Uint8Array, manifestPath: string): Files {
  const manifest = parseTexts(bytes), { id, splits } = manifest;
  if (isLines(manifest)) {
    const path = besideManifest(manifestPath, manifest.path);
    return { id, splits, files: [{ id: path, path, sha256: manifest.sha256 }], sample_count: lineCount(manifest) };
  }
  const { samples } = manifest;
  const files = samples.map(({ sample_id, path, sha256 }) => ({
    id: sample_id,
    path: path === undefined ? null : besideManifest(manifestPath, path),
    sha256,
  }));
  return { id, splits, files };
}
