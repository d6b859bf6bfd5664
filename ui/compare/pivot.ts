/** A metric over two parameters: runs that share both are one cell, with their mean, their spread and their count. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { isNumber, toNumber, type Value } from "../../lib/contract/value.ts";
import { estimateText, type NumberForm, type ShownEstimate } from "../../lib/figure/number_text.ts";
import { estimateOver } from "../../lib/numeric/scores/estimate_over.ts";
import { mean, standardDeviation } from "../../lib/numeric/scores/statistics.ts";
import { escapeLatex, markdownTable } from "../../lib/contract/escape.ts";
import { latexTable } from "../../lib/figure/latex.ts";
import { csvText } from "../charts/csv.ts";
import type { ComparedRun } from "./table.ts";

/**
 * Runs of one cell together: a rate with its 95 % interval or bound, a root mean square or NMSE over the examples of all runs
 * with its 95 % interval, else the mean ± one standard deviation.
 */
export interface PivotCell extends ShownEstimate {
  n: number;
}

export interface Pivot {
  rowName: string;
  columnName: string;
  metric: string;
  rows: string[];
  columns: string[];
  /** Null where no run has both. */
  cells: (PivotCell | null)[][];
}

/** The one row or column of a pivot that is over a single parameter. */
const ALL = "all runs";

/** Makes a pivot; `""` in the place of a parameter puts all runs into one row or column. */
export function pivotOf(runs: readonly ComparedRun[], rowName: string, columnName: string, metric: string): Pivot {
  const keyOf = (run: ComparedRun, name: string) => name === "" ? ALL : valueKey(run.parameters.get(name));
  const keys = (name: string) => sortedKeys([...new Set(runs.map((run) => keyOf(run, name)))]);
  const rows = keys(rowName), columns = keys(columnName);
  const cells = rows.map((row) =>
    columns.map((column) => {
      return pivotCell(
        runs.filter((run) => keyOf(run, rowName) === row && keyOf(run, columnName) === column),
        metric,
      );
    })
  );
  return { rowName, columnName, metric, rows, columns, cells };
}

/** A metric over runs; null where no run has it. */
export function pivotCell(runs: readonly ComparedRun[], metric: string): PivotCell | null {
  const having = runs.filter((run) => isNumber(run.metrics.get(metric) ?? null));
  if (having.length === 0) return null;
  const n = having.length;
  const records = having.map(({ rates, pooled }) => ({ rate: rates.get(metric), sums: pooled.get(metric) }));
  const recorded = estimateOver(records, 0.95);
  if (recorded !== null) return { ...recorded, n };
  const values = having.map((run) => toNumber(run.metrics.get(metric) as number)), centre = mean(values);
  const spread = n > 1 ? standardDeviation(values) : null;
  return {
    mean: centre,
    low: spread === null ? null : centre - spread,
    high: spread === null ? null : centre + spread,
    n,
  };
}

/** A value as the head of a row: texts bare, 6.0 as 6. */
export function valueKey(value: Value | undefined): string {
  if (value === undefined) return "–";
  if (typeof value === "string") return value;
  return isNumber(value) ? String(toNumber(value)) : canonicalJson(value);
}

/** Numbers by size, then texts. */
function sortedKeys(keys: string[]): string[] {
  const rank = (key: string) => key !== "" && !Number.isNaN(Number(key)) ? Number(key) : Infinity;
  return keys.sort((a, b) => rank(a) === rank(b) ? (a < b ? -1 : 1) : rank(a) - rank(b));
}

/** A cell as it is shown. */
export const cellText = (cell: PivotCell | null, form: NumberForm): string => estimateText(cell, form);

const corner = ({ rowName, columnName }: Pivot) => [rowName, columnName].filter(Boolean).join(" \\ ") || "runs";

/** The pivot as a LaTeX table with the rules of booktabs. */
export function pivotLatex({ rowName, columnName, metric, rows, columns, cells }: Pivot): string {
  return "% Needs \\usepackage{booktabs}\n" + latexTable({
    caption: `${metric}${columnName ? ` over ${columnName}` : ""}.`,
    label: metric,
    align: `l${"r".repeat(columns.length)}`,
    head: [rowName || "runs", ...columns].map(escapeLatex),
    rows: rows.map((row, index) => [
      escapeLatex(row),
      ...cells[index].map((cell) => cell === null ? "--" : cellText(cell, "latex")),
    ]),
  });
}

export function pivotMarkdown(pivot: Pivot): string {
  const columns = [{ title: corner(pivot) }, ...pivot.columns.map((title) => ({ title, align: "right" as const }))];
  return markdownTable(
    columns,
    pivot.rows.map((
      row,
      index,
    ) => [row, ...pivot.cells[index].map((cell) => ({ written: cellText(cell, "unicode") }))]),
  );
}

/** One row a cell, every digit kept. */
export function pivotCsv(pivot: Pivot): string {
  return csvText({
    columns: [
      pivot.rowName || "row",
      pivot.columnName || "column",
      "metric",
      "mean",
      "low",
      "high",
      "upper_bound",
      "n",
      "shown",
    ],
    rows: pivot.rows.flatMap((row, r) =>
      pivot.columns.flatMap((column, c) => {
        const cell = pivot.cells[r][c];
        return cell === null ? [] : [[
          row,
          column,
          pivot.metric,
          ...[cell.mean, cell.low, cell.high, cell.bound].map((value) => String(value ?? "")),
          `${cell.n}`,
          cellText(cell, "unicode"),
        ]];
      })
    ),
  });
}
