/** The numbers of completed rows that statistics are made of: per recipe, replicate by replicate, declared metrics only. */
import { isNumber, toNumber } from "../contract/value.ts";
import type { PackMetric, ResultRow } from "./types.ts";

/** Declared metrics of one completed row, and the counts of its rates. */
export interface Sample {
  replicate: number;
  values: { [metric: string]: number };
}

/** Takes what statistics need from a row; null where it did not complete. */
export function sampleOf(
  row: Pick<ResultRow, "status" | "replicate" | "metrics">,
  metrics: readonly Pick<PackMetric, "id" | "counts">[],
): Sample | null {
  if (row.status !== "completed") return null;
  const values: Sample["values"] = {};
  for (const { id, counts } of metrics) {
    for (const name of [id, ...(counts === null ? [] : [counts.events, counts.trials])]) {
      const value = row.metrics[name];
      if (isNumber(value)) values[name] = toNumber(value);
    }
  }
  return { replicate: Number(row.replicate), values };
}

/** Events and trials summed over samples; null where a sample lacks them, or nothing was tried. */
export function pooledCounts(
  samples: readonly Sample[],
  { counts }: Pick<PackMetric, "counts">,
): { events: number; trials: number } | null {
  if (counts === null) return null;
  let events = 0, trials = 0;
  for (const { values } of samples) {
    if (values[counts.events] === undefined || values[counts.trials] === undefined) return null;
    events += values[counts.events];
    trials += values[counts.trials];
  }
  return trials > 0 ? { events, trials } : null;
}
