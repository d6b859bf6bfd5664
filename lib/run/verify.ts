/**
 * Verifies a run bundle without executing anything.
 *
 * Every file is hashed again. SHA256SUMS must equal, byte for byte, the list for the existing files. Documents must
 * have the layout that this program writes and agree with each other: everything derivable (hashes, links, the ledger,
 * the whole manifest) is derived again and compared.
 */
import { join } from "node:path";
import { hashFile } from "../artifact/hash_file.ts";
import { inside, readFile, readText } from "../artifact/inside.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { parseJson, prettyJson } from "../contract/json.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { isDocument } from "./bundle_schema.ts";
import { type ByPath, isPath, openRun } from "./bundle_place.ts";
import {
  AUTHORED_FILE,
  CRATE_FILE,
  IMPORT_FILE,
  MANIFEST_FILE,
  PLAN_FILE,
  PRUNED_FILE,
  RECIPE_FILE,
  SIGNATURE_FILE,
  SUMMARY_FILE,
  SUMS_FILE,
} from "./documents.ts";
import { type Certification, type CheckRow, type Finding, Findings } from "./findings.ts";
import { formatSha256Sums, listFiles, parseSha256Sums } from "./files.ts";
import { isPrunedDocument } from "./prune.ts";
import { MAX_DOCUMENT_BYTES } from "./read.ts";
import { settleRun } from "./recover.ts";
import { checkSignature } from "./signature.ts";
import { resolveRunId, stillExecuting } from "./store.ts";
import type { Documents } from "./bundle_schema.ts";
import { checkDocuments, type Known, type Unchecked } from "./verify_documents.ts";
import type { Workspace } from "./workspace.ts";

export interface VerificationReport extends JsonObject {
  status: "valid" | "warning" | "invalid";
  /** `pruned` where `pruned.json` names files that were removed; their digests are checked against the documents. */
  artifacts: "present" | "pruned";
  target_type: "run";
  target_id: string;
  /** Absolute path of the bundle. */
  path: string;
  errors: Finding[];
  warnings: Finding[];
  checks: CheckRow[];
  /** Reports that were pruned, so that the metrics of their steps are not compared with them. */
  not_compared: number;
  /** Digest of SHA256SUMS, the one number that stands for the whole bundle; null without the file. */
  sha256sums: string | null;
  /** Whether SHA256SUMS.sig is there; it is checked against allowed signers only. */
  signed: boolean;
  /** The allowed signer whose signature holds; null where none was asked for or it does not hold. */
  signed_by: string | null;
  certification: Certification;
}

export interface VerifyOptions extends ByPath {
  /** File of allowed signers (ssh-keygen(1)): the run must have the signature of one of them. */
  signedBy?: string;
}

const DOCUMENTS = [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE] as const;

/**
 * Verifies a run. An interrupted run is settled first; its bundle has no SHA256SUMS, which is a warning.
 * @param wanted run id or a unique prefix, or its folder
 * @throws SvcError `run_not_found`, `run_still_executing`, and with `signedBy` `allowed_signers_invalid`,
 *   `signing_unavailable`
 */
export async function verifyRun(
  workspace: Workspace,
  wanted: string,
  options: VerifyOptions = {},
): Promise<VerificationReport> {
  if (options.paths && isPath(wanted)) {
    const { run_id, summary, directory } = openRun(workspace, wanted, options);
    if (summary.status === "running") throw stillExecuting(run_id, "verify");
    return await verifyBundle(directory, run_id, options);
  }
  const runId = resolveRunId(workspace, wanted);
  try {
    if (settleRun(workspace, runId).status === "running") throw stillExecuting(runId, "verify");
  } catch (error) {
    // The report covers a bundle that is too damaged to be settled.
    if ((error as { code?: string }).code === "run_still_executing") throw error;
  }
  return await verifyBundle(join(workspace.runs, runId), runId, options);
}

/** Files that SHA256SUMS does not list. */
const UNSEALED = [PRUNED_FILE, SIGNATURE_FILE, IMPORT_FILE, CRATE_FILE];

