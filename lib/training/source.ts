/**
 * Where a package comes from: a folder, a manifest file, or a ZIP file. A source lists and reads; nothing is unpacked, no
 * link is followed, and no more than the limits allow is ever held in memory.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, dirname, join, posix, resolve } from "node:path";
import { openZip, type ZipEntry } from "../artifact/zip_read.ts";
import { type Diagnostic, diagnostic, messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { compareCodePoints } from "../contract/json.ts";
import { MAX_EXPANDED_BYTES, MAX_MANIFEST_BYTES, MAX_MEMBERS, MAX_PACKAGE_BYTES } from "./limits.ts";
import { IMPORT_RECORD, MANIFEST_NAMES, nameCollisions, unsafeName } from "./member_names.ts";

/** A package that was opened; paths are relative to the folder of its manifest, with `/` between parts. */
export interface PackageSource {
  readonly kind: "directory" | "manifest" | "archive";
  /** Name of the opened package, for messages. */
  readonly name: string;
  /** File name of the manifest. */
  readonly manifestName: string;
  /** Displayed path of the manifest. */
  readonly manifestShown: string;
  /** All files of the package; null when only a manifest was named, so that unlisted files do not count. */
  readonly members: readonly string[] | null;
  /**
   * The bytes of a file, or null when it is not there.
   * @throws SvcError `artifact_limit_exceeded` beyond `limit`, `artifact_member_unsafe`
   */
  read(path: string, limit: number): Uint8Array | null;
  /** Place of a file on this machine; null in an archive. */
  placeOf(path: string): string | null;
  /** Digest of the archive, as a release record names it; null for files in a folder. */
  readonly archiveSha256: string | null;
}

/**
 * Opens a package.
 * @param from path of a folder, a manifest or a ZIP file; or the bytes of a ZIP file
 * @param name for messages; the path when left out
 * @throws SvcError `artifact_manifest_missing`, `artifact_manifest_ambiguous`, `artifact_member_unsafe`,
 *   `artifact_limit_exceeded`, `artifact_archive_invalid`
 */
export function openPackage(from: string | Uint8Array, name?: string): PackageSource {
  if (typeof from !== "string") return archiveSource(from, name ?? "the package");
  const path = resolve(from), shown = name ?? from;
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) {
    throw new SvcError("artifact_manifest_missing", `Cannot find the package ${shown}`, {
      hint: `Name a folder, a ${MANIFEST_NAMES[0]} or a ZIP file`,
    });
  }
  if (info.isDirectory()) return directorySource(path, shown);
  if (!info.isFile()) throw unsafe(`Cannot open ${shown}: it is a link or no regular file`);
  const head = readPrefix(path, 4);
  // "PK" and a low control character: a member, an empty archive or a spanned one.
  if (/\.zip$/i.test(path) || (head[0] === 0x50 && head[1] === 0x4b && head[2] < 9)) {
    return archiveSource(readRegularFile(path, MAX_PACKAGE_BYTES, shown)!, shown);
  }
  return folderSource(dirname(path), basename(path), {
    kind: "manifest",
    name: shown,
    manifestShown: shown,
    members: null,
  });
}

const unsafe = (message: string, diagnostics: Diagnostic[] = []) =>
  new SvcError("artifact_member_unsafe", message, { diagnostics, hint: diagnostics[0]?.hint });

