/**
 * Counts of rates and sums of ratios over statistical units in documents: `metric_metadata` of steps, reports and benchmark
 * rows. A root mean square also has the metrics `<metric>.squared_sum` and `<metric>.count`.
 */
import { estimateOver, type RecordedEstimate } from "../numeric/scores/estimate_over.ts";
import { type PooledMetric, pooledValue, type RatioSums } from "../numeric/scores/pooled_ratio.ts";
import { type NoEvent, type RateCounts, type StatisticalUnit, unitsBound } from "../numeric/scores/rate_interval.ts";
import { type Float, float, isNumber, isObject, type JsonObject, toNumber, type Value } from "./value.ts";

/** Statistical units in the plural. */
export const UNITS: Readonly<Record<StatisticalUnit | "example" | "replicate", string>> = {
  bit: "bits",
  fading_block: "fading blocks",
  source_item: "source items",
  transport_block: "transport blocks",
  packet: "packets",
  example: "examples",
  replicate: "replicates",
};

const exact = (value: number) => Number.isInteger(value) ? value : float(value);

/** Failed units in documents. */
export const failedUnits = (failed: NonNullable<RateCounts["failed_units"]>): (number | Float)[][] =>
  failed.map(([events, trials, count]) => [exact(events), trials, count]);

/** Record of a step's rates. Failed bits have no record of their own. */
export function rateMetadata(rates: Readonly<Record<string, RateCounts>>): JsonObject {
  const record = ({ failed_units, unit_sizes, bits, on_grid, complement, ...counts }: RateCounts): JsonObject => ({
    ...counts,
    ...(counts.unit === "bit" || failed_units === null ? {} : {
      failed_units: failedUnits(failed_units),
      unit_sizes: [...unit_sizes],
      ...(bits ? { bits } : {}),
      ...(on_grid ? { on_grid } : {}),
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
  const count = (key: string) => {
    const value = record[key];
    return isNumber(value) ? toNumber(value) : 0;
  };
  const unit = record.unit as StatisticalUnit, events = count("events"), trials = count("trials");
  const units = count("units"), unit_failures = count("unit_failures"), sizes = numbers(record.unit_sizes);
  const mean = units === 0 ? 0 : trials / units;
  return {
    events,
    trials,
    unit,
    units,
    unit_failures,
    failed_units: recordedFailures(record),
    unit_sizes: sizes?.length === 2 ? [sizes[0], sizes[1]] : [mean, mean],
    ...(unit === "bit" || record.bits === true ? { bits: true } : {}),
    ...(record.on_grid === true ? { on_grid: true } : {}),
    ...(record.complement === true ? { complement: true } : {}),
  };
}

const numbers = (value: unknown): number[] | null =>
  Array.isArray(value) && value.every((one) => isNumber(one)) ? value.map(toNumber) : null;

/** Older records have no failed units: those of one trial each are known, others not. */
function recordedFailures(
  { failed_units, unit, units, trials, unit_failures }: JsonObject,
): RateCounts["failed_units"] {
  const failures = toNumber(unit_failures as number);
  if (Array.isArray(failed_units)) {
    const rows = failed_units.map(numbers);
    if (rows.every((row) => row?.length === 3)) return rows.map((row) => [row![0], row![1], row![2]]);
    return null;
  }
  if (unit === "bit" || failures === 0) return [];
  return toNumber(units as number) === toNumber(trials as number) ? [[1, 1, failures]] : null;
}

/** An aggregate of a rate, as far as its bound goes. */
interface BoundedRow {
  unit?: unknown;
  units?: unknown;
  events?: unknown;
  upper_bound?: unknown;
  failed_units?: unknown;
  confidence_level: unknown;
}

/** What the units of an aggregate without events say; in older results the stored bound is that of the units. */
export function recordedNoEvent(row: BoundedRow): NoEvent | null {
  const read = (value: unknown) => isNumber(value as Value) ? toNumber(value as number) : null;
  const [units, upper, confidence] = [row.units, row.upper_bound, row.confidence_level].map(read);
  if (units === null || upper === null || confidence === null || row.unit === undefined) return null;
  const bound = row.failed_units === undefined ? upper : unitsBound(units, confidence);
  return { unit: row.unit as StatisticalUnit, units, bound, complement: (read(row.events) ?? 0) > 0, confidence };
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

/** The estimate of a metric of one step or row, or null. */
export const recordedEstimate = (
  record: { metric_metadata?: unknown },
  metric: string,
  confidence = 0.95,
): RecordedEstimate | null =>
  estimateOver([{ rate: recordedRate(record, metric), sums: recordedPooled(record, metric) }], confidence);
