/**
 * File access inside a folder whose contents somebody else may have made.
 *
 * {@link inside} looks at each part of a path below its root and refuses a symbolic link, so that no path of a document and
 * no link leads outside. The operations take such paths only. Files are regular files: a pipe, a device or a socket is
 * refused before it is opened, and reading has a limit. Links in the path of the root itself belong to the user. A folder
 * that another process changes between check and use is not covered.
 */
import { dirname, join } from "../contract/paths.ts";
import { quoted } from "../contract/names.ts";
import { SvcError } from "../contract/error.ts";
import { systemCodeOf } from "../contract/system_error.ts";
import { entryInfo } from "./path_kind.ts";

declare const INSIDE: unique symbol;

/** Absolute path below its root; no part of it is a link, but its last part may be one. For removing and moving. */
export type InsideEntry = string & { readonly [INSIDE]: unknown };
/** Absolute path below its root without links; its last part may be missing. */
export type InsidePath = InsideEntry & { readonly [INSIDE]: true };

/**
 * Checks a path below a folder.
 * @param root absolute path of a folder of the user, or a checked one
 * @param parts joined by `/`; none of their names is empty, `.` or `..`
 * @throws SvcError `path_refused` for a path that is not relative, leaves its folder or meets a symbolic link
 */
export function inside(root: string, ...parts: string[]): InsidePath {
  return checked(root, parts, true) as InsidePath;
}

/** As {@link inside}, for an entry that is removed or moved: the last part may be a link. */
export function entryInside(root: string, ...parts: string[]): InsideEntry {
  return checked(root, parts, false) as InsideEntry;
}

const isPlain = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !name.includes("\0") &&
  !(Deno.build.os === "windows" && /[\\:]/.test(name));

function checked(root: string, parts: readonly string[], last: boolean): string {
  const path = parts.join("/"), names = path.split("/");
  if (!names.every(isPlain)) throw refused("use the path", path, "it is no relative path inside its folder");
  let place = root;
  for (const [index, name] of names.entries()) {
    place = join(place, name);
    if (index === names.length - 1 && !last) break;
    const info = entryInfo(place);
    if (info === null) break;
    if (info.isSymlink) throw refused("use the path", path, "a part of it is a symbolic link");
  }
  return join(root, ...names);
}

const refused = (attempt: string, path: string, why: string) =>
  new SvcError("path_refused", `Cannot ${attempt} ${quoted(path)}: ${why}`);

/**
 * Opens a regular file; `create` makes a missing one.
 * @throws SvcError `path_refused` for anything but a regular file; errors of the system
 */
export function openFile(path: InsidePath, options: Deno.OpenOptions): Deno.FsFile {
  // Before it is opened: opening a pipe waits for its other end.
  if (entryInfo(path)?.isFile === false) throw refused("open", path, "it is not a regular file");
  return Deno.openSync(path, options);
}

/**
 * Reads a regular file up to a limit; the size that the system reports is not relied on.
 * @throws SvcError `path_refused` for anything but a regular file, `artifact_limit_exceeded`; errors of the system
 */
export function readFile(path: InsidePath, maxBytes: number): Uint8Array<ArrayBuffer> {
  using file = openFile(path, { read: true });
  const { size } = file.statSync();
  let bytes = new Uint8Array(Math.min(size, maxBytes) + 1), length = 0;
  for (let count = size > maxBytes ? size : file.readSync(bytes); count !== null;) {
    length += count;
    if (length > maxBytes) {
      throw new SvcError("artifact_limit_exceeded", `Cannot read ${quoted(path)}: it has more than ${maxBytes} bytes`);
    }
    if (length === bytes.length) {
      const grown = new Uint8Array(Math.min(maxBytes, 2 * length) + 1);
      grown.set(bytes);
      bytes = grown;
    }
    count = file.readSync(bytes.subarray(length));
  }
  return bytes.subarray(0, length);
}

