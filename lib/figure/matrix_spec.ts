/**
 * Counts of a confusion matrix. Colour is the share of the row, the true class, or of the column, what was taken for a class;
 * the number is the count, or that share in per cent.
 */
import { type FigureStyle, isDark } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { FigureSpec, MatrixFigure } from "./types.ts";

export interface MatrixCell {
  truth: string;
  predicted: string;
  count: number;
  /** Of all items of the true class, or of the predicted one where cells are shares of columns; 0 where there were none. */
  share: number;
}

export function matrixCells({ labels, counts, cells }: MatrixFigure): MatrixCell[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const rows = counts.map(sum), columns = labels.map((_, j) => sum(counts.map((row) => row[j])));
  return counts.flatMap((row, i) =>
    row.map((count, j) => {
      const total = cells === "columns" ? columns[j] : rows[i];
      return {
        truth: labels[i],
        predicted: labels[j],
        count,
        share: total === 0 ? 0 : Number((count / total).toPrecision(12)),
      };
    })
  );
}

export function matrixViews(figure: MatrixFigure, style: FigureStyle): FigureSpec[] {
  const cells = matrixCells(figure), asCounts = (figure.cells ?? "counts") === "counts";
  const size = style.font_size;
  const widest = Math.max(...cells.map(({ count }) => textWidth(asCounts ? String(count) : "100 %", size)));
  const step = Math.max(widest + size, style.height / figure.labels.length, size * 2.2);
  const axis = { ticks: false, domain: false, grid: false, labelLimit: 0, title: "" };
  const crowded = Math.max(...figure.labels.map((label) => textWidth(label, size))) > step - size * 0.3;
  const position = {
    x: {
      field: "predicted",
      type: "nominal",
      sort: null,
      title: "Predicted class",
      axis: { ...axis, title: "Predicted class", labelAngle: crowded ? -45 : 0 },
    },
    y: { field: "truth", type: "nominal", sort: null, title: "True class", axis: { ...axis, title: "True class" } },
  };
  return [{
    width: { step },
    height: { step },
    data: { values: cells },
    layer: [
      {
        mark: { type: "rect", stroke: style.background, strokeWidth: style.line_width / 2 },
        encoding: {
          ...position,
          color: {
            field: "share",
            type: "quantitative",
            title: ["Share of the", figure.cells === "columns" ? "predicted class" : "true class"],
            // Few are as pale, or as dark, as the page behind them.
            scale: { scheme: "viridis", domain: [0, 1], reverse: !isDark(style) },
            legend: {
              format: ".0%",
              values: [0, 0.25, 0.5, 0.75, 1],
              gradientLength: Math.min(step * figure.labels.length, style.height),
            },
          },
        },
      },
      {
        mark: { type: "text", fontSize: size, baseline: "middle" },
        encoding: {
          ...position,
          text: asCounts
            ? { field: "count", type: "quantitative", format: "d" }
            : { field: "share", type: "quantitative", format: ".1%" },
          // Viridis reversed: dark cells are those of large shares.
          color: {
            condition: { test: `datum.share ${isDark(style) ? "< 0.55" : "> 0.45"}`, value: "#ffffff" },
            value: "#000000",
          },
        },
      },
    ],
  }];
}
