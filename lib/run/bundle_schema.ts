/**
 * The documents of a bundle with the schema that every reader applies: a bundle may come from anybody, so no command acts on
 * a document before its names, paths, digests and shapes are checked.
 */
import { RUNNERS } from "../contract/operation.ts";
import { sameValue } from "../contract/json.ts";
import { isBundlePath, isDigest } from "../contract/names.ts";
import { isInteger, isObject, type JsonObject, type Value } from "../contract/value.ts";
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
  type RunStatus,
  SUMMARY_FILE,
} from "./documents.ts";
import type { RecordedExecution } from "./execution.ts";

/** `summary.json` after its check. */
export interface SummaryDocument extends JsonObject {
  run_id: string;
  job_id: string | null;
  recipe_name: string;
  status: RunStatus;
  created_at_utc: string;
  completed_at_utc: string | null;
  authored_recipe_sha256: string;
  effective_recipe_sha256: string;
  execution_plan: JsonObject;
  seed_policy: JsonObject;
  steps: StepRow[];
  metrics: JsonObject;
  measurement_evidence: JsonObject;
}

/** `manifest.json` after its check. */
export interface ManifestDocument extends JsonObject {
  recipe: JsonObject;
  environment: JsonObject;
}

export interface Documents {
  [AUTHORED_FILE]: RecipeDocument;
  [RECIPE_FILE]: RecipeDocument;
  [PLAN_FILE]: ExecutionPlan;
  [SUMMARY_FILE]: SummaryDocument;
  [MANIFEST_FILE]: ManifestDocument;
}

type Shape = (value: Value | undefined) => boolean;
const text: Shape = (value) => typeof value === "string";
const textOrNull: Shape = (value) => value === null || text(value);
const mapping: Shape = isObject;
const mappings: Shape = (value) => Array.isArray(value) && value.every(isObject);
const sha256: Shape = isDigest;
const stepId: Shape = (value) => typeof value === "string" && STEP_ID.test(value);
const count: Shape = (value) => isInteger(value) && value >= 0;
const time: Shape = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));
const timeOrNull: Shape = (value) => value === null || time(value);
const is = (...values: Value[]): Shape => (value) => values.some((expected) => sameValue(value, expected));
/** Absent in older bundles. */
const optional = (shape: Shape): Shape => (value) => value === undefined || shape(value);

type Shapes = Record<string, Shape>;

const STATUS = is(...RUN_STATUSES);
const RECIPE: Shapes = {
  schema_version: is(1),
  name: text,
  execution_profile: mapping,
  metadata: mapping,
  steps: mappings,
};

const SHAPES: Record<keyof Documents, Shapes> = {
  [AUTHORED_FILE]: RECIPE,
  [RECIPE_FILE]: RECIPE,
  [PLAN_FILE]: {
    schema_version: is(1),
    kind: is("svc.execution_plan"),
    runner: is(...RUNNERS),
    recipe: mapping,
    operation_contracts: mapping,
    steps: mappings,
    sha256,
  },
  [SUMMARY_FILE]: {
    schema_version: is(1),
    kind: is("svc.run_summary"),
    run_id: text,
    job_id: textOrNull,
    recipe_name: text,
    status: STATUS,
    created_at_utc: time,
    completed_at_utc: timeOrNull,
    manifest: is(MANIFEST_FILE),
    recipe_sha256: sha256,
    authored_recipe_sha256: sha256,
    effective_recipe_sha256: sha256,
    execution_plan: mapping,
    execution: optional(mapping),
    seed_policy: mapping,
    steps: mappings,
    metrics: mapping,
    measurement_evidence: mapping,
    warnings: optional(mappings),
    error: optional(text),
    failure: optional(mapping),
    resource_guard: optional(mapping),
  },
  [MANIFEST_FILE]: {
    schema_version: is(1),
    kind: is("svc.run_manifest"),
    run_id: text,
    recipe_name: text,
    status: STATUS,
    created_at_utc: time,
    completed_at_utc: timeOrNull,
    error: optional(text),
    recipe: mapping,
    seed_policy: mapping,
    environment: mapping,
    operation_contracts: mapping,
    execution_plan: mapping,
    execution: optional(mapping),
    steps: mappings,
    artifacts: mappings,
    summary_evidence: mapping,
    summary: mapping,
  },
};

