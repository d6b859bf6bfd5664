/**
 * Digests of the program's files between starts: one document `source_digests.json` in the state directory. A row counts
 * while size, time of modification, time of change and inode of the file are those at which it was read, so a start asks
 * for the state of each file and reads no text. A missing, old or damaged document is written again.
 */
import { type InsidePath, moveEntry, readText, writeFile } from "../artifact/inside.ts";
import { isRacy } from "../artifact/file_age.ts";
import { SvcError } from "../contract/error.ts";
import { systemCodeOf } from "../contract/system_error.ts";

/** A read file: its stamp, its digest, and the URLs of imported local files. */
export interface SourceFile {
  stamp: string;
  sha256: string;
  imports: string[];
}

/** What changes when a file changes. The time of change cannot be set by a program. */
export const stampOf = ({ size, mtime, ctime, ino }: Deno.FileInfo): string =>
  `${size} ${mtime?.getTime()} ${ctime?.getTime()} ${ino}`;

/** The runtime reports times of change in whole seconds. */
const CHANGE_TICK_MS = 1000;

/** Whether a later change within the same tick of the clock can have an equal stamp. */
export const isYoung = ({ mtime, ctime }: Deno.FileInfo): boolean =>
  isRacy(mtime?.getTime() ?? 0) || isRacy((ctime?.getTime() ?? 0) + CHANGE_TICK_MS);

const SCHEMA_VERSION = 1, MAX_BYTES = 4 << 20;

/**
 * Reads the rows of a program; none without a usable document.
 * @param root URL of the program's folder
 */
export function readDigests(path: InsidePath, root: string): Map<string, SourceFile> {
  const files = new Map<string, SourceFile>();
  try {
    const document = JSON.parse(readText(path, MAX_BYTES)) as {
      schema_version: number;
      root: string;
      files: unknown[][];
    };
    if (document.schema_version !== SCHEMA_VERSION || document.root !== root) return files;
    for (const [name, stamp, sha256, ...imports] of document.files as string[][]) {
      files.set(root + name, { stamp, sha256, imports: imports.map((other) => root + other) });
    }
  } catch (error) {
    // A damaged document only costs time: the files are read, and it is written again.
    if (!([SvcError, SyntaxError, TypeError].some((kind) => error instanceof kind) || systemCodeOf(error) !== null)) {
      throw error;
    }
    files.clear();
  }
  return files;
}

/** Writes the rows of files below the root. A state directory that cannot be written has none. */
export function writeDigests(path: InsidePath, root: string, files: ReadonlyMap<string, SourceFile>): void {
  const inRoot = (url: string) => url.startsWith(root);
  const rows = [...files].filter(([url, { imports }]) => inRoot(url) && imports.every(inRoot)).map(
    ([url, { stamp, sha256, imports }]) =>
      [url, ...imports].map((name) => name.slice(root.length)).toSpliced(1, 0, stamp, sha256),
  );
  const own = `${path}.${crypto.randomUUID()}` as InsidePath;
  try {
    writeFile(own, JSON.stringify({ schema_version: SCHEMA_VERSION, root, files: rows }));
    moveEntry(own, path);
  } catch (error) {
    if (systemCodeOf(error) === null) throw error;
  }
}
