/**
 * Files of the project that become data: a folder and its files, the content of one, and the manifest of either. Names with a
 * leading dot, the state directory among them, and symbolic links are not part of it.
 */
import { basename, extname, join } from "node:path";
import { fileSource } from "./byte_source.ts";
import { ARRAY_SUFFIXES } from "./array_file.ts";
import { hashFile } from "./hash_file.ts";
import { inspectData } from "./data_inspect.ts";
import { previewData, previewDocument, TEXT_SUFFIXES } from "./data_preview.ts";
import { decodeImage } from "./image_file.ts";
import { resizeShorterSide } from "./image_resize.ts";
import { type InsidePath, readFile } from "./inside.ts";
import { exists, isFolder } from "./path_kind.ts";
import { writePng } from "./png_encode.ts";
import { DATA_SUFFIX, META_SUFFIX, RAW_SUFFIXES } from "./sigmf.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { compareCodePoints } from "../contract/json.ts";
import { quoted } from "../contract/names.ts";
import type { JsonObject } from "../contract/value.ts";
import { confine } from "./confine.ts";
import { type DataSet, readSet, type Room } from "./data_sets.ts";

export type DataKind = "folder" | "image" | "recording" | "arrays" | "texts" | "code" | "manifest" | "other";
export interface DataFile extends JsonObject {
  /** Relative to the project. */
  path: string;
  kind: DataKind;
  size_bytes: number | null;
}
export interface DataFolder extends JsonObject {
  folder: string;
  files: DataFile[];
  /** Whether there are more files than are listed. */
  truncated: boolean;
}
export interface DataContents extends JsonObject {
  path: string;
  kind: DataKind;
  /** As `svc data inspect` describes it; null for other files. */
  description: JsonObject | null;
  preview: JsonObject | null;
}

/** Folder of the project for files that the page sends. */
export const UPLOADS = "uploads";
const MAX_FILES = 500, MAX_DATA_BYTES = 2 ** 30;
const MAX_THUMBNAILS = 24, THUMBNAIL_SIDE = 72;
/** Of an image with a thumbnail. */
const MAX_IMAGE_BYTES = 2 ** 25, MAX_IMAGE_PIXELS = 2 ** 25;
/** Folders that are searched for data, the deepest of them, files of one of them, and the sets that are listed. */
const MAX_FOLDERS = 500, MAX_DEPTH = 6, MAX_SEARCHED = 20_000, MAX_SETS = 200;
/** Bytes that are hashed for a list, and for one manifest. */
const MAX_LISTED_BYTES = 2 ** 28, MAX_CHECKED_BYTES = 2 ** 32;
/** Of all images of a folder with thumbnails. */
const MAX_FOLDER_PIXELS = 2 ** 27;

function kindOf(name: string): DataKind {
  const suffix = extname(name).toLowerCase();
  if (/(^|\.)manifest\.json$/.test(name)) return "manifest";
  if ([".png", ".jpg", ".jpeg"].includes(suffix)) return "image";
  if ([META_SUFFIX, ...Object.keys(RAW_SUFFIXES)].includes(suffix)) return "recording";
  if ([...ARRAY_SUFFIXES, ".npy"].includes(suffix)) return "arrays";
  if ([".alist", ".qc"].includes(suffix)) return "code";
  return TEXT_SUFFIXES.includes(suffix) ? "texts" : "other";
}

/** A path of the project without hidden parts. @throws SvcError `path_forbidden`, `not_found` */
export function projectPlace(projectRoot: string, path: string): InsidePath {
  if (path.split("/").some((part) => part.startsWith("."))) {
    throw new SvcError("path_forbidden", `Cannot use the path ${quoted(path)}: a part of it is hidden`, {
      hint: "Move the data to a folder without a leading dot",
    });
  }
  return confine(projectRoot, path, "not_found");
}

/** Lists a folder, folders first; that of uploads is empty before the first one. @throws SvcError `path_forbidden`, `not_found`, `usage_invalid` for a file */
export function dataFolder(root: string, folder: string, most = MAX_FILES): DataFolder {
  if (folder === UPLOADS && !exists(join(root, UPLOADS))) {
    return { folder, files: [], truncated: false };
  }
  const place = folder === "" ? root : projectPlace(root, folder), found: DataFile[] = [];
  if (!isFolder(place)) throw new SvcError("usage_invalid", `Cannot list ${folder}: it is a file`);
  const below = folder === "" ? "" : `${folder}/`;
  for (const { name, isDirectory, isFile } of Deno.readDirSync(place)) {
    if (name.startsWith(".") || name.endsWith(DATA_SUFFIX) || !isDirectory && !isFile) continue;
    found.push({ path: below + name, kind: isDirectory ? "folder" : kindOf(name), size_bytes: null });
  }
  const rank = ({ kind }: DataFile) => kind === "folder" ? 0 : 1;
  found.sort((a, b) => rank(a) - rank(b) || compareCodePoints(a.path, b.path));
  const files = found.slice(0, most).map((file) =>
    file.kind === "folder" ? file : { ...file, size_bytes: Deno.lstatSync(join(place, basename(file.path))).size }
  );
  return { folder, files, truncated: found.length > most };
}