function directorySource(root: string, name: string): PackageSource {
  const problems: Diagnostic[] = [];
  const paths: string[] = [];
  let bytes = 0;
  const visit = (folder: string) => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true })
      .sort((a, b) => compareCodePoints(a.name, b.name));
    for (const entry of entries) {
      const path = folder + entry.name;
      if (path === IMPORT_RECORD) continue;
      if (entry.isDirectory()) visit(path + "/");
      else if (entry.isFile()) {
        paths.push(path);
        bytes += lstatSync(join(root, path)).size;
        checkTotals(name, paths.length, bytes, "Leave out what its manifest does not list");
      } else {problems.push(
          memberProblem(path, entry.isSymbolicLink() ? "it is a symbolic link" : "it is a special file"),
        );}
    }
  };
  visit("");
  checkNames(name, paths, problems);
  const manifest = manifestAmong(paths, name);
  const folder = posix.dirname(manifest);
  return folderSource(join(root, folder), basename(manifest), {
    kind: "directory",
    name,
    manifestShown: join(name, manifest),
    members: below(paths, folder),
  });
}

/** A folder of which only files that are asked for are looked at; nothing need be there yet. */
export function openFolder(root: string, manifestName: string, name = root): PackageSource {
  const manifestShown = join(name, manifestName);
  return folderSource(resolve(root), manifestName, { kind: "manifest", name, manifestShown, members: null });
}

function folderSource(
  root: string,
  manifestName: string,
  what: Pick<PackageSource, "kind" | "name" | "manifestShown" | "members">,
): PackageSource {
  return {
    ...what,
    manifestName,
    archiveSha256: null,
    placeOf: (path) => join(root, path),
    read(path, limit) {
      const why = path === manifestName ? null : unsafeName(path);
      if (why !== null) throw unsafe(`Cannot read ${JSON.stringify(path)} of ${what.name}: ${why}`);
      let place = root;
      for (const part of path.split("/")) {
        place = join(place, part);
        if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
          throw unsafe(`Cannot read ${path} of ${what.name}: a part of its path is a symbolic link`);
        }
      }
      return readRegularFile(place, limit, `${path} of ${what.name}`);
    },
  };
}

function archiveSource(bytes: Uint8Array, name: string): PackageSource {
  checkTotals(name, 0, bytes.length);
  const entries = zipEntries(bytes, name);
  const problems: Diagnostic[] = [];
  const files = new Map<string, ZipEntry>();
  for (const entry of entries) {
    const type = (entry.externalAttributes >>> 16) & 0xf000;
    const isFolder = entry.name.endsWith("/");
    if (type === 0xa000) problems.push(memberProblem(entry.name, "it is a symbolic link"));
    else if (type !== 0 && type !== (isFolder ? 0x4000 : 0x8000)) {
      problems.push(memberProblem(entry.name, "it is a special file"));
    } else if (!isFolder) files.set(entry.name, entry);
    else if (entry.size > 0) problems.push(memberProblem(entry.name, "it is a folder with contents of its own"));
    else if (unsafeName(entry.name.slice(0, -1)) !== null) {
      problems.push(memberProblem(entry.name, unsafeName(entry.name.slice(0, -1))!));
    }
  }
  const paths = [...files.keys()];
  checkTotals(name, paths.length, 0);
  checkNames(name, paths, problems);
  const manifest = manifestAmong(paths, name);
  const folder = posix.dirname(manifest);
  const prefix = folder === "." ? "" : folder + "/";
  return {
    kind: "archive",
    name,
    manifestName: basename(manifest),
    manifestShown: `${name}/${manifest}`,
    members: below(paths, folder),
    archiveSha256: sha256Hex(bytes),
    placeOf: () => null,
    read(path, limit) {
      const entry = files.get(prefix + path);
      if (entry === undefined) return null;
      if (entry.size > limit) throw tooLarge(`${path} of ${name}`, limit);
      return asMember(() => entry.read());
    },
  };
}

function zipEntries(bytes: Uint8Array, name: string): ZipEntry[] {
  // Folders are entries too, but no members.
  const limits = { maxEntries: 2 * MAX_MEMBERS, maxExpandedBytes: MAX_EXPANDED_BYTES };
  return asMember(() => openZip(bytes, name, limits));
}

/** Reports an entry that the ZIP reader refuses as an unsafe member of the package. */
function asMember<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SvcError && error.extra.member !== undefined) throw unsafe(error.message);
    throw error;
  }
}

