/**
 * Water-filling over parallel channels: a grey bar is the floor N0/|h|² of a channel, the bar above it its power, and
 * the dashed line the water level. Floors are cut off at the ceiling.
 */
import { axisTitle } from "./axis.ts";
import { legendLayout } from "./legend.ts";
import type { FigureStyle } from "./style.ts";
import type { FigureSpec, LevelFigure } from "./types.ts";

export function levelsViews(figure: LevelFigure, style: FigureStyle): FigureSpec[] {
  const { floor, amount, level, ceiling } = figure, count = amount.values.length;
  const data = amount.values.map((power, k) => {
    // A channel without gain has an infinite floor.
    const bottom = Math.min(floor.values[k] ?? ceiling, ceiling);
    return { channel: k, left: k - 0.5, right: k + 0.5, bottom, top: Math.min(bottom + power, ceiling), power };
  });
  const gap = count > 64 ? 0 : style.line_width / 4;
  const x = {
    field: "left",
    type: "quantitative",
    title: axisTitle(figure.x),
    scale: { domain: [-0.5, count - 0.5], nice: false },
    axis: { grid: false, tickMinStep: 1 },
  };
  const y = { type: "quantitative", title: axisTitle(figure.y), scale: { domain: [0, ceiling], nice: false } };
  const bars = (from: FigureSpec, to: string, color: string) => ({
    mark: { type: "rect", color, clip: true, stroke: style.background, strokeWidth: gap },
    encoding: { x, x2: { field: "right" }, y: { ...y, ...from }, y2: { field: to } },
  });
  const plot = {
    width: style.width,
    height: style.height,
    data: { values: data },
    layer: [
      bars({ field: "bottom" }, "zero", style.baseline),
      bars({ field: "top" }, "bottom", style.series[0]),
      ...(level === null ? [] : [{
        data: { values: [{ level: level.value }] },
        mark: { type: "rule", color: style.ink, strokeDash: [6, 3], strokeWidth: style.line_width },
        encoding: { y: { ...y, field: "level" } },
      }]),
    ],
    transform: [{ calculate: "0", as: "zero" }],
  };
  if (style.legend === "none") return [plot];
  const entries = levelEntries(figure, style);
  const { places, width, height } = legendLayout(
    entries.map(({ label }) => ({ label, series: label, kind: "measured" as const })),
    style,
    style.width,
  );
  const size = style.font_size, pixel = (field: string) => ({ field, type: "quantitative", scale: null, axis: null });
  const drawn = places.map((place, i) => ({ ...place, above: place.y - size * 0.4, below: place.y + size * 0.4, i }));
  const legend = {
    width,
    height,
    view: { stroke: null },
    data: { values: drawn },
    layer: [
      ...entries.map(({ color, line }, i) => ({
        transform: [{ filter: `datum.i === ${i}` }],
        mark: line
          ? { type: "rule", color, strokeDash: [6, 3], strokeWidth: style.line_width }
          : { type: "rect", color },
        encoding: line
          ? { x: pixel("start"), x2: { field: "end" }, y: pixel("y") }
          : { x: pixel("start"), x2: { field: "end" }, y: pixel("above"), y2: { field: "below" } },
      })),
      {
        mark: { type: "text", align: "left", baseline: "middle", fontSize: size, color: style.ink },
        encoding: { x: pixel("text"), y: pixel("y"), text: { field: "label", type: "nominal" } },
      },
    ],
  };
  return [plot, legend];
}

/** Names and looks of the parts of the figure. */
export function levelEntries(
  { floor, amount, level }: LevelFigure,
  style: FigureStyle,
): { label: string; color: string; line: boolean }[] {
  return [
    { label: amount.label, color: style.series[0], line: false },
    { label: floor.label, color: style.baseline, line: false },
    ...(level === null ? [] : [{ label: level.label, color: style.ink, line: true }]),
  ];
}
