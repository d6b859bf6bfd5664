/** The metrics of a run in one mapping, for tables. */
import { lstatSync } from "node:fs";
import type { Session } from "../api/session.ts";
import { recordedRate } from "../contract/metric_metadata.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { rateEstimate } from "../numeric/scores/rate_interval.ts";
import { SUMMARY_FILE } from "../run/documents.ts";

/** What a list of runs shows of a summary. */
interface Listed {
  metrics: JsonObject;
  intervals: JsonObject;
  /** All metrics, those of the run as a whole included. */
  names: string[];
}

/** Runs of which it is kept. */
const MOST_KEPT = 2000;
const kept = new WeakMap<Session, Map<string, { stamp: string; listed: Listed }>>();

/**
 * What a list shows of some runs. A summary is parsed once, until its file changes: parsing a hundred takes most of the time of
 * a list.
 */
export async function listedMetrics(session: Session, ids: readonly string[]): Promise<Listed[]> {
  const known = kept.get(session) ?? new Map<string, { stamp: string; listed: Listed }>();
  kept.set(session, known);
  const stamps = new Map(ids.map((id) => {
    const file = lstatSync(`${session.workspace.runs}/${id}/${SUMMARY_FILE}`, { bigint: true, throwIfNoEntry: false });
    return [id, file === undefined ? "" : `${file.ino}:${file.mtimeNs}:${file.size}`];
  }));
  const wanted = ids.filter((id) => stamps.get(id) === "" || known.get(id)?.stamp !== stamps.get(id));
  const summaries = wanted.length === 0 ? [] : await session.runs.summaries(wanted);
  wanted.forEach((id, at) => {
    const summary = summaries[at], metrics = flattenedMetrics(summary);
    const all = [...Object.keys(metrics), ...Object.keys(isObject(summary?.metrics) ? summary.metrics : {})];
    const names = all.map((name) => name.slice(name.indexOf(":") + 1));
    known.delete(id);
    known.set(id, { stamp: stamps.get(id)!, listed: { metrics, intervals: flattenedIntervals(summary), names } });
  });
  const listed = ids.map((id) => known.get(id)!.listed);
  for (const id of known.keys()) {
    if (known.size <= MOST_KEPT) break;
    known.delete(id);
  }
  return listed;
}

/**
 * Metrics of all steps by name, timings of steps left out. A metric of several steps has an entry `<step>:<metric>` for
 * each.
 * @param summary of the run; null where it cannot be read
 */
const flattenedMetrics = (summary: JsonObject | null): JsonObject => flattened(summary, (_, __, value) => value);

/**
 * Intervals at 95 % of the rates, `{low, high}`, or the upper `{bound}` of one without events, under the names of
 * {@link flattenedMetrics}. The interval of clustered trials is left out: a list of runs has no time for it.
 */
const flattenedIntervals = (summary: JsonObject | null): JsonObject =>
  flattened(summary, (step, metric): JsonObject | undefined => {
    const rate = recordedRate(isObject(step.metadata) ? step.metadata : {}, metric);
    if (rate === null) return undefined;
    const isEvent = (rate.complement ? rate.trials - rate.events : rate.events) > 0;
    if (isEvent && rate.units !== rate.trials) return undefined;
    const { low, high, bound } = rateEstimate(rate, 0.95) ?? {};
    if (bound !== undefined) return { bound };
    return low == null || high == null ? undefined : { low, high };
  });

function flattened(
  summary: JsonObject | null,
  read: (step: JsonObject, metric: string, value: Value) => Value | undefined,
): JsonObject {
  const steps = (Array.isArray(summary?.steps) ? summary.steps : []).filter(isObject);
  const rows = steps.flatMap((step) =>
    Object.entries(isObject(step.metrics) ? step.metrics : {})
      .filter(([name]) => !name.startsWith("timing."))
      .map(([name, value]) => ({ step, name, value }))
  );
  const count = new Map<string, number>();
  for (const { name } of rows) count.set(name, (count.get(name) ?? 0) + 1);
  return Object.fromEntries(
    rows.flatMap(({ step, name, value }) => {
      const found = read(step, name, value);
      return found === undefined ? [] : [[count.get(name)! > 1 ? `${String(step.id)}:${name}` : name, found]];
    }),
  );
}
