/** Checks the documents of a bundle against their schema, each other and the artifacts. */
import { messageOf } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { prettyJson } from "../contract/json.ts";
import type { OperationContract } from "../contract/operation.ts";
import { stepOutputKinds } from "../contract/output_kinds.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import type { PlanCacheEvidence } from "../plan/types.ts";
import type { RecipeDocument } from "../recipe/types.ts";
import { DOCUMENT_CHECKS, type Documents } from "./bundle_schema.ts";
import { differenceRow, differences } from "./compare.ts";
import {
  ARTIFACTS_FOLDER,
  AUTHORED_FILE,
  MANIFEST_FILE,
  manifestDocument,
  PLAN_FILE,
  RECIPE_FILE,
  type RunRecord,
  type RunState,
  SUMMARY_FILE,
  summaryDocument,
  warningsBefore,
} from "./documents.ts";
import type { FindingCode, Findings } from "./findings.ts";
import { checkMetrics, checkTaskMetrics } from "./verify_metrics.ts";

/** Values known from outside the documents. */
export interface Known {
  runId: string;
  /** SHA-256 of every existing file. */
  hashes: ReadonlyMap<string, string>;
  /** Gives a report by its path; null for one that was pruned. */
  report(path: string): string | null;
}

/** Documents before the check of their shapes. */
export type Unchecked = Record<keyof Documents, JsonObject>;

/**
 * Runs all checks that need the five documents; a wrong shape is a finding, not an exception.
 * @returns the number of reports that could not be compared with the metrics of their steps
 */
export function checkDocuments(unchecked: Unchecked, known: Known, findings: Findings): number {
  let notCompared = 0;
  const guarded = (id: string, file: string, check: () => void) => {
    findings.group(id);
    try {
      check();
    } catch (error) {
      findings.error("bundle_schema_invalid", file, "$", `${file} has an invalid structure: ${messageOf(error)}`);
    }
  };
  const valid = findings.errors.length;
  guarded("schemas", SUMMARY_FILE, () => checkShapes(unchecked, findings));
  // Content of a wrong shape would only repeat the finding.
  if (findings.errors.length > valid) return notCompared;
  const documents = unchecked as unknown as Documents;
  guarded("recipes", RECIPE_FILE, () => checkRecipes(documents, findings));
  guarded("plan", PLAN_FILE, () => checkPlan(documents, findings));
  guarded("steps", SUMMARY_FILE, () => checkSteps(documents, findings));
  guarded("artifacts", SUMMARY_FILE, () => checkArtifacts(documents, known, findings));
  guarded("metrics", SUMMARY_FILE, () => {
    const { steps, metrics } = documents[SUMMARY_FILE], { research } = documents[MANIFEST_FILE].recipe;
    notCompared = checkMetrics(steps, known.report, findings);
    checkTaskMetrics(metrics as JsonObject, steps, research as JsonObject | null, findings);
  });
  guarded("links", MANIFEST_FILE, () => checkLinks(documents, known, findings));
  return notCompared;
}

function checkShapes(documents: Unchecked, findings: Findings): void {
  for (const [file, document] of Object.entries(documents) as [keyof Documents, JsonObject][]) {
    findings.looked();
    for (const { path, message } of DOCUMENT_CHECKS[file](document)) {
      findings.error("bundle_schema_invalid", file, path, message);
    }
    // A run that executes has no evidence yet.
    if ((file === SUMMARY_FILE || file === MANIFEST_FILE) && document.status === "running") {
      findings.error("bundle_schema_invalid", file, "$.status", "The member status has the wrong type or value");
    }
  }
}

/** The effective recipe is the authored one, with defaults and seeds added. */
function checkRecipes(documents: Documents, findings: Findings): void {
  const parts = ({ steps, metadata, ...rest }: RecipeDocument) => {
    const { resolved_channel_scenario: _, ...written } = metadata;
    return { steps, rest: { ...rest, metadata: written } };
  };
  const authored = parts(documents[AUTHORED_FILE]);
  const effective = parts(documents[RECIPE_FILE]);
  const expect = expecting(RECIPE_FILE, findings);
  expect("$", effective.rest, authored.rest);
  expect("$.steps", effective.steps.length, authored.steps.length);
  for (const [index, { params, ...step }] of authored.steps.entries()) {
    const { params: made = {}, ...other } = effective.steps[index] ?? {};
    expect(`$.steps[${index}]`, other, step);
    for (const [name, value] of Object.entries(params)) {
      expect(`$.steps[${index}].params.${name}`, (made as JsonObject)[name], value);
    }
  }
}

