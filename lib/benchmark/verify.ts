/**
 * Verifies a stored result without executing anything: the chain of its ledger, the pack and the rows against it, the
 * snapshot of every row against its digest, every number against the documents in the snapshot, and recomputed
 * aggregates and comparisons.
 */
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { parseJson, prettyJson, sameValue } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE, SUMMARY_FILE, SUMS_FILE } from "../run/documents.ts";
import { parseSha256Sums } from "../run/files.ts";
import { exists } from "../artifact/path_kind.ts";
import { type Certification, type CheckRow, type Finding, type FindingCode, Findings } from "../run/findings.ts";
import { verifyBundle } from "../run/verify.ts";
import type { Workspace } from "../run/workspace.ts";
import { readSnapshot, type Snapshot } from "./evidence.ts";
import { exportFiles } from "./export.ts";
import { LedgerIndex, rowKey } from "./ledger.ts";
import { reportOf } from "./promote.ts";
import { noteFirst, spreadOf, Statistics } from "./result.ts";
import { allRows } from "./stored_rows.ts";
import { ViewDigest } from "./view.ts";
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
  certification: Certification;
};

/**
 * Verifies a result.
 * @param wanted id or a unique beginning of one
 * @throws SvcError `result_not_found`, or `run_still_executing` while the benchmark runs
 */
export async function verifyBenchmark(
  workspace: Workspace,
  wanted: string,
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
    if (await checkRows(result, ledger, directory, workspace, findings)) {
      findings.group("reports");
      checkReports(result, directory, findings);
    }
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
    findings.error("bundle_link_mismatch", RESULT_FILE, "$.result_id", `It has the id ${result.result_id}`);
  }
  return result;
}

function readLedger(directory: string, findings: Findings): LedgerIndex | null {
  try {
    const ledger = new LedgerIndex(join(directory, LEDGER_FILE)).advance();
    findings.looked(ledger.events);
    if (ledger.tornBytes > 0) {
      findings.error("bundle_hash_mismatch", LEDGER_FILE, "$", `${ledger.tornBytes} bytes follow its last event`);
    }
    if (ledger.events > 0) return ledger;
    findings.error("bundle_file_missing", LEDGER_FILE, "$", "The attempt ledger is missing");
  } catch (error) {
    findings.error("bundle_hash_mismatch", LEDGER_FILE, "$", messageOf(error));
  }
  return null;
}

