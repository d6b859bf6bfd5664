/**
 * Confusion matrices. Colour is the share of the row (true class) or of the column (predicted class); the number is the
 * count, or that share in per cent. Several matrices form a grid with one row per method and one column per condition.
 */
import { type FigureStyle, isDark } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { FigureSpec, MatrixFigure } from "./types.ts";

export interface MatrixCell {
  truth: string;
  predicted: string;
  count: number;
  /** Share of the true class, or of the predicted one; 0 without items. */
  share: number;
}

/** The cells of the whole matrix. */
export function matrixCells(
  { labels, counts, cells }: Pick<MatrixFigure, "labels" | "counts" | "cells">,
): MatrixCell[] {
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

/** The cells of every panel, or of the one matrix. */
export function panelCells(figure: MatrixFigure): (MatrixCell & { row: string; column: string })[] {
  const panels = figure.panels ?? [{ row: "", column: "", counts: figure.counts }];
  return panels.flatMap(({ row, column, counts }) =>
    matrixCells({ ...figure, counts }).map((cell) => ({ row, column, ...cell }))
  );
}

export function matrixViews(figure: MatrixFigure, style: FigureStyle): FigureSpec[] {
  const parted = figure.panels !== undefined;
  // The cells of small panels show per cent.
  const asCounts = (figure.cells ?? (parted ? "rows" : "counts")) === "counts";
  const data = { values: parted ? panelCells(figure) : matrixCells(figure) };
  const layer = matrixLayer(figure, style, { data: data.values, asCounts, parted });
  if (!parted) return [{ ...layer, data }];
  const header = { labelFontSize: style.font_size, labelColor: style.ink, labelLimit: 0, title: null };
  // The given order, since text order would place -2 after 8.
  const facet = (field: "row" | "column") => {
    const sort = [...new Set(figure.panels!.map((panel) => panel[field]))];
    return { field, type: "nominal", sort, header };
  };
  const rows = facet("row"), columns = facet("column");
  const reach = (layer.height as { step: number }).step * figure.labels.length;
  const lines = Object.fromEntries(rows.sort.map((name) => [name, wrapped(name, reach, style.font_size)]));
  return [{
    data,
    facet: {
      row: { ...rows, header: { ...header, labelAngle: -90, labelExpr: `(${JSON.stringify(lines)})[datum.label]` } },
      ...(columns.sort.length > 1 ? { column: columns } : {}),
    },
    spacing: style.font_size * 0.7,
    spec: layer,
  }];
}

/** Wraps whole words to the least width. */
function wrapped(text: string, width: number, size: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && textWidth(longer, size) <= width) lines.pop();
    else if (lines.length > 0) {
      lines.push(word);
      continue;
    }
    lines.push(longer);
  }
  return lines;
}

function matrixLayer(
  figure: MatrixFigure,
  style: FigureStyle,
  { data, asCounts, parted }: { data: readonly MatrixCell[]; asCounts: boolean; parted: boolean },
): FigureSpec {
  const size = parted ? style.font_size * 0.85 : style.font_size;
  const widest = Math.max(
    ...data.map(({ count }) => textWidth(asCounts ? String(count) : parted ? "100" : "100 %", size)),
  );
  const names = Math.max(...figure.labels.map((label) => textWidth(label, style.font_size)));
  const step = parted
    ? Math.max(widest + size * 0.6, size * 2, Math.min(names + size * 0.5, size * 4))
    : Math.max(widest + size, style.height / figure.labels.length, size * 2.2);
  const axis = { ticks: false, domain: false, grid: false, labelLimit: 0, title: "" };
  const crowded = names > step - size * 0.3;
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
  const share = parted ? { calculate: "round(datum.share * 100)", as: "percent" } : null;
  return {
    width: { step },
    height: { step },
    ...(share === null ? {} : { transform: [share] }),
    layer: [
      {
        mark: { type: "rect", stroke: style.background, strokeWidth: style.line_width / 2 },
        encoding: {
          ...position,
          color: {
            field: "share",
            type: "quantitative",
            title: ["Share of the", figure.cells === "columns" ? "predicted class" : "true class"],
            // Extreme colours would not contrast with the page.
            scale: { scheme: "viridis", domain: [0, 1], reverse: !isDark(style) },
            legend: {
              format: ".0%",
              values: [0, 0.25, 0.5, 0.75, 1],
              gradientLength: Math.min(step * figure.labels.length * (parted ? 2 : 1), style.height),
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
            : parted
            ? { field: "percent", type: "quantitative", format: "d" }
            : { field: "share", type: "quantitative", format: ".1%" },
          // Reversed viridis: dark cells have large shares.
          color: {
            condition: { test: `datum.share ${isDark(style) ? "< 0.55" : "> 0.45"}`, value: "#ffffff" },
            value: "#000000",
          },
        },
      },
    ],
  };
}
