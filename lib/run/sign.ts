/** Signs run bundles. */
import { join } from "node:path";
import { entryInside, inside, readFile } from "../artifact/inside.ts";
import { writeFileAtomic } from "../artifact/write_file.ts";
import { SvcError } from "../contract/error.ts";
import { sha256Hex } from "../contract/hash.ts";
import type { JsonObject } from "../contract/value.ts";
import { SIGNATURE_FILE, SUMS_FILE } from "./documents.ts";
import { MAX_DOCUMENT_BYTES } from "./read.ts";
import { makeSignature } from "./signature.ts";
import { lockRuns, resolveRunId } from "./store.ts";
import { verifyRun } from "./verify.ts";
import type { Workspace } from "./workspace.ts";

export interface SignedRun extends JsonObject {
  run_id: string;
  /** Absolute path of the signature. */
  path: string;
  /** Digest of SHA256SUMS, which is signed. */
  sha256sums: string;
}

/**
 * Signs a finished run that verifies. A signature that is there is replaced.
 * @param wanted run id or a unique prefix
 * @param key file of a private key, or of a public key whose private key an agent holds
 * @throws SvcError `run_not_found`, `run_still_executing`, `run_signing_failed` for a run that does not verify or a key that
 *   cannot sign, `signing_unavailable` without ssh-keygen
 */
export async function signRun(workspace: Workspace, wanted: string, key: string): Promise<SignedRun> {
  const runId = resolveRunId(workspace, wanted), directory = join(workspace.runs, runId);
  const { status, sha256sums, errors } = await verifyRun(workspace, runId);
  using _locks = lockRuns(workspace, [runId], "sign");
  const bytes = status === "invalid" || sha256sums === null
    ? null
    : readFile(inside(directory, SUMS_FILE), MAX_DOCUMENT_BYTES);
  if (bytes === null || sha256Hex(bytes) !== sha256sums) {
    const why = errors[0]?.message ?? (bytes === null ? `${SUMS_FILE} is missing` : `${SUMS_FILE} changed meanwhile`);
    throw new SvcError("run_signing_failed", `Cannot sign ${runId}: ${why}`, {
      hint: "Sign finished runs that svc runs verify accepts",
    });
  }
  const signature = await makeSignature(bytes, key), path = entryInside(directory, SIGNATURE_FILE);
  writeFileAtomic(path, signature);
  return { run_id: runId, path, sha256sums };
}
