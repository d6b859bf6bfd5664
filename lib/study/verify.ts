/**
 * Verifies a stored result without executing anything. Everything that follows from something else is derived again: the
 * order of events in the ledger from the program, the rows from pack, recipe, replicate and the documents of their runs,
 * the result from the ledger, and aggregates, comparisons and view from the rows.
 */
import { inside, type InsidePath, openFile, readText } from "../artifact/inside.ts";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { exists } from "../artifact/path_kind.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { parseJson, prettyJson, sameValue } from "../contract/json.ts";
import type { Registry } from "../contract/registry.ts";
import type { JsonObject } from "../contract/value.ts";
import { differenceRow, differences } from "../run/compare.ts";
import { type Certification, type CheckRow, type Finding, type FindingCode, Findings } from "../run/findings.ts";
import { readDocument } from "../run/read.ts";
import { verifyBundle } from "../run/verify.ts";
import type { Workspace } from "../run/workspace.ts";
import { readSnapshot } from "./rows/evidence.ts";
import { exportFiles } from "./report/export.ts";
import { History } from "./rows/history.ts";
import { LedgerIndex, rowKey } from "./rows/ledger.ts";
import type { Pack } from "./pack/pack.ts";
import { packOfRecord } from "./pack/pack_record.ts";
import { replicationArguments, settleReplication } from "./pack/replication.ts";
import { headOfEnd, identityOf, noteFirst, Statistics } from "./rows/result.ts";
import { RowChecks } from "./rows/row_checks.ts";
import { allRows, partName, plannedRows } from "./rows/stored_rows.ts";
import { benchmarkWorkspace, endOf, resolveResultId, settleResult } from "./rows/store.ts";
import {
  type AggregateRow,
  type BenchmarkResult,
  checkPackRecord,
  EXACT,
  INLINE_ROWS,
  LEDGER_FILE,
  MAX_RESULT_BYTES,
  PACK_RECORD_FILE,
  type PackRecord,
  type Replication,
  RESULT_FILE,
  type ResultRow,
} from "./pack/types.ts";
import { checkPlots } from "./report/verify_plots.ts";
import { ViewDigest } from "./rows/view.ts";

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
 * @param registry the operations of this program; without them effective recipes are compared with the authored ones only
 * @throws SvcError `result_not_found`, or `run_still_executing` while the benchmark runs
 */
