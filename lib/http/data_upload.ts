/**
 * Files that the page sends, stored as `uploads/<folder>/<name>` of the project. A file is staged in a hidden folder, read there
 * as the kind that its suffix claims, and moved into place: a folder never has a part of a file, and no file is replaced.
 *
 * One writer at a time: whatever is in the hidden folder at the start of an upload was left by a process that ended.
 */
import { basename, extname } from "node:path";
import { ARRAY_SUFFIXES } from "../artifact/array_file.ts";
import { fileSource } from "../artifact/byte_source.ts";
import { UPLOADS } from "../artifact/data_files.ts";
import { inspectData } from "../artifact/data_inspect.ts";
import { TEXT_SUFFIXES } from "../artifact/data_preview.ts";
import { hashFile } from "../artifact/hash_file.ts";
import { archiveBytes, holdsImages, labelsFile } from "../artifact/image_archive.ts";
import { decodeImage } from "../artifact/image_file.ts";
import {
  discardEntry,
  entryInside,
  inside,
  type InsidePath,
  makeFolderOf,
  moveEntry,
  removeEntry,
  writeFile,
} from "../artifact/inside.ts";
import { entriesOf, entryInfo } from "../artifact/path_kind.ts";
import { DATA_SUFFIX, META_SUFFIX, parseSigmf, RAW_SUFFIXES } from "../artifact/sigmf.ts";
import { syncEntry } from "../artifact/write_file.ts";
import type { Session } from "../api/session.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { quoted } from "../contract/names.ts";
import type { JsonObject } from "../contract/value.ts";
import { lockSaving } from "./recipe_save.ts";

const STAGED = ".staged";

/** Bytes of one file: a request is in memory. */
export const MAX_UPLOAD_BYTES = 2 ** 26;
/** Of all files below `uploads`. */
const MAX_FILES = 5000, MAX_BYTES = 2 ** 32;
const MAX_NAME_BYTES = 200, MAX_PIXELS = 2 ** 26;
const CIFAR_RECORD = 3073, CIFAR_CLASSES = 10;

export interface StoredUpload extends JsonObject {
  /** Relative to the project. */
  path: string;
  sha256: string;
  size_bytes: number;
  /** `present`: the folder had the file with the same bytes. */
  outcome: "stored" | "present";
}

/**
 * Stores a file.
 * @param folder a plain name
 * @param name of the sender; other characters than letters, digits, `.`, `_` and `-` become `_`
 * @throws SvcError `upload_refused`, `upload_exists`, `upload_limit_exceeded`, `path_forbidden` for a link in the path
 */
export async function storeUpload(
  { workspace }: Session,
  { folder, name: given, bytes }: { folder: string; name: string; bytes: Uint8Array },
): Promise<StoredUpload> {
  const { projectRoot } = workspace, name = cleanName(given);
  if (folder !== cleanName(folder)) throw refused(`the folder ${quoted(folder)}`, "it is no plain name");
  const check = checkOf(name), path = `${UPLOADS}/${folder}/${name}`, sha256 = sha256Hex(bytes);
  using _lock = await lockSaving(workspace);
  const stored = (outcome: StoredUpload["outcome"]) => ({ path, sha256, size_bytes: bytes.length, outcome });
  const target = placeOf(projectRoot, path), present = entryInfo(target);
  for (const parent of [UPLOADS, `${UPLOADS}/${folder}`]) {
    if (entryInfo(inside(projectRoot, parent))?.isDirectory === false) throw forbidden(path, `${parent} is no folder`);
  }
  if (present !== null) {
    if (present.isFile && present.size === bytes.length && hashFile(target).sha256 === sha256) return stored("present");
    throw new SvcError("upload_exists", `Cannot store ${path}: it exists with other content`, {
      hint: "Rename the file, or choose another folder",
    });
  }
  checkRoom(projectRoot, bytes.length);
  const staging = entryInside(projectRoot, `${UPLOADS}/${STAGED}`);
  removeEntry(staging);
  try {
    const staged = placeOf(projectRoot, `${UPLOADS}/${STAGED}/${name}`);
    makeFolderOf(staged);
    writeFile(staged, bytes, true);
    const place = (file: string) => file === name ? staged : placeOf(projectRoot, `${UPLOADS}/${folder}/${file}`);
    try {
      await check({ bytes, name, place });
    } catch (error) {
      throw error instanceof SvcError ? refused(name, error.message, error) : error;
    }
    makeFolderOf(target);
    moveEntry(staged, target);
    syncEntry(inside(projectRoot, `${UPLOADS}/${folder}`));
    return stored("stored");
  } finally {
    discardEntry(staging);
  }
}

function placeOf(projectRoot: string, path: string): InsidePath {
  try {
    return inside(projectRoot, path);
  } catch (error) {
    throw forbidden(path, "a part of it is a symbolic link", error);
  }
}

const forbidden = (path: string, why: string, cause?: unknown) =>
  new SvcError("path_forbidden", `Cannot store ${path}: ${why}`, { hint: "Choose another folder", cause });

