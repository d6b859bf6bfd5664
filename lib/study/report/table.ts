/** Tables for readers: one form of rows and columns, and its writers for Markdown, LaTeX, HTML and notebooks. */
import { escapeLatex, escapeXml, latexComment, markdownTable } from "../../contract/escape.ts";
import { canonicalJson } from "../../contract/json.ts";
import { isNumber, toNumber, type Value } from "../../contract/value.ts";
import { latexTable } from "../../figure/latex.ts";
import { estimateText, type NumberForm, numberText, type ShownEstimate } from "../../figure/number_text.ts";
import type { BenchmarkIdentity, BenchmarkResult } from "../pack/types.ts";

/** A text to be escaped by the writer, or one already in the output language. */
export type Cell = string | { readonly written: string };

export interface ReportColumn {
  title: string;
  /** Under the title; empty for none. */
  unit: string;
  align: "left" | "right";
}

/** Columns and their cells, for writers that need no title. */
export interface Grid {
  columns: ReportColumn[];
  rows: Cell[][];
}

export interface ReportTable extends Grid {
  id: "results" | "rate_differences" | "intervals" | "comparisons" | "not_completed";
  title: string;
  /** Notes for readers. */
  notes: string[];
}

export const left = (title: string): ReportColumn => ({ title, unit: "", align: "left" });
export const right = (title: string, unit = ""): ReportColumn => ({ title, unit, align: "right" });

/** A number, rounded to `digits`; a dash for none. */
export const numberCell = (value: Value | undefined, form: NumberForm, digits?: number): Cell => ({
  written: numberText(isNumber(value ?? null) ? toNumber(value as number) : null, form, digits),
});

/** A value with its interval or bound; a dash for none. */
export const estimateCell = (estimate: ShownEstimate | null, form: NumberForm): Cell => ({
  written: estimateText(estimate, form),
});

/** A value of a document; a dash for none. */
export function valueCell(value: Value | undefined, form: NumberForm): Cell {
  if (value === undefined || value === null) return "–";
  return isNumber(value) ? numberCell(value, form) : fieldText(value);
}

/** A field of a CSV file: texts as they are, an empty field for null, numbers with every digit. */
export const fieldText = (value: Value | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : canonicalJson(value);

/** Titles with units, and the texts of the cells. */
export function cellTexts({ columns, rows }: Grid): [string[], string[][]] {
  const texts = rows.map((row) => row.map((cell) => typeof cell === "string" ? cell : cell.written));
  return [columns.map(titleText), texts];
}

const titleText = ({ title, unit }: ReportColumn) => unit === "" ? title : `${title} (${unit})`;

/** A GitHub Markdown table; the unit follows the title of its column. */
export const tableMarkdown = ({ columns, rows }: Grid): string =>
  markdownTable(columns.map((column) => ({ title: titleText(column), align: column.align })), rows);

const latexCell = (cell: Cell) => typeof cell === "string" ? escapeLatex(cell) : cell.written.replaceAll("–", "--");

/** The tables of a result as LaTeX (booktabs), one float each. */
export function tablesLatex(
  result: Pick<BenchmarkResult, "result_id"> & { benchmark: Pick<BenchmarkIdentity, "id" | "version"> },
  tables: readonly ReportTable[],
  mark: string | null = null,
): string {
  const { id: pack, version } = result.benchmark;
  const head = latexComment(`${`${pack} ${version}`.trim()}, result ${result.result_id}`);
  const texts = tables.map(({ id, title, columns, rows, notes }) =>
    latexTable({
      caption: `${[`${title} of ${pack}${mark === null ? "" : ` (${mark})`}`, ...notes].join(". ")}.`,
      label: `${pack}-${id}`,
      align: columns.map(({ align }) => align[0]).join(""),
      head: columns.map((column) => escapeLatex(titleText(column))),
      rows: rows.map((row) => row.map(latexCell)),
    })
  );
  return `${head}\n% Needs \\usepackage{booktabs}\n` + texts.map((text) => "\n" + text).join("");
}

/** A table of an HTML page, with its notes. */
export function tableHtml({ id, title, columns, rows, notes }: ReportTable): string {
  const text = (cell: Cell) => escapeXml(typeof cell === "string" ? cell : cell.written);
  const aligned = (tag: string, i: number, extra = "") =>
    `<${tag}${extra}${columns[i].align === "right" ? ' class="r"' : ""}>`;
  const heads = columns.map((column, i) => `${aligned("th", i, ' scope="col"')}${escapeXml(titleText(column))}</th>`);
  const lines = rows.map((row) => {
    const cells = row.map((cell, i) =>
      i === 0 ? `<th scope="row">${text(cell)}</th>` : `${aligned("td", i)}${text(cell)}</td>`
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  return [
    `<div class="scroll" tabindex="0" role="region" aria-labelledby="table-${id}">`,
    `<table><caption id="table-${id}">${escapeXml(title)}</caption>`,
    `<thead><tr>${heads.join("")}</tr></thead>`,
    `<tbody>${lines.join("\n")}</tbody></table></div>`,
    ...notes.map((note) => `<p class="note">${escapeXml(note)}.</p>`),
    ...(notes.length === 0 ? ['<p class="note"></p>'] : []),
  ].join("\n");
}
