/**
 * The documents of a benchmark: each has one schema, and its type is inferred from it. `result.json` is the only source of
 * tables, figures and pages; the attempt ledger is what it is made from.
 *
 * A *row* is one recipe of the pack in one replicate. An *aggregate* summarises one metric over the replicates of a
 * recipe, a *comparison* the difference of a candidate and a baseline, pair by pair. Numbers are typed values: read
 * them with `toNumber`.
 *
 * Documents may be from another author. Ids and paths have patterns, because they become names of files, and numbers that
 * decide how much work a reader does have bounds.
 */
import type { Diagnostic } from "../../contract/error.ts";
import { digest as sha256, documentCheck, mapping, measure } from "../../contract/document.ts";
import type { Float, JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import type { RecipeDocument } from "../../recipe/types.ts";
import type { RateMethod } from "../../numeric/scores/rate_interval.ts";

/** A number of a document; `toNumber` gives its binary64 value. */
export type Measure = number | bigint | Float;

export const RESULT_KIND = "svc.benchmark_result";
/** Of results that are made now. */
export const SCHEMA_VERSION = 3;
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

const MOST_REPLICATES = 10_000_000;
/** Points of a study. */
export const MAX_POINTS = 65_536;
/** Recipes times metrics of a pack: each is an aggregate of about 600 bytes in `result.json`. */
export const MAX_AGGREGATES = 4 * MAX_POINTS;
/** Of `result.json` and `benchmark.json`. */
export const MAX_RESULT_BYTES = 256 * 2 ** 20;
export const MOST_SHARDS = 100_000;

const text = z.string();
const nullableText = text.nullable();
/** A word or a short text of the pack that identifies something. */
const name = z.string().min(1).max(1000);
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);
/** Of a run or a result: the name of a folder. */
const runId = z.string().regex(/^\d{8}T\d{6}Z_[A-Za-z0-9._-]{1,230}$/);
const count = z.int().nonnegative();
const replicate = z.int().nonnegative().max(MOST_REPLICATES - 1);
const seed = z.int().nonnegative().meta({ "x-svc-ui": { control: "seed" } }) as unknown as z.ZodType<number | bigint>;
/** Of an interval. */
const confidence = z.number().gt(0).lt(1) as unknown as z.ZodType<Measure>;
const amount = z.number().min(0) as unknown as z.ZodType<Measure>;
const failure = z.object({ code: text, message: text });

const tier = z.enum(["smoke", "experimental", "canonical"]);
export type Tier = z.infer<typeof tier>;
const resultStatus = z.enum(["running", "completed", "incomplete", "failed"]);
export type ResultStatus = z.infer<typeof resultStatus>;
const rowStatus = z.enum(["completed", "failed", "skipped", "rejected_resource_budget"]);
const terminalStatus = z.enum(["completed", "incomplete", "resource_rejected", "failed", "canceled"]);
/** The end of an attempt, in the ledger. */
export type TerminalStatus = z.infer<typeof terminalStatus>;
const stopReason = z.enum(["errors", "halfwidth", "max_bits", "replicates"]);
export type StopReason = z.infer<typeof stopReason>;

const packMetric = z.object({
  id: name,
  definition_version: z.int(),
  /** The only step, or the only operations, that it comes from; several steps may then produce it. */
  source_step: nullableText,
  source_operations: z.array(text).nullable(),
  /** Roles of the rows that must have it; null for all. */
  applicable_roles: z.array(text).nullable(),
  family: text,
  unit: text,
  direction: z.enum(["higher_is_better", "lower_is_better", "neutral"]),
  statistic: z.enum(["rate", "mean", "count", "constant"]),
  /** Of a rate: the metrics with its events and its trials. */
  counts: z.object({ events: text, trials: text }).nullable(),
});
/** A metric that the pack declares. */
export type PackMetric = z.infer<typeof packMetric>;