/** Thumbnails of the images of a folder, or the content of a file. @throws SvcError as {@link dataFolder}, and those of the format */
export async function dataContents(root: string, path: string): Promise<DataContents> {
  const place = path === "" ? null : projectPlace(root, path);
  if (place === null || isFolder(place)) {
    const images = dataFolder(root, path).files.filter(({ kind }) => kind === "image");
    return { path, kind: "folder", description: null, preview: thumbnails(root, images) };
  }
  const kind = kindOf(basename(path));
  if (kind === "manifest") return manifestContents(root, path);
  if (kind === "image") {
    return { path, kind, description: null, preview: thumbnails(root, [{ path, kind, size_bytes: null }]) };
  }
  if (kind === "code") {
    const { sha256, size_bytes } = hashFile(projectPlace(root, path), MAX_DATA_BYTES);
    return { path, kind, description: { path, sha256, size_bytes }, preview: null };
  }
  using opened = new DisposableStack();
  // The second file of a recording is beside the first: it is looked up in the same way.
  const open = (file: string) => opened.use(fileSource(projectPlace(root, file), MAX_DATA_BYTES, file));
  const described = kind === "recording" || kind === "arrays" ? await inspectData(path, open) : null;
  const preview = await previewData(path, open);
  return { path, kind, description: described, preview: preview === null ? null : previewDocument(preview) };
}

/** What a manifest names: samples, splits, thumbnails, and whether its files are unchanged. */
function manifestContents(root: string, path: string): DataContents {
  const found = readSet(path, (file) => projectPlace(root, file), { bytes: MAX_CHECKED_BYTES });
  if (found === null) return { path, kind: "manifest", description: null, preview: null };
  const { set: { path: _, ...facts }, samples, splits } = found;
  const shown = samples.slice(0, MAX_FILES), ids = new Map(shown.map(({ id, path }) => [path, id]));
  const files = shown.flatMap(({ path }) => path === null ? [] : [{ path, kind: "image" as const, size_bytes: null }]);
  const preview = facts.kind === "images" ? thumbnails(root, files) : null;
  for (const image of (preview?.images ?? []) as JsonObject[]) image.id = ids.get(String(image.path)) ?? null;
  return {
    path,
    kind: "manifest",
    description: { ...facts, splits, sample_ids: shown.map(({ id }) => id) },
    preview: preview && { ...preview, count: samples.length },
  };
}

/** The data of the project that sources can read: manifests with the state of their files, recordings and files of arrays. */
export function dataSets(root: string): { sets: DataSet[]; truncated: boolean } {
  const sets: DataSet[] = [], room: Room = { bytes: MAX_LISTED_BYTES }, folders = [""];
  let truncated = false;
  for (let at = 0; at < folders.length && sets.length < MAX_SETS; at++) {
    const { files, truncated: more } = dataFolder(root, folders[at], MAX_SEARCHED);
    truncated ||= more;
    for (const { path, kind } of files) {
      if (sets.length >= MAX_SETS || folders.length >= MAX_FOLDERS) {
        truncated = true;
        break;
      }
      if (kind === "folder" && path.split("/").length <= MAX_DEPTH) folders.push(path);
      if (kind === "manifest") {
        const found = readSet(path, (file) => projectPlace(root, file), room);
        if (found !== null) sets.push(found.set);
      } else if (kind === "recording" || kind === "code" || kind === "arrays" && !path.endsWith(".npy")) {
        const unread = { id: null, sha256: null, sample_count: null, problems: [] };
        sets.push({ path, kind, ...unread, state: "not_checked" });
      }
    }
  }
  return { sets, truncated };
}

/** Images as PNG of a short side; a file that is no image has its fault in place of one. */
function thumbnails(root: string, images: readonly DataFile[]): JsonObject | null {
  if (images.length === 0) return null;
  let left = MAX_FOLDER_PIXELS;
  const shown: JsonObject[] = [];
  for (const { path } of images.slice(0, MAX_THUMBNAILS)) {
    if (left <= 0) break;
    try {
      const image = decodeImage(readFile(projectPlace(root, path), MAX_IMAGE_BYTES), { maxPixels: MAX_IMAGE_PIXELS });
      left -= image.width * image.height;
      const small = Math.min(image.width, image.height) > THUMBNAIL_SIDE
        ? resizeShorterSide(image, THUMBNAIL_SIDE)
        : image;
      shown.push({ path, width: image.width, height: image.height, png: writePng(small, 1).toBase64() });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      shown.push({ path, problem: messageOf(error) });
    }
  }
  return { kind: "images", count: images.length, images: shown };
}
