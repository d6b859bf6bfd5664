/** Runs as columns: parameters, metrics, execution, and their differences. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { recordedPooled, recordedRate } from "../../lib/contract/metric_metadata.ts";
import type { PooledMetric } from "../../lib/numeric/scores/pooled_ratio.ts";
import type { RateCounts } from "../../lib/numeric/scores/rate_interval.ts";
import type { Reply } from "../api.ts";
import { type Artifact, artifactsOf, metricRows } from "../runs/documents.ts";
import { isVolatile } from "../runs/metrics.ts";
import { nameByRecipe } from "../runs/run_name.ts";

/** The compared facts of a run. */
export interface ComparedRun {
  id: string;
  name: string;
  status: string;
  /** By `<step>.<parameter>`. */
  parameters: ReadonlyMap<string, Value>;
  /** By metric, or `<step>:<metric>` where several steps report it. */
  metrics: ReadonlyMap<string, Value>;
  /** Counts over units of rates, by the names of the metrics. */
  rates: ReadonlyMap<string, RateCounts>;
  /** Sums of root mean squares and ratios, by the names of the metrics. */
  pooled: ReadonlyMap<string, PooledMetric>;
  /** Times, memory, mode and workers. */
  timing: ReadonlyMap<string, Value>;
  environment: ReadonlyMap<string, Value>;
  /** SHA-256 by `<step>.<output>`. */
  artifacts: ReadonlyMap<string, Value>;
  outputs: readonly Artifact[];
  /** Id of the task that the recipe is about. */
  task: string | null;
  /** The reason of a failure, with its step where one failed. */
  failure: { step: string | null; message: string } | null;
  /** The effective recipe. */
  recipe: JsonObject;
  /** Digest of that recipe. */
  recipeSha256?: string;
}

/** The compared facts of a run, from its documents. */
export function comparedRun(
  { summary, environment: stored, recipe, task_id: task }: Reply<"/api/runs/documents">["runs"][number],
): ComparedRun {
  const rows = metricRows(summary);
  const reports = new Map<string, number>();
  for (const { metric } of rows) reports.set(metric, (reports.get(metric) ?? 0) + 1);
  const named = (wanted: boolean) =>
    rows.filter(({ metric }) => isVolatile(metric) === wanted).map(({ step, metric, value }): [string, Value] => [
      reports.get(metric)! > 1 ? `${step}:${metric}` : metric,
      value as Value,
    ]);
  const recorded = <T>(read: (metadata: JsonObject, metric: string) => T | null): [string, T][] =>
    summary.steps.flatMap(({ id, metrics, metadata }) =>
      Object.keys(metrics ?? {}).flatMap((metric): [string, T][] => {
        const found = read(metadata ?? {}, metric);
        return found === null ? [] : [[reports.get(metric)! > 1 ? `${id}:${metric}` : metric, found]];
      })
    );
  const environment = isObject(stored) ? stored : {}, outputs = artifactsOf(summary);
  const seconds = summary.completed_at_utc === null
    ? null
    : (Date.parse(summary.completed_at_utc) - Date.parse(summary.created_at_utc)) / 1000;
  return {
    id: summary.run_id,
    name: nameByRecipe(summary.recipe_name, recipe),
    status: summary.status,
    parameters: parametersOf(recipe),
    // Of the run, not of one of its steps.
    metrics: new Map([
      ...named(false),
      ...Object.entries(summary.metrics ?? {}).filter(([metric]) => metric === "channel.ebn0_db") as [string, Value][],
    ]),
    rates: new Map(recorded(recordedRate)),
    pooled: new Map(recorded(recordedPooled)),
    timing: new Map<string, Value>([
      ["mode", summary.execution.mode ?? null],
      ["workers", summary.execution.parallel_workers ?? null],
      ["duration (s)", seconds],
      ...named(true),
    ]),
    environment: new Map(
      ["svc", "runtime", "platform", "hardware"].flatMap((part) =>
        Object.entries(isObject(environment[part]) ? environment[part] as JsonObject : {})
          .map(([name, value]): [string, Value] => [`${part}.${name}`, value])
      ),
    ),
    artifacts: new Map(outputs.map(({ step, name, sha256 }) => [`${step}.${name}`, sha256])),
    outputs,
    task,
    failure: summary.error === undefined ? null : {
      step: summary.steps.find(({ status }) => status === "failed")?.id ?? null,
      message: summary.error,
    },
    recipe,
    recipeSha256: typeof summary.recipe_sha256 === "string" ? summary.recipe_sha256 : undefined,
  };
}

