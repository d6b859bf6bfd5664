/** Tables as LaTeX for `\input`, with the rules of booktabs: \usepackage{booktabs}. */
import type { Cell, ReportColumn, ReportTable } from "./report_tables.ts";
import type { BenchmarkResult } from "./types.ts";

const SPECIAL: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "–": "--",
  "—": "---",
  "°": "$^\\circ$",
  "²": "$^2$",
  "±": "$\\pm$",
  "≤": "$\\le$",
  "×": "$\\times$",
  "−": "$-$",
  "µ": "$\\mu$",
};

/** A text in which every character stands for itself. */
export function escapeLatex(text: string): string {
  return text.replace(/[\\~^–—°²±≤×−µ]|[&%$#_{}]/g, (character) => SPECIAL[character] ?? `\\${character}`)
    .replace(/\s*[\r\n]+\s*/g, " ");
}

const cellText = (cell: Cell) => typeof cell === "string" ? escapeLatex(cell) : cell.written.replaceAll("–", "--");
const titleText = ({ title, unit }: ReportColumn) =>
  escapeLatex(title) + (unit === "" ? "" : ` (${escapeLatex(unit)})`);
const rowText = (cells: readonly string[]) => `    ${cells.join(" & ")} \\\\\n`;

function tableText(result: BenchmarkResult, { id, title, columns, rows, notes }: ReportTable): string {
  const label = `tab:${result.benchmark.id}-${id}`.replace(/[^A-Za-z0-9:.-]/g, "-");
  return [
    "\\begin{table}\n  \\centering\n",
    `  \\caption{${[`${title} of ${result.benchmark.id}`, ...notes].map(escapeLatex).join(". ")}.}\n`,
    `  \\label{${label}}\n`,
    `  \\begin{tabular}{${columns.map(({ align }) => align[0]).join("")}}\n    \\toprule\n`,
    rowText(columns.map(titleText)),
    "    \\midrule\n",
    ...rows.map((row) => rowText(row.map(cellText))),
    "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n",
  ].join("");
}

/** The tables of a result, one float each. */
export function latexTables(result: BenchmarkResult, tables: readonly ReportTable[]): string {
  const head = `% ${result.benchmark.id} ${result.benchmark.version}, result ${result.result_id}\n` +
    `% Needs \\usepackage{booktabs}\n`;
  return head.replaceAll(/[^\x20-\x7e\n]/g, "?") + tables.map((table) => "\n" + tableText(result, table)).join("");
}