/** The plan's own hashes, and the plan against its recipe. */
function checkPlan(documents: Documents, findings: Findings): void {
  const plan = documents[PLAN_FILE], recipe = documents[RECIPE_FILE];
  const expect = expecting(PLAN_FILE, findings);
  const { sha256: planHash, ...rest } = plan;
  expect("$.sha256", planHash, sha256Json(rest));
  expect("$.recipe", plan.recipe, { name: recipe.name, sha256: sha256Json(recipe), step_count: recipe.steps.length });
  const { operations } = plan.operation_contracts;
  if (!isObject(operations)) throw new TypeError("it holds no operation contracts");
  expect("$.operation_contracts.sha256", plan.operation_contracts.sha256, sha256Json(operations));
  const used = [...new Set(recipe.steps.map(({ op }) => op))].sort();
  expect("$.operation_contracts.operations", Object.keys(operations).sort(), used);
  const bound = plan.steps.map(({ step_id, operation_id }): Value => [step_id, operation_id]);
  expect("$.steps", bound, recipe.steps.map(({ id, op }): Value => [id, op]));
  for (const [index, step] of plan.steps.entries()) {
    const { binding_sha256, ...row } = step;
    expect(`$.steps[${index}].binding_sha256`, binding_sha256, sha256Json(row));
    const { operation_id, runner, backend, implementation, materialization_id, implementation_metadata } = step;
    const adapter = isObject(implementation_metadata) ? implementation_metadata.external_adapter_sdk : undefined;
    if (isObject(adapter) && adapter.isolation === "none") {
      const message = `The adapter ${adapter.name} ran without a sandbox, by a grant of the user`;
      findings.add("warning", "adapter_unsandboxed", PLAN_FILE, `$.steps[${index}].implementation_metadata`, message);
    }
    if (materialization_id !== undefined) {
      const id = `${operation_id}@${runner}/${backend}/${implementation}`,
        identity = String(step.implementation_identity);
      expect(`$.steps[${index}].materialization_id`, materialization_id, id);
      expect(`$.steps[${index}].implementation_identity`, identity.slice(0, id.length + 1), `${id}#`);
      expect(`$.steps[${index}].runner`, runner, plan.runner);
    }
    const contract = operations[step.operation_id];
    if (contract === undefined) continue;
    expect(`$.steps[${index}].operation_contract_sha256`, step.operation_contract_sha256, sha256Json(contract));
  }
}

/** The rows of the summary against plan, recipe, contracts and the status of the run. */
function checkSteps(documents: Documents, findings: Findings): void {
  const plan = documents[PLAN_FILE], recipe = documents[RECIPE_FILE];
  const summary = documents[SUMMARY_FILE];
  const rows = summary.steps;
  const expect = expecting(SUMMARY_FILE, findings);
  const ids = new Set(rows.map(({ id }) => id));
  const planned = plan.steps.filter(({ step_id }) => ids.has(step_id));
  expect("$.steps", rows.map(({ id }) => id), planned.map(({ step_id }) => step_id));
  const bindings = new Map(plan.steps.map((step) => [step.step_id, step]));
  const contracts = plan.operation_contracts.operations as { [id: string]: OperationContract };
  const declared = stepOutputKinds(recipe.steps, (op) => contracts[op]);
  const kindsOf = new Map(recipe.steps.map(({ id }, index) => [id, declared[index]]));
  for (const [index, row] of rows.entries()) {
    const binding = bindings.get(row.id);
    if (binding === undefined) continue;
    expect(`$.steps[${index}].execution_binding`, row.execution_binding, binding);
    expect(`$.steps[${index}].op`, row.op, binding.operation_id);
    if (row.status !== "completed") continue;
    const kinds = Object.entries(row.outputs).map(([port, { kind }]): [string, Value] => [port, kind]);
    expect(`$.steps[${index}].outputs`, Object.fromEntries(kinds), kindsOf.get(row.id));
  }
  const unfinished = rows.filter(({ status }) => status !== "completed");
  if (summary.status === "completed") {
    expect("$.steps", rows.length, plan.steps.length, "A completed run has a row for every step");
    expect("$.steps", unfinished.length, 0, "A completed run has only completed steps");
    for (const key of ["error", "failure"]) {
      if (summary[key] !== undefined) expect(`$.${key}`, summary[key], null, "A completed run has no failure");
    }
  } else {
    expect("$.failure", isObject(summary.failure), true, "A run that did not complete has a failure");
  }
  const seeds = isObject(summary.seed_policy) ? summary.seed_policy.steps : undefined;
  if (isObject(seeds)) {
    const params = new Map(recipe.steps.map((step) => [step.id, step.params]));
    for (const [id, record] of Object.entries(seeds)) {
      const seed = isObject(record) ? record.seed : undefined;
      expect(`$.seed_policy.steps.${id}.seed`, seed, params.get(id)?.seed);
    }
  }
}

