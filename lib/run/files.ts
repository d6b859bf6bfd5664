/** File operations of run bundles, and the list of a bundle's files. */
import { basename, dirname, join } from "node:path";
import { inside, type InsidePath, readFile } from "../artifact/inside.ts";
import { entryInfo } from "../artifact/path_kind.ts";
import { compareCodePoints } from "../contract/json.ts";
import { type BundleFiles, DISK } from "../execute/bundle_files.ts";

export { type BundleFiles, DISK };

/** For a bundle that is removed before anything relies on it: nothing waits for the disk. */
export const NOT_DURABLE: BundleFiles = {
  ...DISK,
  write: (path, text) => DISK.write(path, text, false),
  sync() {},
  syncFolder: () => Promise.resolve(),
  syncAll: () => Promise.resolve(),
};

/** Reads files of a finished run, by their paths in its bundle. */
export interface RunFiles {
  /** @throws SvcError `artifact_limit_exceeded`, `bundle_file_missing`; errors of the system */
  read(path: string, maxBytes: number): Uint8Array;
  /** Bytes of a file; null for a missing one. */
  size(path: string): number | null;
}

/** The files of a bundle. */
export const filesIn = (directory: string): RunFiles => ({
  read: (path, maxBytes) => readFile(inside(directory, path), maxBytes),
  size: (path) => entryInfo(inside(directory, path))?.size ?? null,
});

/** Suffix of a file being written; recovery of an interrupted run removes such files. */
export const TEMPORARY_SUFFIX = ".tmp";

/** Replaces a file atomically: readers see the old or the new text. */
export function replaceFile(
  files: BundleFiles,
  path: InsidePath,
  text: string | Uint8Array | Iterable<string>,
  durable = false,
): void {
  const temporary = inside(dirname(path), basename(path) + TEMPORARY_SUFFIX);
  files.write(temporary, text, durable);
  files.rename(temporary, path);
}

/** A bundle entry, by its path with `/` as separator. */
export interface BundleEntry {
  path: string;
  kind: "file" | "other";
  size: number;
}

/** All entries under a folder except folders, sorted by path; links are not followed. */
export function listFiles(root: string): BundleEntry[] {
  const entries: BundleEntry[] = [];
  const visit = (folder: string, prefix: string) => {
    for (const entry of Deno.readDirSync(folder)) {
      const path = prefix + entry.name;
      if (entry.isDirectory) visit(join(folder, entry.name), `${path}/`);
      else {
        const { size } = Deno.lstatSync(join(folder, entry.name));
        entries.push({ path, kind: entry.isFile ? "file" : "other", size });
      }
    }
  };
  visit(root, "");
  return entries.sort((a, b) => compareCodePoints(a.path, b.path));
}

/** A checksum list for `sha256sum -c`, sorted by path; special names are escaped as in that program. */
export function formatSha256Sums(hashes: ReadonlyMap<string, string>): string {
  return [...hashes].sort(([a], [b]) => compareCodePoints(a, b)).map(([path, sha256]) => {
    if (!/[\\\n\r]/.test(path)) return `${sha256}  ${path}\n`;
    const escaped = path.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
    return `\\${sha256}  ${escaped}\n`;
  }).join("");
}

/** Reads a checksum list. Malformed lines are ignored, because the bytes of the list are compared too. */
export function parseSha256Sums(text: string): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const line of text.split("\n")) {
    const match = /^(\\?)([0-9a-f]{64}) {2}(.+)$/s.exec(line);
    if (!match) continue;
    const unescape = (c: string) => ({ "\\n": "\n", "\\r": "\r" })[c] ?? "\\";
    hashes.set(match[1] ? match[3].replace(/\\[\\nr]/g, unescape) : match[3], match[2]);
  }
  return hashes;
}
