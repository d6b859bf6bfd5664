/** Stored results: their folders, lists, and the completion of interrupted ones. */
import { join } from "node:path";
import { inside, type InsidePath } from "../../artifact/inside.ts";
import { entriesOf, exists } from "../../artifact/path_kind.ts";
import { messageOf, SvcError } from "../../contract/error.ts";
import { prettyJson } from "../../contract/json.ts";
import { nearestName } from "../../contract/nearest.ts";
import { sha256Hex } from "../../contract/hash.ts";
import { isObject } from "../../contract/value.ts";
import { DISK, replaceFile } from "../../run/files.ts";
import { isRunLocked, tryLockRun } from "../../run/lock.ts";
import { readDocument } from "../../run/read.ts";
import { sweepTransit } from "../../run/recover.ts";
import { isRunId } from "../../run/reservation.ts";
import type { Workspace } from "../../run/workspace.ts";
import { lastKind, Ledger, LedgerIndex } from "./ledger.ts";
import { checkResult } from "../pack/types.ts";
import { assembleResult, type BenchmarkEnd, headOf } from "./result.ts";
import { countsOf, withStoredRows } from "./stored_rows.ts";
import {
  type BenchmarkResult,
  LEDGER_FILE,
  MAX_RESULT_BYTES,
  RESULT_FILE,
  type ResultStatus,
  STORED_ROWS,
} from "../pack/types.ts";

/** A workspace with the folder of results instead of runs, so that ids and locks work the same. */
export function benchmarkWorkspace(workspace: Workspace): Workspace {
  const { stateDir } = workspace;
  return {
    ...workspace,
    runs: inside(stateDir, "benchmarks"),
    reservations: inside(stateDir, "benchmarks/.result-id-reservations"),
    locks: inside(stateDir, "benchmarks/.locks"),
    transit: inside(stateDir, "benchmarks/.transit"),
  };
}

/** A result in a list. */
export type ResultListRow = {
  result_id: string;
  benchmark_id: string | null;
  benchmark_version: string | null;
  status: ResultStatus;
  created_at_utc: string | null;
  completed_at_utc: string | null;
  rows: number;
  completed_rows: number;
  suite: string | null;
  /** Why the row is incomplete. */
  problem?: string;
};

/** Ids of the stored results. */
export function resultIds(workspace: Workspace): string[] {
  return entriesOf(benchmarkWorkspace(workspace).runs)
    .filter((entry) => entry.isDirectory && isRunId(entry.name)).map(({ name }) => name);
}

/** Lists the stored results without the index, newest first; interrupted ones are settled. Exported for tests. */
export function listBenchmarkResults(workspace: Workspace): ResultListRow[] {
  sweepTransit(benchmarkWorkspace(workspace));
  return resultIds(workspace).map((id) => listRow(workspace, id)).sort(newestFirst);
}

export function newestFirst(a: ResultListRow, b: ResultListRow): number {
  const [x, y] = [a.created_at_utc ?? "", b.created_at_utc ?? ""];
  return x < y ? 1 : x > y ? -1 : a.result_id < b.result_id ? 1 : -1;
}

/** The row of a result in a list; an interrupted one is settled first. */
export function listRow(workspace: Workspace, result_id: string): ResultListRow {
  const row: ResultListRow = {
    result_id,
    benchmark_id: null,
    benchmark_version: null,
    status: "incomplete",
    created_at_utc: null,
    completed_at_utc: null,
    rows: 0,
    completed_rows: 0,
    suite: null,
  };
  try {
    const result = settleResult(workspace, result_id);
    const { benchmark, status, created_at_utc, completed_at_utc } = result, { suite } = benchmark;
    const { count, completed } = countsOf(result);
    return {
      ...row,
      benchmark_id: benchmark.id,
      benchmark_version: benchmark.version,
      status,
      created_at_utc,
      completed_at_utc,
      rows: count,
      completed_rows: completed,
      suite: isObject(suite) && typeof suite.id === "string" ? suite.id : null,
    };
  } catch (error) {
    return { ...row, problem: messageOf(error) };
  }
}

/**
 * Resolves a result id.
 * @param wanted a whole id or a unique prefix
 * @throws SvcError `result_not_found` with the nearest id
 */
