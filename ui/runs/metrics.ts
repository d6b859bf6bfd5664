/** Metrics for readers: names, units and directions from the research catalogue, values with the digits that matter. */
import { recordedEstimate } from "../../lib/contract/metric_metadata.ts";
import { type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { estimateText, numberText } from "../../lib/figure/number_text.ts";
import { type NoEvent, type RateCounts, rateEstimate } from "../../lib/numeric/scores/rate_interval.ts";
import { get, type Reply } from "../api.ts";
import { signal } from "../preact.ts";

export type MetricEntry = Reply<"/api/research/catalog">["metrics"][number];

export const metricEntries = signal<ReadonlyMap<string, MetricEntry>>(new Map());
/** The metrics of a task, most telling first. */
const taskMetrics = signal<ReadonlyMap<string, readonly string[]>>(new Map());
let loading: Promise<void> | undefined;

/** Fetches the catalogue where that was not done yet. */
export function loadMetrics(): Promise<void> {
  return loading ??= get("/api/research/catalog").then(({ metrics, tasks }) => {
    taskMetrics.value = new Map(tasks.map(({ id, metrics }) => [id, metrics]));
    metricEntries.value = new Map(metrics.map((entry) => [entry.id, entry]));
  }).catch((error) => {
    loading = undefined;
    throw error;
  });
}

/** The entry of a metric, as it is listed or as `<step>:<metric>`. */
export const entryOf = (metric: string): MetricEntry | undefined =>
  metricEntries.value.get(metric.slice(metric.indexOf(":") + 1));

export const metricsOf = (task: string | null | undefined): readonly string[] =>
  taskMetrics.value.get(task ?? "") ?? [];

/** Metrics that a run of no known task shows first, most telling first. */
const KEYS = [
  "quality.psnr_db",
  "semantic.lexical_similarity",
  "text.edit_similarity",
  "channel.payload.ber",
  "channel.ber",
  "channel.bler",
  "channel.outage_rate",
];

const bare = (name: string) => name.slice(name.indexOf(":") + 1);

/** Of the names of metrics, those that are wanted, else the most telling one; times and memory never. */
export function headlineOf(names: readonly string[], wanted: readonly string[]): string[] {
  const find = (key: string) => names.findLast((name) => bare(name) === key) ?? [];
  const found = wanted.flatMap(find);
  if (found.length > 0) return found;
  const directed = names.filter((name) => (entryOf(name)?.direction ?? "neutral") !== "neutral");
  return [KEYS.flatMap(find)[0] ?? directed[0] ?? names[0]].filter((name) => name !== undefined);
}

/** The metric that says most about a run of a task. */
export const keyMetric = (metrics: Record<string, unknown>, task?: string | null): string | null =>
  headlineOf(Object.keys(metrics).filter((name) => !isVolatile(name)), metricsOf(task))[0] ?? null;

/** Whether a metric is a time or a memory size, which differ from run to run. */
export const isVolatile = (metric: string): boolean => /^(timing|memory|encoder|decoder)\./.test(bare(metric));

/** A value for a table: four digits; texts and truth values as they are. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "true" : "false";
  const number = Number(value);
  if (typeof value === "string" || Number.isNaN(number)) return typeof value === "object" ? "…" : String(value);
  // Counts keep every digit.
  if (Number.isInteger(number) && Math.abs(number) < 1e15) return number.toLocaleString("en").replaceAll(",", "\u202f");
  return numberText(number, "unicode");
}

/** A metric of a step: a rate, a root mean square or an NMSE with its 95 % interval or bound, other values by themselves. */
export const measuredText = (
  { metrics, metadata }: { metrics: Record<string, unknown>; metadata: JsonObject },
  metric: string,
): string => {
  const estimate = recordedEstimate(metadata, metric);
  return estimate === null ? valueText(metrics[metric]) : estimateText(estimate, "unicode");
};

/** The same of a value and its counts. */
export function shownMetric(value: unknown, rate: RateCounts | undefined): string {
  const estimate = rate === undefined ? null : rateEstimate(rate, 0.95);
  return estimate === null ? valueText(value) : estimateText(estimate, "unicode");
}

/** A measured value with its interval or bound, as documents have them. */
export function estimateOf(
  mean: Value | undefined,
  low?: Value,
  high?: Value,
  bound?: Value,
  none?: NoEvent | null,
): string {
  const number = (value: Value | undefined) => value == null ? null : toNumber(value as number);
  const upper = number(bound);
  return estimateText(
    {
      mean: number(mean),
      low: number(low),
      high: number(high),
      ...(upper === null ? {} : { bound: upper }),
      ...(none ? { none } : {}),
    },
    "unicode",
  );
}

export const directionText = (direction: string | undefined): string =>
  direction === "higher_is_better" ? "higher is better" : direction === "lower_is_better" ? "lower is better" : "";

/** `2026-11-22T00:41:20.779Z` as `2026-11-22 00:41:20`. */
export const timeText = (utc: string | null): string => utc === null ? "–" : utc.slice(0, 19).replace("T", " ");
