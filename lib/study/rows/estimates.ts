/**
 * The estimate of a metric of a recipe: the aggregate if there is one, else an estimate from the rows. Tables, figures
 * and pages all use this module, so their numbers agree.
 */
import { recordedNoEvent, UNITS } from "../../contract/metric_metadata.ts";
import { toNumber } from "../../contract/value.ts";
import { findMetric } from "../../research/catalog.ts";
import { numberText, type ShownEstimate } from "../../figure/number_text.ts";
import { studentT } from "../../numeric/scores/inference.ts";
import type { StatisticalUnit } from "../../numeric/scores/rate_interval.ts";
import { aggregate } from "./aggregate.ts";
import { sampleOf } from "../pack/samples.ts";
import { allRows, recipeRows } from "./stored_rows.ts";
import { Tally } from "./tally.ts";
import type { AggregateRow, BenchmarkResult, ComparisonRow, Measure, PackMetric, ResultRow } from "../pack/types.ts";

/** Value and interval of a metric; the value is null for a rate without events, which has only a bound. */
export interface Estimate extends ShownEstimate {
  /** Number of replicates. */
  n: number;
  /** How the interval was made. */
  method: AggregateRow["ci_method"];
  /** Of a rate: what fails as one. */
  unit?: StatisticalUnit | "example";
}

/** Name, unit and direction of a metric. */
export interface MetricFacts {
  id: string;
  name: string;
  unit: string;
  direction: PackMetric["direction"];
}

/** Declared by the pack, else from the catalogue, else only the id. */
export function metricFacts(result: BenchmarkResult, id: string): MetricFacts {
  const declared = result.benchmark.metrics.find((metric) => metric.id === id);
  const known = findMetric(id);
  return {
    id,
    name: known?.name ?? id,
    unit: declared?.unit ?? known?.unit ?? "",
    direction: declared?.direction ?? known?.direction ?? "neutral",
  };
}

/** The recipes of a result in the order of the pack, each with the first of its rows. */
export function recipesOf(result: BenchmarkResult): ResultRow[] {
  const seen = new Set<string>();
  return recipeRows(result).filter(({ id }) => !seen.has(id) && seen.add(id));
}

/** Coordinates in which the recipes of a result differ, in the order of first appearance. */
export function coordinatesOf(result: BenchmarkResult): string[] {
  const names = new Set(recipeRows(result).flatMap((row) => Object.keys(row.matrix_selection ?? {})));
  return [...names];
}

/** Completed rows of recipes, replicate by replicate. */
export function* completedRows(result: BenchmarkResult, recipes: ReadonlySet<string>): Generator<ResultRow> {
  for (const row of allRows(result)) if (row.status === "completed" && recipes.has(row.id)) yield row;
}

/** Whether recipes have several replicates. */
export function isReplicated(result: BenchmarkResult): boolean {
  const { rows } = result, recipes = recipeRows(result);
  return rows === undefined ? recipes.some((row) => row.replicate > 0) : rows.count > recipes.length;
}

const numberOrNull = (value: Measure | null) => value === null ? null : toNumber(value);

/** An aggregate as an estimate. */
export function ofAggregate(row: AggregateRow): Estimate {
  const { n, mean, ci_low, ci_high, ci_method, unit, upper_bound } = row, none = recordedNoEvent(row);
  return {
    n,
    mean: numberOrNull(mean),
    low: numberOrNull(ci_low),
    high: numberOrNull(ci_high),
    method: ci_method,
    ...(unit === undefined || ci_method === "student_t" ? {} : { unit }),
    ...(upper_bound === undefined ? {} : { bound: toNumber(upper_bound) }),
    ...(none === null ? {} : { none }),
  };
}

/** The difference of a comparison with its interval. */
export function differenceOf({ mean_difference, ci_low, ci_high }: ComparisonRow): ShownEstimate {
  return { mean: toNumber(mean_difference), low: numberOrNull(ci_low), high: numberOrNull(ci_high) };
}

/** The aggregate of each recipe and metric that is shown: the first. */
export function shownAggregates({ aggregates }: Pick<BenchmarkResult, "aggregates">): AggregateRow[] {
  const seen = new Set<string>();
  return aggregates.filter(({ recipe_id, metric }) => {
    const key = `${recipe_id}|${metric}`;
    return !seen.has(key) && seen.add(key);
  });
}