/**
 * Verifies the bundle in a folder.
 * @param directory absolute path
 * @param runId expected id of the bundle; an imported one says itself which id its documents have
 */
export async function verifyBundle(
  directory: string,
  runId: string,
  { signedBy }: VerifyOptions = {},
): Promise<VerificationReport> {
  const findings = new Findings();
  findings.group("documents");
  const documents = parseDocuments((name) => textOf(directory, name), findings);
  const status = documents[SUMMARY_FILE]?.status;
  const incomplete = status === "incomplete";
  findings.group("files");
  const present = await hashFiles(directory, findings);
  const pruned = prunedFiles(directory, present, findings);
  // A pruned file counts by its recorded digest, which SHA256SUMS and the summary must agree with.
  const hashes = new Map([...pruned ?? [], ...present]);
  for (const name of UNSEALED) hashes.delete(name);
  findings.group("sha256sums");
  checkSums(directory, hashes, incomplete, findings);
  const report = (path: string) => present.has(path) ? textOf(directory, path) : null;
  const known = { runId: present.has(IMPORT_FILE) ? importedId(directory, findings) : runId, hashes, report };
  const notCompared = checkTogether(documents, known, findings);
  const signer = signedBy === undefined ? null : await signerOf(directory, signedBy, findings);
  const invalid = findings.errors.length > 0;
  const evidence = status === "completed" ? "current_profile" : "nonpublication_evidence";
  return {
    status: invalid ? "invalid" : findings.warnings.length > 0 ? "warning" : "valid",
    artifacts: pruned === null ? "present" : "pruned",
    target_type: "run",
    target_id: runId,
    path: directory,
    errors: findings.errors,
    warnings: findings.warnings,
    checks: findings.checks,
    not_compared: notCompared,
    sha256sums: hashes.get(SUMS_FILE) ?? null,
    signed: present.has(SIGNATURE_FILE),
    signed_by: signer,
    certification: { verdict: `${evidence}_${invalid ? "fail" : "pass"}` },
  };
}

/**
 * Verifies the documents of a bundle without its files.
 * @param texts of the documents, by name
 * @param known id of the run, digests of all files as SHA256SUMS lists them, and the reports that are there
 * @returns the documents; null, with findings, where they cannot be used together
 */
export function verifyTexts(
  texts: Readonly<Record<string, string>>,
  known: Known,
  findings: Findings,
): Documents | null {
  findings.group("documents");
  const documents = parseDocuments((name) => texts[name] ?? missing(), findings);
  checkTogether(documents, known, findings);
  return findings.errors.length === 0 ? documents as unknown as Documents : null;
}

function checkTogether(documents: Partial<Unchecked>, known: Known, findings: Findings): number {
  if (!DOCUMENTS.every((name) => documents[name] !== undefined)) return 0;
  return checkDocuments(documents as Unchecked, known, findings);
}

const missing = () => {
  throw new Deno.errors.NotFound();
};

const textOf = (directory: string, name: string): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
    readFile(inside(directory, name), MAX_DOCUMENT_BYTES),
  );

function parseDocuments(read: (name: string) => string, findings: Findings): Partial<Unchecked> {
  const documents: Partial<Unchecked> = {};
  for (const name of DOCUMENTS) {
    const document = readChecked(name, read, findings);
    if (document !== null) documents[name] = document;
  }
  return documents;
}

/** Reads a document; one that cannot be read, or is not laid out as this program writes, is a finding. */
function readChecked(name: string, read: (name: string) => string, findings: Findings): JsonObject | null {
  findings.looked();
  let text: string;
  try {
    text = read(name);
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound;
    if (missing) findings.error("bundle_file_missing", name, "$", `${name} is missing`);
    else findings.error("bundle_schema_invalid", name, "$", `${name} cannot be read: ${messageOf(error)}`);
    return null;
  }
  try {
    const value = parseJson(text);
    if (!isObject(value)) throw new TypeError("it is not a mapping");
    // A value has one layout; a different one can hide, for example, a repeated key.
    if (prettyJson(value) !== text) {
      findings.error("bundle_schema_invalid", name, "$", `${name} is not laid out as it was written`);
    }
    return value;
  } catch (error) {
    findings.error("bundle_schema_invalid", name, "$", `${name} cannot be read: ${messageOf(error)}`);
    return null;
  }
}

