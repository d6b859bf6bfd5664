/** The numbers of a figure as a table, with all digits. */
import { csvText } from "../contract/escape.ts";
import { matrixCells, panelCells } from "./matrix_spec.ts";
import type { BoxFigure, Figure, HeatFigure } from "./types.ts";

const field = (value: string | number | boolean | null | undefined) =>
  value === null || value === undefined ? "" : String(value);

/** One line per point, bar, box or cell. */
export function figureCsv(figure: Figure): string {
  if (figure.form === "heat" || figure.form === "boxes") return csvText(cellLines(figure));
  if (figure.form === "matrix" && figure.panels !== undefined) {
    const cells = panelCells(figure).map((cell) =>
      [cell.row, cell.column, cell.truth, cell.predicted, cell.count, cell.share].map(field)
    );
    return csvText([
      ["series", "condition", "true_class", "predicted_class", "count", "share_of_true_class"],
      ...cells,
    ]);
  }
  if (figure.form === "matrix") {
    const cells = matrixCells(figure).map(({ truth, predicted, count, share }) => [truth, predicted, count, share]);
    return csvText([
      ["true_class", "predicted_class", "count", "share_of_true_class"],
      ...cells.map((row) => row.map(field)),
    ]);
  }
  if (figure.form === "bars") {
    const rows = figure.bars.map(({ label, kind, value, low, high }) => [label, kind, value, low, high].map(field));
    return csvText([["series", "kind", "value", "low", "high"], ...rows]);
  }
  if (figure.form === "levels") {
    const rows = figure.amount.values.map((power, k) =>
      [k, figure.floor.values[k], power, figure.level?.value].map(field)
    );
    return csvText([["channel", "floor", "power", "level"], ...rows]);
  }
  const isLabelled = figure.series.some(({ points }) => points.some((point) => point.label !== undefined));
  const rows = figure.series.flatMap(({ label, kind, points }) =>
    points.map(({ x, y, low, high, bound, outage, front, n, label: text }) =>
      [label, kind, x, y, low, high, bound, outage, front, n, ...(isLabelled ? [text] : [])].map(field)
    )
  );
  const names = ["series", "kind", "x", "y", "low", "high", "upper_bound", "outage", "pareto_front", "n"];
  return csvText([isLabelled ? [...names, "label"] : names, ...rows]);
}

/** The cells of a heat map or the boxes of a figure as lines of texts, the names of the columns first. */
export function cellLines(figure: HeatFigure | BoxFigure): string[][] {
  if (figure.form === "heat") {
    const { columns, rows, cells } = figure;
    return [
      ["x", "y", "value", "low", "high", "upper_bound", "n"],
      ...cells.map(({ column, row, value, low, high, bound, n }) =>
        [columns[column], rows[row], value, low, high, bound, n].map(field)
      ),
    ];
  }
  return [
    ["series", "x", "n", "whisker_low", "quartile_1", "median", "quartile_3", "whisker_high", "outliers"],
    ...figure.boxes.map(({ series, place, n, low, q1, median, q3, high, outliers }) =>
      [series, place, n, low, q1, median, q3, high, outliers.join(" ")].map(field)
    ),
  ];
}
