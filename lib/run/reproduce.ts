/** Reproduces a run: executes its effective recipe again and compares all results. */
import { inside, readFile } from "../artifact/inside.ts";
import { type Diagnostic, SvcError } from "../contract/error.ts";
import { sha256Json } from "../contract/hash.ts";
import { sameValue } from "../contract/json.ts";
import { formatOfKind } from "../contract/kinds.ts";
import type { Runner } from "../contract/operation.ts";
import type { JsonObject, Value } from "../contract/value.ts";
import type { OutputRow, StepRow } from "../execute/types.ts";
import { chainedSteps } from "../plan/chains.ts";
import { planRecipe } from "../plan/planner.ts";
import type { ExecutionPlan, PlanStep } from "../plan/types.ts";
import { compileRecipe } from "../recipe/compile.ts";
import type { Compilation } from "../recipe/types.ts";
import { arrayDifference } from "./array_difference.ts";
import { type Difference, differenceRow, differences } from "./compare.ts";
import { executionOf } from "./bundle_schema.ts";
import { AUTHORED_FILE, MANIFEST_FILE, PLAN_FILE, RECIPE_FILE } from "./documents.ts";
import { readDocument } from "./read.ts";
import { type RunOptions, runRecipe } from "./run.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import { stillExecuting } from "./store.ts";
import { environmentDifferences, isVolatileMetric } from "./volatile.ts";
import type { Workspace } from "./workspace.ts";

export type ReproduceOptions =
  & ByPath
  & Pick<RunOptions, "registry" | "cancellation">
  & Partial<
    Pick<
      RunOptions,
      | "parallelWorkers"
      | "ignoreEstimate"
      | "lint"
      | "strictLint"
      | "usePlanCache"
      | "planCache"
      | "readiness"
      | "onEvent"
      | "jobId"
      | "sharedProcess"
      | "execute"
    >
  >;

/** Of an artifact that is read whole. */
const MAX_ARTIFACT_BYTES = 2 ** 30;

/** The report `svc.reproduction_report`. */
export interface ReproductionReport extends JsonObject {
  schema_version: 1;
  kind: "svc.reproduction_report";
  run_id: string;
  reproduced_run_id: string;
  /** `failed` when the new run did not complete. */
  status: "identical" | "different" | "failed";
  /** Whether the authored recipe still compiles to the executed recipe. */
  recipe_match: boolean;
  /** `{step_id, path, expected, actual}` in plan order. */
  plan_differences: JsonObject[];
  /** `{step_id, output_name, expected_sha256, actual_sha256, match, array_difference?}` in plan order. */
  artifacts: JsonObject[];
  /** `{step_id, metric, expected, actual, match}` in plan order; without time and memory. */
  metrics: JsonObject[];
  /** `{path, expected, actual}`. */
  environment_differences: JsonObject[];
  /** The first step in plan order whose binding, artifact or metric differs. */
  first_difference: string | null;
  /** Of the new run, those of the lint of links included. */
  warnings: Diagnostic[];
}

/**
 * Reproduces a run.
 * @param wanted run id or a unique prefix
 * @param options as for a run; the worker limit defaults to that of the original
 * @throws SvcError `run_not_found`, `run_still_executing`, and the errors of running a recipe
 */
export async function reproduceRun(
  workspace: Workspace,
  wanted: string,
  options: ReproduceOptions,
): Promise<ReproductionReport> {
  const original = openRun(workspace, wanted, options);
  const { run_id, directory, summary } = original;
  if (summary.status === "running") throw stillExecuting(run_id, "reproduce");
  const plan = readDocument(directory, PLAN_FILE);
  const recipe = readDocument(directory, RECIPE_FILE);
  const { parallel_workers, backend, implementation } = executionOf(summary);
  const asked = { runner: plan.runner, backend, implementation };

  // A run may be one of an older form.
  const mode = "compat";
  const authored = compileRecipe(readDocument(directory, AUTHORED_FILE), { mode, registry: options.registry });
  const replanned = await replan(authored, asked, options);
  const effective = summary.effective_recipe_sha256;
  const recipeMatch = sha256Json(recipe) === effective && replanned?.recipe.sha256 === effective;

  const result = await runRecipe({
    ...options,
    ...asked,
    raw: recipe,
    mode,
    written: authored.normalized?.steps,
    workspace,
    chained: chainedSteps(plan),
    parallelWorkers: options.parallelWorkers ?? parallel_workers,
  });
  const order = plan.steps.map(({ step_id }) => step_id);
  const expected = summary.steps, actual = result.summary.steps;
  const planRows = planDifferences(plan, replanned, readDocument(result.directory, PLAN_FILE));
  const artifacts = artifactRows(order, expected, actual, [directory, result.directory]);
  const metrics = metricRows(order, expected, actual);
  const differing = new Set(
    [...planRows, ...artifacts.filter(({ match }) => !match), ...metrics.filter(({ match }) => !match)]
      .map(({ step_id }) => step_id as string),
  );
  const sameRecipe = recipeMatch && result.summary.effective_recipe_sha256 === effective;
  return {
    schema_version: 1,
    kind: "svc.reproduction_report",
    run_id,
    reproduced_run_id: result.run_id,
    status: result.status !== "completed" ? "failed" : sameRecipe && differing.size === 0 ? "identical" : "different",
    recipe_match: sameRecipe,
    plan_differences: planRows,
    artifacts,
    metrics,
    environment_differences: environmentDifferences(
      original.manifest.environment,
      readDocument(result.directory, MANIFEST_FILE).environment,
    ).map(expectation),
    first_difference: order.find((id) => differing.has(id)) ?? null,
    warnings: result.summary.warnings as Diagnostic[],
  };
}

