/**
 * The result of a benchmark: `result.json`, the only source of tables, figures and pages.
 *
 * A *row* is one recipe of the pack in one replicate. An *aggregate* summarises one metric over the replicates of a
 * recipe, a *comparison* the difference of a candidate and a baseline, pair by pair. Numbers are typed values: read
 * them with `toNumber`.
 */
import type { Diagnostic } from "../contract/error.ts";
import type { Float, JsonObject } from "../contract/value.ts";
import type { RateMethod, StatisticalUnit } from "../numeric/rate_interval.ts";

/** A number of a document; `toNumber` gives its binary64 value. */
export type Measure = number | bigint | Float;

export const RESULT_KIND = "svc.benchmark_result";
export const RESULT_FILE = "result.json";
/** The pack and the recipes made from it, as they were run. */
export const PACK_RECORD_FILE = "benchmark.json";
export const LEDGER_FILE = ".attempt-ledger";
/** Folder of the parts of rows, in results of more than `INLINE_ROWS`. */
export const ROWS_FOLDER = "rows";
/** So many rows are in `result.json` itself, and in one part. */
export const INLINE_ROWS = 1000;
/** Garbage is collected after so many parts: V8 does not count the buffers of packed rows and snapshots. */
export const COLLECTED_PARTS = 8;
/** Folder of the snapshots: an archive of a thousand each, or in results of schema version 1 a file of each row. */
export const EVIDENCE_FOLDER = "evidence";

export type ResultStatus = "running" | "completed" | "incomplete" | "failed";
export type RowStatus = "completed" | "failed" | "skipped" | "rejected_resource_budget";
/** The end of an attempt, in the ledger. */
export type TerminalStatus = "completed" | "incomplete" | "resource_rejected" | "failed" | "canceled";
export type StopReason = "errors" | "halfwidth" | "max_bits" | "replicates";
export type Tier = "smoke" | "experimental" | "canonical";

/** A metric that the pack declares. */
export type PackMetric = {
  id: string;
  definition_version: number;
  /** The only step, or the only operations, that it comes from; several steps may then produce it. */
  source_step: string | null;
  source_operations: string[] | null;
  /** Roles of the rows that must have it; null for all. */
  applicable_roles: string[] | null;
  family: string;
  unit: string;
  direction: "higher_is_better" | "lower_is_better" | "neutral";
  statistic: "rate" | "mean" | "count" | "constant";
  /** Of a rate: the metrics with its events and its trials. */
  counts: { events: string; trials: string } | null;
};

/** The declarations of the pack in the result. */
export type BenchmarkIdentity = {
  id: string;
  version: string;
  name: string;
  /** SHA-256 of the canonical JSON of the pack. */
  sha256: string;
  benchmark_tier: Tier;
  traceability_profile_requested: boolean;
  dataset: JsonObject;
  task: JsonObject;
  metrics: PackMetric[];
  baselines: string[];
  metadata: JsonObject;
  suite: JsonObject | null;
  catalog_validation: { errors: Diagnostic[]; warnings: Diagnostic[] };
};

/** Origin of a promoted metric; null for a measurement of the whole run. */
export type MetricProvenance = {
  step_id: string | null;
  operation_id: string | null;
  artifact_sha256: string | null;
  definition_version: number;
};

/** One recipe of the pack in one replicate. */
export type ResultRow = {
  /** Of the entry in the pack. */
  id: string;
  /** From 0. */
  replicate: number;
  label: string;
  role: string;
  method_id: string | null;
  baseline_id: string | null;
  recipe_name: string;
  /** As written in the pack. */
  recipe_path: string;
  /** Coordinates of the point; empty without any. */
  matrix_selection: JsonObject;
  run_id: string | null;
  /** Relative to the state directory; null for a pruned backing run, or without one. */
  run_dir: string | null;
  status: RowStatus;
  /** Of the run: `{path, sha256}`, the path relative to the bundle of the run. */
  manifest: JsonObject | null;
  /** Of the effective recipe. */
  recipe_sha256: string | null;
  /** The same without names, descriptions and seeds: equal for the replicates of a recipe. */
  semantic_recipe_sha256: string | null;
  research: JsonObject | null;
  /** `steps.<step>.<metric>`, the promoted metrics by their own names, and `benchmark.resource_budget.…`. */
  metrics: { [id: string]: Measure };
  /** Rates to their counts over statistical units: `{events, trials, unit, units, unit_failures, …}`. */
  metric_metadata?: { [id: string]: JsonObject };
  /** Declared metrics to the values of single items, such as images, by their ids; where the pack names baselines. */
  item_metrics?: { [id: string]: { [item: string]: Measure } };
  /** Origin of each promoted metric. */
  metric_provenance: { [id: string]: MetricProvenance };
  /** `{relative_path, offset, size_bytes, sha256}` of the gzip snapshot in its file; without `offset` the whole file. */
  run_evidence_snapshot: JsonObject | null;
  common_condition_evidence?: JsonObject;
  pairing_id?: string;
  aggregation_cell_id?: string;
  statistical_unit?: string;
  resource_admission?: JsonObject;
  skip_reason?: string;
  error?: { code: string; message: string };
};

