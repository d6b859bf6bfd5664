/** Artifact files that requests name: relative to the state directory, below the folders that hold evidence. */
import { invalid } from "../artifact/array_block.ts";
import { imageOfArray } from "../artifact/array_image.ts";
import { holdsItems, itemName } from "../artifact/array_items.ts";
import { hashFile } from "../artifact/hash_file.ts";
import type { Image } from "../artifact/image.ts";
import { decodeImage, MAX_IMAGE_FILE_BYTES } from "../artifact/image_file.ts";
import { inside, type InsidePath, openFile, readFile } from "../artifact/inside.ts";
import { readBounded } from "../artifact/read_file.ts";
import { openNpz } from "../artifact/npz.ts";
import { readNpy } from "../artifact/npy.ts";
import { METADATA_MEMBER } from "../artifact/codec.ts";
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { float, type Value } from "../contract/value.ts";
import { DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { outputsOf } from "./bundle_schema.ts";
import { SUMMARY_FILE } from "./documents.ts";
import { readPruned } from "./prune.ts";
import { readDocument } from "./read.ts";
import type { Workspace } from "./workspace.ts";
import { checkPath, confine } from "../artifact/confine.ts";

/** Folders of the state directory whose files are shown. */
const FOLDERS = ["runs", "benchmarks", "dataset_captures"];
/** Values of an array in a preview. */
const PREVIEW_VALUES = 256;
/** Bytes of a text in a preview. */
const PREVIEW_BYTES = 64 * 1024;
/** Files that are decoded are read whole; larger ones can be downloaded. */
const MAX_DECODED_BYTES = 1 << 30;

const FORMATS: Readonly<Record<string, string>> = {
  npz: "npz",
  npy: "npy",
  json: "json",
  png: "png",
  jpg: "jpeg",
  jpeg: "jpeg",
  csv: "text",
  txt: "text",
  md: "text",
  yaml: "text",
  yml: "text",
  svg: "svg",
};

export interface ArtifactFile {
  /** Of the request. */
  path: string;
  /** Absolute. */
  full: InsidePath;
  /** By its extension; `binary` for an unknown one. */
  format: string;
  size: number;
}

/** Finds a file. @throws SvcError `path_forbidden`, `artifact_not_found` */
export function findArtifact({ stateDir }: Workspace, path: string): ArtifactFile {
  const [folder, ...rest] = checkPath(path).split("/");
  if (!FOLDERS.includes(folder) || rest.length === 0 || rest.some((part) => part.startsWith("."))) {
    throw new SvcError("path_forbidden", `Cannot show ${path}: artifacts lie in ${FOLDERS.join(", ")}`, {
      hint: "Take the path of an output from the summary of its run",
    });
  }
  const full = placeOf(stateDir, path);
  const info = Deno.lstatSync(full);
  // A folder is not listed: its files are named by the documents of its bundle.
  if (!info.isFile) throw new SvcError("artifact_not_found", `Cannot show ${path}: it is no file`);
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1].toLowerCase() ?? "";
  return { path, full, format: Object.hasOwn(FORMATS, extension) ? FORMATS[extension] : "binary", size: info.size };
}

/** @throws SvcError `run_pruned` for an artifact that was removed from its bundle, and as {@link findArtifact} */
function placeOf(stateDir: string, path: string): InsidePath {
  try {
    return confine(stateDir, path, "artifact_not_found");
  } catch (error) {
    const [folder, id, ...rest] = path.split("/");
    if (folder !== "runs" || (error as { code?: string }).code !== "artifact_not_found") throw error;
    const pruned = readPruned(inside(stateDir, folder, id));
    if (!pruned?.files.some((file) => file.path === rest.join("/"))) throw error;
    throw new SvcError("run_pruned", `Cannot show ${path}: the artifacts of this run were pruned`, {
      hint: `Make them again: svc runs restore ${id}`,
    });
  }
}

/** Names and arrays of a file that holds some. @throws SvcError `artifact_invalid` */
function readArrays(
  { path, full, format, size }: ArtifactFile,
): { names: string[]; array(name: string): NdArray } {
  if (format !== "npz" && format !== "npy") throw invalid(`Cannot find arrays in ${path}`, "Name an .npz file");
  if (size > MAX_DECODED_BYTES) throw invalid(`Cannot decode ${path}: it is too large`, "Download it instead");
  const bytes = readFile(full, MAX_DECODED_BYTES);
  try {
    if (format === "npy") {
      const array = readNpy(bytes, path);
      return { names: ["array"], array: () => array };
    }
    const file = openNpz(bytes, path);
    return { names: file.names.filter((name) => name !== METADATA_MEMBER), array: (name) => file.array(name) };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw invalid(error.message, error.hint);
  }
}

