/**
 * Stores equal artifact files once.
 *
 * A folder holds a hard link to each distinct artifact, named by its SHA-256. A file with a known digest is replaced by a
 * link to the stored one. Bundles do not depend on this folder: each keeps its own name of the file.
 */
import {
  copyFile,
  inside,
  type InsideEntry,
  type InsidePath,
  linkFile,
  makeFolderOf,
  moveEntry,
  removeEntry,
} from "../artifact/inside.ts";
import { join } from "node:path";
import { entriesOf, entryInfo } from "../artifact/path_kind.ts";
import type { FilePart } from "../artifact/npz_blocks.ts";
import { syncEntry } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { type Digest, isDigest } from "../contract/names.ts";
import { systemCodeOf } from "../contract/system_error.ts";
import { hashStoredFile, stagingPath } from "./staging.ts";

/** Path of the stored file with a digest. */
export const contentsPath = (contents: string, sha256: Digest): InsidePath =>
  inside(contents, sha256.slice(0, 2), sha256);

/** A committed file, for the scheduler's thread or a step thread. */
export interface StoreJob {
  /** Checked by the scheduler. */
  path: InsidePath;
  /** What was written. */
  parts: readonly FilePart[];
  /** Folder that stores equal artifacts once, and a free path on its file system; null without. */
  share: { contents: string; staging: InsidePath } | null;
}

/** The digest of a committed file, which is compared with what was written and shared; null for one that differs. */
export async function storeFile({ path, parts, share }: StoreJob): Promise<Digest | null> {
  const sha256 = await hashStoredFile(path, parts);
  if (sha256 !== null && share !== null) await shareFile(path, sha256, share);
  return sha256;
}

/**
 * Replaces a file by a link to a stored one with the same bytes, or stores it. Without hard links nothing changes. Exported for tests.
 * @param path a complete file
 * @param sha256 digest of its bytes
 * @param places `contents` is the folder of the links; `staging` a free path on the same file system
 */
export async function shareFile(
  path: InsidePath,
  sha256: Digest,
  { contents, staging }: { contents: string; staging: InsidePath },
): Promise<void> {
  const stored = contentsPath(contents, sha256);
  if (tryLink(path, stored) !== "taken") return;
  if (tryLink(stored, staging) === "done") {
    // The bytes under the name may have been damaged since they were stored.
    if (await hashStoredFile(staging) === sha256) return moveEntry(staging, path);
    removeEntry(staging);
  }
  // Damaged, missing, or at the limit of links to one file: this file takes the name.
  removeEntry(stored);
  tryLink(path, stored);
}

/** What a process stored, or compared with what it stores: an equal artifact is linked without a look at its bytes again. */
export class KnownContents {
  readonly #contents: string;
  /** Folders of the stored files, by the first digits of digests. */
  readonly #folders = new Map<string, InsidePath>();
  /** By digest, what tells the stored file from a changed one. */
  readonly #stamps = new Map<Digest, string>();

  constructor(contents: string) {
    this.#contents = contents;
  }

  /** Makes a link to the stored file with a digest. @returns false where it is unknown or has changed */
  link(path: InsidePath, sha256: Digest): boolean {
    const known = this.#stamps.get(sha256);
    if (known === undefined) return false;
    const stored = this.#stored(sha256);
    return known === stampOf(stored) && tryLink(stored, path) === "done";
  }

  /** Stores a new file, or makes it a link to the stored one, as {@link shareFile}. */
  async share(path: InsidePath, sha256: Digest, artifacts: string): Promise<void> {
    const stored = this.#stored(sha256);
    if (tryLink(path, stored) === "taken") {
      await shareFile(path, sha256, { contents: this.#contents, staging: stagingPath(artifacts, sha256) });
    }
    this.#stamps.set(sha256, stampOf(stored));
  }

  /** The path of a stored file; its folder is looked at once. */
  #stored(sha256: Digest): InsidePath {
    const digits = sha256.slice(0, 2);
    let folder = this.#folders.get(digits);
    if (folder === undefined) this.#folders.set(digits, folder = inside(this.#contents, digits));
    return join(folder, sha256) as InsidePath;
  }
}

function stampOf(path: InsidePath): string {
  const info = entryInfo(path);
  return `${info?.ino} ${info?.size} ${info?.mtime?.getTime()}`;
}

/**
 * Makes a copy of an intact file under a free path, or a link to it.
 * @throws SvcError `artifact_hash_mismatch` when its bytes have another digest
 */
export async function copyShared(path: InsidePath, to: InsidePath, sha256: Digest): Promise<void> {
  if (tryLink(path, to) === "refused") {
    copyFile(path, to);
    Deno.chmodSync(to, 0o444);
    syncEntry(to);
  }
  if (await hashStoredFile(to) === sha256) return;
  removeEntry(to);
  throw new SvcError("artifact_hash_mismatch", `Cannot copy ${path}: its bytes changed`);
}

/** @returns `refused` if the file system allows no link, or the file is missing */
function tryLink(from: InsidePath, to: InsidePath): "done" | "taken" | "refused" {
  for (const retry of [true, false]) {
    try {
      linkFile(from, to);
      return "done";
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return "taken";
      if (error instanceof Deno.errors.NotFound && retry) makeFolderOf(to);
      else if (!isUnlinkable(error)) throw error;
    }
  }
  return "refused";
}

/** Whether an error means that this link cannot be made, instead of a storage failure. */
const isUnlinkable = (error: unknown): boolean =>
  error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotSupported ||
  /^E(ACCES|MLINK|NOSYS|NOTCAPABLE|NOTSUP|OPNOTSUPP|PERM|XDEV)$/.test(
    systemCodeOf(error) ?? String((error as { code?: unknown }).code),
  );

/** Size of a stored file that has no other name than the one in `contents`; null for any other. */
function unusedSize(path: InsideEntry): number | null {
  const info = entryInfo(path);
  return info?.isFile && info.nlink === 1 ? info.size : null;
}

/** Removes the stored files of these digests that no bundle uses. @returns their bytes */
export function releaseContents(contents: string, digests: Iterable<Digest>): number {
  let bytes = 0;
  for (const sha256 of new Set(digests)) {
    const path = contentsPath(contents, sha256), size = unusedSize(path);
    if (size === null) continue;
    bytes += size;
    removeEntry(path);
  }
  return bytes;
}

/** Removes the stored name of a digest; files of bundles stay. */
export const forgetContent = (contents: string, sha256: Digest): void => removeEntry(contentsPath(contents, sha256));

/** Digests of the stored files that no bundle uses. */
export const unusedContents = (contents: string): Digest[] =>
  storedContents(contents).filter((sha256) => unusedSize(contentsPath(contents, sha256)) !== null);

/** Digests of all stored files. */
export function storedContents(contents: string): Digest[] {
  const folders = entriesOf(contents).filter(({ isDirectory }) => isDirectory);
  return folders.flatMap(({ name: folder }) => {
    const files = entriesOf(inside(contents, folder)).filter(({ isFile }) => isFile).map(({ name }) => name);
    return files.filter(isDigest).filter((name) => name.startsWith(folder));
  });
}