const refused = (what: string, why: string, cause?: unknown) =>
  new SvcError("upload_refused", `Cannot store ${what}: ${why}`, {
    hint: (cause as SvcError | undefined)?.hint ??
      "Give images, texts, recordings, arrays, or files of MNIST or CIFAR-10",
    cause,
  });

/** @throws SvcError `upload_refused` */
function cleanName(given: string): string {
  const name = given.normalize("NFC");
  // deno-lint-ignore no-control-regex -- control characters are refused
  const why = /[/\\\u0000-\u001f\u007f-\u009f]/.test(name)
    ? "its name has a separator or a control character"
    : name === "" || /^[.\s]|[.\s]$/.test(name)
    ? "its name begins or ends with a dot or a space, or is empty"
    : /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name)
    ? "its name is reserved by Windows"
    : new TextEncoder().encode(name).length > MAX_NAME_BYTES
    ? `its name has more than ${MAX_NAME_BYTES} bytes`
    : null;
  if (why !== null) throw refused(quoted(given), why);
  return name.replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, "_").replace(/\.[^.]+$/, (suffix) => suffix.toLowerCase());
}

/** @throws SvcError `upload_limit_exceeded` */
function checkRoom(projectRoot: string, size: number): void {
  let files = 1, total = size;
  for (const folder of entriesOf(placeOf(projectRoot, UPLOADS))) {
    if (!folder.isDirectory || folder.name === STAGED) continue;
    for (const { name, isFile } of entriesOf(inside(projectRoot, `${UPLOADS}/${folder.name}`))) {
      if (!isFile) continue;
      files++;
      total += entryInfo(inside(projectRoot, `${UPLOADS}/${folder.name}/${name}`))?.size ?? 0;
    }
  }
  if (files <= MAX_FILES && total <= MAX_BYTES) return;
  throw new SvcError(
    "upload_limit_exceeded",
    `Cannot store more than ${MAX_FILES} files or ${MAX_BYTES} bytes in ${UPLOADS}`,
    { hint: "Copy the files into a folder of the project, or remove files there" },
  );
}

interface Upload {
  name: string;
  bytes: Uint8Array;
  /** The staged file, or another one of its folder. */
  place(file: string): InsidePath;
}
type Check = (upload: Upload) => void | Promise<void>;

/** What reads a file of this name. @throws SvcError `upload_refused` for an unknown kind */
function checkOf(name: string): Check {
  const suffix = extname(name);
  if ([".png", ".jpg", ".jpeg"].includes(suffix)) return checkImage;
  if (TEXT_SUFFIXES.includes(suffix)) return checkText;
  if (holdsImages(name) || /[.-]idx1-ubyte(\.gz)?$/.test(name)) return checkArchive;
  if ([META_SUFFIX, DATA_SUFFIX, ...Object.keys(RAW_SUFFIXES), ...ARRAY_SUFFIXES, ".npy"].includes(suffix)) {
    return checkData;
  }
  throw refused(name, "it is of no known kind");
}

const checkImage: Check = ({ name, bytes }) => {
  const { format } = decodeImage(bytes, { maxPixels: MAX_PIXELS });
  if (name.endsWith(".png") !== (format === "png")) {
    throw new SvcError("upload_refused", "its suffix is that of another format");
  }
};

const checkText: Check = ({ bytes }) => {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SvcError("upload_refused", "it is no text in UTF-8", { cause });
  }
  if (text.includes("\0")) throw new SvcError("upload_refused", "it has NUL characters");
};

const checkArchive: Check = ({ name, bytes: packed }) => {
  const bytes = archiveBytes(packed, name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const holds = labelsFile(name) === null && !/idx1-ubyte(\.gz)?$/.test(name)
    ? bytes.length > 0 && bytes.length % CIFAR_RECORD === 0 &&
      Array.from({ length: bytes.length / CIFAR_RECORD }, (_, i) => bytes[CIFAR_RECORD * i]).every((at) =>
        at < CIFAR_CLASSES
      )
    : holdsIdx(view, labelsFile(name) === null ? 1 : 3);
  if (!holds) throw new SvcError("upload_refused", "its content does not fit its format");
};

function holdsIdx(view: DataView, dimensions: number): boolean {
  const header = 4 + 4 * dimensions;
  if (view.byteLength < header || view.getUint32(0) !== 0x800 + dimensions) return false;
  const sizes = Array.from({ length: dimensions }, (_, i) => view.getUint32(4 + 4 * i));
  return view.byteLength === header + sizes.reduce((product, size) => product * size, 1);
}

/** Recordings and arrays: only headers are read. The samples of a SigMF recording follow its description. */
const checkData: Check = async ({ name, bytes, place }) => {
  // A description that comes before its samples is read when they follow.
  if (name.endsWith(META_SUFFIX)) return void parseSigmf(bytes, name);
  const described = name.endsWith(DATA_SUFFIX) ? name.slice(0, -DATA_SUFFIX.length) + META_SUFFIX : name;
  if (entryInfo(place(described)) === null) {
    throw new SvcError("upload_refused", `${described} must be stored first`);
  }
  using opened = new DisposableStack();
  await inspectData(described, (file) => opened.use(fileSource(place(basename(file)), MAX_UPLOAD_BYTES, file)));
};
