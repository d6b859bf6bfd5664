/** The metrics of a run in one mapping, for tables. */
import { join } from "node:path";
import { isObject, type JsonObject } from "../contract/value.ts";
import { SUMMARY_FILE } from "../run/documents.ts";
import { readDocument } from "../run/read.ts";
import type { Workspace } from "../run/workspace.ts";

/**
 * Metrics of all steps by name, timings of steps left out. A metric that several steps report stands as `<step>:<metric>`
 * once for each.
 */
export function flattenedMetrics(workspace: Workspace, runId: string): JsonObject {
  let summary: JsonObject;
  try {
    summary = readDocument(join(workspace.runs, runId), SUMMARY_FILE);
  } catch {
    return {};
  }
  const steps = (Array.isArray(summary.steps) ? summary.steps : []).filter(isObject);
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
