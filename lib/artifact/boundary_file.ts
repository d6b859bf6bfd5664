/** The boundary contract of files, apart from the others: it alone needs the file system. */
import { SvcError } from "../contract/error.ts";
import { hashFile } from "./hash_file.ts";

/**
 * Checks a file that a record refers to: it is there, regular and no symlink, and has the recorded digest.
 *
 * @param sha256 recorded digest, when there is one
 * @returns the size and digest of the file
 * @throws SvcError `boundary_file_missing`, `boundary_hash_mismatch`
 */
export function checkArtifactFile(path: string, sha256?: string): { sha256: string; size_bytes: number } {
  let found: { sha256: string; size_bytes: number };
  try {
    found = hashFile(path);
  } catch (error) {
    throw new SvcError("boundary_file_missing", `Cannot use the file ${path}: it is no readable regular file`, {
      cause: error,
    });
  }
  if (sha256 !== undefined && found.sha256 !== sha256) {
    throw new SvcError("boundary_hash_mismatch", `Cannot use the file ${path}: its SHA-256 is not the recorded one`, {
      hint: `Recorded ${sha256}, found ${found.sha256}`,
    });
  }
  return found;
}
