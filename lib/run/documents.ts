/** Builds `summary.json` and `manifest.json`. */
import { type Code, jsonPath, jsonPointer } from "../contract/error.ts";
import { sha256Hex, sha256Json } from "../contract/hash.ts";
import { ARTIFACTS_FOLDER } from "../contract/names.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import type { ExecuteOutcome, StepRow } from "../execute/types.ts";
import type { ExecutionPlan, PlanCacheEvidence } from "../plan/types.ts";
import type { RecipeDocument } from "../recipe/types.ts";

export { ARTIFACTS_FOLDER };
export const SUMMARY_FILE = "summary.json";
export const MANIFEST_FILE = "manifest.json";
export const PLAN_FILE = "execution-plan.json";
export const RECIPE_FILE = "recipe.json";
export const AUTHORED_FILE = "recipe.authored.json";
export const SUMS_FILE = "SHA256SUMS";
/** Only in a signed bundle; not in SHA256SUMS, which it signs. */
export const SIGNATURE_FILE = "SHA256SUMS.sig";
/** Only in a pruned bundle; not in SHA256SUMS. */
export const PRUNED_FILE = "pruned.json";
/** Only in an imported bundle; not in SHA256SUMS. */
export const IMPORT_FILE = "import.json";
/** Only in an exported bundle; not in SHA256SUMS. */
export const CRATE_FILE = "ro-crate-metadata.json";

export type RunStatus = "running" | "completed" | "failed" | "canceled" | "incomplete";
export const RUN_STATUSES: readonly RunStatus[] = ["running", "completed", "failed", "canceled", "incomplete"];

export type RunSummary = ReturnType<typeof summaryDocument>;
export type RunManifest = ReturnType<typeof manifestDocument>;

/** A run before its first step. */
export interface RunRecord {
  runId: string;
  /** Null for runs of the command line. */
  jobId: string | null;
  createdAtUtc: string;
  /** Normalised form, sparse parameters. */
  authored: RecipeDocument;
  authoredSha256: string;
  /** The effective recipe that runs. */
  recipe: RecipeDocument;
  recipeSha256: string;
  plan: ExecutionPlan;
  /** Null in bundles that were written without cache evidence. */
  planCache: PlanCacheEvidence | null;
  /** `{mode, parallel_workers}`, and backend and implementation where given. */
  execution: JsonObject;
  seedPolicy: JsonObject;
  /** Normalised dataset, task, metrics and benchmark specifications. */
  research: JsonObject | null;
  environment: JsonObject;
  /** Warnings of compiler, planner and lint, before the first step. Null in bundles that were written without them. */
  warnings: readonly JsonObject[] | null;
}

/** The state of a run that changes during execution. */
export interface RunState {
  status: RunStatus;
  completedAtUtc: string | null;
  rows: readonly StepRow[];
  metrics: JsonObject;
  measurementEvidence: JsonObject;
  error?: string;
  failure?: NonNullable<ExecuteOutcome["failure"]> | { kind: "interrupted"; code: Code };
  resourceGuard?: JsonObject;
}

export function summaryDocument(record: RunRecord, state: RunState) {
  const { plan } = record;
  return {
    schema_version: 1 as const,
    kind: "svc.run_summary" as const,
    run_id: record.runId,
    job_id: record.jobId,
    recipe_name: record.recipe.name,
    status: state.status,
    created_at_utc: record.createdAtUtc,
    completed_at_utc: state.completedAtUtc,
    manifest: MANIFEST_FILE as typeof MANIFEST_FILE,
    recipe_sha256: record.recipeSha256,
    authored_recipe_sha256: record.authoredSha256,
    effective_recipe_sha256: record.recipeSha256,
    execution_plan: {
      schema_version: plan.schema_version,
      path: PLAN_FILE,
      sha256: plan.sha256,
      runner: plan.runner,
      ...cacheMember(record),
    },
    execution: record.execution,
    seed_policy: record.seedPolicy,
    steps: [...state.rows],
    metrics: state.metrics,
    measurement_evidence: state.measurementEvidence,
    ...(record.warnings === null ? {} : { warnings: [...record.warnings, ...stepWarnings(plan, state.rows)] }),
    ...(state.error === undefined ? {} : { error: state.error }),
    ...(state.failure === undefined ? {} : { failure: { ...state.failure } }),
    ...(state.resourceGuard === undefined ? {} : { resource_guard: state.resourceGuard }),
  };
}

/**
 * Builds `manifest.json` for a summary.
 * @param summary the exact text of the summary whose hash the manifest holds, or its bytes
 */
