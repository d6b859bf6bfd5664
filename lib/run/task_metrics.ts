/** The metrics of the task of a run, for its summary. */
import { isNumber, type JsonObject } from "../contract/value.ts";
import type { StepRow } from "../execute/types.ts";

/** Ids of the metrics that a research declaration names. */
export const taskMetricIds = (research: JsonObject | null): string[] =>
  ((research?.metrics ?? []) as { id: string }[]).map(({ id }) => id);

/** The value of each metric of the task that one step alone produced; a metric of several steps has no value of the run. */
export function taskMetrics(rows: readonly Pick<StepRow, "metrics">[], research: JsonObject | null): JsonObject {
  return Object.fromEntries(
    taskMetricIds(research).flatMap((id) => {
      const values = rows.flatMap(({ metrics }) => isNumber(metrics[id]) ? [metrics[id]] : []);
      return values.length === 1 ? [[id, values[0]]] : [];
    }),
  );
}
