/** Files of the project that parameters pin by their SHA-256. */
import { sha256Hex, SvcError } from "./api.ts";

/** @throws SvcError `boundary_hash_mismatch` */
export function checkDigest(bytes: Uint8Array, sha256: string, what: string): void {
  const found = sha256Hex(bytes);
  if (found === sha256) return;
  throw new SvcError("boundary_hash_mismatch", `Cannot use ${what}: its SHA-256 differs from the recorded one`, {
    hint: `Recorded ${sha256}, found ${found}`,
  });
}
