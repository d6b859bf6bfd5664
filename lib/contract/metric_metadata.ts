/** Counts of rates over statistical units in documents: `metric_metadata` of steps, reports and benchmark rows. */
import type { RateCounts } from "../numeric/rate_interval.ts";
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
  const read = Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, isNumber(value) ? toNumber(value) : value]),
  ) as unknown as RateCounts;
  const { unit, events, trials } = read;
  return unit === "bit" ? { ...read, events_squared: events, events_trials: events, trials_squared: trials } : read;
}