const identity = z.object({
  id: name,
  version: name,
  name: text,
  /** SHA-256 of the canonical JSON of the pack. */
  sha256,
  benchmark_tier: tier,
  traceability_profile_requested: z.boolean(),
  dataset: mapping,
  task: mapping,
  metrics: z.array(packMetric),
  baselines: z.array(text),
  metadata: mapping,
  suite: mapping.nullable(),
  catalog_validation: z.object({ errors: z.array(mapping), warnings: z.array(mapping) }),
});
/** The declarations of the pack in the result. */
export type BenchmarkIdentity = z.infer<typeof identity>;

const provenance = z.object({
  step_id: nullableText,
  operation_id: nullableText,
  artifact_sha256: sha256.nullable(),
  definition_version: z.int(),
});
/** Origin of a promoted metric; null for a measurement of the whole run. */
export type MetricProvenance = z.infer<typeof provenance>;

const snapshotRecord = z.object({
  /** Relative to the result. */
  relative_path: z.string().regex(/^evidence\/[A-Za-z0-9_@][A-Za-z0-9_@.=+-]{0,200}$/),
  /** Of the first byte in that file; absent for a file of its own. */
  offset: count.optional(),
  size_bytes: count.max(2 ** 30).optional(),
  sha256,
});
/** The place of a gzip snapshot. */
export type SnapshotRecord = z.infer<typeof snapshotRecord>;

const statisticalUnit = z.enum(["bit", "fading_block", "source_item", "transport_block", "packet"]);
/** Of clustered trials, from schema version 3 on. */
const failures = {
  /** Failed units, equal ones together: `[events, trials, count]`; beyond 4,096 of them `[k, 4096, count]`, k rounded up. */
  failed_units: z.array(z.array(amount).min(3).max(3)).max(4096).optional(),
  /** Trials of the smallest and of the largest unit. */
  unit_sizes: z.array(count).min(2).max(2).optional(),
  /** The trials are bits, of which guessing makes half wrong. */
  bits: z.literal(true).optional(),
  /** The failed units are on a grid of shares. */
  on_grid: z.literal(true).optional(),
};
const rateRecord = z.object({
  events: amount,
  trials: amount,
  unit: statisticalUnit,
  units: amount,
  unit_failures: amount,
  ...failures,
}) as unknown as z.ZodType<JsonObject>;
/** Sums over units of a metric that pools by sums: a root mean square, or a ratio. */
const pooledRecord = z.object({
  reduction: z.enum(["root_mean_square", "ratio_of_sums", "ratio_of_sums_db"]),
  numerator: amount,
  denominator: amount,
  units: amount,
  numerator_squared: amount,
  numerator_denominator: amount,
  denominator_squared: amount,
}) as unknown as z.ZodType<JsonObject>;

const resultRow = z.object({
  /** Of the entry in the pack. */
  id: name,
  /** From 0. */
  replicate,
  label: text,
  role: text,
  method_id: nullableText,
  baseline_id: nullableText,
  recipe_name: text,
  /** As written in the pack. */
  recipe_path: text,
  /** Coordinates of the point; empty without any. */
  matrix_selection: mapping,
  run_id: runId.nullable(),
  /** Relative to the state directory; null for a pruned backing run, or without one. */
  run_dir: z.string().regex(/^runs\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,250}$/).nullable(),
  status: rowStatus,
  /** Of the run, relative to its bundle. */
  manifest: z.object({ path: text, sha256 }).nullable(),
  /** Of the effective recipe. */
  recipe_sha256: sha256.nullable(),
  /** The same without names, descriptions and seeds: equal for the replicates of a recipe. */
  semantic_recipe_sha256: sha256.nullable(),
  research: mapping.nullable(),
  /** `steps.<step>.<metric>`, the promoted metrics by their own names, and `benchmark.resource_budget.…`. */
  metrics: z.record(z.string(), measure),
  /**
   * Rates to their counts over statistical units: `{events, trials, unit, units, unit_failures, …}`. Root mean squares and
   * ratios to their sums over units: `{reduction, numerator, denominator, units, …}`.
   */
  metric_metadata: z.record(z.string(), z.union([rateRecord, pooledRecord])).optional(),
  /** Declared metrics to the values of single items, such as images, by their ids; where the pack names baselines. */
  item_metrics: z.record(z.string(), z.record(z.string(), measure)).optional(),
  /** Origin of each promoted metric. */
  metric_provenance: z.record(z.string(), provenance),
  /** Declared metrics on which no seed acts; where the pack names baselines. Absent in older results. */
  unseeded_metrics: z.array(text).optional(),
  run_evidence_snapshot: snapshotRecord.nullable(),
  common_condition_evidence: mapping.optional(),
  pairing_id: text.optional(),
  aggregation_cell_id: text.optional(),
  statistical_unit: text.optional(),
  /** False where the recipe keeps authored seeds in all replicates. */
  replicates_independent: z.literal(false).optional(),
  resource_admission: mapping.optional(),
  skip_reason: text.optional(),
  error: failure.optional(),
});
/** One recipe of the pack in one replicate. */
export type ResultRow = z.infer<typeof resultRow>;

