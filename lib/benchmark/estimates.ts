/**
 * What a result says about one metric of one recipe: the aggregate where there is one, else an estimate made of the rows.
 * Tables, figures and pages all ask here, so that they never disagree.
 */
import { toNumber } from "../contract/value.ts";
import { findMetric } from "../research/catalog.ts";
import { aggregate } from "./aggregate.ts";
import { sampleOf } from "./samples.ts";
import type { AggregateRow, BenchmarkResult, Measure, PackMetric, ResultRow } from "./types.ts";

export type IntervalMethod = AggregateRow["ci_method"];

/** Value and interval of a metric; the value is null where a rate showed no event and only a bound is known. */
export interface Estimate {
  /** Replicates that it rests on. */
  n: number;
  mean: number | null;
  low: number | null;
  high: number | null;
  /** How the interval was made; null where there is none. */
  method: IntervalMethod | null;
  events?: number;
  trials?: number;
  /** Of a rate without any event. */
  upperBound?: number;
}

/** What a metric is called, measured in and good for. */
export interface MetricFacts {
  id: string;
  name: string;
  unit: string;
  direction: PackMetric["direction"];
  statistic: PackMetric["statistic"];
  counts: PackMetric["counts"];
}

/** Declared by the pack, else known to the catalogue, else nothing but its id. */
export function metricFacts(result: BenchmarkResult, id: string): MetricFacts {
  const declared = result.benchmark.metrics.find((metric) => metric.id === id);
  const known = findMetric(id);
  return {
    id,
    name: known?.name ?? id,
    unit: declared?.unit ?? known?.unit ?? "",
    direction: declared?.direction ?? known?.direction ?? "neutral",
    statistic: declared?.statistic ?? known?.statistic ?? "mean",
    counts: declared?.counts ?? known?.counts ?? null,
  };
}

/** The recipes of a result in the order of the pack: each by the first of its rows. */
export function recipesOf(result: BenchmarkResult): ResultRow[] {
  const seen = new Set<string>();
  return result.recipes.filter(({ id }) => !seen.has(id) && seen.add(id));
}

/** Completed rows of a recipe, replicate by replicate. */
export function completedRows(result: BenchmarkResult, recipeId: string): ResultRow[] {
  return result.recipes.filter((row) => row.id === recipeId && row.status === "completed");
}

/** Whether recipes were run more than once. */
export function isReplicated(result: BenchmarkResult): boolean {
  return result.recipes.some((row) => row.replicate > 0);
}

const numberOrNull = (value: Measure | null | undefined) =>
  value === null || value === undefined ? null : toNumber(value);

function ofAggregate(row: AggregateRow): Estimate {
  const { n, events, trials } = row;
  const upperBound = row.upper_bound === undefined ? {} : { upperBound: toNumber(row.upper_bound) };
  const interval = { low: numberOrNull(row.ci_low), high: numberOrNull(row.ci_high) };
  return {
    n,
    // A rate without events has a bound, not a value, however it is averaged.
    mean: row.upper_bound === undefined ? numberOrNull(row.mean) : null,
    ...interval,
    method: interval.low === null ? null : row.ci_method,
    ...(events === undefined ? {} : { events }),
    ...(trials === undefined ? {} : { trials }),
    ...upperBound,
  };
}

/**
 * The estimate of a metric.
 * @param prefer which interval to take where the result has both: `wilson` counts every trial as independent,
 *   `student_t` goes by the spread over replicates
 * @returns null when no completed row has the metric
 */
export function estimateOf(
  result: BenchmarkResult,
  recipeId: string,
  metric: string,
  prefer: IntervalMethod = "wilson",
): Estimate | null {
  const stored = result.aggregates.filter((row) => row.recipe_id === recipeId && row.metric === metric);
  const rows = stored.length > 0 ? stored : aggregated(result, recipeId, metric);
  if (rows.length === 0) return null;
  const silent = rows.find((row) => row.upper_bound !== undefined && row.ci_low !== null);
  if (silent !== undefined) return ofAggregate(silent);
  const usable = rows.filter((row) => row.ci_low !== null);
  return ofAggregate(usable.find((row) => row.ci_method === prefer) ?? usable[0] ?? rows[0]);
}

/** Aggregates of a metric that the pack does not declare. */
function aggregated(result: BenchmarkResult, recipeId: string, metric: string): AggregateRow[] {
  const rows = completedRows(result, recipeId);
  const facts = metricFacts(result, metric);
  const counted = facts.counts !== null && rows.every(({ metrics }) => facts.counts!.events in metrics);
  const declared = { ...facts, counts: counted ? facts.counts : null };
  const samples = rows.map((row) => sampleOf(row, [declared])).filter((sample) => sample !== null);
  return aggregate([{ id: recipeId, samples }], [declared], result.replication?.confidence_level ?? 0.95);
}
