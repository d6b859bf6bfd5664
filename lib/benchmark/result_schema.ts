/** Checks the form of `result.json`, which may be from another author: the types that its readers rely on. */
import { checkValue } from "../contract/schema.ts";
import type { Diagnostic } from "../contract/error.ts";
import type { JsonObject, Value } from "../contract/value.ts";

const text = { type: "string" }, nullableText = { type: ["string", "null"] };
const number = { type: "number" }, nullableNumber = { type: ["number", "null"] };
const list = (items: JsonObject): JsonObject => ({ type: "array", items });
const mapping: JsonObject = { type: "object" };
/** An object that may have further fields; a field whose type includes null may be missing. */
function object(properties: Record<string, JsonObject>, nullable = false): JsonObject {
  const required = Object.keys(properties).filter((name) => ![properties[name].type].flat().includes("null"));
  return { type: nullable ? ["object", "null"] : "object", properties, required };
}

const metric = object({
  id: text,
  definition_version: { type: "integer" },
  source_step: nullableText,
  source_operations: { type: ["array", "null"], items: text },
  applicable_roles: { type: ["array", "null"], items: text },
  family: text,
  unit: text,
  direction: { enum: ["higher_is_better", "lower_is_better", "neutral"] },
  statistic: { enum: ["rate", "mean", "count", "constant"] },
  counts: object({ events: text, trials: text }, true),
});

const ROW_SCHEMA = object({
  id: text,
  replicate: { type: "integer", minimum: 0 },
  label: text,
  role: text,
  method_id: nullableText,
  baseline_id: nullableText,
  recipe_name: text,
  recipe_path: text,
  matrix_selection: mapping,
  run_id: nullableText,
  run_dir: { type: ["string", "null"], pattern: "^runs/[A-Za-z0-9_][A-Za-z0-9_.-]*$" },
  status: { enum: ["completed", "failed", "skipped", "rejected_resource_budget"] },
  manifest: object({ path: text, sha256: text }, true),
  recipe_sha256: nullableText,
  semantic_recipe_sha256: nullableText,
  research: { type: ["object", "null"] },
  metrics: { type: "object", additionalProperties: number },
  metric_provenance: {
    type: "object",
    additionalProperties: object({ step_id: nullableText, operation_id: nullableText, artifact_sha256: nullableText }),
  },
  run_evidence_snapshot: object({
    relative_path: { type: "string", pattern: "^evidence/[A-Za-z0-9_@][A-Za-z0-9_@.=+-]*$" },
    offset: { type: ["integer", "null"], minimum: 0 },
    size_bytes: { type: ["integer", "null"], minimum: 0 },
    sha256: text,
  }, true),
});

const aggregate = object({
  recipe_id: text,
  metric: text,
  n: number,
  mean: nullableNumber,
  std: nullableNumber,
  min: number,
  max: number,
  ci_low: nullableNumber,
  ci_high: nullableNumber,
  ci_method: text,
  confidence_level: number,
});

const comparison = object({
  candidate_id: text,
  baseline_id: text,
  metric: text,
  n: number,
  mean_difference: number,
  ci_low: nullableNumber,
  ci_high: nullableNumber,
  confidence_level: number,
  p_value: nullableNumber,
  p_value_holm: nullableNumber,
  better: nullableText,
});

const RESULT_SCHEMA = object({
  kind: { const: "svc.benchmark_result" },
  result_id: text,
  benchmark: object({
    id: text,
    version: text,
    name: text,
    sha256: text,
    benchmark_tier: { enum: ["smoke", "experimental", "canonical"] },
    dataset: mapping,
    task: mapping,
    metrics: list(metric),
    baselines: list(text),
    metadata: mapping,
    suite: { type: ["object", "null"] },
  }),
  status: { enum: ["running", "completed", "incomplete", "failed"] },
  attempt_id: text,
  attempt_ledger: object({ start_event_sha256: text, expected_terminal_status: nullableText }),
  created_at_utc: text,
  completed_at_utc: nullableText,
  execution: mapping,
  storage: object({ backing_run_policy: text }),
  replication: object({
    replicates: { type: "integer", minimum: 1 },
    base_seed: { type: "integer" },
    master_seeds: { type: ["array", "null"], items: { type: "integer" } },
    confidence_level: number,
    min_replicates: { type: "integer" },
    until_errors: nullableNumber,
    until_halfwidth: nullableNumber,
    max_bits: nullableNumber,
    stop_metric: nullableText,
  }, true),
  reports: list({ type: "string", pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]*$" }),
  recipes: list(ROW_SCHEMA),
  rows: object({
    count: { type: "integer", minimum: 0 },
    completed: { type: "integer", minimum: 0 },
    parts: list(object({
      path: { type: "string", pattern: "^rows/part-[0-9]{5,9}\\.jsonl\\.gz$" },
      sha256: text,
      rows: { type: "integer", minimum: 1 },
    })),
  }, true),
  view_sha256: nullableText,
  aggregates: list(aggregate),
  comparisons: list(comparison),
});

/** @returns the unusable fields of a row in a part; empty for a valid one */
export function checkRow(row: Value): Diagnostic[] {
  return checkValue(ROW_SCHEMA, row, [], { code: "bundle_schema_invalid" });
}

/** @returns the unusable fields; empty for a valid result */
export function checkResult(document: JsonObject): Diagnostic[] {
  return checkValue(RESULT_SCHEMA, document, [], { code: "bundle_schema_invalid" });
}
