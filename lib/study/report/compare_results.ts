/** Compares two results recipe by recipe: each metric with its interval, and whether the intervals overlap. */
import { float, toNumber } from "../../contract/value.ts";
import { shownAggregates } from "../rows/estimates.ts";
import type { AggregateRow, BenchmarkResult, Measure } from "../pack/types.ts";

/** One metric of one recipe in both results. */
export interface ResultDiffRow {
  recipe_id: string;
  metric: string;
  /** Null if the result does not have it. */
  a: Measure | null;
  b: Measure | null;
  a_ci: [Measure, Measure] | null;
  b_ci: [Measure, Measure] | null;
  /** b minus a; null if one is missing or has no event. */
  difference: Measure | null;
  relative: Measure | null;
  /**
   * `equal` bit by bit, `overlapping` intervals, `apart`, `untold` without an interval or with a metric of one result
   * only.
   */
  verdict: "equal" | "overlapping" | "apart" | "untold" | "only_a" | "only_b";
}

export interface ResultDiff {
  schema_version: 1;
  kind: "svc.benchmark_result_diff";
  a: string;
  b: string;
  /** Whether both have the same pack, by digest. */
  same_pack: boolean;
  /** Digests of rows and statistics without what differs between machines; null in schema version 1. */
  a_view_sha256: string | null;
  b_view_sha256: string | null;
  /** Whether all numbers are equal. */
  equal: boolean;
  metrics: ResultDiffRow[];
}

const aggregatesOf = (result: BenchmarkResult) =>
  new Map(shownAggregates(result).map((row) => [`${row.recipe_id}|${row.metric}`, row]));

/**
 * Compares two results.
 * @returns a row for each recipe and metric of either, in the order of the first
 */
export function compareResults(a: BenchmarkResult, b: BenchmarkResult): ResultDiff {
  const [first, second] = [aggregatesOf(a), aggregatesOf(b)];
  const keys = new Set([...first.keys(), ...second.keys()]);
  const metrics = [...keys].map((key) => compareRows(key, first.get(key), second.get(key)));
  return {
    schema_version: 1,
    kind: "svc.benchmark_result_diff",
    a: a.result_id,
    b: b.result_id,
    same_pack: a.benchmark.sha256 === b.benchmark.sha256,
    a_view_sha256: a.view_sha256 ?? null,
    b_view_sha256: b.view_sha256 ?? null,
    equal: metrics.every(({ verdict }) => verdict === "equal"),
    metrics,
  };
}

function compareRows(key: string, a: AggregateRow | undefined, b: AggregateRow | undefined): ResultDiffRow {
  const [recipe_id, metric] = [key.slice(0, key.indexOf("|")), key.slice(key.indexOf("|") + 1)];
  const value = (row: AggregateRow | undefined) => row?.mean ?? null;
  const interval = (row: AggregateRow | undefined): [Measure, Measure] | null =>
    row === undefined
      ? null
      : row.upper_bound !== undefined
      ? [float(0), row.upper_bound]
      : row.ci_low === null || row.ci_high === null
      ? null
      : [row.ci_low, row.ci_high];
  const [a_ci, b_ci] = [interval(a), interval(b)];
  const [x, y] = [value(a), value(b)];
  const difference = x === null || y === null ? null : toNumber(y) - toNumber(x);
  return {
    recipe_id,
    metric,
    a: x,
    b: y,
    a_ci,
    b_ci,
    difference: difference === null ? null : float(difference),
    relative: difference === null || toNumber(x!) === 0 ? null : float(difference / toNumber(x!)),
    verdict: a === undefined ? "only_b" : b === undefined ? "only_a" : verdictOf(a, b, a_ci, b_ci),
  };
}

function verdictOf(
  a: AggregateRow,
  b: AggregateRow,
  first: [Measure, Measure] | null,
  second: [Measure, Measure] | null,
): ResultDiffRow["verdict"] {
  const number = (value: Measure | null | undefined) => value === null || value === undefined ? null : toNumber(value);
  const same = number(a.mean) === number(b.mean) && a.n === b.n && number(a.ci_low) === number(b.ci_low) &&
    number(a.ci_high) === number(b.ci_high) && a.trials === b.trials;
  if (same) return "equal";
  if (first === null || second === null) return "untold";
  return toNumber(first[0]) <= toNumber(second[1]) && toNumber(second[0]) <= toNumber(first[1])
    ? "overlapping"
    : "apart";
}