/** The current plan of the authored recipe, or null when it cannot be planned. */
async function replan(
  compilation: Compilation,
  asked: { runner: Runner; backend?: string; implementation?: string },
  { registry, readiness, planCache, usePlanCache }: ReproduceOptions,
): Promise<ExecutionPlan | null> {
  if (compilation.status === "invalid") return null;
  const result = await planRecipe(compilation, {
    ...asked,
    registry,
    readiness,
    cache: planCache,
    usePlanCache,
    singleRun: true,
  });
  return result.status === "planned" ? result.plan : null;
}

/** A difference as a row of the report; `a` is expected. */
function expectation(difference: Difference): JsonObject {
  const { path, a = null, b = null } = differenceRow(difference);
  return { path, expected: a, actual: b };
}

/**
 * Bindings that changed. The authored recipe's current plan must give the same rows. Without that plan, and for the
 * executed plan, implementation and contract count: the effective recipe marks every parameter as authored.
 */
function planDifferences(plan: ExecutionPlan, replanned: ExecutionPlan | null, executed: ExecutionPlan): JsonObject[] {
  const replannedRows = byId(replanned?.steps ?? [], "step_id"), executedRows = byId(executed.steps, "step_id");
  return plan.steps.flatMap((row) => {
    const again = replannedRows.get(row.step_id), ran = executedRows.get(row.step_id);
    const found = again === undefined ? [] : differences(row, again);
    if (found.length === 0) found.push(...differences(implementationOf(row), ran && implementationOf(ran)));
    return found.map((difference) => ({ step_id: row.step_id, ...expectation(difference) }));
  });
}

function implementationOf(row: PlanStep): JsonObject {
  const { operation_id, implementation_identity, operation_contract_sha256 } = row;
  return { operation_id, implementation_identity, operation_contract_sha256 };
}

function byId<T extends JsonObject>(rows: readonly T[], key: string): Map<Value, T> {
  return new Map(rows.map((row) => [row[key], row]));
}

function artifactRows(
  order: string[],
  expected: StepRow[],
  actual: StepRow[],
  bundles: [string, string],
): JsonObject[] {
  const before = byId(expected, "id"), after = byId(actual, "id");
  return order.flatMap((step) => {
    const x: Record<string, OutputRow> = before.get(step)?.outputs ?? {};
    const y: Record<string, OutputRow> = after.get(step)?.outputs ?? {};
    return namesOf(x, y).map((output) => {
      const expected_sha256 = x[output]?.sha256 ?? null, actual_sha256 = y[output]?.sha256 ?? null;
      const match = expected_sha256 === actual_sha256;
      const row: JsonObject = { step_id: step, output_name: output, expected_sha256, actual_sha256, match };
      const distance = match ? null : distanceOf(x[output], y[output], bundles);
      return distance === null ? row : { ...row, array_difference: distance };
    });
  });
}

/** The difference of two NPZ artifacts where both are readable. */
function distanceOf(a: OutputRow | undefined, b: OutputRow | undefined, bundles: [string, string]): JsonObject | null {
  if (a === undefined || b === undefined || formatOfKind(a.kind) !== "npz") return null;
  try {
    const [before, after] = [a, b].map(({ path }, at) => readFile(inside(bundles[at], path), MAX_ARTIFACT_BYTES));
    return arrayDifference(before, after);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error instanceof SvcError
      ? error
      : new SvcError("bundle_file_missing", `Cannot read ${a.path}`, { cause: error });
  }
}

function metricRows(order: string[], expected: StepRow[], actual: StepRow[]): JsonObject[] {
  const before = byId(expected, "id"), after = byId(actual, "id");
  return order.flatMap((step) => {
    const x = before.get(step)?.metrics ?? {}, y = after.get(step)?.metrics ?? {};
    return namesOf(x, y).filter((metric) => !isVolatileMetric(metric)).map((metric) => ({
      step_id: step,
      metric,
      expected: x[metric] ?? null,
      actual: y[metric] ?? null,
      match: sameValue(x[metric], y[metric]),
    }));
  });
}

function namesOf(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}
