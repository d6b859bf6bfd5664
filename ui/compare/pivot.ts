/** A metric over two parameters: runs that share both are one cell, with their mean, their spread and their count. */
import { canonicalJson } from "../../lib/contract/json.ts";
import { Float, isNumber, toNumber, type Value } from "../../lib/contract/value.ts";
import { numberText, plusMinusText } from "../../lib/figure/number_text.ts";
import { escapeLatex } from "../../lib/contract/escape.ts";
import { latexTable } from "../../lib/figure/latex.ts";
import { csvText } from "../charts/table.ts";
import type { ComparedRun } from "./table.ts";

export interface PivotCell {
  mean: number;
  /** Sample standard deviation; null of a single run. */
  spread: number | null;
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
      const values = runs.filter((run) => keyOf(run, rowName) === row && keyOf(run, columnName) === column)
        .map((run) => run.metrics.get(metric)).filter((value): value is number | Float => isNumber(value ?? null))
        .map(toNumber);
      return values.length === 0 ? null : cellOf(values);
    })
  );
  return { rowName, columnName, metric, rows, columns, cells };
}

function cellOf(values: readonly number[]): PivotCell {
  const n = values.length, mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, spread: n > 1 ? Math.sqrt(squares / (n - 1)) : null, n };
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

export type NumberForm = "plain" | "unicode" | "latex";

export function cellText(cell: PivotCell | null, form: NumberForm): string {
  if (cell === null) return "–";
  if (cell.spread === null) return numberText(cell.mean, form);
  return plusMinusText(cell.mean, cell.spread, form);
}

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
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line([corner(pivot), ...pivot.columns]) + line(["---", ...pivot.columns.map(() => "---:")]) +
    pivot.rows.map((row, index) => line([row, ...pivot.cells[index].map((cell) => cellText(cell, "unicode"))])).join(
      "",
    );
}

/** One row a cell, every digit kept. */
export function pivotCsv(pivot: Pivot): string {
  return csvText({
    columns: [pivot.rowName || "row", pivot.columnName || "column", "metric", "mean", "standard_deviation", "n"],
    rows: pivot.rows.flatMap((row, r) =>
      pivot.columns.flatMap((column, c) => {
        const cell = pivot.cells[r][c];
        return cell === null ? [] : [[
          row,
          column,
          pivot.metric,
          String(cell.mean),
          cell.spread === null ? "" : String(cell.spread),
          `${cell.n}`,
        ]];
      })
    ),
  });
}
