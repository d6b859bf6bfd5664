/** The metrics of a run in one mapping, for tables. */
import { recordedRate } from "../contract/metric_metadata.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { rateEstimate } from "../numeric/scores/rate_interval.ts";

/**
 * Metrics of all steps by name, timings of steps left out. A metric of several steps has an entry `<step>:<metric>` for
 * each.
 * @param summary of the run; null where it cannot be read
 */
export const flattenedMetrics = (summary: JsonObject | null): JsonObject => flattened(summary, (_, __, value) => value);

/**
 * Intervals at 95 % of the rates, `{low, high}`, or the upper `{bound}` of one without events, under the names of
 * {@link flattenedMetrics}. The interval of clustered trials is left out: a list of runs has no time for it.
 */
export const flattenedIntervals = (summary: JsonObject | null): JsonObject =>
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
