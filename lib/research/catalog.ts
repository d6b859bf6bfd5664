/** The research catalogue (areas, datasets, tasks and metrics: the rows of `catalog.json`), and look-ups. */
import { SvcError } from "../contract/error.ts";
import { Suggestions } from "../contract/nearest.ts";
import { isNumber, type JsonObject, toNumber } from "../contract/value.ts";
import rows from "./catalog.json" with { type: "json" };
import type { AreaEntry, DatasetEntry, DeprecatedMetric, MetricEntry, Modality, TaskEntry } from "./catalog_types.ts";

export type { DatasetEntry, MetricEntry, TaskEntry } from "./catalog_types.ts";

export type Catalog = {
  schema_version: 1;
  areas: AreaEntry[];
  datasets: DatasetEntry[];
  tasks: TaskEntry[];
  metrics: MetricEntry[];
};

const CATALOG = rows as Omit<Catalog, "schema_version"> & { deprecated_metrics: DeprecatedMetric[] };

/**
 * The catalogue as data, as in `svc research catalog`.
 * @returns `{schema_version, areas, datasets, tasks, metrics}`, a fresh copy
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { researchCatalog } from "./catalog.ts";
 *
 * const { tasks } = researchCatalog();
 * assert.ok(tasks.some(({ id }) => id === "bit_transport"));
 * ```
 */
export function researchCatalog(): Catalog {
  const { deprecated_metrics: _, ...published } = CATALOG;
  return structuredClone({ schema_version: 1, ...published });
}

const byId = <T extends { id: string }>(entries: readonly T[]) => new Map(entries.map((entry) => [entry.id, entry]));
const datasets = byId(CATALOG.datasets);
const tasks = byId(CATALOG.tasks);
const metrics = byId(CATALOG.metrics);
const deprecated = byId(CATALOG.deprecated_metrics);

/** Ids with other parameter values, and the entry of their kind. */
const PATTERNS: readonly [RegExp, string][] = [
  [/^retrieval\.(hit|relevant_recall|ndcg)_at_\d+$/, "retrieval.$1_at_1"],
  [/^detection\.(recall|precision|f1|ap)_at_iou_\d+(p\d+)?_conf_\d+(p\d+)?$/, "detection.$1_at_iou_0p5_conf_0"],
  [/^detection\.map_at_iou_0p5_to_0p95_conf_\d+(p\d+)?$/, "detection.map_at_iou_0p5_to_0p95_conf_0"],
  [
    /^detection\.class_f1_at_iou_\d+(p\d+)?_conf_\d+(p\d+)?\.[\p{L}\p{N}_]+$/u,
    "detection.class_f1_at_iou_0p5_conf_0.*",
  ],
  [
    /^segmentation\.semantic_raster_pooled_class_iou\.[\p{L}\p{N}_]+$/u,
    "segmentation.semantic_raster_pooled_class_iou.*",
  ],
  [/^caption\.\w+$/, "caption.*"],
];

export const allDatasets = (): readonly DatasetEntry[] => CATALOG.datasets;
export const allTasks = (): readonly TaskEntry[] => CATALOG.tasks;
export const allMetrics = (): readonly MetricEntry[] => CATALOG.metrics;

export const findDataset = (id: string): DatasetEntry | undefined => datasets.get(id);
export const findTask = (id: string): TaskEntry | undefined => tasks.get(id);
export const findDeprecatedMetric = (id: string): DeprecatedMetric | undefined => deprecated.get(id);

/**
 * The metric of an id, or undefined. An id with parameters outside the catalogue has the entry of its kind; root mean squares
 * have the metrics `<metric>.squared_sum` and `<metric>.count`.
 */