/**
 * The estimate of a metric.
 * @returns null without a completed row that has the metric
 */
export function estimateOf(result: BenchmarkResult, recipeId: string, metric: string): Estimate | null {
  const stored = declared(result.aggregates).get(`${recipeId}|${metric}`);
  const row = stored ?? aggregated(result, recipeId, metric);
  return row === undefined ? null : ofAggregate(row);
}

const byMetric = new WeakMap<readonly AggregateRow[], Map<string, AggregateRow>>();

/** The shown aggregates by recipe and metric. */
function declared(aggregates: readonly AggregateRow[]): ReadonlyMap<string, AggregateRow> {
  const made = byMetric.get(aggregates) ??
    new Map(shownAggregates({ aggregates: [...aggregates] }).map((row) => [`${row.recipe_id}|${row.metric}`, row]));
  byMetric.set(aggregates, made);
  return made;
}

/** Aggregates of metrics that a pack does not declare, by result and metric: each takes a pass over all rows. */
const undeclared = new WeakMap<BenchmarkResult, Map<string, Map<string, AggregateRow>>>();

/** The aggregate of a metric that the pack does not declare. */
function aggregated(result: BenchmarkResult, recipeId: string, metric: string): AggregateRow | undefined {
  const known = undeclared.get(result) ?? new Map<string, Map<string, AggregateRow>>();
  undeclared.set(result, known);
  let rows = known.get(metric);
  if (rows === undefined) {
    const tallies = new Map<string, Tally>();
    for (const row of allRows(result)) {
      const sample = sampleOf(row, [{ id: metric }]);
      if (sample === null) continue;
      const tally = tallies.get(row.id) ?? new Tally(metric);
      tallies.set(row.id, tally);
      tally.add(sample);
    }
    const recipes = [...tallies].map(([id, tally]) => ({ id, tallies: [tally] }));
    const confidence = result.replication?.confidence_level ?? 0.95;
    rows = new Map();
    for (const row of aggregate(recipes, confidence)) if (!rows.has(row.recipe_id)) rows.set(row.recipe_id, row);
    known.set(metric, rows);
  }
  return rows.get(recipeId);
}

/**
 * The estimate of a metric over the items of a recipe, such as photographs: their values are averaged over the replicates
 * first, so that the interval says how much items differ, not how much the noise does.
 * @returns null without values of at least two items
 */
export function itemEstimateOf(result: BenchmarkResult, recipeId: string, metric: string): Estimate | null {
  const sums = new Map<string, { sum: number; n: number }>();
  for (const row of completedRows(result, new Set([recipeId]))) {
    for (const [item, value] of Object.entries(sampleOf(row, [{ id: metric }])?.items[metric] ?? {})) {
      const known = sums.getOrInsertComputed(item, () => ({ sum: 0, n: 0 }));
      known.sum += value;
      known.n++;
    }
  }
  if (sums.size < 2) return null;
  const values = Float64Array.from(sums.values(), ({ sum, n }) => sum / n);
  const { n, mean, low, high } = studentT(values, toNumber(result.replication?.confidence_level ?? 0.95));
  return { n, mean, low, high, method: "student_t", unit: "source_item" };
}

/**
 * What the intervals of a metric rest on, for captions: `95 % intervals over packets`; null where there are none.
 * @param ids the recipes shown
 */
export function intervalsText(
  result: BenchmarkResult,
  metric: string,
  ids: Iterable<string> = recipesOf(result).map(({ id }) => id),
  estimate = estimateOf,
): string | null {
  const found = [...ids].map((id) => estimate(result, id, metric))
    .filter((estimate) => estimate !== null && (estimate.low !== null || estimate.bound !== undefined));
  const names = new Set(found.map((estimate) => UNITS[estimate!.unit ?? "replicate"]));
  const level = numberText(toNumber(result.replication?.confidence_level ?? 0.95) * 100);
  return names.size === 0 ? null : `${level} % intervals over ${[...names].join(" and ")}`;
}

/** Names of the methods of intervals. */
export const METHODS: Readonly<Record<AggregateRow["ci_method"], string>> = {
  wilson: "Wilson",
  gaffke: "Gaffke",
  cluster_t: "clusters, t",
  cluster_exact: "clusters, exact",
  student_t: "Student t",
  none: "–",
  log_t: "Student t of the logarithm",
  weighted_t: "importance weights, Student t of the logarithm",
};
