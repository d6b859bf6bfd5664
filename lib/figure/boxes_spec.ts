/**
 * Box plots: the box holds the middle half of the values with the median across it, and each whisker ends at the farthest
 * value within 1.5 lengths of the box (Tukey); values beyond are points. Quartiles interpolate linearly.
 *
 * Boxes lie in rows, one per series, or stand side by side at each place along x.
 *
 * Source: Tukey, Exploratory Data Analysis, 1977, ch. 2.
 */
import { axisTitle, position, SIGNED } from "./axis.ts";
import { legendLayout, legendView } from "./legend.ts";
import { type FigureStyle, seriesLooks } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { BoxFigure, FigureSpec } from "./types.ts";

export function boxesViews(figure: BoxFigure, style: FigureStyle): FigureSpec[] {
  const { series, places, boxes, value } = figure, lying = figure.x === null;
  const looks = seriesLooks(series.map(({ kind }) => kind), style), labels = series.map(({ label }) => label);
  const size = style.font_size, thin = style.line_width * 0.7;
  const step = lying ? size * 2.4 : style.width / places.length / (series.length + 0.5), thick = step * 0.62;
  const names = Math.max(...labels.map((label) => textWidth(label, size)));
  const ends = boxes.flatMap(({ low, high, outliers }) => [low, high, ...outliers]);
  const measured = position(value, ends), [across, along] = lying ? ["y", "x"] : ["x", "y"];
  const data = boxes.map((box) => ({ ...box, outliers: undefined, name: lying ? box.series : box.place }));
  const points = boxes.flatMap((box) =>
    box.outliers.map((at) => ({ name: lying ? box.series : box.place, series: box.series, at }))
  );
  const category = {
    field: "name",
    type: "nominal",
    sort: null,
    title: figure.x === null ? null : axisTitle(figure.x),
    scale: { domain: lying ? labels : places, ...(lying ? {} : { paddingInner: 0.08, paddingOuter: 0.04 }) },
    axis: {
      ticks: false,
      labelLimit: 0,
      labelAngle: 0,
      grid: false,
      labelExpr: lying ? "datum.label" : SIGNED,
      ...(lying ? { domain: false } : {}),
    },
  };
  const color = {
    field: "series",
    type: "nominal",
    scale: { domain: labels, range: looks.map(({ color }) => color) },
    legend: null,
  };
  const base = {
    [across]: category,
    ...(lying ? {} : { xOffset: { field: "series", type: "nominal", sort: null, scale: { domain: labels } } }),
  };
  const at = (field: string) => ({ ...base, [along]: { field, type: "quantitative", ...measured } });
  const span = (from: string, to: string) => ({ ...at(from), [`${along}2`]: { field: to } });
  const flat = lying ? { height: thick } : { width: thick };
  const ticked = (length: number, thickness: number) => ({ type: "tick", size: length, thickness, opacity: 1 });
  const plot = {
    // Long names take their space from the plot.
    width: lying ? Math.max(style.width * 0.4, style.width - Math.max(0, names - size * 3.5)) : style.width,
    height: lying ? { step } : style.height,
    data: { values: data },
    layer: [
      { mark: { type: "rule", strokeWidth: thin }, encoding: { ...span("low", "high"), color } },
      ...["low", "high"].map((field) => ({ mark: ticked(thick / 2, thin), encoding: { ...at(field), color } })),
      {
        mark: { type: "bar", ...flat, fill: style.background, strokeWidth: thin },
        encoding: { ...span("q1", "q3"), stroke: color },
      },
      { mark: { type: "bar", ...flat, opacity: 0.25 }, encoding: { ...span("q1", "q3"), color } },
      { mark: ticked(thick, style.line_width * 1.3), encoding: { ...at("median"), color: { value: style.ink } } },
      ...(points.length === 0 ? [] : [{
        data: { values: points },
        mark: { type: "point", filled: false, size: style.marker_size * 0.5, strokeWidth: thin * 0.8, opacity: 1 },
        encoding: { ...at("at"), color },
      }]),
    ],
  };
  if (lying) return [plot];
  const entries = series.map(({ label, kind }) => ({ label, series: label, kind, line: false }));
  const shape = { ...color, scale: { domain: labels, range: labels.map(() => "square") } };
  const channels = {
    color,
    strokeDash: { ...color, scale: { domain: labels, range: labels.map(() => [1, 0]) } },
    shape,
  };
  return [plot, legendView(legendLayout(entries, style, style.width), style, channels)];
}
