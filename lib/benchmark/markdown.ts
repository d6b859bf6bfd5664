/** Tables as GitHub Markdown. */
import type { Cell, ReportTable } from "./report_tables.ts";

/** Escapes a text for a Markdown cell: it neither ends the cell nor is read as markup. Exported for tests. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|]/g, "\\$&").replace(/\s*[\r\n]+\s*/g, " ");
}

const cellText = (cell: Cell) => typeof cell === "string" ? escapeMarkdown(cell) : cell.written.replaceAll("|", "\\|");

/** A table; the unit follows the title of its column. */
export function markdownTable({ columns, rows }: Pick<ReportTable, "columns" | "rows">): string {
  const titles = columns.map(({ title, unit }) => escapeMarkdown(title) + (unit === "" ? "" : ` (${unit})`));
  const ruler = columns.map(({ align }) => align === "right" ? "---:" : "---");
  return [titles, ruler, ...rows.map((row) => row.map(cellText))].map((line) => `| ${line.join(" | ")} |\n`).join("");
}