export function manifestDocument(record: RunRecord, state: RunState, summary: string | Uint8Array) {
  const { plan, recipe } = record;
  const summaryBytes = typeof summary === "string" ? new TextEncoder().encode(summary) : summary;
  return {
    schema_version: 1,
    kind: "svc.run_manifest",
    run_id: record.runId,
    recipe_name: recipe.name,
    status: state.status,
    created_at_utc: record.createdAtUtc,
    completed_at_utc: state.completedAtUtc,
    ...(state.error === undefined ? {} : { error: state.error }),
    recipe: recipeRecord(record),
    seed_policy: record.seedPolicy,
    environment: record.environment,
    operation_contracts: plan.operation_contracts,
    execution_plan: {
      schema_version: plan.schema_version,
      kind: plan.kind,
      path: PLAN_FILE,
      sha256: plan.sha256,
      runner: plan.runner,
      authored_recipe_sha256: record.authoredSha256,
      effective_recipe_sha256: record.recipeSha256,
      steps: plan.steps,
      ...cacheMember(record),
    },
    execution: record.execution,
    steps: state.rows.map(manifestStep),
    artifacts: state.rows.flatMap(ledgerRows),
    summary_evidence: {
      kind: "svc.run_summary_evidence",
      metrics: state.metrics,
      metrics_sha256: sha256Json(state.metrics),
      measurement_evidence: state.measurementEvidence,
      measurement_evidence_sha256: sha256Json(state.measurementEvidence),
    },
    summary: {
      kind: "svc.run_summary",
      relative_path: SUMMARY_FILE,
      sha256: sha256Hex(summaryBytes),
      size_bytes: summaryBytes.length,
    },
  };
}

/** The field `recipe` of a manifest. */
function recipeRecord(
  record: Pick<RunRecord, "recipe" | "recipeSha256" | "authoredSha256" | "research">,
): JsonObject {
  return {
    schema_version: record.recipe.schema_version,
    sha256: record.recipeSha256,
    step_count: record.recipe.steps.length,
    metadata_keys: Object.keys(record.recipe.metadata).sort(),
    research: record.research,
    authored_sha256: record.authoredSha256,
    effective_sha256: record.recipeSha256,
  };
}

/** A step's row in the manifest, from its row in the summary. */
function manifestStep(row: StepRow): JsonObject {
  const adapter = row.metadata.external_adapter_sdk;
  return {
    id: row.id,
    op: row.op,
    status: row.status,
    metrics_keys: Object.keys(row.metrics),
    metrics: row.metrics,
    metrics_sha256: sha256Json(row.metrics),
    outputs: row.outputs,
    execution_binding: row.execution_binding,
    ...(adapter === undefined ? {} : { external_adapter_sdk: adapter }),
  };
}

/** The ledger rows of a step's artifacts. Dtype, shape and array name come from the artifact metadata. */
function ledgerRows(row: StepRow): JsonObject[] {
  const producer = sha256Json(row.metrics);
  return Object.entries(row.outputs).map(([output, { kind, path, metadata, sha256 }]) => ({
    step_id: row.id,
    output_name: output,
    kind,
    path,
    relative_path: path,
    sha256,
    dtype: metadata.dtype ?? null,
    shape: metadata.shape ?? null,
    array: metadata.array ?? null,
    metadata,
    metadata_sha256: sha256Json(metadata),
    producer_metrics_sha256: producer,
  }));
}

function cacheMember({ planCache }: RunRecord): { cache?: PlanCacheEvidence } {
  return planCache === null ? {} : { cache: planCache };
}

/** The warnings of steps, each at the place of its step. */
function stepWarnings({ steps }: ExecutionPlan, rows: readonly StepRow[]): JsonObject[] {
  return rows.flatMap(({ id, metadata: { warnings } }) => {
    const place = ["steps", steps.findIndex(({ step_id }) => step_id === id)];
    return (Array.isArray(warnings) ? warnings.filter(isObject) : []).map((item) => ({
      ...item,
      path: jsonPath(place),
      pointer: jsonPointer(place),
      step_id: id,
    }));
  });
}

/** `RunRecord.warnings` of a written summary. */
export function warningsBefore(summary: JsonObject, plan: ExecutionPlan): RunRecord["warnings"] {
  const { warnings, steps } = summary as { warnings?: JsonObject[]; steps: StepRow[] };
  return warnings === undefined ? null : warnings.slice(0, warnings.length - stepWarnings(plan, steps).length);
}