export function findMetric(id: string): MetricEntry | undefined {
  const exact = metrics.get(id);
  if (exact !== undefined) return exact;
  const root = /^(.+)\.(squared_sum|count)$/.exec(id), of = root === null ? undefined : metrics.get(root[1]);
  if (of?.reduction === "root_mean_square") {
    const part = root![2] === "count"
      ? { name: `Errors of ${of.name}`, unit: "errors", statistic: "count" as const }
      : { name: `Sum of squares of ${of.name}`, unit: `(${of.unit})^2`, statistic: "mean" as const };
    return { id, family: of.family, direction: "neutral", reduction: "sum", ...part };
  }
  const [pattern, template] = PATTERNS.find(([candidate]) => candidate.test(id)) ?? [];
  return pattern && { ...metrics.get(id.replace(pattern, template!))!, id, name: id };
}

/** Rounding of values in single precision may leave the range by this. */
const ROUNDING = 1e-6;

/**
 * Checks measured values of metrics that the catalogue declares a fraction.
 * @throws SvcError `metric_out_of_range` for a value outside 0 … 1
 */
export function checkFractions(metrics: JsonObject): void {
  for (const [id, value] of Object.entries(metrics)) {
    if (!isNumber(value) || findMetric(id)?.unit !== "fraction") continue;
    const measured = toNumber(value);
    if (measured >= -ROUNDING && measured <= 1 + ROUNDING) continue;
    throw new SvcError(
      "metric_out_of_range",
      `Cannot record ${id} of ${measured}: the metric is a fraction from 0 to 1`,
      {
        hint: `Check the inputs of the step; svc research show metric ${id} prints the declaration`,
      },
    );
  }
}

/** Hint for an unknown dataset id. */
export const nearestDataset = (id: string, suggestions = new Suggestions()): string | null =>
  suggestions.for(id, datasets.keys());
/** Hint for an unknown task id. */
export const nearestTask = (id: string, suggestions = new Suggestions()): string | null =>
  suggestions.for(id, tasks.keys());
/** Hint for an unknown metric id. */
export const nearestMetric = (id: string, suggestions = new Suggestions()): string | null =>
  suggestions.for(id, metrics.keys());

/**
 * The entry of an id.
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

const NAMES = { dataset: "dataset", task: "task", metric: "metric" };

/** Families that apply to any link, whatever its content. */
const GENERAL = new Set(["task", "channel", "codec", "rate", "memory", "timing"]);

/** The topic of a metric: its family, or within the task families the task. */
function topicOf({ id, family }: MetricEntry): string {
  return family === "tasks" ? id.slice(0, id.indexOf(".")) : family;
}

/** Whether a metric can score a task: it applies to any link, or has a topic of the task's own metrics. */
export function suitsTask(metric: MetricEntry, task: TaskEntry): boolean {
  if (GENERAL.has(metric.family)) return true;
  const own = [...task.metrics, ...task.optional_metrics].map((id) => topicOf(findMetric(id)!));
  return own.includes(topicOf(metric));
}

/** Dataset modalities of tasks on images, texts or audio; tasks on the link accept any payload. */
const CARRIERS: Partial<Record<Modality, readonly Modality[]>> = {
  image: ["image", "multimodal", "generic"],
  text: ["text", "multimodal", "generic"],
  audio: ["audio", "multimodal", "generic"],
  multimodal: ["image", "text", "audio", "multimodal", "generic"],
};

/** Whether a task can run on a dataset. */
export function carriesTask(dataset: DatasetEntry, task: TaskEntry): boolean {
  return CARRIERS[task.modality]?.includes(dataset.modality) ?? true;
}

/** Counts of channel uses and resource elements. */
const USES = /(^|\.)(channel_use_count|uses_per_\w+|resource_element_count)$/;

/**
 * Whether a metric counts what a link spends or is set to: rates, bits, channel uses, dimensions. No noise acts on it where
 * all replicates have one value.
 */
export const isAccounting = ({ id, family, statistic }: Pick<MetricEntry, "id" | "family" | "statistic">): boolean =>
  statistic === "constant" || ["rate", "codec", "nr"].includes(family) || USES.test(id);