/** The artifacts of the rows against the existing files. */
function checkArtifacts(documents: Documents, { hashes }: Known, findings: Findings): void {
  const summary = documents[SUMMARY_FILE];
  const owned = new Set<string>();
  for (const [index, row] of summary.steps.entries()) {
    for (const [port, output] of Object.entries(row.outputs)) {
      findings.looked();
      const place = `$.steps[${index}].outputs.${port}`;
      const folder = `${ARTIFACTS_FOLDER}/${row.id}/`;
      const name = output.path.slice(folder.length);
      if (!output.path.startsWith(folder) || name === "" || name.includes("/")) {
        findings.error(
          "bundle_link_mismatch",
          SUMMARY_FILE,
          `${place}.path`,
          `${output.path} is not a file of its step`,
        );
      }
      if (owned.has(output.path)) {
        findings.error("bundle_link_mismatch", SUMMARY_FILE, `${place}.path`, `${output.path} belongs to two outputs`);
      }
      owned.add(output.path);
      const actual = hashes.get(output.path);
      if (actual === undefined) {
        findings.error("bundle_file_missing", output.path, "$", `The artifact ${output.path} is missing`);
      } else if (actual !== output.sha256) {
        findings.error(
          "bundle_hash_mismatch",
          output.path,
          "$",
          `${output.path} is not the artifact that was recorded`,
        );
      }
    }
  }
  for (const path of hashes.keys()) {
    if (path.startsWith(`${ARTIFACTS_FOLDER}/`) && !owned.has(path)) {
      // The summary of an interrupted run may lack files that were already stored.
      const severity = summary.status === "incomplete" ? "warning" : "error";
      findings.add(severity, "bundle_link_mismatch", path, "$", `${path} is not the output of a step`);
    }
  }
}

/** What summary and manifest are made of, from the documents of a bundle. Exported for tests. */
export function recordsOf(unchecked: Unchecked, runId: string): { record: RunRecord; state: RunState } {
  const documents = unchecked as unknown as Documents;
  const summary = documents[SUMMARY_FILE], manifest = documents[MANIFEST_FILE];
  const authored = documents[AUTHORED_FILE], recipe = documents[RECIPE_FILE];
  const plan = documents[PLAN_FILE];
  const cache = (summary.execution_plan as JsonObject).cache as PlanCacheEvidence | undefined;
  const record: RunRecord = {
    runId,
    jobId: summary.job_id as string | null,
    createdAtUtc: summary.created_at_utc as string,
    authored,
    authoredSha256: sha256Json(authored),
    recipe,
    recipeSha256: sha256Json(recipe),
    plan,
    planCache: cache ?? null,
    execution: summary.execution as JsonObject,
    seedPolicy: summary.seed_policy as JsonObject,
    research: (manifest.recipe as JsonObject).research as JsonObject | null,
    environment: manifest.environment as JsonObject,
    warnings: warningsBefore(summary, plan),
  };
  const state: RunState = {
    status: summary.status as RunState["status"],
    completedAtUtc: summary.completed_at_utc as string | null,
    rows: summary.steps,
    metrics: summary.metrics as JsonObject,
    measurementEvidence: summary.measurement_evidence as JsonObject,
    error: summary.error as string | undefined,
    failure: summary.failure as RunState["failure"],
    resourceGuard: summary.resource_guard as JsonObject | undefined,
  };
  return { record, state };
}

/** Summary and manifest against those derived from the recipes, the plan and the rows. */
function checkLinks(documents: Documents, { runId }: Known, findings: Findings): void {
  const summary = documents[SUMMARY_FILE], manifest = documents[MANIFEST_FILE];
  const { record, state } = recordsOf(documents, runId), { plan, planCache: cache } = record;
  expecting(SUMMARY_FILE, findings)("$", summary, summaryDocument(record, state));
  expecting(MANIFEST_FILE, findings)("$", manifest, manifestDocument(record, state, prettyJson(summary)));
  const links = {
    plan_sha256: plan.sha256,
    authored_recipe_sha256: record.authoredSha256,
    effective_recipe_sha256: record.recipeSha256,
  };
  for (const [key, expected] of Object.entries(links)) {
    const actual = cache?.[key];
    if (actual !== undefined) {
      expecting(SUMMARY_FILE, findings)(`$.execution_plan.cache.${key}`, actual, expected);
    }
  }
}

/** Compares with a derived value; a differing hash is a hash mismatch, anything else a link mismatch. */
function expecting(file: string, findings: Findings) {
  return (path: string, actual: Value | undefined, expected: Value | undefined, rule?: string) => {
    findings.looked();
    for (const difference of differences(expected, actual)) {
      const row = differenceRow(difference);
      const place = path + (row.path as string).slice(1);
      const code: FindingCode = /sha256$/.test(place) ? "bundle_hash_mismatch" : "bundle_link_mismatch";
      findings.error(code, file, place, rule ?? describe(place, row));
    }
  };
}

function describe(place: string, { a, b }: JsonObject): string {
  const member = place.split(/[.[]/).at(-1)!.replace("]", "");
  if (b === undefined) return `The member ${member} is missing`;
  if (a === undefined) return `The field ${member} has no counterpart`;
  return `The field ${member} does not agree with the other files`;
}
