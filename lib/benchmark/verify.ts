/**
 * Verifies a stored result without executing anything: the chain of its ledger, the pack and the rows against it, the
 * snapshot of every row against its digest, every number against the documents in the snapshot, and recomputed
 * aggregates and comparisons.
 */
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { parseJson, prettyJson, sameValue } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE, SUMMARY_FILE, SUMS_FILE } from "../run/documents.ts";
import { parseSha256Sums } from "../run/files.ts";
import { exists } from "../artifact/path_kind.ts";
import { type CheckRow, type Finding, Findings } from "../run/findings.ts";
import { verifyBundle } from "../run/verify.ts";
import type { Workspace } from "../run/workspace.ts";
import { readSnapshot, type Snapshot } from "./evidence.ts";
import { exportResult } from "./export.ts";
import { type LedgerSummary, readLedgerFile, rowKey, summarizeLedger } from "./ledger.ts";
import { reportOf } from "./promote.ts";
import { statistics } from "./result.ts";
import { benchmarkWorkspace, resolveResultId, settleResult } from "./store.ts";
import { checkPlots } from "./verify_plots.ts";
import { type BenchmarkResult, LEDGER_FILE, PACK_RECORD_FILE, RESULT_FILE, type ResultRow } from "./types.ts";

export type BenchmarkVerification = {
  status: "valid" | "warning" | "invalid";
  target_type: "benchmark";
  target_id: string;
  /** Of the result, absolute. */
  path: string;
  /** SHA-256 of the verified file result.json; null if it is not readable. */
  result_sha256: string | null;
  errors: Finding[];
  warnings: Finding[];
  checks: CheckRow[];
  certification: {
    verdict:
      | "current_profile_pass"
      | "current_profile_fail"
      | "nonpublication_evidence_pass"
      | "nonpublication_evidence_fail";
  };
};

export interface VerifyOptions {
  /** Makes the derived files of the result for comparison with the existing ones; default those of `exportResult`. */
  exportReports?(result: BenchmarkResult): Record<string, string>;
}

/**
 * Verifies a result.
 * @param wanted id or a unique beginning of one
 * @throws SvcError `result_not_found`, or `run_still_executing` while the benchmark runs
 */
export async function verifyBenchmark(
  workspace: Workspace,
  wanted: string,
  options: VerifyOptions = {},
): Promise<BenchmarkVerification> {
  const id = resolveResultId(workspace, wanted);
  const directory = join(benchmarkWorkspace(workspace).runs, id);
  const findings = new Findings();
  findings.group("documents");
  const result = readResult(workspace, id, directory, findings);
  findings.group("ledger");
  const ledger = readLedger(directory, findings);
  if (result !== null && ledger !== null) {
    checkLedger(result, ledger, directory, findings);
    findings.group("pack");
    checkPack(result, directory, findings);
    findings.group("rows");
    checkRows(result, ledger, findings);
    findings.group("evidence");
    await checkEvidence(result, directory, workspace, findings);
    findings.group("statistics");
    checkStatistics(result, findings);
    findings.group("reports");
    checkReports(result, directory, options, findings);
    findings.group("plots");
    checkPlots(directory, findings);
  }
  const invalid = findings.errors.length > 0;
  // A preliminary or incomplete result is not publication evidence.
  const canonical = result?.status === "completed" && result.benchmark.benchmark_tier === "canonical";
  const evidence = canonical ? "current_profile" : "nonpublication_evidence";
  return {
    status: invalid ? "invalid" : findings.warnings.length > 0 ? "warning" : "valid",
    target_type: "benchmark",
    target_id: id,
    path: directory,
    result_sha256: result === null ? null : sha256Hex(Deno.readTextFileSync(join(directory, RESULT_FILE))),
    errors: findings.errors,
    warnings: findings.warnings,
    checks: findings.checks,
    certification: { verdict: `${evidence}_${invalid ? "fail" : "pass"}` },
  };
}

