/**
 * A submitted benchmark: a folder with the pack (`pack.yaml`, `pack.yml`, `pack.json`, or the record `benchmark.json`
 * of a result), `result.json`, and `verification.json`, the output of `svc benchmark verify --json`. They are checked
 * against each other: the result belongs to this pack, follows from its own rows, is complete, and is the verified
 * file. Nothing is executed, and no workspace is needed.
 */
import { inside, readText } from "../../artifact/inside.ts";
import { messageOf, SvcError } from "../../contract/error.ts";
import { sha256Hex, sha256Json } from "../../contract/hash.ts";
import { parseJson, prettyJson } from "../../contract/json.ts";
import { isObject, type JsonObject } from "../../contract/value.ts";
import { MAX_DOCUMENT_BYTES } from "../../run/read.ts";
import { type CheckRow, type Finding, Findings } from "../../run/findings.ts";
import { readPack } from "../pack/pack.ts";
import { checkResult } from "../pack/types.ts";
import { type BenchmarkResult, PACK_RECORD_FILE, RESULT_FILE } from "../pack/types.ts";
import { allRows, withStoredRows } from "../rows/stored_rows.ts";
import { StatisticsCheck } from "../verify.ts";

const VERIFICATION_FILE = "verification.json";
const PACK_FILES = ["pack.yaml", "pack.yml", "pack.json", PACK_RECORD_FILE];

export interface SubmissionReport {
  status: "valid" | "warning" | "invalid";
  target_type: "submission";
  /** The folder. */
  path: string;
  /** Ids in the parts; null for an unreadable one. */
  pack: { id: string; version: string; sha256: string } | null;
  result_id: string | null;
  result_sha256: string | null;
  errors: Finding[];
  warnings: Finding[];
  checks: CheckRow[];
}

/**
 * Validates a submission.
 * @param folder folder of its files
 * @throws SvcError `file_not_found` without this folder
 */
export function validateSubmission(folder: string): SubmissionReport {
  requireFolder(folder);
  const findings = new Findings();
  findings.group("pack");
  const pack = packIn(folder, findings);
  findings.group("result");
  const result = resultIn(folder, findings);
  if (result !== null) {
    if (pack !== null) checkIdentity(pack, result.document, findings);
    findings.group("statistics");
    checkStatistics(withStoredRows(result.document, folder), findings);
  }
  findings.group("verification");
  checkVerification(folder, result, findings);
  return {
    status: findings.errors.length > 0 ? "invalid" : findings.warnings.length > 0 ? "warning" : "valid",
    target_type: "submission",
    path: folder,
    pack,
    result_id: result?.document.result_id ?? null,
    result_sha256: result?.sha256 ?? null,
    errors: findings.errors,
    warnings: findings.warnings,
    checks: findings.checks,
  };
}