/** The id in the documents of an imported bundle. */
function importedId(directory: string, findings: Findings): string {
  const { run_id } = readChecked(IMPORT_FILE, (name) => textOf(directory, name), findings) ?? {};
  return String(run_id);
}

/** Digests of the pruned files; null for a bundle that was not pruned. */
function prunedFiles(
  directory: string,
  present: ReadonlyMap<string, string>,
  findings: Findings,
): Map<string, string> | null {
  if (!present.has(PRUNED_FILE)) return null;
  const document = readChecked(PRUNED_FILE, (name) => textOf(directory, name), findings);
  if (document === null) return new Map();
  if (!isPrunedDocument(document)) {
    findings.error("bundle_schema_invalid", PRUNED_FILE, "$", `${PRUNED_FILE} has an invalid structure`);
    return new Map();
  }
  findings.looked(document.files.length);
  return new Map(document.files.map(({ path, sha256 }) => [path, sha256]));
}

/** The allowed signer of a bundle; null, with a finding, without one. */
async function signerOf(directory: string, allowed: string, findings: Findings): Promise<string | null> {
  findings.group("signature");
  findings.looked();
  const checked = await checkSignature(directory, allowed);
  if ("signer" in checked) return checked.signer;
  findings.error(checked.code, SIGNATURE_FILE, "$", checked.message);
  return null;
}

/** Hashes of all regular files by path. */
async function hashFiles(directory: string, findings: Findings): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  let pausedAt = performance.now();
  for (const { path, kind } of listFiles(directory)) {
    findings.looked();
    if (kind !== "file") {
      findings.error("bundle_schema_invalid", path, "$", `${path} is not a regular file`);
      continue;
    }
    try {
      hashes.set(path, hashFile(join(directory, path), isDocument(path) ? MAX_DOCUMENT_BYTES : undefined).sha256);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      findings.error("bundle_schema_invalid", path, "$", `${path} cannot be read: ${error.message}`);
    }
    // Yields so that a server answers requests while a large bundle is hashed.
    if (performance.now() - pausedAt > 50) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      pausedAt = performance.now();
    }
  }
  return hashes;
}

function checkSums(
  directory: string,
  hashes: ReadonlyMap<string, string>,
  incomplete: boolean,
  findings: Findings,
): void {
  const expected = new Map([...hashes].filter(([path]) => path !== SUMS_FILE));
  findings.looked(expected.size);
  if (!hashes.has(SUMS_FILE)) {
    const why = incomplete ? ": the run was interrupted before it could be written" : "";
    findings.add(
      incomplete ? "warning" : "error",
      "bundle_file_missing",
      SUMS_FILE,
      "$",
      `${SUMS_FILE} is missing${why}`,
    );
    return;
  }
  const text = readText(inside(directory, SUMS_FILE), MAX_DOCUMENT_BYTES);
  if (text === formatSha256Sums(expected)) return;
  const before = findings.errors.length;
  const listed = parseSha256Sums(text);
  for (const [path, sha256] of listed) {
    if (!expected.has(path)) findings.error("bundle_file_missing", path, "$", `${path} is listed and missing`);
    else if (expected.get(path) !== sha256) {
      findings.error("bundle_hash_mismatch", path, "$", `${path} is not the file that was hashed`);
    }
  }
  for (const path of expected.keys()) {
    if (!listed.has(path)) findings.error("bundle_link_mismatch", path, "$", `${path} is not listed in ${SUMS_FILE}`);
  }
  if (findings.errors.length === before) {
    findings.error("bundle_hash_mismatch", SUMS_FILE, "$", `${SUMS_FILE} is not laid out as it was written`);
  }
}
