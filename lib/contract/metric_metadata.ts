/** Counts of rates over statistical units in documents: `metric_metadata` of steps, reports and benchmark rows. */
import type { RateCounts, StatisticalUnit } from "../numeric/rate_interval.ts";
import { float, isNumber, isObject, type JsonObject, toNumber } from "./value.ts";

/** Record of a step's rates. For bits, the sums over units equal the counts and are omitted. */
export function rateMetadata(rates: Readonly<Record<string, RateCounts>>): JsonObject {
  const record = (
    { events_squared, events_trials, trials_squared, complement, ...counts }: RateCounts,
  ): JsonObject => ({
    ...counts,
    ...(counts.unit === "bit" ? {} : {
      events_squared: float(events_squared),
      events_trials: float(events_trials),
      trials_squared: float(trials_squared),
    }),
    ...(complement ? { complement } : {}),
  });
  return {
    metric_metadata: Object.fromEntries(Object.entries(rates).map(([metric, counts]) => [metric, record(counts)])),
  };
}

/** The recorded counts of a metric of a step or a row, or null. */
export function recordedRate(
  { metric_metadata: all }: { metric_metadata?: unknown },
  metric: string,
): RateCounts | null {
  const record = isObject(all) ? all[metric] : undefined;
  if (!isObject(record) || typeof record.unit !== "string" || !isNumber(record.trials)) return null;
  const count = (key: string, absent = 0) => {
    const value = record[key];
    return isNumber(value) ? toNumber(value) : absent;
  };
  const unit = record.unit as StatisticalUnit, events = count("events"), trials = count("trials");
  return {
    events,
    trials,
    unit,
    units: count("units"),
    unit_failures: count("unit_failures"),
    events_squared: count("events_squared", events),
    events_trials: count("events_trials", events),
    trials_squared: count("trials_squared", trials),
    ...(record.complement === true ? { complement: true } : {}),
  };
}
