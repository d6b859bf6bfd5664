/** Aggregates and comparisons of a benchmark for people. */
import { toNumber } from "../contract/value.ts";
import type { ResultDiff } from "../benchmark/compare_results.ts";
import type { AggregateRow, BenchmarkResult, Measure, ResultRow } from "../benchmark/types.ts";
import { formatNumber } from "./headline.ts";
import { formatTable } from "./table.ts";

const number = (value: Measure | null) => value === null ? "" : formatNumber(toNumber(value), false);

/** One row per recipe and metric; of a rate with counts the interval over its pooled counts. */
export function aggregateTable({ aggregates }: BenchmarkResult): string {
  const pooled = new Set(
    aggregates.filter(({ ci_method }) => ci_method === "wilson").map(({ recipe_id, metric }) =>
      `${recipe_id}|${metric}`
    ),
  );
  const shown = aggregates.filter(({ ci_method, recipe_id, metric }) =>
    ci_method === "wilson" || !pooled.has(`${recipe_id}|${metric}`)
  );
  return formatTable(
    shown.map((row) => ({
      recipe: row.recipe_id,
      metric: row.metric,
      value: row.upper_bound === undefined ? number(row.mean) : `<${number(row.upper_bound)}`,
      interval: intervalText(row),
      n: row.n,
      events: row.events === undefined ? "" : `${row.events}/${row.trials}`,
      stopped: row.stop_reason ?? "",
    })),
    [
      { key: "recipe" },
      { key: "metric" },
      { key: "value", align: "right" },
      { key: "interval" },
      { key: "n", align: "right" },
      { key: "events", align: "right" },
      ...(shown.some(({ stop_reason }) => stop_reason !== undefined) ? [{ key: "stopped" }] : []),
    ],
  );
}

function intervalText({ ci_low, ci_high, upper_bound }: AggregateRow): string {
  if (upper_bound !== undefined || ci_low === null || ci_high === null) return "";
  return `${number(ci_low)} to ${number(ci_high)}`;
}

/** Who is better than whom, and how sure that is; only what was tested. */
export function comparisonTable({ comparisons }: BenchmarkResult): string {
  const tested = comparisons.filter(({ p_value }) => p_value !== null);
  if (tested.length === 0) return "";
  return formatTable(
    tested.map((row) => ({
      candidate: row.candidate_id,
      baseline: row.baseline_id,
      metric: row.metric,
      difference: number(row.mean_difference),
      p: number(row.p_value_holm),
      n: row.n,
      better: row.better ?? (row.distinguishable ? "different" : "not distinguishable"),
    })),
    [
      { key: "candidate" },
      { key: "baseline" },
      { key: "metric" },
      { key: "difference", align: "right" },
      { key: "p", title: "p (Holm)", align: "right" },
      { key: "n", align: "right" },
      { key: "better" },
    ],
  );
}

/**
 * What keeps every comparison from being told apart, whatever the numbers: an exact test of n pairs cannot give less
 * than 2 / 2^n, and the correction multiplies that. Null where nothing does.
 */
export function powerRemark({ comparisons }: BenchmarkResult): string | null {
  const tested = comparisons.filter(({ p_method }) => p_method === "sign_flip");
  if (tested.length === 0 || tested.some(({ distinguishable }) => distinguishable)) return null;
  const level = 1 - toNumber(tested[0].confidence_level);
  const most = Math.max(...tested.map(({ n }) => n));
  if (tested.length * 2 / 2 ** most < level) return null;
  const needed = Math.ceil(Math.log2(2 * comparisons.length / level));
  return `${most} replicates cannot tell ${comparisons.length} comparisons apart at ${
    formatNumber(level, false)
  }: at least ${needed} are needed`;
}

/** Rows that did not complete, and why. */
export function problemLines(rows: readonly ResultRow[]): string[] {
  return rows.filter(({ status }) => status !== "completed").map((row) => {
    const why = row.error?.message ?? row.skip_reason ??
      (row.resource_admission === undefined ? "" : `over the budget of ${row.resource_admission.metric}`);
    return `${row.id} r${row.replicate}  ${row.status.replaceAll("_", " ")}: ${why}`;
  });
}

/** Two results side by side, and what their intervals say. */
export function resultDiffTable({ metrics }: ResultDiff): string {
  const words = { untold: "no interval", only_a: "only in the first", only_b: "only in the second" } as const;
  return formatTable(
    metrics.map((row) => ({
      recipe: row.recipe_id,
      metric: row.metric,
      a: number(row.a),
      b: number(row.b),
      relative: row.relative === null ? "" : `${(100 * toNumber(row.relative)).toFixed(2)} %`,
      verdict: words[row.verdict as keyof typeof words] ?? row.verdict,
    })),
    [
      { key: "recipe" },
      { key: "metric" },
      { key: "a", align: "right" },
      { key: "b", align: "right" },
      { key: "relative", title: "b - a", align: "right" },
      { key: "verdict" },
    ],
  );
}
