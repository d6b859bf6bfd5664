/** Assembles `result.json` from its head, known at the start, and the ledger. */
import { prettyJson } from "../contract/json.ts";
import { aggregate } from "./aggregate.ts";
import { compareMethods } from "./compare.ts";
import type { LedgerSummary } from "./ledger.ts";
import type { Pack } from "./pack.ts";
import { type Sample, sampleOf } from "./samples.ts";
import { stopReason } from "./stop.ts";
import {
  type BenchmarkIdentity,
  type BenchmarkResult,
  type PackMetric,
  type Replication,
  type ResultRow,
  type StopReason,
  type TerminalStatus,
} from "./types.ts";

/** What is known before the first row. */
export type ResultHead = Omit<BenchmarkResult, "recipes" | "aggregates" | "comparisons">;

/** The part of its pack in a result. */
export function identityOf(pack: Pack, validation: BenchmarkIdentity["catalog_validation"]): BenchmarkIdentity {
  const { id, version, name, sha256, tier, traceability, dataset, task, metrics, baselines, metadata, suite } = pack;
  return {
    id,
    version,
    name,
    sha256,
    benchmark_tier: tier,
    traceability_profile_requested: traceability,
    dataset,
    task,
    metrics,
    baselines,
    metadata,
    suite,
    catalog_validation: validation,
  };
}

/** The end of a benchmark. */
export type BenchmarkEnd = {
  status: TerminalStatus;
  completed_at_utc: string;
  incomplete_reason?: string;
  error?: { code: string; message: string };
  /** Names of the files derived from the result. */
  reports: string[];
};

/** The status of a result from its last attempt: a rejected row is a finding, not a failure. */
function resultStatus(status: TerminalStatus): "completed" | "incomplete" | "failed" {
  if (status === "failed") return "failed";
  return status === "completed" || status === "resource_rejected" ? "completed" : "incomplete";
}

/**
 * The complete result.
 * @param head as at the start
 * @param ledger with the rows
 * @param order ids of the entries in the order of the pack
 */
export function assembleResult(
  head: ResultHead,
  ledger: LedgerSummary,
  order: readonly string[],
  end: BenchmarkEnd,
): BenchmarkResult {
  const place = new Map(order.map((id, index) => [id, index]));
  const rows = [...ledger.rows.values()].map(({ row }) => row as ResultRow)
    .sort((a, b) => a.replicate - b.replicate || place.get(a.id)! - place.get(b.id)!);
  const { incomplete_reason, error, ...rest } = end;
  const { incomplete_reason: _, error: __, ...base } = head;
  return {
    ...base,
    status: resultStatus(end.status),
    attempt_ledger: { ...head.attempt_ledger, expected_terminal_status: end.status },
    completed_at_utc: end.completed_at_utc,
    reports: rest.reports,
    ...(incomplete_reason === undefined ? {} : { incomplete_reason }),
    ...(error === undefined ? {} : { error }),
    recipes: rows,
    ...statistics(rows, head.benchmark, head.replication),
  };
}

/** Aggregates and comparisons of rows: a pure function, which verification calls again. */
export function statistics(
  rows: readonly ResultRow[],
  { metrics, baselines }: Pick<BenchmarkIdentity, "metrics" | "baselines">,
  replication: Replication | null,
): Pick<BenchmarkResult, "aggregates" | "comparisons"> {
  const groups = new Map<string, ResultRow[]>();
  for (const row of rows) {
    const group = groups.get(row.id);
    if (group === undefined) groups.set(row.id, [row]);
    else group.push(row);
  }
  const confidence = replication?.confidence_level ?? 0.95;
  const recipes = [...groups].map(([id, group]) => ({
    id,
    method_id: group[0].method_id,
    baseline_id: group[0].baseline_id,
    aggregation_cell_id: group[0].aggregation_cell_id ?? null,
    matrix_selection: group[0].matrix_selection,
    samples: group.map((row) => sampleOf(row, metrics)).filter((sample) => sample !== null),
    ...stopOf(group, replication, metrics),
  }));
  return {
    aggregates: aggregate(recipes, metrics, confidence),
    comparisons: compareMethods(recipes, baselines, metrics, confidence),
  };
}

/** The stop reason of a recipe; undefined if all get the same number of replicates, or after an interruption. */
function stopOf(
  group: readonly ResultRow[],
  replication: Replication | null,
  metrics: readonly PackMetric[],
): { stop_reason?: StopReason } {
  if (replication === null || replication.stop_metric === null) return {};
  const metric = metrics.find(({ id }) => id === replication.stop_metric);
  const samples: Sample[] = group.map((row) => sampleOf(row, metrics)).filter((sample) => sample !== null);
  const reason = stopReason(samples, group.length, replication, metric);
  return reason === null ? {} : { stop_reason: reason };
}

/** The text of a result's file. */
export function resultText(result: BenchmarkResult): string {
  return prettyJson(result);
}
