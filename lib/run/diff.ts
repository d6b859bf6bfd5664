/** Compares two runs: recipe, plan, environment, metrics and artifacts. */
import { sameValue } from "../contract/json.ts";
import { float, isInteger, isNumber, isObject, type JsonObject, toNumber, type Value } from "../contract/value.ts";
import type { OutputRow, StepRow } from "../execute/types.ts";
import { type ByPath, openRun } from "./bundle_place.ts";
import { differenceRow, differences } from "./compare.ts";
import { PLAN_FILE, RECIPE_FILE } from "./documents.ts";
import { readDocument } from "./read.ts";
import { environmentDifferences, isVolatileMetric } from "./volatile.ts";
import type { Workspace } from "./workspace.ts";

/** The report `svc.run_diff`. */
export interface RunDiff extends JsonObject {
  schema_version: 1;
  kind: "svc.run_diff";
  a: string;
  b: string;
  /** Whether recipe, plan, artifacts and all metrics except time and memory are equal. */
  equal: boolean;
  /** Differences `{path, a, b}`; a side without a value is absent. */
  recipe: JsonObject[];
  plan: JsonObject[];
  environment: JsonObject[];
  /** Differing metrics: `{step_id, metric, a, b, absolute, relative}`. */
  metrics: JsonObject[];
  /** All artifacts, `{step_id, output_name, a_sha256, b_sha256, equal}`. */
  artifacts: JsonObject[];
}

/**
 * Compares two runs.
 * @param a run id or a unique prefix, or its folder
 * @param b the same for the other run
 * @throws SvcError `run_not_found`, `bundle_file_missing`, `bundle_schema_invalid`
 */
export function diffRuns(workspace: Workspace, a: string, b: string, options: ByPath = {}): Promise<RunDiff> {
  // The interface is asynchronous so that reading can become asynchronous.
  return Promise.resolve().then(() => diff(workspace, a, b, options));
}

function diff(workspace: Workspace, a: string, b: string, options: ByPath): RunDiff {
  const left = readSide(workspace, a, options), right = readSide(workspace, b, options);
  const byId = { identify: stepName };
  const recipe = differences(left.recipe, right.recipe, byId).map(differenceRow);
  const plan = differences(left.plan, right.plan, byId).map(differenceRow);
  const environment = environmentDifferences(left.environment, right.environment).map(differenceRow);
  const metrics = metricRows(left.rows, right.rows);
  const artifacts = artifactRows(left.rows, right.rows);
  const equal = recipe.length === 0 && plan.length === 0 && artifacts.every((row) => row.equal) &&
    metrics.every((row) => isVolatileMetric(row.metric as string));
  return {
    schema_version: 1,
    kind: "svc.run_diff",
    a: left.runId,
    b: right.runId,
    equal,
    recipe,
    plan,
    environment,
    metrics,
    artifacts,
  };
}

interface Side {
  runId: string;
  recipe: JsonObject;
  /** The plan without its recipe hash and the contracts, whose hashes the steps hold. */
  plan: JsonObject;
  environment: JsonObject;
  rows: StepRow[];
}

function readSide(workspace: Workspace, wanted: string, options: ByPath): Side {
  const { run_id, directory, summary, manifest } = openRun(workspace, wanted, options);
  const { sha256: _sha256, recipe: _recipe, operation_contracts: _contracts, ...plan } = readDocument(
    directory,
    PLAN_FILE,
  );
  return {
    runId: run_id,
    recipe: readDocument(directory, RECIPE_FILE),
    plan,
    environment: manifest.environment,
    rows: summary.steps,
  };
}

function stepName(item: Value): string | null {
  const id = isObject(item) ? item.id ?? item.step_id : undefined;
  return typeof id === "string" ? id : null;
}

/** Step ids of both sides: those of `a` in order, then those that only `b` has. */
function stepIds(a: StepRow[], b: StepRow[]): string[] {
  return [...new Set([...a, ...b].map(({ id }) => id))];
}

function metricRows(a: StepRow[], b: StepRow[]): JsonObject[] {
  const metricsOf = (rows: StepRow[]) => new Map(rows.map((row) => [row.id, row.metrics]));
  const left = metricsOf(a), right = metricsOf(b);
  return stepIds(a, b).flatMap((step) => {
    const x = left.get(step) ?? {}, y = right.get(step) ?? {};
    return [...new Set([...Object.keys(x), ...Object.keys(y)])].filter((metric) => !sameValue(x[metric], y[metric]))
      .map((metric) => ({
        step_id: step,
        metric,
        a: x[metric] ?? null,
        b: y[metric] ?? null,
        ...change(x[metric], y[metric]),
      }));
  });
}

/** b - a, and its ratio to |a|; null where undefined. Differences of counts are integers. */
function change(a: Value | undefined, b: Value | undefined): { absolute: Value; relative: Value } {
  if (!isNumber(a) || !isNumber(b)) return { absolute: null, relative: null };
  const difference = toNumber(b) - toNumber(a);
  const absolute = isInteger(a) && isInteger(b) ? BigInt(b) - BigInt(a) : finite(difference);
  return { absolute, relative: toNumber(a) === 0 ? null : finite(difference / Math.abs(toNumber(a))) };
}

function finite(value: number): Value {
  return Number.isFinite(value) ? float(value) : null;
}

function artifactRows(a: StepRow[], b: StepRow[]): JsonObject[] {
  const outputsOf = (rows: StepRow[]) => new Map(rows.map((row) => [row.id, row.outputs]));
  const left = outputsOf(a), right = outputsOf(b);
  return stepIds(a, b).flatMap((step) => {
    const x: Record<string, OutputRow> = left.get(step) ?? {}, y: Record<string, OutputRow> = right.get(step) ?? {};
    return [...new Set([...Object.keys(x), ...Object.keys(y)])].map((output) => {
      const a_sha256 = x[output]?.sha256 ?? null, b_sha256 = y[output]?.sha256 ?? null;
      return { step_id: step, output_name: output, a_sha256, b_sha256, equal: a_sha256 === b_sha256 };
    });
  });
}
