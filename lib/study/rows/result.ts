/** Assembles `result.json` from its head, known at the start, and the ledger. */
import { SvcError } from "../../contract/error.ts";
import { aggregate } from "./aggregate.ts";
import { Comparisons } from "../pack/compare.ts";
import type { LedgerIndex } from "./ledger.ts";
import type { Pack } from "../pack/pack.ts";
import { sampleOf } from "../pack/samples.ts";
import { stopReason } from "./stop.ts";
import { RowPartWriter } from "./stored_rows.ts";
import { type Spread, Tally } from "./tally.ts";
import {
  type BenchmarkIdentity,
  type BenchmarkResult,
  INLINE_ROWS,
  type LedgerEvent,
  type Measure,
  type Replication,
  type ResultRow,
  STORED_ROWS,
  type TerminalStatus,
} from "../pack/types.ts";
import { ViewDigest } from "./view.ts";

/** The part that is known before the first row. */
export type ResultHead = Omit<
  BenchmarkResult,
  "recipes" | "rows" | typeof STORED_ROWS | "aggregates" | "comparisons" | "view_sha256"
>;

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

/** The end of a benchmark, with the names of the files derived from the result. */
export type BenchmarkEnd = Omit<Extract<LedgerEvent, { kind: "attempt_ended" }>["fields"], "result_sha256">;

/** The status of a result from its last attempt: a rejected row is a finding, not a failure. */
function resultStatus(status: TerminalStatus): "completed" | "incomplete" | "failed" {
  if (status === "failed") return "failed";
  return status === "completed" || status === "resource_rejected" ? "completed" : "incomplete";
}

/**
 * The result of a ledger.
 * @param head as at the start
 * @param directory of the result, for the parts of many rows; null writes nothing and leaves them in the ledger
 */
export function assembleResult(
  head: ResultHead,
  ledger: LedgerIndex,
  end: BenchmarkEnd,
  directory: string | null,
): BenchmarkResult {
  const current = head.schema_version >= 2, parted = current && ledger.rowCount > INLINE_ROWS;
  const writer = parted && directory !== null ? new RowPartWriter(directory) : null;
  const view = new ViewDigest();
  // A process that ended right after it resumed has written the number of replicates to the ledger alone.
  const replication = ledger.limited(head.replication);
  const statistics = new Statistics(head.benchmark, replication, head.schema_version);
  const inline: ResultRow[] = [], first = new Map<string, ResultRow>();
  let completed = 0;
  for (const row of ledger.rows()) {
    if (row.status === "completed") completed++;
    noteFirst(first, row);
    if (!parted) inline.push(row);
    writer?.add(row);
    view.add(row);
    statistics.add(row);
  }
  const { aggregates, comparisons } = statistics.finish();
  return {
    ...headOfEnd({ ...head, replication }, end),
    recipes: !parted ? inline : first.size > INLINE_ROWS ? [] : [...first.values()],
    ...(parted ? { rows: { count: ledger.rowCount, completed, parts: writer?.finish() ?? [] } } : {}),
    aggregates,
    comparisons,
    ...(current ? { view_sha256: view.finish({ aggregates, comparisons }) } : {}),
    ...(parted ? { [STORED_ROWS]: () => ledger.rows() } : {}),
  };
}

/** The head of a result that has ended. @param end null for a result that says itself how it ended */
export function headOfEnd(result: ResultHead, end: BenchmarkEnd | null): ResultHead {
  if (end === null) return headOf(result);
  const { incomplete_reason: _reason, error: _error, ...base } = headOf(result);
  return {
    ...base,
    status: resultStatus(end.status),
    attempt_ledger: { ...base.attempt_ledger, expected_terminal_status: end.status },
    completed_at_utc: end.completed_at_utc,
    reports: end.reports,
    ...(end.incomplete_reason === undefined ? {} : { incomplete_reason: end.incomplete_reason }),
    ...(end.error === undefined ? {} : { error: end.error }),
  };
}

/** The fields of a result that are known at its start, or say how it ended. */
export function headOf(result: ResultHead & Partial<BenchmarkResult>): ResultHead {
  const {
    recipes: _recipes,
    rows: _rows,
    aggregates: _aggregates,
    comparisons: _comparisons,
    view_sha256: _view,
    [STORED_ROWS]: _stored,
    ...head
  } = result;
  return head;
}

/** Keeps the first completed row of each recipe, or its first row. */
export function noteFirst(first: Map<string, ResultRow>, row: ResultRow): void {
  const known = first.get(row.id);
  if (known === undefined || known.status !== "completed" && row.status === "completed") first.set(row.id, row);
}

/** A computation over rows of another author, whose numbers may be impossible. @throws SvcError `bundle_schema_invalid` */
export function computable<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("bundle_schema_invalid", `Cannot use the rows: ${error.message}`, { cause: error });
  }
}

/** Aggregates and comparisons of rows, which verification computes again. */
export class Statistics {
  readonly #identity: Pick<BenchmarkIdentity, "metrics" | "baselines">;
  readonly #replication: Replication | null;
  readonly #version: BenchmarkResult["schema_version"];
  readonly #comparisons: Comparisons;
  readonly #recipes = new Map<string, { tallies: Tally[]; made: number }>();

  constructor(
    identity: Pick<BenchmarkIdentity, "metrics" | "baselines">,
    replication: Replication | null,
    version: BenchmarkResult["schema_version"] = 3,
    options: { withConstants?: boolean } = {},
  ) {
    this.#identity = identity;
    this.#replication = replication;
    this.#version = version;
    this.#comparisons = new Comparisons(identity.baselines, identity.metrics, this.#confidence, options);
  }

  get #confidence(): Measure {
    return this.#replication?.confidence_level ?? 0.95;
  }

  /** Adds a row; they come replicate by replicate. */
  add(row: ResultRow): void {
    const { metrics } = this.#identity;
    let recipe = this.#recipes.get(row.id);
    if (recipe === undefined) {
      const spread: Spread = this.#version === 1 ? "two_passes" : "one_pass";
      this.#recipes.set(row.id, recipe = { tallies: metrics.map(({ id }) => new Tally(id, spread)), made: 0 });
    }
    recipe.made++;
    const sample = sampleOf(row, metrics);
    if (sample !== null) recipe.tallies.forEach((tally) => tally.add(sample));
    const { id, method_id, baseline_id, aggregation_cell_id = null, matrix_selection } = row;
    this.#comparisons.add({ id, method_id, baseline_id, aggregation_cell_id, matrix_selection }, sample);
  }

  /** @throws SvcError `bundle_schema_invalid` for numbers of rows that have no statistics, such as more failures than units */
  finish(): Pick<BenchmarkResult, "aggregates" | "comparisons"> {
    return computable(() => this.#finish());
  }

  #finish(): Pick<BenchmarkResult, "aggregates" | "comparisons"> {
    const recipes = [...this.#recipes].map(([id, { tallies, made }]) => {
      const reason = this.#replication === null || this.#replication.stop_metric === null
        ? null
        // Null after an interruption, too.
        : stopReason(
          tallies.find(({ metric }) => metric === this.#replication!.stop_metric) ?? null,
          made,
          this.#replication,
        );
      return { id, tallies, ...(reason === null ? {} : { stop_reason: reason }) };
    });
    return { aggregates: aggregate(recipes, this.#confidence, this.#version), comparisons: this.#comparisons.rows() };
  }
}