/** The coordinates of a run in its matrix. */
export const selectionOf = ({ recipe: { metadata } }: Pick<ComparedRun, "recipe">): { [dimension: string]: Value } =>
  isObject(metadata) && isObject(metadata.matrix_selection) ? metadata.matrix_selection : {};

/** The parameters of the steps of a recipe; the operation of a step counts as one of them. Exported for tests. */
export function parametersOf(recipe: JsonObject): ReadonlyMap<string, Value> {
  const found = new Map<string, Value>();
  const put = (name: string, value: Value) => {
    if (isObject(value) && Object.keys(value).length > 0) {
      for (const [key, inner] of Object.entries(value)) put(`${name}.${key}`, inner);
    } else found.set(name, value);
  };
  for (const step of Array.isArray(recipe.steps) ? recipe.steps.filter(isObject) : []) {
    found.set(`${step.id}.op`, step.op);
    if (isObject(step.params)) {
      for (const [name, value] of Object.entries(step.params)) put(`${step.id}.${name}`, value);
    }
  }
  return found;
}

export type Part = "parameters" | "metrics" | "timing" | "environment" | "artifacts";

export interface CompareRow {
  name: string;
  /** One a run; undefined where a run has none. */
  values: (Value | undefined)[];
  differs: boolean;
}

/** The rows of a part, in the order in which the runs bring them. */
export function rowsOf(runs: readonly ComparedRun[], part: Part): CompareRow[] {
  const names = new Set(runs.flatMap((run) => [...run[part].keys()]));
  return [...names].map((name) => {
    const values = runs.map((run) => run[part].get(name));
    const texts = new Set(values.map((value) => value === undefined ? "" : canonicalJson(value)));
    return { name, values, differs: texts.size > 1 };
  });
}

export interface Delta {
  absolute: number;
  /** Of the size of the baseline; null where that is 0. */
  relative: number | null;
  /** Null where a metric has no direction, or nothing changed. */
  better: boolean | null;
}

/** How far a value lies from the baseline's, or null where one of them is no number. */
export function deltaOf(
  value: Value | undefined,
  baseline: Value | undefined,
  direction: string | undefined,
): Delta | null {
  if (!isNumber(value) || !isNumber(baseline)) return null;
  const absolute = toNumber(value) - toNumber(baseline), size = Math.abs(toNumber(baseline));
  const directed = direction === "higher_is_better" || direction === "lower_is_better";
  return {
    absolute,
    relative: size === 0 ? null : absolute / size,
    better: absolute === 0 || !directed ? null : (absolute > 0) === (direction === "higher_is_better"),
  };
}

/** Why times of these runs say nothing about each other; empty when they may be compared. */
export function timingWarnings(runs: readonly ComparedRun[]): string[] {
  const kinds = (part: Part, name: string) =>
    new Set(runs.map((run) => canonicalJson(run[part].get(name) ?? null))).size > 1;
  return [
    kinds("timing", "mode") ? "they ran in different modes" : "",
    kinds("timing", "workers") ? "their worker counts differ" : "",
    kinds("environment", "hardware.cpu") || kinds("environment", "hardware.cpu_count") ? "their machines differ" : "",
    kinds("environment", "svc.build_sha256") ? "different builds of the program ran them" : "",
  ].filter((text) => text !== "");
}

/** Whether a parameter only numbers repetitions, so that it is not the subject of a comparison. */
export const isSeed = (name: string): boolean => /(^|\.)seed$/.test(name);

/** Parameters that differ among runs, those with the most values last: what a matrix varied. */
export function varying(runs: readonly ComparedRun[]): { name: string; numeric: boolean; count: number }[] {
  return rowsOf(runs, "parameters").filter(({ differs }) => differs).map(({ name, values }) => ({
    name,
    numeric: values.every((value) => value !== undefined && isNumber(value)),
    count: new Set(values.map((value) => canonicalJson(value ?? null))).size,
  })).sort((a, b) => a.count - b.count);
}

/** Metrics that are numbers in some run, in the order in which the runs bring them. */
export const numericMetrics = (runs: readonly ComparedRun[]): string[] =>
  rowsOf(runs, "metrics").filter(({ values }) => values.some((value) => value !== undefined && isNumber(value)))
    .map(({ name }) => name);