/** Replicates with kept seeds repeat each other: they give no interval and no test. */
const withoutInterval = {
  interval: mapping.nullable().optional(),
  reason: z.literal("replicates_not_independent").optional(),
};
/** Reason of a comparison of constants. */
export const EXACT = "exact_constant";
/** The fields of a row without an interval. */
export const NOT_INDEPENDENT = { interval: null, reason: "replicates_not_independent" } as const;

const aggregateRow = z.object({
  recipe_id: text,
  metric: text,
  /** Number of replicates. */
  n: count,
  /**
   * Of the replicates where `ci_method` is `student_t`, else of all units: the pooled rate, null where no event was seen, or
   * the root or logarithm of the pooled ratio.
   */
  mean: measure.nullable(),
  std: measure.nullable(),
  min: measure,
  max: measure,
  ci_low: measure.nullable(),
  ci_high: measure.nullable(),
  /**
   * `log_t` is a t interval on the logarithm of a mean square or of another ratio of sums, `weighted_t` on that of a rate of
   * importance sampling; `cluster_t` and `cluster_exact` are
   * those of clustered rates in schema versions 1 and 2. A rate without counts has `none`.
   */
  ci_method: text as unknown as z.ZodType<
    RateMethod | "student_t" | "log_t" | "weighted_t" | "none" | "cluster_t" | "cluster_exact"
  >,
  confidence_level: measure,
  /** Of a rate, summed over the replicates; of a success rate, events are failures. */
  events: count.optional(),
  trials: count.optional(),
  /** Of a root mean square, summed over the replicates. */
  squared_sum: measure.optional(),
  count: count.optional(),
  /** Of another ratio of sums. */
  numerator: measure.optional(),
  denominator: measure.optional(),
  /** What fails as one; `example` for root mean squares and ratios of sums. */
  unit: z.enum([...statisticalUnit.options, "example"]).optional(),
  units: count.optional(),
  /** Units with an event. */
  unit_failures: count.optional(),
  ...failures,
  /** Of a rate without any event. */
  upper_bound: measure.optional(),
  /** Why the replicates stopped. */
  stop_reason: stopReason.optional(),
  ...withoutInterval,
});
/** Summary of one metric over the replicates of a recipe. */
export type AggregateRow = z.infer<typeof aggregateRow>;

const comparisonRow = z.object({
  candidate_id: text,
  baseline_id: text,
  metric: text,
  /** What a pair is: an item (image, text) that both have, averaged over the replicates, or a replicate that both completed. */
  pairing: z.enum(["item", "replicate"]),
  /** Pairs. */
  n: count,
  /** Candidate minus baseline. */
  mean_difference: measure,
  ci_low: measure.nullable(),
  ci_high: measure.nullable(),
  confidence_level: measure,
  p_value: measure.nullable(),
  /** Corrected over all comparisons of the pack that have a test. */
  p_value_holm: measure.nullable(),
  p_method: z.enum(["sign_flip", "paired_t"]).nullable(),
  distinguishable: z.boolean(),
  /** Null if they are not distinguishable, or without a better direction. */
  better: z.enum(["candidate", "baseline"]).nullable(),
  ...withoutInterval,
  /** `exact_constant`: both have one value in all replicates, on which nothing random acts; there is no test. */
  reason: z.enum(["replicates_not_independent", EXACT]).optional(),
});
/** How a candidate differs from a baseline, pair by pair. */
export type ComparisonRow = z.infer<typeof comparisonRow>;