function checkLedger(result: BenchmarkResult, ledger: LedgerIndex, directory: string, findings: Findings): void {
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

/**
 * One pass over the rows: each is the last one in the ledger and follows from its snapshot, none is missing, and the
 * statistics and the view follow from them.
 * @returns whether all rows could be read
 */
async function checkRows(
  result: BenchmarkResult,
  ledger: LedgerIndex,
  directory: string,
  workspace: Workspace,
  findings: Findings,
): Promise<boolean> {
  const statistics = new StatisticsCheck(result), runIds = new RunIds();
  for (const id of ["rows", "evidence", "statistics"]) findings.group(id);
  findings.group("rows");
  const wrong = (index: number, message: string) =>
    findings.error("bundle_link_mismatch", RESULT_FILE, `$.recipes[${index}]`, message);
  const expected = ledger.rows();
  let index = 0;
  try {
    for (const row of allRows(result)) {
      findings.group("rows");
      findings.looked();
      const known = expected.next().value;
      const key = rowKey(row.id, Number(row.replicate));
      if (known === undefined || !sameValue(known, row)) wrong(index, `${key} is not the row of the ledger`);
      statistics.add(row);
      runIds.add(row);
      findings.group("evidence");
      await checkEvidence(row, index++, directory, workspace, findings);
      if (index % YIELD_ROWS === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    findings.group("rows");
    for (const { id, replicate } of expected) {
      wrong(index++, `${rowKey(id, Number(replicate))} of the ledger is missing`);
    }
  } catch (error) {
    // A part of the rows that cannot be read ends the pass.
    if (!(error instanceof SvcError)) throw error;
    findings.group("rows");
    findings.error(findingCode(error), RESULT_FILE, "$.rows", messageOf(error));
    return false;
  }
  if (result.rows !== undefined && result.rows.count !== index) {
    findings.error("bundle_link_mismatch", RESULT_FILE, "$.rows.count", `The parts have ${index} rows`);
  }
  for (const id of runIds.duplicates(result)) {
    findings.error("result_duplicate_run_ids", RESULT_FILE, "$.recipes", `${id} is the run of several rows`);
  }
  statistics.finish(findings);
  return true;
}

/** After so many rows other tasks run: buffers of unpacked files are freed between tasks, not within one. */
const YIELD_ROWS = 100;

/** Finds run ids of several rows with eight bytes a row. */
class RunIds {
  #hashes = new Float64Array(1024);
  #count = 0;

  static #hashOf = (id: string) => parseInt(sha256Hex(id).slice(0, 13), 16);

  add({ run_id }: ResultRow): void {
    if (run_id === null) return;
    if (this.#count === this.#hashes.length) {
      const larger = new Float64Array(2 * this.#count);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#count++] = RunIds.#hashOf(run_id);
  }

  /** The ids, found in a second pass where hashes are equal. */
  duplicates(result: BenchmarkResult): string[] {
    const hashes = this.#hashes.subarray(0, this.#count).sort();
    const equal = new Set(hashes.filter((hash, i) => i > 0 && hash === hashes[i - 1]));
    if (equal.size === 0) return [];
    const counts = new Map<string, number>();
    for (const { run_id } of allRows(result)) {
      if (run_id !== null && equal.has(RunIds.#hashOf(run_id))) counts.set(run_id, (counts.get(run_id) ?? 0) + 1);
    }
    return [...counts].filter(([, count]) => count > 1).map(([id]) => id);
  }
}

const findingCode = (error: unknown): FindingCode =>
  error instanceof SvcError && /^bundle_(file_missing|hash_mismatch|schema_invalid)$/.test(error.code)
    ? error.code as FindingCode
    : "bundle_schema_invalid";

async function checkEvidence(
  row: ResultRow,
  index: number,
  directory: string,
  workspace: Workspace,
  findings: Findings,
): Promise<void> {
  if (row.run_evidence_snapshot === null) return;
  findings.looked();
  const file = String(row.run_evidence_snapshot.relative_path);
  try {
    const problems = checkSnapshot(row, readSnapshot(directory, row.run_evidence_snapshot));
    for (const problem of problems) findings.error("bundle_link_mismatch", file, `$.recipes[${index}]`, problem);
  } catch (error) {
    findings.error(findingCode(error), file, "$", messageOf(error));
  }
  if (row.run_dir === null) return;
  const bundle = join(workspace.stateDir, row.run_dir);
  if (!exists(bundle)) {
    const message = `The backing run ${row.run_id} has been removed`;
    return findings.add("warning", "bundle_file_missing", row.run_dir, "$", message);
  }
  const { errors } = await verifyBundle(bundle, row.run_id!);
  for (const { code, message } of errors) findings.error(code, row.run_dir, "$", message);
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

/** Recomputes aggregates, comparisons and view from the rows. */
export class StatisticsCheck {
  readonly #result: BenchmarkResult;
  readonly #statistics: Statistics;
  readonly #view = new ViewDigest();
  readonly #first = new Map<string, ResultRow>();

  constructor(result: BenchmarkResult) {
    this.#result = result;
    this.#statistics = new Statistics(result.benchmark, result.replication, spreadOf(result));
  }

  add(row: ResultRow): void {
    this.#statistics.add(row);
    this.#view.add(row);
    noteFirst(this.#first, row);
  }

  finish(findings: Findings): void {
    findings.group("statistics");
    const result = this.#result, made = this.#statistics.finish();
    const wrong = (path: string, message: string) => findings.error("bundle_link_mismatch", RESULT_FILE, path, message);
    for (const part of ["aggregates", "comparisons"] as const) {
      findings.looked(made[part].length);
      if (!sameValue(made[part], result[part])) wrong(`$.${part}`, `The ${part} do not follow from the rows`);
    }
    if (result.view_sha256 !== undefined && this.#view.finish(made) !== result.view_sha256) {
      wrong("$.view_sha256", "The view digest does not follow from the rows");
    }
    if (result.rows !== undefined && !sameValue([...this.#first.values()], result.recipes)) {
      wrong("$.recipes", "It does not hold the first completed row of each recipe");
    }
  }
}

function checkReports(result: BenchmarkResult, directory: string, findings: Findings): void {
  const made = exportFiles(result);
  for (const name of result.reports) {
    findings.looked();
    if (!exists(join(directory, name))) {
      const message = `${name} is missing: svc benchmark export makes it again`;
      findings.add("warning", "bundle_file_missing", name, "$", message);
    } else if (made[name] === undefined || !holds(join(directory, name), made[name]())) {
      findings.add("warning", "bundle_hash_mismatch", name, "$", `${name} does not follow from ${RESULT_FILE}`);
    }
  }
}

/** Whether a file holds these texts one after the other. */
function holds(path: string, pieces: Iterable<string>): boolean {
  using file = Deno.openSync(path);
  for (const piece of pieces) {
    const bytes = new TextEncoder().encode(piece), read = new Uint8Array(bytes.length);
    for (let done = 0; done < bytes.length;) {
      const count = file.readSync(read.subarray(done));
      if (count === null) return false;
      done += count;
    }
    if (Buffer.compare(read, bytes) !== 0) return false;
  }
  return file.readSync(new Uint8Array(1)) === null;
}
