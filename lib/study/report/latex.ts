/** The tables of a result as LaTeX. */
import { escapeLatex, latexComment } from "../../contract/escape.ts";
import { latexTable } from "../../figure/latex.ts";
import type { Cell, ReportColumn, ReportTable } from "./report_tables.ts";
import type { BenchmarkIdentity, BenchmarkResult } from "../pack/types.ts";

const cellText = (cell: Cell) => typeof cell === "string" ? escapeLatex(cell) : cell.written.replaceAll("–", "--");
const titleText = ({ title, unit }: ReportColumn) =>
  escapeLatex(title) + (unit === "" ? "" : ` (${escapeLatex(unit)})`);

/** The tables of a result, one float each. */
export function latexTables(
  result: Pick<BenchmarkResult, "result_id"> & { benchmark: Pick<BenchmarkIdentity, "id" | "version"> },
  tables: readonly ReportTable[],
): string {
  const { id: pack, version } = result.benchmark;
  const head = latexComment(`${`${pack} ${version}`.trim()}, result ${result.result_id}`);
  const texts = tables.map(({ id, title, columns, rows, notes }) =>
    latexTable({
      caption: `${[`${title} of ${pack}`, ...notes].join(". ")}.`,
      label: `${pack}-${id}`,
      align: columns.map(({ align }) => align[0]).join(""),
      head: columns.map(titleText),
      rows: rows.map((row) => row.map(cellText)),
    })
  );
  return `${head}\n% Needs \\usepackage{booktabs}\n` + texts.map((text) => "\n" + text).join("");
}