const replication = z.object({
  /** Per recipe; the maximum with a stopping criterion. */
  replicates: z.int().min(1).max(MOST_REPLICATES),
  base_seed: seed,
  master_seeds: z.array(seed).nullable(),
  confidence_level: confidence,
  /** Minimum number of replicates of each recipe. */
  min_replicates: z.int().min(1),
  until_errors: count.nullable(),
  until_halfwidth: measure.nullable(),
  max_bits: count.nullable(),
  /** Whether authored seeds stay in replicates after the first. Absent in older results, where they stay. */
  keep_authored_seeds: z.boolean().optional(),
  /** The deciding metric; null if all recipes get the same number of replicates. */
  stop_metric: nullableText,
});
/** The number of replicates, their seeds, and the stopping criterion. */
export type Replication = z.infer<typeof replication>;

const rowParts = z.object({
  count,
  completed: count,
  /** Each `INLINE_ROWS` rows but the last; empty while the benchmark runs. */
  parts: z.array(
    z.object({
      path: z.string().regex(/^rows\/part-[0-9]{5,9}\.jsonl\.gz$/),
      sha256,
      rows: z.int().min(1).max(INLINE_ROWS),
    }),
  ),
});
/** The rows of a result of more than `INLINE_ROWS`: canonical JSON lines, in the order of the rows. */
export type RowParts = z.infer<typeof rowParts>;

/** Reads the rows that are not in the document. It is no part of the document. */
export const STORED_ROWS = Symbol("rows of the result");

const storage = z.object({ backing_run_policy: z.enum(["pruned_after_snapshot", "retained"]) });
const reports = z.array(z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}$/)).max(100);

const benchmarkResult = z.object({
  schema_version: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  kind: z.literal(RESULT_KIND),
  result_id: runId,
  benchmark: identity,
  status: resultStatus,
  attempt_id: name,
  attempt_ledger: z.object({
    kind: z.literal("svc.benchmark_attempt_ledger"),
    relative_path: z.literal(LEDGER_FILE),
    start_event_sha256: sha256,
    /** Null while it is running. */
    expected_terminal_status: terminalStatus.nullable(),
  }),
  created_at_utc: time,
  completed_at_utc: time.nullable(),
  execution: mapping,
  storage,
  /** Null if the recipes keep their own seeds and run once. */
  replication: replication.nullable(),
  resume: z.object({ resumed_at_utc: time, earlier_attempt_ids: z.array(name), reused_rows: count }).optional(),
  incomplete_reason: text.optional(),
  error: failure.optional(),
  /** Files made from this document, by name. */
  reports,
  /**
   * All rows, replicate by replicate, each in the order of the pack; `allRows` gives them for every result. Where `rows`
   * stands, only one row of each recipe, the first completed one; none for more than `INLINE_ROWS` recipes.
   */
  recipes: z.array(resultRow),
  rows: rowParts.optional(),
  aggregates: z.array(aggregateRow),
  comparisons: z.array(comparisonRow),
  /** Digest of rows and statistics without what differs between machines; see `view.ts`. Not in schema version 1. */
  view_sha256: sha256.optional(),
});
/** The document of a result, as it is stored and sent. */
export type ResultDocument = z.infer<typeof benchmarkResult>;
export type BenchmarkResult = ResultDocument & {
  readonly [STORED_ROWS]?: () => Iterable<ResultRow>;
};