export async function verifyBenchmark(
  workspace: Workspace,
  wanted: string,
  registry?: Registry,
): Promise<BenchmarkVerification> {
  const id = resolveResultId(workspace, wanted);
  const directory = join(benchmarkWorkspace(workspace).runs, id);
  const findings = new Findings();
  findings.group("documents");
  const result = readResult(workspace, id, directory, findings);
  findings.group("ledger");
  const ledger = readLedger(directory, result, findings);
  if (result !== null && ledger !== null) {
    checkLedger(result, ledger, directory, findings);
    findings.group("pack");
    const checks = checkPack(result, ledger.index, directory, registry, findings);
    if (await checkRows(result, ledger.index, checks, directory, workspace, findings)) {
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
    result_sha256: result === null ? null : sha256Hex(readText(inside(directory, RESULT_FILE), MAX_RESULT_BYTES)),
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
  const text = readText(inside(directory, RESULT_FILE), MAX_RESULT_BYTES);
  if (prettyJson(parseJson(text)) !== text) {
    findings.error("bundle_schema_invalid", RESULT_FILE, "$", `${RESULT_FILE} is not laid out as it was written`);
  }
  if (result.result_id !== id) {
    findings.error("bundle_link_mismatch", RESULT_FILE, "$.result_id", `It has the id ${result.result_id}`);
  }
  return result;
}

interface ReadLedger {
  index: LedgerIndex;
  history: History;
}

function readLedger(directory: string, result: BenchmarkResult | null, findings: Findings): ReadLedger | null {
  try {
    const index = new LedgerIndex(inside(directory, LEDGER_FILE));
    const history = new History(index, result?.benchmark.metrics ?? []);
    index.advance();
    findings.looked(index.events);
    if (index.tornBytes > 0) {
      findings.error("bundle_hash_mismatch", LEDGER_FILE, "$", `${index.tornBytes} bytes follow its last event`);
    }
    if (index.events > 0) return { index, history };
    findings.error("bundle_file_missing", LEDGER_FILE, "$", "The attempt ledger is missing");
  } catch (error) {
    findings.error(findingCode(error), LEDGER_FILE, "$", messageOf(error));
  }
  return null;
}

/** The result against its ledger: what is known from the start and from the end. */
function checkLedger(
  result: BenchmarkResult,
  { index, history }: ReadLedger,
  directory: string,
  findings: Findings,
): void {
  const wrong = (message: string, path = "$") => findings.error("bundle_link_mismatch", RESULT_FILE, path, message);
  const start = index.start!, { end } = index;
  if (end === null) return wrong("The ledger has no end");
  const { fields, attempt_id } = end.event, { attempt_ledger, execution, resume } = result;
  const { continue_on_error, ...settings } = execution;
  // Taken from the ledger as the program does it; what it does not know is that of the result.
  const made = headOfEnd(
    {
      ...result,
      result_id: start.fields.result_id,
      attempt_id,
      attempt_ledger: { ...attempt_ledger, start_event_sha256: start.sha256 },
      execution: { ...start.fields.execution, continue_on_error },
      replication: index.limited(start.fields.replication),
      ...(resume === undefined
        ? { storage: start.fields.storage }
        : { resume: { ...resume, earlier_attempt_ids: history.earlierAttempts, reused_rows: index.reusedRows } }),
    },
    endOf(fields),
  );
  if ((resume === undefined) !== (history.earlierAttempts.length === 0)) {
    wrong("It does not say whether it was resumed", "$.resume");
  }
  if (typeof continue_on_error !== "boolean" || (history.wentOn ?? continue_on_error) !== continue_on_error) {
    wrong("The ledger does not go on after failed rows as it says", "$.execution.continue_on_error");
  }
  if (!sameValue(settings, start.fields.execution)) wrong("The ledger has other settings", "$.execution");
  for (const { path } of differences(made as JsonObject, headOfEnd(result, null) as JsonObject).map(differenceRow)) {
    wrong("It does not follow from the ledger", String(path));
  }
  const sha256 = sha256Hex(readText(inside(directory, RESULT_FILE), MAX_RESULT_BYTES));
  if (fields.result_sha256 !== sha256) {
    findings.error(
      "bundle_hash_mismatch",
      RESULT_FILE,
      "$",
      `${RESULT_FILE} is not the file that the ledger ends with`,
    );
  }
}

/** The record of the pack against result and ledger. @returns the checks of its rows; null without a usable record */
function checkPack(
  { benchmark }: BenchmarkResult,
  ledger: LedgerIndex,
  directory: string,
  registry: Registry | undefined,
  findings: Findings,
): RowChecks | null {
  findings.looked();
  try {
    const document = readDocument(directory, PACK_RECORD_FILE, MAX_RESULT_BYTES), [problem] = checkPackRecord(document);
    if (problem !== undefined) {
      throw new SvcError(
        "bundle_schema_invalid",
        `Cannot use ${PACK_RECORD_FILE}: ${problem.path}: ${problem.message}`,
      );
    }
    const record = document as PackRecord, { pack, recipes } = packOfRecord(record), { fields } = ledger.start!;
    const wrong = (file: string, path: string, message: string) =>
      findings.error("bundle_link_mismatch", file, path, message);
    if (fields.pack_sha256 !== pack.sha256) wrong(LEDGER_FILE, "$", "It begins with another pack");
    const begun = recipes.map(({ entry: { id }, recipe }) => ({
      id,
      recipe_sha256: recipe === null ? null : sha256Json(recipe),
    }));
    if (!sameValue(fields.recipes, begun)) wrong(LEDGER_FILE, "$", "It begins with other recipes");
    const identity = identityOf(pack, benchmark.catalog_validation);
    for (const { path } of differences(identity, benchmark).map(differenceRow)) {
      wrong(RESULT_FILE, `$.benchmark${String(path).slice(1)}`, "It does not follow from the pack");
    }
    if (benchmark.catalog_validation.errors.length > 0) {
      wrong(RESULT_FILE, "$.benchmark.catalog_validation.errors", "A pack with errors does not run");
    }
    checkReplication(fields.replication, pack, findings);
    const start = { ...fields, replication: ledger.limited(fields.replication) };
    return new RowChecks({ pack, recipes, start, registry });
  } catch (error) {
    findings.error(findingCode(error), PACK_RECORD_FILE, "$", messageOf(error));
    return null;
  }
}

/** Seeds and limits of the pack, where no option of the caller replaces them. */
function checkReplication(replication: Replication | null, pack: Pack, findings: Findings): void {
  const made = settleReplication(pack, replicationArguments(replication), []);
  if (made !== null && replication?.keep_authored_seeds === undefined) delete made.keep_authored_seeds;
  for (const { path } of differences(made, replication).map(differenceRow)) {
    const place = `$.replication${String(path).slice(1)}`;
    findings.error("bundle_link_mismatch", LEDGER_FILE, place, "It does not follow from the pack");
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
  checks: RowChecks | null,
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
      if (checks !== null) await checkEvidence(row, index, checks, directory, workspace, findings);
      index++;
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
  if (result.rows !== undefined) {
    const { count, completed, parts } = result.rows;
    const named = parts.every(({ path }, part) => path === partName(part));
    if (count !== index || completed !== ledger.completedCount || !named) {
      findings.error("bundle_link_mismatch", RESULT_FILE, "$.rows", `The parts have ${index} rows`);
    }
  }
  findings.group("evidence");
  for (const { severity, code, message } of checks?.finish() ?? []) {
    findings.add(severity, code, PACK_RECORD_FILE, "$", message);
  }
  for (const id of runIds.duplicates(result)) {
    findings.error("result_duplicate_run_ids", RESULT_FILE, "$.recipes", `${id} is the run of several rows`);
  }
  try {
    statistics.finish(findings);
  } catch (error) {
    findings.error(findingCode(error), RESULT_FILE, "$.aggregates", messageOf(error));
  }
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
  error instanceof SvcError && /^bundle_(file_missing|hash_mismatch|link_mismatch|schema_invalid)$/.test(error.code)
    ? error.code as FindingCode
    : "bundle_schema_invalid";

async function checkEvidence(
  row: ResultRow,
  index: number,
  checks: RowChecks,
  directory: string,
  workspace: Workspace,
  findings: Findings,
): Promise<void> {
  findings.looked();
  const { run_evidence_snapshot: record, run_dir } = row, file = record?.relative_path ?? RESULT_FILE;
  try {
    const snapshot = record === null ? null : readSnapshot(directory, record);
    for (const { severity, code, message } of checks.check(row, snapshot)) {
      findings.add(severity, code, file, `$.recipes[${index}]`, message);
    }
  } catch (error) {
    findings.error(findingCode(error), file, `$.recipes[${index}]`, messageOf(error));
  }
  if (run_dir === null || row.run_id === null) return;
  const bundle = join(workspace.stateDir, run_dir);
  if (!exists(bundle)) {
    const message = `The backing run ${row.run_id} has been removed`;
    return findings.add("warning", "bundle_file_missing", run_dir, "$", message);
  }
  const { errors } = await verifyBundle(bundle, row.run_id);
  for (const { code, message } of errors) findings.error(code, run_dir, "$", message);
}

/** Recomputes aggregates, comparisons and view from the rows. */
export class StatisticsCheck {
  readonly #result: BenchmarkResult;
  readonly #statistics: Statistics;
  readonly #view = new ViewDigest();
  readonly #first = new Map<string, ResultRow>();

  constructor(result: BenchmarkResult) {
    this.#result = result;
    // Without constants both ways give the same rows.
    const withConstants = result.comparisons.every(({ reason }) => reason !== EXACT);
    this.#statistics = new Statistics(result.benchmark, result.replication, result.schema_version, { withConstants });
  }

  add(row: ResultRow): void {
    this.#statistics.add(row);
    this.#view.add(row);
    noteFirst(this.#first, row);
  }

  finish(findings: Findings): void {
    findings.group("statistics");
    const result = this.#result, made = this.#statistics.finish();
    if (result.schema_version < 3) made.aggregates = withOldIntervals(made.aggregates, result.aggregates);
    const wrong = (path: string, message: string) => findings.error("bundle_link_mismatch", RESULT_FILE, path, message);
    for (const part of ["aggregates", "comparisons"] as const) {
      findings.looked(made[part].length);
      if (!sameValue(made[part], result[part])) wrong(`$.${part}`, `The ${part} do not follow from the rows`);
    }
    if (result.view_sha256 !== undefined && this.#view.finish(made) !== result.view_sha256) {
      wrong("$.view_sha256", "The view digest does not follow from the rows");
    }
    const first = this.#first.size > INLINE_ROWS ? [] : [...this.#first.values()];
    if (result.rows !== undefined && !sameValue(first, result.recipes)) {
      wrong("$.recipes", "It does not hold the first completed row of each recipe");
    }
  }
}

/**
 * Aggregates with the stored intervals of clustered rates in schema versions 1 and 2, whose rows do not hold the failed units,
 * and the stops that follow from them.
 */
function withOldIntervals(made: readonly AggregateRow[], stored: readonly AggregateRow[]): AggregateRow[] {
  return made.map((row, index) => {
    const old = stored[index];
    if (old === undefined || old.recipe_id !== row.recipe_id || old.metric !== row.metric) return row;
    const { stop_reason: _stop, upper_bound: _bound, ...rest } = row, { stop_reason, upper_bound } = old;
    const isClustered = row.ci_method === "gaffke" && old.ci_method.startsWith("cluster_");
    const bound = isClustered || row.ci_method === "student_t" ? upper_bound : row.upper_bound;
    return {
      ...rest,
      ...(bound === undefined ? {} : { upper_bound: bound }),
      ...(row.stop_reason === undefined && stop_reason !== "halfwidth"
        ? {}
        : { stop_reason: row.stop_reason ?? stop_reason }),
      ...(isClustered ? { ci_low: old.ci_low, ci_high: old.ci_high, ci_method: old.ci_method } : {}),
    };
  });
}

function checkReports(result: BenchmarkResult, directory: string, findings: Findings): void {
  const made = exportFiles(result, plannedRows(result, directory));
  for (const name of result.reports) {
    findings.looked();
    const warn = (code: FindingCode, message: string) => findings.add("warning", code, name, "$", message);
    try {
      if (!exists(join(directory, name))) {
        warn("bundle_file_missing", `${name} is missing: svc benchmark export makes it again`);
      } else if (made[name] === undefined || !holds(inside(directory, name), made[name]())) {
        warn("bundle_hash_mismatch", `${name} does not follow from ${RESULT_FILE}`);
      }
    } catch (error) {
      warn("bundle_schema_invalid", messageOf(error));
    }
  }
}

/** Whether a file holds these texts one after the other. */
function holds(path: InsidePath, pieces: Iterable<string>): boolean {
  using file = openFile(path, { read: true });
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