function readResult(
  workspace: Workspace,
  id: string,
  directory: string,
  findings: Findings,
): BenchmarkResult | null {
  findings.looked();
  let result: BenchmarkResult;
  try {
    result = settleResult(workspace, id);
  } catch (error) {
    findings.error("bundle_schema_invalid", RESULT_FILE, "$", messageOf(error));
    return null;
  }
  if (result.status === "running") {
    throw new SvcError("run_still_executing", `Cannot verify ${id} while it is being made`, {
      hint: "Wait for its end",
    });
  }
  const text = Deno.readTextFileSync(join(directory, RESULT_FILE));
  if (prettyJson(parseJson(text)) !== text) {
    findings.error("bundle_schema_invalid", RESULT_FILE, "$", `${RESULT_FILE} is not laid out as it was written`);
  }
  if (result.result_id !== id) {
    findings.error("bundle_link_mismatch", RESULT_FILE, "$.result_id", `It names itself ${result.result_id}`);
  }
  return result;
}

function readLedger(directory: string, findings: Findings): LedgerSummary | null {
  try {
    const { events, torn_bytes } = readLedgerFile(join(directory, LEDGER_FILE));
    findings.looked(events.length);
    if (torn_bytes > 0) {
      findings.error("bundle_hash_mismatch", LEDGER_FILE, "$", `${torn_bytes} bytes follow its last event`);
    }
    if (events.length === 0) findings.error("bundle_file_missing", LEDGER_FILE, "$", "The attempt ledger is missing");
    return events.length === 0 ? null : summarizeLedger(events);
  } catch (error) {
    findings.error("bundle_hash_mismatch", LEDGER_FILE, "$", messageOf(error));
    return null;
  }
}

function checkLedger(result: BenchmarkResult, ledger: LedgerSummary, directory: string, findings: Findings): void {
  const wrong = (message: string, path = "$") => findings.error("bundle_link_mismatch", RESULT_FILE, path, message);
  const { attempt_ledger } = result;
  if (ledger.start?.sha256 !== attempt_ledger.start_event_sha256) {
    wrong("The ledger does not begin with the event that the result names", "$.attempt_ledger.start_event_sha256");
  }
  if (ledger.end === null) return wrong("The ledger has no end");
  if (ledger.end.status !== attempt_ledger.expected_terminal_status) {
    wrong(
      `The ledger ends ${ledger.end.status}, the result ${attempt_ledger.expected_terminal_status}`,
      "$.attempt_ledger.expected_terminal_status",
    );
  }
  const sha256 = sha256Hex(Deno.readTextFileSync(join(directory, RESULT_FILE)));
  if (ledger.end.event.fields.result_sha256 !== sha256) {
    findings.error(
      "bundle_hash_mismatch",
      RESULT_FILE,
      "$",
      `${RESULT_FILE} is not the file that the ledger ends with`,
    );
  }
}

function checkPack({ benchmark }: BenchmarkResult, directory: string, findings: Findings): void {
  findings.looked();
  let record: Value;
  try {
    record = parseJson(Deno.readTextFileSync(join(directory, PACK_RECORD_FILE)));
  } catch (error) {
    return findings.error("bundle_file_missing", PACK_RECORD_FILE, "$", messageOf(error));
  }
  if (!isObject(record) || !isObject(record.pack) || sha256Json(record.pack) !== benchmark.sha256) {
    findings.error("bundle_hash_mismatch", PACK_RECORD_FILE, "$.pack", "It is not the pack that the result names");
  }
}

/** Every row of the result is the last one in the ledger, and none is missing. */
function checkRows({ recipes }: BenchmarkResult, ledger: LedgerSummary, findings: Findings): void {
  findings.looked(recipes.length);
  const seen = new Set<string>();
  recipes.forEach((row, index) => {
    const key = rowKey(row.id, Number(row.replicate));
    seen.add(key);
    const known = ledger.rows.get(key);
    if (known === undefined || !sameValue(known.row, row)) {
      findings.error("bundle_link_mismatch", RESULT_FILE, `$.recipes[${index}]`, `${key} is not the row of the ledger`);
    }
  });
  for (const key of ledger.rows.keys()) {
    if (!seen.has(key)) {
      findings.error("bundle_link_mismatch", RESULT_FILE, "$.recipes", `${key} of the ledger is missing`);
    }
  }
}

