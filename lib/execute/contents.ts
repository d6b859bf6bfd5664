/**
 * Stores equal artifact files once.
 *
 * A folder holds a hard link to each distinct artifact, named by its SHA-256. A file with a known digest is replaced by a
 * link to the stored one. Bundles do not depend on this folder: each keeps its own name of the file.
 */
import { dirname, join } from "node:path";
import { systemCodeOf } from "../contract/system_error.ts";
import { hashStoredFile } from "./staging.ts";

/** Path of the stored file with a digest. */
export const contentsPath = (contents: string, sha256: string): string => join(contents, sha256.slice(0, 2), sha256);

/**
 * Replaces a file by a link to a stored one with the same bytes, or stores it. Without hard links nothing changes.
 * @param path absolute path of a complete file
 * @param sha256 digest of its bytes
 * @param places `contents` is the folder of the links; `staging` a free path on the same file system
 */
export async function shareFile(
  path: string,
  sha256: string,
  { contents, staging }: { contents: string; staging: string },
): Promise<void> {
  const stored = contentsPath(contents, sha256);
  if (linkFile(path, stored) !== "taken") return;
  if (linkFile(stored, staging) === "done") {
    // The bytes under the name may have been damaged since they were stored.
    if (await hashStoredFile(staging) === sha256) return Deno.renameSync(staging, path);
    Deno.removeSync(staging);
  }
  // Damaged, missing, or at the limit of links to one file: this file takes the name.
  forget(stored);
  linkFile(path, stored);
}

/** @returns `refused` if the file system allows no link, or the file is missing */
function linkFile(from: string, to: string): "done" | "taken" | "refused" {
  for (const retry of [true, false]) {
    try {
      Deno.linkSync(from, to);
      return "done";
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return "taken";
      if (error instanceof Deno.errors.NotFound && retry) Deno.mkdirSync(dirname(to), { recursive: true });
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

function forget(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Whether a stored file has no other name than the one in `contents`. */
function isUnused(path: string): boolean {
  try {
    return Deno.lstatSync(path).nlink === 1;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Removes the stored files of these digests that no bundle uses. @returns their bytes */
export function releaseContents(contents: string, digests: Iterable<string>): number {
  let bytes = 0;
  for (const sha256 of new Set(digests)) {
    const path = contentsPath(contents, sha256);
    if (!isUnused(path)) continue;
    bytes += Deno.lstatSync(path).size;
    forget(path);
  }
  return bytes;
}

/** Digests of the stored files that no bundle uses. */
export function unusedContents(contents: string): string[] {
  const names = (folder: string) => {
    try {
      return [...Deno.readDirSync(folder)].map(({ name }) => name);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  };
  return names(contents).flatMap((first) => names(join(contents, first)))
    .filter((sha256) => isUnused(contentsPath(contents, sha256)));
}
