/**
 * The legend of a figure: a small view that shows each series with line, dash and marker. (Vega-Lite's own legends show
 * only one of them, or outline markers with dashes.)
 */
import { type FigureStyle, theoryWidth } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { CurveFigure, FigureSpec } from "./types.ts";

export interface LegendEntry {
  label: string;
  /** Series of the entry; null for a sign. */
  series: string | null;
  kind: "measured" | "baseline" | "theory" | null;
  /** Shape of a sign, see `SIGNS`. */
  sign?: keyof typeof SIGNS;
  /** False for a series of markers alone. */
  line?: boolean;
}

/** Signs besides the markers of series, as paths in the square from -1 to 1. */
export const SIGNS = {
  /** No event was observed: the rate is below the bar. */
  bound: "M-0.8,-1L0.8,-1M0,-1L0,1M-0.55,0.35L0,1L0.55,0.35",
  /** Items were lost. */
  outage: "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8",
  /** The line through the non-dominated points. */
  front: "M-3,0L3,0",
  /** The line of a reference. */
  guide: "M-3,0L3,0",
} as const;

/** The signs that a figure shows, with their meaning. */
export function signsOf({ series, front, guides = [] }: CurveFigure): [sign: keyof typeof SIGNS, label: string][] {
  const points = series.filter(({ hidden, kind }) => hidden !== true && kind !== "theory").flatMap(({ points }) =>
    points
  );
  const signs: [keyof typeof SIGNS, string][] = guides.filter(({ whole }) => whole === true)
    .map(({ label }) => ["guide", label]);
  if (points.some(({ bound }) => bound !== undefined)) signs.push(["bound", "No error seen: bound"]);
  if (points.some(({ outage = 0 }) => outage > 0)) signs.push(["outage", "Items lost (outage)"]);
  if (front !== null) signs.push(["front", "Pareto front (filled points)"]);
  return signs;
}

/** Positions of entries and their space: one column on the right, or rows below the plot. */
export function legendLayout(entries: readonly LegendEntry[], style: FigureStyle, plotWidth: number) {
  const size = style.font_size;
  const sample = size * 2.2, gap = size * 0.5, between = size * 1.2, row = size * 1.45;
  const widthOf = (entry: LegendEntry) => sample + gap + textWidth(entry.label, size);
  const arranged = (columns: number) => {
    const rows = Math.ceil(entries.length / columns);
    const widths = Array.from(
      { length: Math.ceil(entries.length / rows) },
      (_, column) => Math.max(...entries.slice(column * rows, (column + 1) * rows).map(widthOf)),
    );
    return { rows, widths, total: widths.reduce((sum, width) => sum + width + between, -between) };
  };
  let best = arranged(1);
  for (let columns = 2; style.legend === "bottom" && columns <= entries.length; columns++) {
    const next = arranged(columns);
    if (next.total <= plotWidth + size) best = next;
  }
  const round = (value: number) => Math.round(value * 100) / 100;
  const places = entries.map((entry, i) => {
    const column = Math.floor(i / best.rows);
    const start = best.widths.slice(0, column).reduce((sum, width) => sum + width + between, 0);
    return {
      ...entry,
      start: round(start),
      end: round(start + sample),
      middle: round(start + sample / 2),
      text: round(start + sample + gap),
      y: round((i % best.rows) * row + row / 2),
    };
  });
  return { places, width: Math.ceil(Math.max(0, best.total)), height: Math.ceil(best.rows * row) };
}

const pixel = (field: string) => ({ field, type: "quantitative", scale: null, axis: null });

/**
 * The view of a legend.
 * @param channels encodings of `color`, `strokeDash` and `shape` by the field `series`, as in the plot
 */
export function legendView(
  layout: ReturnType<typeof legendLayout>,
  style: FigureStyle,
  channels: FigureSpec,
): FigureSpec {
  const { color, strokeDash, shape } = channels;
  const signs = Object.entries(SIGNS).filter(([name]) => layout.places.some(({ sign }) => sign === name));
  return {
    width: layout.width,
    height: layout.height,
    view: { stroke: null },
    data: { values: layout.places },
    layer: [
      ...[["===", theoryWidth(style)], ["!==", style.line_width]].map(([equal, strokeWidth]) => ({
        transform: [{ filter: `datum.series !== null && datum.line !== false && datum.kind ${equal} 'theory'` }],
        mark: { type: "rule", strokeWidth },
        encoding: { x: pixel("start"), x2: { field: "end" }, y: pixel("y"), color, strokeDash },
      })),
      {
        transform: [{ filter: "datum.series !== null" }],
        mark: { type: "point", filled: true, opacity: 1, size: style.marker_size },
        encoding: { x: pixel("middle"), y: pixel("y"), color, shape },
      },
      ...signs.map(([name, path]) => ({
        transform: [{ filter: `datum.sign === '${name}'` }],
        mark: signMark(name as keyof typeof SIGNS, path, style),
        encoding: { x: pixel("middle"), y: pixel("y") },
      })),
      {
        mark: { type: "text", align: "left", baseline: "middle", fontSize: style.font_size, color: style.ink },
        encoding: { x: pixel("text"), y: pixel("y"), text: { field: "label", type: "nominal" } },
      },
    ],
  };
}

/** The mark of a sign, outline only. */
export function signMark(name: keyof typeof SIGNS, path: string, style: FigureStyle): FigureSpec {
  return {
    type: "point",
    shape: path,
    filled: false,
    opacity: 1,
    size: style.marker_size * (name === "bound" ? 3 : 1.6),
    strokeWidth: style.line_width * ({ front: 2.6, guide: 0.7, bound: 0.8, outage: 0.8 })[name],
    stroke: name === "front" ? style.grid : name === "guide" ? style.muted : style.ink,
    ...(name === "guide" ? { strokeDash: [3, 3] } : {}),
  };
}
