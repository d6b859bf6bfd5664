/** Tables of reports as GitHub Markdown. */
import { markdownTable as tableOf } from "../../contract/escape.ts";
import type { ReportTable } from "./report_tables.ts";

/** A table; the unit follows the title of its column. */
export function markdownTable({ columns, rows }: Pick<ReportTable, "columns" | "rows">): string {
  return tableOf(
    columns.map(({ title, unit, align }) => ({ title: unit === "" ? title : `${title} (${unit})`, align })),
    rows,
  );
}