const STEP: Shapes = {
  id: stepId,
  op: text,
  params: mapping,
  inputs: (value) => isObject(value) && Object.values(value).every(text),
};
const BINDING: Shapes = {
  step_id: stepId,
  operation_id: text,
  runner: is(...RUNNERS),
  backend: text,
  implementation: text,
  implementation_identity: text,
  implementation_metadata: mapping,
  operation_contract_sha256: sha256,
  binding_sha256: sha256,
};
const STEPS: Partial<Record<keyof Documents, Shapes>> = {
  [AUTHORED_FILE]: STEP,
  [RECIPE_FILE]: STEP,
  [PLAN_FILE]: BINDING,
  [SUMMARY_FILE]: {
    id: stepId,
    op: text,
    status: is("completed", "failed", "canceled"),
    execution_binding: mapping,
    outputs: mapping,
    metrics: mapping,
    metadata: mapping,
  },
};
const OUTPUT: Shapes = {
  kind: text,
  path: (value) => isBundlePath(value) && value.startsWith(`${ARTIFACTS_FOLDER}/`),
  metadata: mapping,
  sha256,
};
const EXECUTION: Shapes = {
  mode: is("sequential", "parallel"),
  parallel_workers: (value) => count(value) && Number(value) >= 1 && Number(value) <= 32,
  backend: optional(text),
  implementation: optional(text),
};
const CACHE: Shapes = {
  enabled: (value) => typeof value === "boolean",
  outcome: is("hit", "miss", "bypass"),
  reason: text,
};

export const isDocument = (name: string): name is keyof Documents => Object.hasOwn(SHAPES, name);

/** A member of a document that has the wrong shape. */
export interface ShapeProblem {
  /** JSON path. */
  path: string;
  message: string;
}

/** Checks a document; `checked` counts the members that were looked at. */
export function checkShape(file: keyof Documents, document: JsonObject): { problems: ShapeProblem[]; checked: number } {
  const problems: ShapeProblem[] = [];
  let checked = 0;
  const check = (value: Value | undefined, shapes: Shapes, path: string) => {
    if (!isObject(value)) return void problems.push({ path, message: "Expected a mapping" });
    for (const [key, shape] of Object.entries(shapes)) {
      checked++;
      if (shape(value[key])) continue;
      const what = value[key] === undefined ? "is missing" : "has the wrong type or value";
      problems.push({ path: `${path}.${key}`, message: `The member ${key} ${what}` });
    }
  };
  check(document, SHAPES[file], "$");
  const steps = STEPS[file], rows = Array.isArray(document.steps) ? document.steps : [];
  if (steps !== undefined) { for (const [index, row] of rows.entries()) check(row, steps, `$.steps[${index}]`); }
  if (file !== SUMMARY_FILE) return { problems, checked };
  for (const [index, row] of rows.entries()) {
    if (!isObject(row)) continue;
    check(row.execution_binding, BINDING, `$.steps[${index}].execution_binding`);
    if (!isObject(row.outputs)) continue;
    for (const [port, output] of Object.entries(row.outputs)) {
      check(output, OUTPUT, `$.steps[${index}].outputs.${port}`);
    }
  }
  if (document.execution !== undefined) check(document.execution, EXECUTION, "$.execution");
  const cache = isObject(document.execution_plan) ? document.execution_plan.cache : undefined;
  if (cache !== undefined) check(cache, CACHE, "$.execution_plan.cache");
  if (isObject(document.failure)) check(document.failure, { kind: text, code: text }, "$.failure");
  return { problems, checked };
}

/** How a summary says that its run was executed. */
export const executionOf = ({ execution }: SummaryDocument): RecordedExecution =>
  isObject(execution) ? execution as RecordedExecution : {};

/** The outputs of the steps of a summary. */
export function outputsOf(summary: SummaryDocument): { step_id: string; output_name: string; output: OutputRow }[] {
  return summary.steps.flatMap(({ id, outputs }) =>
    Object.entries(outputs).map(([output_name, output]) => ({ step_id: id, output_name, output }))
  );
}
