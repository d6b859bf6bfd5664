/** Rows for people, spreadsheets and documents: aligned text, CSV and Markdown from one description. */
import { csvText, markdownTable, visibleLine } from "../contract/escape.ts";
import { streams, terminalWidth, unicodeWanted } from "./terminal.ts";

export { formatBytes } from "../contract/units.ts";

export type TableFormat = "table" | "csv" | "md";
export type Row = Record<string, string | number | null>;

interface FullColumn {
  key: string;
  title?: string;
  align?: "left" | "right";
}

/** A text names a column by its key. */
export type Column = string | FullColumn;

/** A column of numbers. */
export const right = (key: string, title?: string): FullColumn => ({ key, title, align: "right" });

const cell = (row: Row, column: FullColumn): string => {
  const value = row[column.key];
  return value === null || value === undefined ? "" : String(value);
};

/** Writes rows in the wanted format; the first line names the columns. */
export function formatTable(rows: readonly Row[], wanted: readonly Column[], format: TableFormat = "table"): string {
  const columns = wanted.map((column): FullColumn => typeof column === "string" ? { key: column } : column);
  const titles = columns.map((column) => column.title ?? column.key);
  const lines = rows.map((row) => columns.map((column) => cell(row, column)));
  if (format === "csv") return csvText([titles, ...lines]);
  if (format === "md") return markdownTable(columns.map(({ align }, i) => ({ title: titles[i], align })), lines);
  const texts = [titles, ...lines].map((line) => line.map(visibleLine));
  const full = columns.map((_, i) => texts.reduce((widest, line) => Math.max(widest, line[i].length), 0));
  const widths = streams().stdout.isTerminal() ? fitWidths(full, columns, terminalWidth()) : full;
  const write = (line: string[]) =>
    line.map((text, i) => columns[i].align === "right" ? text.padStart(widths[i]) : cut(text, widths[i]))
      .join("  ").trimEnd() + "\n";
  return texts.map(write).join("");
}

const GAP = 2, NARROWEST = 12;

/**
 * Column widths that fit a terminal: the widest columns of text are shortened first; numbers never are, nor does the first
 * column, which holds the name to copy. Where that is not enough, lines stay longer than the terminal.
 * Exported for tests.
 * @param wanted width of the widest cell of each column
 * @param limit columns of the terminal
 */
export function fitWidths(wanted: readonly number[], columns: readonly FullColumn[], limit: number): number[] {
  const widths = [...wanted];
  const texts = columns.flatMap(({ align }, i) => i === 0 || align === "right" ? [] : [i]);
  let over = widths.reduce((sum, width) => sum + width + GAP, -GAP) - limit;
  while (over > 0) {
    const widest = Math.max(0, ...texts.map((i) => widths[i]));
    if (widest <= NARROWEST) break;
    widths[texts.find((i) => widths[i] === widest)!]--;
    over--;
  }
  return widths;
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text.padEnd(width);
  return text.slice(0, width - 1) + (unicodeWanted() ? "…" : "~");
}

/** A duration for people. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
