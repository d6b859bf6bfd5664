/** The numbers of completed rows for statistics: per recipe, replicate by replicate, declared metrics only. */
import { recordedPooled, recordedRate } from "../../contract/metric_metadata.ts";
import { isNumber, isObject, toNumber } from "../../contract/value.ts";
import type { PooledMetric } from "../../numeric/scores/pooled_ratio.ts";
import type { RateCounts } from "../../numeric/scores/rate_interval.ts";
import type { PackMetric, ResultRow } from "./types.ts";

/** Declared metrics of one completed row, the counts of its rates, and the values of items such as images. */
export interface Sample {
  replicate: number;
  values: { [metric: string]: number };
  rates: { [metric: string]: RateCounts };
  /** Of metrics that pool by sums, such as root mean squares; absent without any. */
  pooled?: { [metric: string]: PooledMetric };
  items: { [metric: string]: { [item: string]: number } };
  /** Metrics on which no seed acts; absent for none. */
  unseeded?: readonly string[];
  /** False where the replicates of the recipe repeat each other; absent for true. */
  independent?: false;
}

/** Extracts the statistics of a row; null for a row that did not complete. */
export function sampleOf(
  row: Pick<
    ResultRow,
    | "status"
    | "replicate"
    | "metrics"
    | "metric_metadata"
    | "item_metrics"
    | "replicates_independent"
    | "unseeded_metrics"
  >,
  metrics: readonly Pick<PackMetric, "id">[],
): Sample | null {
  if (row.status !== "completed") return null;
  const sample: Sample = { replicate: Number(row.replicate), values: {}, rates: {}, items: {} };
  if (row.replicates_independent === false) sample.independent = false;
  if (row.unseeded_metrics !== undefined) sample.unseeded = row.unseeded_metrics;
  for (const { id } of metrics) {
    const value = row.metrics[id], rate = recordedRate(row, id), items = row.item_metrics?.[id];
    if (isNumber(value)) sample.values[id] = toNumber(value);
    if (rate !== null) sample.rates[id] = rate;
    const sums = recordedPooled(row, id);
    if (sums !== null) (sample.pooled ??= {})[id] = sums;
    if (isObject(items)) {
      sample.items[id] = Object.fromEntries(Object.entries(items).map(([item, value]) => [item, toNumber(value)]));
    }
  }
  return sample;
}