const memberProblem = (path: string, why: string): Diagnostic =>
  diagnostic("artifact_member_unsafe", [path], `Cannot accept the member ${JSON.stringify(path)}: ${why}`);

function checkNames(name: string, paths: readonly string[], found: readonly Diagnostic[]): void {
  const problems = [...found];
  for (const path of paths) {
    const why = unsafeName(path);
    if (why !== null) problems.push(memberProblem(path, why));
  }
  for (const { path, with: other } of nameCollisions(paths)) {
    problems.push(memberProblem(path, `on some systems it is the same file as ${JSON.stringify(other)}`));
  }
  if (problems.length === 0) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw unsafe(`Cannot open ${name}: ${problems[0].message}${more}`, problems);
}

function checkTotals(name: string, members: number, bytes: number, hint: string | null = null): void {
  if (members > MAX_MEMBERS) {
    throw new SvcError("artifact_limit_exceeded", `Cannot open ${name}: it has more than ${MAX_MEMBERS} files`, {
      hint,
    });
  }
  if (bytes > MAX_PACKAGE_BYTES) throw tooLarge(name, MAX_PACKAGE_BYTES, hint);
}

function tooLarge(name: string, limit: number, hint: string | null = null): SvcError {
  return new SvcError("artifact_limit_exceeded", `Cannot use ${name}: it exceeds ${limit} bytes`, { hint });
}

/** The one manifest among the files. */
function manifestAmong(paths: readonly string[], name: string): string {
  const found = paths.filter((path) => MANIFEST_NAMES.includes(basename(path)));
  if (found.length === 1) return found[0];
  if (found.length === 0) {
    throw new SvcError("artifact_manifest_missing", `Cannot find a ${MANIFEST_NAMES[0]} in ${name}`, {
      hint: "A package holds its manifest, the slot contract, the components and the support files",
    });
  }
  throw new SvcError("artifact_manifest_ambiguous", `Cannot choose between ${found.length} manifests in ${name}`, {
    hint: `Name one of ${found.slice(0, 4).join(", ")}`,
  });
}

function below(paths: readonly string[], folder: string): string[] {
  if (folder === ".") return [...paths];
  return paths.filter((path) => path.startsWith(folder + "/")).map((path) => path.slice(folder.length + 1));
}

function readPrefix(path: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    readSync(descriptor, bytes, 0, length, 0);
  } finally {
    closeSync(descriptor);
  }
  return bytes;
}

/** The bytes of a regular file; links, pipes and devices are not followed; null when there is no such file. */
function readRegularFile(path: string, limit: number, name: string): Uint8Array | null {
  let descriptor: number;
  try {
    // Opening a pipe would wait for a writer.
    const flags = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    descriptor = openSync(path, constants.O_RDONLY | flags);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code === "ELOOP") throw unsafe(`Cannot read ${name}: it is a symbolic link`);
    throw unsafe(`Cannot read ${name}: ${messageOf(error)}`);
  }
  try {
    const info = fstatSync(descriptor);
    if (!info.isFile()) throw unsafe(`Cannot read ${name}: it is no regular file`);
    if (info.size > limit) throw tooLarge(name, limit);
    const bytes = new Uint8Array(info.size);
    let at = 0;
    while (at < bytes.length) {
      const count = readSync(descriptor, bytes, at, bytes.length - at, null);
      if (count === 0) break;
      at += count;
    }
    return at === bytes.length ? bytes : bytes.slice(0, at);
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes of the manifest. @throws SvcError `artifact_manifest_missing`, `artifact_limit_exceeded` */
export function readManifestBytes(source: PackageSource): Uint8Array {
  const bytes = source.read(source.manifestName, MAX_MANIFEST_BYTES);
  if (bytes !== null) return bytes;
  throw new SvcError("artifact_manifest_missing", `Cannot find the manifest ${source.name}`);
}
