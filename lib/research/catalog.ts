/** The research catalogue: areas, data sets, tasks and metrics, and how to look them up. */
import { SvcError } from "../contract/error.ts";
import { didYouMean } from "../contract/nearest.ts";
import { cloneValue, type JsonObject } from "../contract/value.ts";
import { AREAS } from "./catalog/areas.ts";
import { DATASETS } from "./catalog/datasets.ts";
import { DEPRECATED_METRICS, METRICS } from "./catalog/metrics.ts";
import { TASKS } from "./catalog/tasks.ts";
import type { DatasetEntry, DeprecatedMetric, MetricEntry, Modality, TaskEntry } from "./catalog/types.ts";

export type { AreaEntry, DatasetEntry, DeprecatedMetric, MetricEntry, TaskEntry } from "./catalog/types.ts";

/**
 * The whole catalogue as data, as `svc research catalog` prints it.
 *
 * @returns `{schema_version, areas, datasets, tasks, metrics}`, a copy of the caller's own
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { researchCatalog } from "./catalog.ts";
 *
 * const { tasks } = researchCatalog() as { tasks: { id: string }[] };
 * assert.ok(tasks.some(({ id }) => id === "bit_transport"));
 * ```
 */
export function researchCatalog(): JsonObject {
  return cloneValue({
    schema_version: 1,
    areas: [...AREAS],
    datasets: [...DATASETS],
    tasks: [...TASKS],
    metrics: METRICS.map((metric) => ({ ...metric })),
  });
}

const byId = <T extends { id: string }>(rows: readonly T[]) => new Map(rows.map((row) => [row.id, row]));
const datasets = byId(DATASETS);
const tasks = byId(TASKS);
const metrics = byId(METRICS);
const deprecated = byId(DEPRECATED_METRICS);

/** Ids that hold parameters of the operation or await its definition, and the entry that speaks for them. */
const PATTERNS: readonly [RegExp, string][] = [
  [/^retrieval\.hit_at_\d+$/, "retrieval.hit_at_1"],
  [/^detection\.(recall|precision|f1)_at_iou_\d+(p\d+)?_conf_\d+(p\d+)?$/, "detection.$1_at_iou_0p5_conf_0"],
  [/^caption\.\w+$/, "caption.*"],
];

export const allDatasets = (): readonly DatasetEntry[] => DATASETS;
export const allTasks = (): readonly TaskEntry[] => TASKS;
export const allMetrics = (): readonly MetricEntry[] => METRICS;
export const allDeprecatedMetrics = (): readonly DeprecatedMetric[] => DEPRECATED_METRICS;

/** The data set of an id, or undefined. */
export const findDataset = (id: string): DatasetEntry | undefined => datasets.get(id);
/** The task of an id, or undefined. */
export const findTask = (id: string): TaskEntry | undefined => tasks.get(id);
/** The deprecated metric of an id, or undefined. */
export const findDeprecatedMetric = (id: string): DeprecatedMetric | undefined => deprecated.get(id);

/** The metric of an id, or undefined. An id with other parameters than the catalogue's gets the entry of its kind. */
export function findMetric(id: string): MetricEntry | undefined {
  const exact = metrics.get(id);
  if (exact !== undefined) return exact;
  const [pattern, template] = PATTERNS.find(([candidate]) => candidate.test(id)) ?? [];
  return pattern && { ...metrics.get(id.replace(pattern, template!))!, id, name: id };
}

/** A hint for an id that no data set has. */
export const nearestDataset = (id: string): string | null => didYouMean(id, datasets.keys());
/** A hint for an id that no task has. */
export const nearestTask = (id: string): string | null => didYouMean(id, tasks.keys());
/** A hint for an id that no metric has. */
export const nearestMetric = (id: string): string | null => didYouMean(id, metrics.keys());

/**
 * The entry of an id.
 *
 * @param kind `dataset`, `task` or `metric`
 * @throws SvcError `not_found` with the nearest id, or the replacement of a deprecated one, as the hint
 */
export function catalogEntry(kind: "dataset" | "task" | "metric", id: string): DatasetEntry | TaskEntry | MetricEntry {
  const found = { dataset: findDataset, task: findTask, metric: findMetric }[kind](id);
  if (found !== undefined) return found;
  const replaced = kind === "metric" ? findDeprecatedMetric(id) : undefined;
  if (replaced !== undefined) {
    throw new SvcError("not_found", `Cannot show the metric ${id}: it is deprecated`, {
      hint: `Use ${replaced.replacement}. ${replaced.reason}`,
    });
  }
  throw new SvcError("not_found", `Cannot find the ${NAMES[kind]} ${id} in the research catalogue`, {
    hint: { dataset: nearestDataset, task: nearestTask, metric: nearestMetric }[kind](id) ??
      `svc research ${kind}s lists them`,
  });
}

const NAMES = { dataset: "data set", task: "task", metric: "metric" };

/** Families that say something about any link, whatever it carries. */
const GENERAL = new Set(["task", "channel", "codec", "rate", "memory", "timing"]);

/** What a metric is about: its family, or within the task families the task. */
function topicOf({ id, family }: MetricEntry): string {
  return family === "tasks" ? id.slice(0, id.indexOf(".")) : family;
}

/** Whether a metric can score a task: it says something about any link, or is about what the task's own metrics are. */
export function suitsTask(metric: MetricEntry, task: TaskEntry): boolean {
  if (GENERAL.has(metric.family)) return true;
  const own = [...task.metrics, ...task.optional_metrics].map((id) => topicOf(findMetric(id)!));
  return own.includes(topicOf(metric));
}

/** What a task on pictures, words or sound can be tried on; tasks on the link take any payload. */
const CARRIERS: Partial<Record<Modality, readonly Modality[]>> = {
  image: ["image", "multimodal", "generic"],
  text: ["text", "multimodal", "generic"],
  audio: ["audio", "multimodal", "generic"],
  multimodal: ["image", "text", "audio", "multimodal", "generic"],
};

/** Whether a task can be tried on a data set. */
export function carriesTask(dataset: DatasetEntry, task: TaskEntry): boolean {
  return CARRIERS[task.modality]?.includes(dataset.modality) ?? true;
}