/** Summary of one metric over the replicates of a recipe. */
export type AggregateRow = {
  recipe_id: string;
  metric: string;
  /** Number of replicates. */
  n: number;
  /** Of the replicates where `ci_method` is `student_t`, else the pooled rate; null where no event was seen. */
  mean: Measure | null;
  std: Measure | null;
  min: Measure;
  max: Measure;
  ci_low: Measure | null;
  ci_high: Measure | null;
  ci_method: RateMethod | "student_t";
  confidence_level: Measure;
  /** Of a rate, summed over the replicates; of a success rate, events are failures. */
  events?: number;
  trials?: number;
  /** What fails as one. */
  unit?: StatisticalUnit;
  units?: number;
  /** Units with an event. */
  unit_failures?: number;
  /** Of a rate without any event: -ln(1 - confidence) over the units. */
  upper_bound?: Measure;
  /** Why the replicates stopped. */
  stop_reason?: StopReason;
};

/** How a candidate differs from a baseline, pair by pair. */
export type ComparisonRow = {
  candidate_id: string;
  baseline_id: string;
  metric: string;
  /** What a pair is: an item (image, text) that both have, averaged over the replicates, or a replicate that both completed. */
  pairing: "item" | "replicate";
  /** Pairs. */
  n: number;
  /** Candidate minus baseline. */
  mean_difference: Measure;
  ci_low: Measure | null;
  ci_high: Measure | null;
  confidence_level: Measure;
  p_value: Measure | null;
  /** Corrected over all comparisons of the pack. */
  p_value_holm: Measure | null;
  p_method: "sign_flip" | "paired_t" | null;
  distinguishable: boolean;
  /** Null if they are not distinguishable, or without a better direction. */
  better: "candidate" | "baseline" | null;
};

/** The number of replicates, their seeds, and the stopping criterion. */
export type Replication = {
  /** Per recipe; the maximum with a stopping criterion. */
  replicates: number;
  base_seed: number | bigint;
  master_seeds: (number | bigint)[] | null;
  confidence_level: Measure;
  /** Minimum number of replicates of each recipe. */
  min_replicates: number;
  until_errors: number | null;
  until_halfwidth: Measure | null;
  max_bits: number | null;
  /** The deciding metric; null if all recipes get the same number of replicates. */
  stop_metric: string | null;
};

/** The rows of a result of more than `INLINE_ROWS`: canonical JSON lines, in the order of the rows. */
export type RowParts = {
  count: number;
  completed: number;
  /** Each `INLINE_ROWS` rows but the last; empty while the benchmark runs. */
  parts: { path: string; sha256: string; rows: number }[];
};

/** Reads the rows that are not in the document. It is no part of the document. */
export const STORED_ROWS = Symbol("rows of the result");

export type BenchmarkResult = {
  schema_version: 1 | 2;
  kind: "svc.benchmark_result";
  result_id: string;
  benchmark: BenchmarkIdentity;
  status: ResultStatus;
  attempt_id: string;
  attempt_ledger: {
    kind: "svc.benchmark_attempt_ledger";
    relative_path: ".attempt-ledger";
    start_event_sha256: string;
    /** Null while it is running. */
    expected_terminal_status: TerminalStatus | null;
  };
  created_at_utc: string;
  completed_at_utc: string | null;
  execution: JsonObject;
  storage: { backing_run_policy: "pruned_after_snapshot" | "retained" };
  /** Null if the recipes keep their own seeds and run once. */
  replication: Replication | null;
  resume?: JsonObject;
  incomplete_reason?: string;
  error?: { code: string; message: string };
  /** Files made from this document, by name. */
  reports: string[];
  /**
   * All rows, replicate by replicate, each in the order of the pack; `allRows` gives them for every result. Where `rows`
   * stands, only one row of each recipe, the first completed one.
   */
  recipes: ResultRow[];
  rows?: RowParts;
  readonly [STORED_ROWS]?: () => Iterable<ResultRow>;
  aggregates: AggregateRow[];
  comparisons: ComparisonRow[];
  /** Digest of rows and statistics without what differs between machines; see `view.ts`. Not in schema version 1. */
  view_sha256?: string;
};
