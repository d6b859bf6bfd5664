/** The few file operations a bundle is written with, and the listing of its files. */
import { join } from "node:path";
import { compareCodePoints } from "../contract/json.ts";

/** What writes to disk; tests put something in its place that stops half-way. */
export interface BundleFiles {
  write(path: string, text: string, durable: boolean): void;
  rename(from: string, to: string): void;
  /** Removes a file or a folder with all it holds; nothing there is no error. */
  remove(path: string): void;
  /** Makes the entries of a folder durable. */
  syncFolder(path: string): void;
}

export const DISK: BundleFiles = {
  write(path, text, durable) {
    const file = Deno.openSync(path, { write: true, create: true, truncate: true });
    try {
      const bytes = new TextEncoder().encode(text);
      for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
      if (durable) file.syncDataSync();
    } finally {
      file.close();
    }
  },
  rename: (from, to) => Deno.renameSync(from, to),
  remove(path) {
    try {
      Deno.removeSync(path, { recursive: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  },
  syncFolder(path) {
    // Windows opens no folders; there a rename needs no more.
    if (Deno.build.os === "windows") return;
    const folder = Deno.openSync(path, { read: true });
    try {
      folder.syncSync();
    } finally {
      folder.close();
    }
  },
};

/** Ends the name of a file that is being written; what is left of one is removed with an interrupted run. */
export const TEMPORARY_SUFFIX = ".tmp";

/** Replaces a file in one step: readers see the old text or the new one, never a part. */
export function replaceFile(files: BundleFiles, path: string, text: string, durable = false): void {
  files.write(path + TEMPORARY_SUFFIX, text, durable);
  files.rename(path + TEMPORARY_SUFFIX, path);
}

/** Something in a bundle, by its path with `/` as separator. */
export interface BundleEntry {
  path: string;
  kind: "file" | "other";
  size: number;
}

/** All entries under a folder but folders themselves, sorted by path; links are not followed. */
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

/** The list that `sha256sum -c` reads, sorted by path; odd names are escaped as that program does. */
export function formatSha256Sums(hashes: ReadonlyMap<string, string>): string {
  return [...hashes].sort(([a], [b]) => compareCodePoints(a, b)).map(([path, sha256]) => {
    if (!/[\\\n\r]/.test(path)) return `${sha256}  ${path}\n`;
    const escaped = path.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
    return `\\${sha256}  ${escaped}\n`;
  }).join("");
}

/** Reads such a list; lines that are none of it are left out, for its bytes are compared anyway. */
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
