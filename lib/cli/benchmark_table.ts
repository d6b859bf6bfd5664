/** Aggregates and comparisons of a benchmark for people. */
import { visibleLine } from "../contract/escape.ts";
import { UNITS } from "../contract/metric_metadata.ts";
import { toNumber } from "../contract/value.ts";
import { differenceOf, metricFacts, ofAggregate, shownAggregates } from "../study/rows/estimates.ts";
import { estimateText, numberText } from "../figure/number_text.ts";
import { unitText } from "../figure/unit_text.ts";
import type { ResultDiff } from "../study/report/compare_results.ts";
import { type BenchmarkResult, EXACT, type Measure, type ResultRow } from "../study/pack/types.ts";
import { formatTable, right } from "./table.ts";

const number = (value: Measure | null) => value === null ? "" : numberText(toNumber(value), "unicode");

/** One row per recipe and metric. */
export function aggregateTable(result: BenchmarkResult): string {
  const shown = shownAggregates(result);
  return formatTable(
    shown.map((row) => ({
      recipe: row.recipe_id,
      metric: row.metric,
      value: estimateText(ofAggregate(row), "unicode", unitText(metricFacts(result, row.metric).unit)),
      n: row.n,
      events: row.events === undefined ? "" : `${row.events}/${row.trials}`,
      units: unitsText(row),
      stopped: row.stop_reason ?? "",
    })),
    [
      ...["recipe", "metric", "value", right("n"), right("events"), right("units", "failed units")],
      ...(shown.some(({ stop_reason }) => stop_reason !== undefined) ? ["stopped"] : []),
    ],
  );
}

/** Failed units of a rate, and the number of units of a root mean square, which has no failures. */
function unitsText({ unit, unit_failures, units }: BenchmarkResult["aggregates"][number]): string {
  if (unit === undefined) return "";
  return `${unit_failures === undefined ? "" : `${unit_failures}/`}${units} ${UNITS[unit]}`;
}

/** The tested comparisons, with the better method and the p-value. */
export function comparisonTable({ comparisons }: BenchmarkResult): string {
  const tested = comparisons.filter(({ p_value, reason }) => p_value !== null || reason === EXACT);
  if (tested.length === 0) return "";
  return formatTable(
    tested.map((row) => ({
      candidate: row.candidate_id,
      baseline: row.baseline_id,
      metric: row.metric,
      difference: estimateText(differenceOf(row), "unicode"),
      pairs: row.pairing === "item" ? "items" : "replicates",
      p: row.reason === EXACT ? "exact" : number(row.p_value_holm),
      n: row.n,
      better: row.better ??
        (row.distinguishable ? "different" : row.reason === EXACT ? "equal" : "not distinguishable"),
    })),
    ["candidate", "baseline", "metric", "difference", "pairs", right("p", "p (Holm)"), right("n"), "better"],
  );
}

/** Rows that did not complete, and why. */
export function problemLines(rows: readonly ResultRow[]): string[] {
  return rows.filter(({ status }) => status !== "completed").map((row) => {
    const why = row.error?.message ?? row.skip_reason ??
      (row.resource_admission === undefined ? "" : `over the budget of ${row.resource_admission.metric}`);
    return visibleLine(`${row.id} r${row.replicate}  ${row.status.replaceAll("_", " ")}: ${why}`);
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
    ["recipe", "metric", right("a"), right("b"), right("relative", "b - a"), "verdict"],
  );
}
