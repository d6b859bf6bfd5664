/**
 * Files of run bundles: the operations that make them, and a bundle that is written at once, in the thread of the scheduler or in
 * a step thread, where the waits for the file system hold up no other point of a sweep.
 */
import { basename } from "node:path";
import {
  entryOf,
  type InsideEntry,
  type InsidePath,
  makeNewFolder,
  moveEntry,
  type NewFolder,
  removeEntry,
  writeFile,
  writeNewEntry,
} from "../artifact/inside.ts";
import { syncEntry } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import { ARTIFACTS_FOLDER, type BundlePath, type Digest } from "../contract/names.ts";
import { KnownContents } from "./contents.ts";

/** Write operations; tests replace them to inject faults. */
export interface BundleFiles {
  /** @param contents whole, or text in pieces, of which one is in memory at a time */
  write(path: InsidePath, contents: string | Uint8Array | Iterable<string>, durable: boolean): void;
  /** Writes a file that must be new. */
  create(path: InsideEntry, bytes: Uint8Array, readOnly: boolean): void;
  rename(from: InsideEntry, to: InsideEntry): void;
  /** Removes a file or a folder recursively; a missing path is not an error. */
  remove(path: InsideEntry): void;
  /** Makes a file, or the entries of a folder, durable. */
  sync(path: string): void;
  /** As `sync` for the entries of a folder, without blocking the thread. */
  syncFolder(path: string): Promise<void>;
  /** Makes the contents of files durable, all at once: they share a commit of the file system. */
  syncAll(paths: readonly string[]): Promise<void>;
}

export const DISK: BundleFiles = {
  write: writeFile,
  create: writeNewEntry,
  rename: moveEntry,
  remove: (path) => removeEntry(path),
  sync: syncEntry,
  async syncFolder(path) {
    if (Deno.build.os !== "windows") await DISK.syncAll([path]);
  },
  async syncAll(paths) {
    await Promise.all(paths.map(async (path) => {
      // Windows flushes only files that are open for writing.
      using file = Deno.openSync(path, { read: true, write: Deno.build.os === "windows" });
      await file.syncData();
    }));
  },
};

/** A finished bundle in memory. */
export interface WholeBundle {
  /** By step, and in the order of the steps. */
  artifacts: { step: string; path: BundlePath; bytes: Uint8Array; sha256: Digest }[];
  documents: { name: string; bytes: Uint8Array }[];
}

/**
 * Writes a bundle into a folder that must be new, in one that exists, and makes its documents durable.
 * @param options `contents` stores equal artifacts once; without it each file is written
 * @param onWritten is called when only the disk is waited for
 * @throws SvcError `output_hash_mismatch` where an artifact has changed since it was hashed, before anything is written; errors
 *   of the system
 */
export async function writeBundle(
  place: InsideEntry,
  { artifacts, documents }: WholeBundle,
  { files, contents }: { files: BundleFiles; contents?: KnownContents },
  onWritten: () => void = () => {},
): Promise<void> {
  for (const { path, bytes, sha256 } of artifacts) {
    if (sha256Hex(bytes) !== sha256) throw new SvcError("output_hash_mismatch", `The artifact ${path} has changed`);
  }
  const folder = makeNewFolder(place), root = makeNewFolder(entryOf(folder, ARTIFACTS_FOLDER));
  const folders = new Map<string, NewFolder>();
  for (const { step, path, bytes, sha256 } of artifacts) {
    let own = folders.get(step);
    if (own === undefined) folders.set(step, own = makeNewFolder(entryOf(root, step)));
    const file = entryOf(own, basename(path));
    if (contents?.link(file, sha256)) continue;
    files.create(file, bytes, true);
    await contents?.share(file, sha256, root);
  }
  for (const { name, bytes } of documents) files.create(entryOf(folder, name), bytes, false);
  onWritten();
  await files.syncAll([...documents.map(({ name }) => entryOf(folder, name)), folder]);
}

/** A bundle for a step thread. */
export interface BundleJob extends WholeBundle {
  /** Checked by the scheduler. */
  place: InsideEntry;
  /** Folder that stores equal artifacts once; null without. */
  contents: string | null;
}

/** What this thread has stored, by folder. */
const known = new Map<string, KnownContents>();

/** As {@link writeBundle}, in a step thread. */
export async function writeJob({ place, contents, ...bundle }: BundleJob, onWritten: () => void): Promise<void> {
  let stored = contents === null ? undefined : known.get(contents);
  if (contents !== null && stored === undefined) known.set(contents, stored = new KnownContents(contents));
  await writeBundle(place, bundle, { files: DISK, contents: stored }, onWritten);
}