function requireFolder(folder: string): void {
  try {
    if (Deno.statSync(folder).isDirectory) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw new SvcError("file_not_found", `Cannot find the folder ${folder}`, {
    hint: `A submission is a folder with pack.yaml, ${RESULT_FILE} and ${VERIFICATION_FILE}`,
  });
}

/** The text of a regular file; null, with a finding, if it is missing. */
function textOf(folder: string, name: string, findings: Findings): string | null {
  try {
    return readText(inside(folder, name), MAX_DOCUMENT_BYTES);
  } catch (error) {
    if (error instanceof SvcError) findings.error("bundle_schema_invalid", name, "$", error.message);
    else if (error instanceof Deno.errors.NotFound) {
      findings.error("bundle_file_missing", name, "$", `${name} is missing`);
    } else throw error;
    return null;
  }
}

function documentIn(folder: string, name: string, findings: Findings): { document: JsonObject; text: string } | null {
  const text = textOf(folder, name, findings);
  if (text === null) return null;
  try {
    const document = parseJson(text);
    if (isObject(document)) return { document, text };
    findings.error("bundle_schema_invalid", name, "$", `${name} holds no object`);
  } catch (error) {
    findings.error("bundle_schema_invalid", name, "$", messageOf(error));
  }
  return null;
}

function packIn(folder: string, findings: Findings): SubmissionReport["pack"] {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const name = PACK_FILES.find((candidate) => names.includes(candidate)) ?? PACK_FILES[0];
  findings.looked();
  let text = textOf(folder, name, findings);
  if (text === null) return null;
  if (name === PACK_RECORD_FILE) {
    const record = documentIn(folder, name, findings)?.document;
    if (record === undefined) return null;
    if (!isObject(record.pack)) {
      findings.error("bundle_schema_invalid", name, "$.pack", `${name} holds no pack`);
      return null;
    }
    text = prettyJson(record.pack);
  }
  try {
    const { pack, diagnostics } = readPack(text, name);
    for (const { severity, message, path } of diagnostics) {
      findings.add(severity === "error" ? "error" : "warning", "bundle_schema_invalid", name, path, message);
    }
    return pack === null ? null : { id: pack.id, version: pack.version, sha256: sha256Json(pack.document) };
  } catch (error) {
    findings.error("bundle_schema_invalid", name, "$", messageOf(error));
    return null;
  }
}

function resultIn(folder: string, findings: Findings): { document: BenchmarkResult; sha256: string } | null {
  findings.looked();
  const read = documentIn(folder, RESULT_FILE, findings);
  if (read === null) return null;
  const { document, text } = read;
  const wrong = (path: string, message: string) => findings.error("bundle_schema_invalid", RESULT_FILE, path, message);
  const problems = checkResult(document);
  for (const { path, message } of problems) wrong(path, message);
  if (problems.length > 0) return null;
  if (prettyJson(document) !== text) wrong("$", `${RESULT_FILE} is not laid out as it was written`);
  const result = document as BenchmarkResult;
  if (result.status !== "completed") {
    wrong("$.status", `The benchmark is ${result.status}; only a completed one can be handed in`);
  }
  return { document: result, sha256: sha256Hex(text) };
}

function checkStatistics(result: BenchmarkResult, findings: Findings): void {
  const check = new StatisticsCheck(result);
  try {
    for (const row of allRows(result)) check.add(row);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return findings.error("bundle_schema_invalid", RESULT_FILE, "$.rows", messageOf(error));
  }
  check.finish(findings);
}

function checkIdentity(
  { id, version, sha256 }: NonNullable<SubmissionReport["pack"]>,
  { benchmark }: BenchmarkResult,
  findings: Findings,
): void {
  if (benchmark.sha256 === sha256) return;
  const message = benchmark.id === id && benchmark.version === version
    ? `The pack ${id} was changed after the result was made`
    : `The result is of ${benchmark.id} ${benchmark.version}, the pack is ${id} ${version}`;
  findings.error("bundle_link_mismatch", RESULT_FILE, "$.benchmark.sha256", message);
}

function checkVerification(
  folder: string,
  result: { document: BenchmarkResult; sha256: string } | null,
  findings: Findings,
): void {
  findings.looked();
  const report = documentIn(folder, VERIFICATION_FILE, findings)?.document;
  if (report === undefined) return;
  const wrong = (code: "bundle_schema_invalid" | "bundle_link_mismatch", path: string, message: string) =>
    findings.error(code, VERIFICATION_FILE, path, message);
  if (report.target_type !== "benchmark" || !Array.isArray(report.errors) || !isObject(report.certification)) {
    return wrong("bundle_schema_invalid", "$", "It is no verification report of a benchmark");
  }
  if (result !== null && report.target_id !== result.document.result_id) {
    wrong("bundle_link_mismatch", "$.target_id", `It is about ${String(report.target_id)}`);
  } else if (result !== null && report.result_sha256 !== result.sha256) {
    wrong("bundle_link_mismatch", "$.result_sha256", `${RESULT_FILE} is not the file that was verified`);
  }
  const failed = report.status === "invalid" || report.errors.length > 0;
  const verdict = String(report.certification.verdict);
  if (failed) wrong("bundle_link_mismatch", "$.status", "The verification found errors");
  if (verdict.endsWith("_fail") !== failed) {
    wrong(
      "bundle_schema_invalid",
      "$.certification.verdict",
      `The verdict ${verdict} does not follow from the findings`,
    );
  }
  if (verdict.startsWith("nonpublication_evidence")) {
    findings.add(
      "warning",
      "bundle_link_mismatch",
      VERIFICATION_FILE,
      "$.certification.verdict",
      "The pack is not of the canonical tier: the result is no publication evidence",
    );
  }
}