async function checkEvidence(
  { recipes }: BenchmarkResult,
  directory: string,
  workspace: Workspace,
  findings: Findings,
): Promise<void> {
  for (const [index, row] of recipes.entries()) {
    if (row.run_evidence_snapshot === null) continue;
    findings.looked();
    const file = String(row.run_evidence_snapshot.relative_path);
    try {
      const problems = checkSnapshot(row, readSnapshot(directory, row.run_evidence_snapshot));
      for (const problem of problems) findings.error("bundle_link_mismatch", file, `$.recipes[${index}]`, problem);
    } catch (error) {
      const known = error instanceof SvcError &&
        /^bundle_(file_missing|hash_mismatch|schema_invalid)$/.test(error.code);
      const code = known ? error.code as "bundle_file_missing" : "bundle_schema_invalid";
      findings.error(code, file, "$", messageOf(error));
    }
    if (row.run_dir === null) continue;
    const bundle = join(workspace.stateDir, row.run_dir);
    if (!exists(bundle)) {
      findings.add(
        "warning",
        "bundle_file_missing",
        row.run_dir,
        "$",
        `The backing run ${row.run_id} has been removed`,
      );
      continue;
    }
    const { errors } = await verifyBundle(bundle, row.run_id!);
    for (const { code, message } of errors) findings.error(code, row.run_dir, "$", message);
  }
}

/** Differences between a row and the documents of its run; each number is looked up at its origin. */
function checkSnapshot(row: ResultRow, { run_id, documents, reports }: Snapshot): string[] {
  const problems: string[] = [];
  const differs = (what: string) => problems.push(`${row.id} r${row.replicate}: ${what}`);
  const sums = parseSha256Sums(documents[SUMS_FILE]);
  for (const name of [AUTHORED_FILE, RECIPE_FILE, PLAN_FILE, SUMMARY_FILE, MANIFEST_FILE]) {
    if (sums.get(name) !== sha256Hex(documents[name] ?? "")) differs(`${name} is not the file that the run hashed`);
  }
  for (const [path, text] of Object.entries(reports)) {
    if (sums.get(path) !== sha256Hex(text)) differs(`${path} is not the report that the run hashed`);
  }
  const summary = parseJson(documents[SUMMARY_FILE]) as JsonObject;
  if (run_id !== row.run_id || summary.run_id !== row.run_id) differs("the snapshot is of another run");
  if (sha256Json(parseJson(documents[RECIPE_FILE])) !== row.recipe_sha256) differs("the recipe is another one");
  if (row.manifest?.sha256 !== sums.get(MANIFEST_FILE)) differs("the manifest is another one");
  const steps = new Map((summary.steps as JsonObject[]).map((step) => [String(step.id), step]));
  const ofRun = (summary.metrics ?? {}) as JsonObject;
  for (const [name, value] of Object.entries(row.metrics)) {
    if (name.startsWith("benchmark.")) continue;
    const [, stepId, metric] = /^steps\.([^.]+)\.(.+)$/.exec(name) ?? [];
    const provenance = row.metric_provenance[name];
    const source = stepId ?? provenance?.step_id;
    const measured = source == null ? ofRun : (steps.get(source)?.metrics ?? {}) as JsonObject;
    if (stepId === undefined && provenance === undefined) differs(`${name} has no provenance`);
    else if (!sameValue(measured[metric ?? name] ?? null, value)) {
      differs(`${name} is not what ${source ?? "the run"} measured`);
    }
    if (stepId !== undefined || provenance?.step_id == null) continue;
    const step = steps.get(provenance.step_id);
    if (step === undefined || reportOf(step) !== provenance.artifact_sha256 || step.op !== provenance.operation_id) {
      differs(`${name} does not come from where its provenance says`);
    }
  }
  return problems;
}

/** Recomputes aggregates and comparisons from the rows. */
export function checkStatistics(result: BenchmarkResult, findings: Findings): void {
  const made = statistics(result.recipes, result.benchmark, result.replication);
  for (const part of ["aggregates", "comparisons"] as const) {
    findings.looked(made[part].length);
    if (sameValue(made[part], result[part])) continue;
    findings.error("bundle_link_mismatch", RESULT_FILE, `$.${part}`, `The ${part} do not follow from the rows`);
  }
}

function checkReports(
  result: BenchmarkResult,
  directory: string,
  { exportReports = exportResult }: VerifyOptions,
  findings: Findings,
): void {
  const made = exportReports(result);
  for (const name of result.reports) {
    findings.looked();
    let text: string;
    try {
      text = Deno.readTextFileSync(join(directory, name));
    } catch {
      findings.add(
        "warning",
        "bundle_file_missing",
        name,
        "$",
        `${name} is missing: svc benchmark export makes it again`,
      );
      continue;
    }
    if (made[name] !== text) {
      findings.add("warning", "bundle_hash_mismatch", name, "$", `${name} does not follow from ${RESULT_FILE}`);
    }
  }
}