/** Fields of the events of a ledger. */
const ledgerFields = {
  attempt_started: z.object({
    result_id: runId,
    pack_sha256: sha256,
    execution: mapping,
    build_sha256: sha256.nullable(),
    replication: replication.nullable(),
    shard: z.object({ index: count, count: z.int().min(1).max(MOST_SHARDS) }).optional(),
    storage,
    recipes: z.array(z.object({ id: name, recipe_sha256: sha256.nullable() })),
    methods: sha256,
  }),
  attempt_resumed: z.object({
    reused_rows: count,
    repaired_bytes: count,
    /** The number of replicates from here on, where it is smaller than before. */
    replicates: z.int().min(1).max(MOST_REPLICATES).optional(),
  }),
  row_started: z.object({ recipe_id: name, replicate, run_id: runId }),
  row_completed: z.object({ row: resultRow }),
  recipe_stopped: z.object({ recipe_id: name, stop_reason: stopReason, replicates: count }),
  attempt_ended: z.object({
    status: terminalStatus,
    completed_at_utc: time,
    incomplete_reason: text.optional(),
    error: failure.optional(),
    reports,
    result_sha256: sha256,
  }),
};
type LedgerFields = { [Kind in keyof typeof ledgerFields]: z.infer<typeof ledgerFields[Kind]> };
export type LedgerEventKind = keyof LedgerFields;

const ledgerEvent = z.object({
  seq: z.int().min(1),
  kind: z.enum(Object.keys(ledgerFields) as [LedgerEventKind, ...LedgerEventKind[]]),
  attempt_id: name,
  time,
  /** Of the previous line; null in the first. */
  previous_sha256: sha256.nullable(),
  fields: mapping,
});
/** An event in the ledger, with the digest of its line, which is not part of it. */
export type LedgerEvent =
  & Omit<z.infer<typeof ledgerEvent>, "kind" | "fields">
  & { sha256: string }
  & {
    [Kind in LedgerEventKind]: { kind: Kind; fields: LedgerFields[Kind] };
  }[LedgerEventKind];
/** The event of a start: the record that must be equal when a benchmark resumes, and in all of its shards. */
export type StartFields = LedgerFields["attempt_started"];

const packRecord = z.object({
  schema_version: z.literal(1),
  kind: z.literal("svc.benchmark_pack_record"),
  pack: mapping,
  pack_sha256: sha256,
  pack_file: text,
  pack_folder: text,
  /** Those of studies are not among them. */
  recipes: z.array(z.object({ id: name, recipe: mapping.nullable(), recipe_sha256: sha256.nullable() })),
  /** The points of studies, and what their recipes are made from. */
  studies: z.array(z.object({
    /** Place of the entry in the pack. */
    recipe: count,
    base: mapping as unknown as z.ZodType<RecipeDocument>,
    dimensions: z.array(name),
    points: z.array(z.array(z.unknown())).max(MAX_POINTS) as unknown as z.ZodType<Value[][]>,
  })).optional(),
});
/** `benchmark.json`. */
export type PackRecord = z.infer<typeof packRecord>;

const snapshot = z.object({
  schema_version: z.literal(1),
  kind: z.literal("svc.run_evidence_snapshot"),
  run_id: runId,
  /** File name to its text. */
  documents: z.record(z.string(), text),
  /** Path in the bundle to the text of a report. */
  reports: z.record(z.string(), text),
  /** Path in the bundle to the bytes of an artifact that the pack retains, as base64. */
  retained: z.record(z.string(), text),
});
/** The contents of a snapshot. */
export type Snapshot = z.infer<typeof snapshot>;

/** The check of a document: it gives the unusable fields, none for a valid one. */
export const checker = (schema: z.ZodType) => documentCheck(schema, "bundle_schema_invalid");
export const checkRow = checker(resultRow);
export const checkResult = checker(benchmarkResult);
export const checkPackRecord = checker(packRecord);
export const checkSnapshotForm = checker(snapshot);
const checkEnvelope = checker(ledgerEvent);
const checkFields = new Map(Object.entries(ledgerFields).map(([kind, schema]) => [kind, checker(schema)]));

export function checkEvent(value: Value): Diagnostic[] {
  const problems = checkEnvelope(value);
  return problems.length > 0
    ? problems
    : checkFields.get(String((value as JsonObject).kind))!((value as JsonObject).fields);
}
