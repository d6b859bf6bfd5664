/**
 * The documents of a bundle: each has one schema, which every reader applies. A bundle may come from anybody, so no command
 * acts on a document before its names, paths, digests and shapes are checked.
 */
import { type Diagnostic, diagnostic } from "../contract/error.ts";
import { isBundlePath } from "../contract/names.ts";
import { RUNNERS } from "../contract/operation.ts";
import { digest as sha256, documentCheck, mapping } from "../contract/document.ts";
import { isObject, type JsonObject } from "../contract/value.ts";
import { z } from "../contract/zod.ts";
import type { OutputRow, StepRow } from "../execute/types.ts";
import type { ExecutionPlan } from "../plan/types.ts";
import { STEP_ID } from "../recipe/normalize_steps.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import {
  ARTIFACTS_FOLDER,
  AUTHORED_FILE,
  MANIFEST_FILE,
  PLAN_FILE,
  RECIPE_FILE,
  RUN_STATUSES,
  type RunState,
  SUMMARY_FILE,
} from "./documents.ts";
import type { RecordedExecution } from "./execution.ts";

const text = z.string();
const mappings = z.array(mapping);
const stepId = z.string().regex(STEP_ID);
const time = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}Z$/);
const runner = z.enum(RUNNERS);

const recipe = z.object({
  schema_version: z.literal(1),
  name: text,
  execution_profile: mapping,
  metadata: mapping,
  steps: z.array(z.object({ id: stepId, op: text, params: mapping, inputs: z.record(z.string(), text) })),
});
const binding = z.object({
  step_id: stepId,
  operation_id: text,
  runner,
  backend: text,
  implementation: text,
  implementation_identity: text,
  implementation_metadata: mapping,
  operation_contract_sha256: sha256,
  binding_sha256: sha256,
});
const plan = z.object({
  schema_version: z.literal(1),
  kind: z.literal("svc.execution_plan"),
  runner,
  recipe: mapping,
  operation_contracts: mapping,
  steps: z.array(binding),
  sha256,
});
const row = z.object({
  id: stepId,
  op: text,
  status: z.enum(["completed", "failed", "canceled"]),
  execution_binding: binding,
  outputs: z.record(z.string(), z.object({ kind: text, path: text, metadata: mapping, sha256 })),
  metrics: mapping,
  metadata: mapping,
});
const cache = z.object({ enabled: z.boolean(), outcome: z.enum(["hit", "miss", "bypass"]), reason: text });
const execution = z.object({
  mode: z.enum(["sequential", "parallel"]),
  parallel_workers: z.int().min(1).max(32),
  backend: text.optional(),
  implementation: text.optional(),
});
/** Of summary and manifest; optional fields are absent in older bundles. */
const head = {
  schema_version: z.literal(1),
  run_id: text,
  recipe_name: text,
  status: z.enum(RUN_STATUSES),
  created_at_utc: time,
  completed_at_utc: time.nullable(),
  execution: execution.optional() as unknown as z.ZodOptional<z.ZodType<JsonObject>>,
  seed_policy: mapping,
  error: text.optional(),
};
const summary = z.object({
  ...head,
  kind: z.literal("svc.run_summary"),
  job_id: text.nullable(),
  manifest: z.literal(MANIFEST_FILE),
  recipe_sha256: sha256,
  authored_recipe_sha256: sha256,
  effective_recipe_sha256: sha256,
  execution_plan: z.object({ cache: cache.optional() }) as unknown as z.ZodType<JsonObject>,
  steps: z.array(row) as unknown as z.ZodType<StepRow[]>,
  metrics: mapping,
  measurement_evidence: mapping,
  warnings: mappings.optional(),
  failure: z.object({ kind: text, code: text }).optional() as unknown as z.ZodOptional<z.ZodType<RunState["failure"]>>,
  resource_guard: mapping.optional(),
});
const manifest = z.object({
  ...head,
  kind: z.literal("svc.run_manifest"),
  recipe: mapping,
  environment: mapping,
  operation_contracts: mapping,
  execution_plan: mapping,
  steps: mappings,
  artifacts: mappings,
  summary_evidence: mapping,
  summary: mapping,
});

/** `summary.json` after its check. */
export type SummaryDocument = z.infer<typeof summary> & JsonObject;
/** `manifest.json` after its check. */
export type ManifestDocument = z.infer<typeof manifest> & JsonObject;

export interface Documents {
  [AUTHORED_FILE]: RecipeDocument;
  [RECIPE_FILE]: RecipeDocument;
  [PLAN_FILE]: ExecutionPlan;
  [SUMMARY_FILE]: SummaryDocument;
  [MANIFEST_FILE]: ManifestDocument;
}

const CODE = "bundle_schema_invalid";
const checkRecipe = documentCheck(recipe, CODE), checkSummary = documentCheck(summary, CODE);

/** The checks of the documents by file. */
export const DOCUMENT_CHECKS: Readonly<Record<keyof Documents, (document: JsonObject) => Diagnostic[]>> = {
  [AUTHORED_FILE]: checkRecipe,
  [RECIPE_FILE]: checkRecipe,
  [PLAN_FILE]: documentCheck(plan, CODE),
  [MANIFEST_FILE]: documentCheck(manifest, CODE),
  [SUMMARY_FILE](document) {
    const problems = checkSummary(document);
    return problems.length > 0
      ? problems
      : (document as SummaryDocument).steps.flatMap(({ outputs }, index) =>
        Object.entries(outputs).filter(([, { path }]) =>
          !isBundlePath(path) || !path.startsWith(`${ARTIFACTS_FOLDER}/`)
        ).map(([port, { path }]) =>
          diagnostic(CODE, ["steps", index, "outputs", port, "path"], `Cannot use ${JSON.stringify(path)} as a path`)
        )
      );
  },
};

export const isDocument = (name: string): name is keyof Documents => Object.hasOwn(DOCUMENT_CHECKS, name);

/** How a summary says that its run was executed. */
export const executionOf = ({ execution }: SummaryDocument): RecordedExecution =>
  isObject(execution) ? execution as RecordedExecution : {};

/** The outputs of the steps of a summary. */
export function outputsOf(summary: SummaryDocument): { step_id: string; output_name: string; output: OutputRow }[] {
  return summary.steps.flatMap(({ id, outputs }) =>
    Object.entries(outputs).map(([output_name, output]) => ({ step_id: id, output_name, output }))
  );
}