/** As {@link readFile}, as text. */
export const readText = (path: InsidePath, maxBytes: number): string =>
  new TextDecoder().decode(readFile(path, maxBytes));

/**
 * Writes a regular file; one of the same name is overwritten.
 * @param contents text or bytes, whole or in pieces, of which one is in memory at a time
 * @param durable whether the contents are on the disk at the end
 * @throws SvcError `path_refused`; errors of the system
 */
export function writeFile(
  path: InsidePath,
  contents: string | Uint8Array | Iterable<string>,
  durable = false,
): void {
  using file = openFile(path, { write: true, create: true, truncate: true });
  for (const piece of typeof contents === "string" || contents instanceof Uint8Array ? [contents] : contents) {
    const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
    for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  }
  if (durable) file.syncDataSync();
}

declare const NEW: unique symbol;

/** A folder that this process made: what it puts there needs no look at its path. */
export type NewFolder = InsidePath & { readonly [NEW]: true };

/** Makes a folder that must be new, in one that exists. @throws errors of the system, `AlreadyExists` */
export function makeNewFolder(path: InsideEntry): NewFolder {
  Deno.mkdirSync(path);
  return path as NewFolder;
}

/** The path of an entry, which may be a link but in a new folder. @param name of a file or folder, without separators */
export function entryOf(folder: NewFolder, name: string): InsidePath;
export function entryOf(folder: InsidePath, name: string): InsideEntry;
export function entryOf(folder: InsidePath, name: string): InsideEntry {
  if (!isPlain(name) || name.includes("/")) throw refused("use the name", name, "it is no name of a file");
  return join(folder, name) as InsideEntry;
}

/** Opens a file that must be new, for writing. @throws errors of the system, `AlreadyExists` for an entry of any kind */
export const createFile = (path: InsideEntry, options: { read?: boolean; mode?: number } = {}): Deno.FsFile =>
  Deno.openSync(path, { ...options, write: true, createNew: true });

/** Writes a file that must be new. @throws as {@link createFile} */
export function writeNewEntry(path: InsideEntry, bytes: Uint8Array, readOnly: boolean): void {
  using file = createFile(path, readOnly ? { mode: 0o444 } : {});
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
}

/** Makes a folder and those above it. */
export const makeFolder = (path: InsidePath): void => Deno.mkdirSync(path, { recursive: true });

/** Makes the folder of a checked path, for a file in it. */
export const makeFolderOf = (path: InsideEntry): void => Deno.mkdirSync(dirname(path), { recursive: true });

/** Makes a folder that the user named, with those above it; links in its path are the user's. */
export const makeUserFolder = (path: string): void => Deno.mkdirSync(path, { recursive: true });

/** Moves a file, a folder or a link; a file or link of the new name is replaced. */
export const moveEntry = (from: InsideEntry, to: InsideEntry): void => Deno.renameSync(from, to);

/** Copies a regular file, with the folders above it. @throws SvcError `path_refused`; errors of the system */
export function copyFile(from: InsidePath, to: InsidePath): void {
  for (const path of [from, to]) {
    if (entryInfo(path)?.isFile === false) throw refused("copy", path, "it is not a regular file");
  }
  makeFolderOf(to);
  Deno.copyFileSync(from, to);
}

/** Gives a regular file a second name, which must be free. @throws SvcError `path_refused`; errors of the system */
export function linkFile(from: InsidePath, to: InsideEntry): void {
  if (entryInfo(from)?.isFile === false) throw refused("link", from, "it is not a regular file");
  Deno.linkSync(from, to);
}

/** Removes a file, a link itself, or a folder with its contents; a missing one is no error. */
export function removeEntry(path: InsideEntry): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Removes an entry in a clean-up, where a failure must not replace the outcome that is being reported. What the storage does
 * not let go stays for `svc runs gc`.
 */
export function discardEntry(path: InsideEntry, remove: (path: InsideEntry) => void = removeEntry): void {
  try {
    remove(path);
  } catch (error) {
    if (systemCodeOf(error) === null) throw error;
  }
}
