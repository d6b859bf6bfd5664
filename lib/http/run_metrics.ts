/** The metrics of a run in one mapping, for tables. */
import { isObject, type JsonObject } from "../contract/value.ts";

/**
 * Metrics of all steps by name, timings of steps left out. A metric of several steps has an entry `<step>:<metric>` for
 * each.
 * @param summary of the run; null where it cannot be read
 */
export function flattenedMetrics(summary: JsonObject | null): JsonObject {
  const steps = (Array.isArray(summary?.steps) ? summary.steps : []).filter(isObject);
  const rows = steps.flatMap(({ id, metrics }) =>
    Object.entries(isObject(metrics) ? metrics : {})
      .filter(([name]) => !name.startsWith("timing."))
      .map(([name, value]) => ({ step: String(id), name, value }))
  );
  const count = new Map<string, number>();
  for (const { name } of rows) count.set(name, (count.get(name) ?? 0) + 1);
  return Object.fromEntries(
    rows.map(({ step, name, value }) => [count.get(name)! > 1 ? `${step}:${name}` : name, value]),
  );
}
