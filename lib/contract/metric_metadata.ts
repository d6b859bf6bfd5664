/**
 * Counts of rates and sums of ratios over statistical units in documents: `metric_metadata` of steps, reports and benchmark
 * rows. A root mean square also has the metrics `<metric>.squared_sum` and `<metric>.count`.
 */
import { type PooledMetric, pooledValue, type RatioSums } from "../numeric/pooled_ratio.ts";
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

const SUMS = [
  "numerator",
  "denominator",
  "units",
  "numerator_squared",
  "numerator_denominator",
  "denominator_squared",
] as const satisfies (keyof RatioSums)[];

/** Metrics of ratios of sums: their values, and of root mean squares squared sums and counts. Undefined values are left out. */
export function pooledMetrics(
  pooled: Readonly<Record<string, PooledMetric | undefined>>,
): Record<string, number | bigint> {
  return Object.fromEntries(
    Object.entries(pooled).flatMap(([metric, given]): [string, number | bigint][] => {
      const value = given === undefined ? null : pooledValue(given);
      if (value === null) return [];
      const { reduction, sums: { numerator, denominator } } = given!;
      return reduction === "root_mean_square"
        ? [[metric, value], [`${metric}.squared_sum`, numerator], [`${metric}.count`, BigInt(denominator)]]
        : [[metric, value]];
    }),
  );
}

/** Record of a step's rates and ratios of sums; empty without any. */
export function pooledMetadata(
  pooled: Readonly<Record<string, PooledMetric | undefined>>,
  rates?: Readonly<Record<string, RateCounts>>,
): JsonObject {
  const record = ({ reduction, sums }: PooledMetric): JsonObject => ({
    reduction,
    ...Object.fromEntries(SUMS.map((key) => [key, key === "units" ? sums.units : float(sums[key])])),
  });
  const { metric_metadata: counted } = rateMetadata(rates ?? {}) as { metric_metadata: JsonObject };
  const recorded = Object.entries(pooled).flatMap(([metric, given]) =>
    given === undefined || pooledValue(given) === null ? [] : [[metric, record(given)] as const]
  );
  return rates === undefined && recorded.length === 0
    ? {}
    : { metric_metadata: { ...counted, ...Object.fromEntries(recorded) } };
}

/** The recorded sums of a metric of a step or a row, or null. */
export function recordedPooled(
  { metric_metadata: all }: { metric_metadata?: unknown },
  metric: string,
): PooledMetric | null {
  const record = isObject(all) ? all[metric] : undefined;
  if (!isObject(record) || typeof record.reduction !== "string" || !SUMS.every((key) => isNumber(record[key]))) {
    return null;
  }
  const sums = Object.fromEntries(SUMS.map((key) => [key, toNumber(record[key] as number)]));
  return { reduction: record.reduction as PooledMetric["reduction"], sums: sums as unknown as RatioSums };
}