/** One array of a file; the first when none is named. @throws SvcError `query_invalid`, `artifact_invalid` */
export function readArray(file: ArtifactFile, name: string | undefined): { name: string; array: NdArray } {
  const { names, array } = readArrays(file);
  const chosen = name ?? mainName(names);
  if (chosen === undefined || !names.includes(chosen)) {
    throw new SvcError("query_invalid", `Cannot find the array ${name ?? ""} in ${file.path}`, {
      hint: didYouMean(name ?? "", names) ?? `It holds ${names.join(", ") || "none"}`,
    });
  }
  return { name: chosen, array: array(chosen) };
}

/** An image of a file or of its arrays: images of several sizes are an array each. @throws SvcError as {@link readArray} */
export async function imageOfFile(
  file: ArtifactFile,
  { array, index }: { array?: string; index: number },
): Promise<Image> {
  if (file.format === "png" || file.format === "jpeg") {
    return decodeImage(await readBounded(file.full, MAX_IMAGE_FILE_BYTES, file.path));
  }
  const items = array === undefined && holdsItems(readArrays(file).names);
  return items
    ? imageOfArray(readArray(file, itemName(index)).array, 0)
    : imageOfArray(readArray(file, array).array, index);
}

export type ArtifactPreview = ReturnType<typeof previewArtifact>;

/** An artifact with its beginning. @throws SvcError `path_forbidden`, `artifact_not_found`, `artifact_invalid` */
export function previewArtifact(workspace: Workspace, path: string) {
  const file = findArtifact(workspace, path);
  const { sha256 } = hashFile(file.full);
  const { preview, truncated } = previewOf(file);
  return {
    path,
    kind: kindOf(workspace, path),
    format: file.format,
    size_bytes: file.size,
    sha256,
    preview,
    truncated,
  };
}

type Preview = { arrays?: { name: string; dtype: string; shape: number[]; values: Value[] }[]; text?: string };

function previewOf(file: ArtifactFile): { preview: Preview | null; truncated: boolean } {
  if (file.format === "npz" || file.format === "npy") {
    const { names, array } = readArrays(file);
    let truncated = false;
    const arrays = names.map((name) => {
      const { dtype, shape, data } = array(name);
      const count = elementCount(shape);
      truncated ||= count > PREVIEW_VALUES;
      return { name, dtype, shape: [...shape], values: firstValues({ dtype, shape, data }, PREVIEW_VALUES) };
    });
    return { preview: { arrays }, truncated };
  }
  if (file.format === "json" || file.format === "text" || file.format === "svg") {
    using opened = openFile(file.full, { read: true });
    const bytes = new Uint8Array(Math.min(file.size, PREVIEW_BYTES));
    let length = 0;
    for (let count: number | null = 0; length < bytes.length && count !== null;) {
      count = opened.readSync(bytes.subarray(length));
      length += count ?? 0;
    }
    // A character that the cut goes through is left out.
    const text = new TextDecoder().decode(bytes.subarray(0, length)).replace(/\ufffd$/, "");
    return { preview: { text }, truncated: file.size > length };
  }
  return { preview: null, truncated: true };
}

/** Values as JSON: complex ones as pairs, what JSON has no number for as text. */
function firstValues({ dtype, shape, data }: NdArray, most: number): Value[] {
  const count = Math.min(elementCount(shape), most);
  const real = dtype.startsWith("float") || dtype.startsWith("complex");
  const value = (at: number): Value => {
    const item = data[at];
    if (typeof item === "bigint") return item;
    if (dtype === "bool") return item !== 0;
    if (!Number.isFinite(item)) return String(item);
    return real ? float(item) : item;
  };
  if (DTYPES[dtype].slots === 1) return Array.from({ length: count }, (_, i) => value(i));
  return Array.from({ length: count }, (_, i) => [value(2 * i), value(2 * i + 1)]);
}

/** The kind that the run's summary gives an output, or null. */
function kindOf({ runs }: Workspace, path: string): string | null {
  const [folder, runId, ...rest] = path.split("/");
  if (folder !== "runs") return null;
  try {
    const outputs = outputsOf(readDocument(inside(runs, runId), SUMMARY_FILE));
    return outputs.find(({ output }) => output.path === rest.join("/"))?.output.kind ?? null;
  } catch (error) {
    // The file lies in no bundle that can be read.
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** The main array of a file, which is written before its companions. */
const mainName = (names: string[]): string | undefined => names[0];