export function resolveResultId(workspace: Workspace, wanted: string): string {
  const ids = resultIds(workspace);
  if (ids.includes(wanted)) return wanted;
  const matches = wanted === "" ? [] : ids.filter((id) => id.startsWith(wanted)).sort();
  if (matches.length === 1) return matches[0];
  const refuse = (message: string, hint: string): never => {
    throw new SvcError("result_not_found", message, { hint });
  };
  if (matches.length > 1) {
    const shown = matches.slice(0, 5).join(", ") + (matches.length > 5 ? ", …" : "");
    return refuse(`Ambiguous result id ${wanted}: ${matches.length} results match`, `Write more of the id: ${shown}`);
  }
  const near = nearestName(wanted, ids) ?? ids.sort().reverse().find((id) => wanted !== "" && id.includes(wanted));
  return refuse(
    `Cannot find a result named ${wanted || "(empty)"}`,
    near ? `Did you mean ${near}?` : "List the results with: svc benchmark results",
  );
}

/**
 * Reads a result; an interrupted one is settled first, and one in progress is shown so far.
 * @param wanted id or a unique prefix
 * @throws SvcError `result_not_found`, `bundle_file_missing`, `bundle_schema_invalid`
 */
export function showBenchmarkResult(
  workspace: Workspace,
  wanted: string,
): { result: BenchmarkResult; directory: string } {
  const id = resolveResultId(workspace, wanted);
  return { result: settleResult(workspace, id), directory: join(benchmarkWorkspace(workspace).runs, id) };
}

/**
 * The current result. If its process ended early, it is built from the ledger and written as incomplete, or with the
 * end that the ledger contains.
 */
export function settleResult(workspace: Workspace, resultId: string): BenchmarkResult {
  const places = benchmarkWorkspace(workspace);
  const directory = join(places.runs, resultId);
  const document = readDocument(directory, RESULT_FILE, MAX_RESULT_BYTES);
  const problems = checkResult(document);
  if (problems.length > 0) {
    const [{ path, message }] = problems;
    throw new SvcError("bundle_schema_invalid", `Cannot use ${RESULT_FILE}: ${path}: ${message}`, {
      diagnostics: problems,
    });
  }
  const stored = document as BenchmarkResult;
  const path = inside(directory, LEDGER_FILE);
  // A process that ended right after it resumed has written to the ledger alone.
  const hasEnded = () => stored.status === "completed" || exists(path) && lastKind(path) === "attempt_ended";
  if (stored.status !== "running" && hasEnded()) return withStoredRows(stored, directory);
  if (isRunLocked(places, resultId)) return soFar(stored, path);
  const lock = tryLockRun(places, resultId);
  if (lock === null) return soFar(stored, path);
  try {
    const index = new LedgerIndex(path).advance();
    const result = index.end === null
      ? interrupted(path, directory, stored)
      : assembleResult(headOf(stored), index, endOf(index.end.event.fields), directory);
    replaceFile(DISK, inside(directory, RESULT_FILE), prettyJson(result), true);
    return result;
  } finally {
    lock.release();
  }
}

/** Ledgers of results in progress, so that each read takes only the appended part. */
const watched = new Map<string, LedgerIndex>();
const MOST_WATCHED = 16;

/** The current part of a result in progress. */
function soFar(stored: BenchmarkResult, path: InsidePath): BenchmarkResult {
  const index = watched.get(path) ?? new LedgerIndex(path);
  watched.delete(path);
  index.advance();
  watched.set(path, index);
  for (const old of [...watched.keys()].slice(0, -MOST_WATCHED)) watched.delete(old);
  const end: BenchmarkEnd = { status: "incomplete", completed_at_utc: "", reports: [] };
  const made = assembleResult(headOf(stored), index, end, null);
  const { recipes, rows, aggregates, comparisons } = made;
  return {
    ...stored,
    recipes,
    ...(rows === undefined ? {} : { rows, [STORED_ROWS]: made[STORED_ROWS] }),
    aggregates,
    comparisons,
  };
}

function interrupted(path: InsidePath, directory: string, stored: BenchmarkResult): BenchmarkResult {
  const end: BenchmarkEnd = {
    status: "incomplete",
    completed_at_utc: new Date().toISOString(),
    incomplete_reason: "interrupted",
    reports: [],
  };
  const ledger = Ledger.open(path, stored.attempt_id);
  try {
    const result = assembleResult(headOf(stored), ledger.index, end, directory);
    ledger.append("attempt_ended", endFields(end, sha256Hex(prettyJson(result))));
    return result;
  } finally {
    ledger.close();
  }
}

/** The end of an attempt from its event. */
export function endFields(end: BenchmarkEnd, resultSha256: string) {
  return { ...end, result_sha256: resultSha256 };
}

/** The end described by such an event. */
export function endOf({ result_sha256: _, ...end }: ReturnType<typeof endFields>): BenchmarkEnd {
  return end;
}
