/** Lines with intervals over a number: error rates, quality, rate and distortion, distribution functions. */
import { decadesOf, position } from "./axis.ts";
import { type LegendEntry, legendLayout, legendView, signMark, SIGNS } from "./legend.ts";
import { type FigureStyle, seriesLooks, theoryWidth } from "./style.ts";
import type { CurveFigure, FigurePoint, FigureSpec } from "./types.ts";

/** One row of the data of the specification. */
interface Datum {
  series: string;
  kind: string;
  x: number;
  y: number | null;
  low: number | null;
  high: number | null;
  /** Ends of the interval that lie inside the plot, where a cap is drawn. */
  low_cap: number | null;
  high_cap: number | null;
  bound: number | null;
  outage: number | null;
  front: boolean;
}

/** Places along the y axis that must be seen; theory does not stretch it. */
function shownHeights(figure: CurveFigure): number[] {
  const drawn = figure.series.filter(({ kind }) => kind !== "theory");
  const points = (drawn.length > 0 ? drawn : figure.series).flatMap(({ points }) => points);
  const values = points.flatMap(({ y, high, low, bound }) => {
    // The arrow of a bound needs room below it.
    if (bound !== undefined) return figure.y.scale === "log" ? [bound, bound / 3] : [bound];
    if (y === null) return [];
    // An interval that comes near 0 would add decades without an end to a logarithmic axis.
    return figure.y.scale === "log" ? [y, high ?? y] : [y, low ?? y, high ?? y];
  });
  return figure.y.scale === "log" ? values.filter((value) => value > 0) : values;
}

function dataOf(figure: CurveFigure, floor: number): Datum[] {
  return figure.series.flatMap(({ label, kind, points }) =>
    points.map((point): Datum => {
      // An interval that ends at 0 has no place on a logarithmic axis either.
      const reaches = figure.y.scale !== "log" || point.high! > 0;
      const interval = point.bound === undefined && point.low !== null && point.high !== null && reaches;
      const low = interval ? Math.max(point.low!, floor) : null;
      return {
        series: label,
        kind,
        x: point.x,
        // A logarithmic axis has no place for 0.
        y: figure.y.scale === "log" && !(point.y! > 0) ? null : point.y,
        low,
        high: interval ? point.high : null,
        low_cap: interval && point.low! > floor ? low : null,
        high_cap: interval ? point.high : null,
        bound: point.bound ?? null,
        outage: point.outage !== undefined && point.outage > 0 ? point.outage : null,
        front: point.front ?? false,
      };
    })
  );
}

/** The plot and its legend, side by side or one above the other. */
export function curvesViews(figure: CurveFigure, style: FigureStyle): FigureSpec[] {
  const { series } = figure;
  const looks = seriesLooks(series.map(({ kind }) => kind), style);
  const heights = shownHeights(figure);
  const floor = figure.y.scale === "log" ? 10 ** decadesOf(heights)[0] : -Infinity;
  const data = dataOf(figure, floor);
  const xs = data.map(({ x }) => x);
  const measured = figure.type === "rate-distortion" || figure.step
    ? []
    : xs.filter((_, i) => data[i].kind !== "theory");
  const x = position(figure.x, xs, measured), y = position(figure.y, heights);
  const labels = series.map(({ label }) => label);
  const scaled = <T>(range: T[], field = "series") => ({
    field,
    type: "nominal",
    scale: { domain: labels, range },
    legend: null,
  });
  const channels = {
    color: scaled(looks.map(({ color }) => color)),
    strokeDash: scaled(looks.map(({ dash }) => dash)),
    // Distribution functions have steps in the place of markers.
    shape: scaled(looks.map(({ marker }) => figure.step || marker === null ? "M0,0" : marker)),
  };
  const { color, strokeDash, shape } = channels;
  const encoding = {
    x: { field: "x", type: "quantitative", ...x },
    y: { field: "y", type: "quantitative", ...y },
  };
  // Layers that draw something else than y share its axis: only one of them may describe it.
  const along = (field: string) => ({ field, type: "quantitative", scale: y.scale, title: y.title });
  const detail = { field: "series", type: "nominal" };
  const marked = data.filter(({ kind }) => kind !== "theory");
  const thin = style.line_width * 0.55;
  const layers: (FigureSpec | false)[] = [
    figure.step && marked.some(({ low }) => low !== null) && {
      transform: [{ filter: "datum.kind !== 'theory' && datum.low !== null" }],
      mark: { type: "area", interpolate: "step-after", opacity: 0.13, clip: true },
      encoding: { x: encoding.x, y: along("low"), y2: { field: "high" }, color },
    },
    figure.front !== null && {
      transform: [{ filter: "datum.front && datum.y !== null" }],
      mark: { ...frontMark(style), interpolate: `step-${figure.front}` },
      encoding,
    },
    {
      transform: [{ filter: "datum.kind === 'theory' && datum.y !== null" }],
      mark: { type: "line", clip: true, strokeWidth: theoryWidth(style) },
      encoding: { ...encoding, color, strokeDash, detail },
    },
    !figure.step && {
      transform: [{ filter: "datum.kind !== 'theory' && datum.low !== null" }],
      mark: { type: "rule", strokeWidth: thin, clip: true },
      encoding: { x: encoding.x, y: along("low"), y2: { field: "high" }, color },
    },
    ...(figure.step ? [] : ["low_cap", "high_cap"].map((field) => ({
      transform: [{ filter: `datum.kind !== 'theory' && datum.${field} !== null` }],
      mark: { type: "point", shape: "stroke", strokeWidth: thin, size: style.marker_size, opacity: 1 },
      encoding: { x: encoding.x, y: along(field), color },
    }))),
    {
      transform: [{ filter: "datum.kind !== 'theory' && datum.y !== null" }],
      mark: {
        type: "line",
        clip: true,
        strokeWidth: style.line_width,
        ...(figure.step ? { interpolate: "step-after" } : {}),
      },
      encoding: { ...encoding, color, strokeDash, detail },
    },
    !figure.step && {
      transform: [{ filter: "datum.kind !== 'theory' && datum.y !== null" }],
      mark: { type: "point", opacity: 1, size: style.marker_size, strokeWidth: thin * 1.4 },
      encoding: {
        ...encoding,
        color,
        shape,
        // Points that another one beats are hollow.
        fill: figure.front !== null ? { condition: { test: "datum.front", ...color }, value: style.background } : color,
      },
    },
    marked.some(({ bound }) => bound !== null) && {
      transform: [{ filter: "datum.bound !== null" }],
      mark: { ...signMark("bound", SIGNS.bound, style), stroke: undefined, yOffset: boundOffset(style) },
      encoding: { x: encoding.x, y: along("bound"), color },
    },
    marked.some(({ outage, y }) => outage !== null && y !== null) && {
      transform: [{ filter: "datum.outage !== null && datum.y !== null" }],
      mark: signMark("outage", SIGNS.outage, style),
      encoding,
    },
    // What never came through has no value: its marks stand above the axis, one line a series.
    ...series.filter(({ points }) => points.some(lostWhole)).map(({ label }, line) => ({
      transform: [{ filter: `datum.series === ${JSON.stringify(label)} && datum.outage !== null && datum.y === null` }],
      mark: {
        ...signMark("outage", SIGNS.outage, style),
        stroke: undefined,
        strokeWidth: style.line_width,
        y: style.height - (line + 0.7) * style.font_size,
      },
      encoding: { x: encoding.x, color },
    })),
  ];
  const plot = {
    width: style.width,
    height: style.height,
    data: { values: data },
    layer: layers.filter((layer) => layer !== false),
  };
  const entries: LegendEntry[] = series.map(({ label, kind }) => ({ label, series: label, kind }));
  if (marked.some(({ bound }) => bound !== null)) {
    entries.push({ label: "No error seen: bound", series: null, kind: null, sign: "bound" });
  }
  if (marked.some(({ outage }) => outage !== null)) {
    entries.push({ label: "Items lost (outage)", series: null, kind: null, sign: "outage" });
  }
  if (figure.front !== null) {
    entries.push({ label: "Pareto front (filled points)", series: null, kind: null, sign: "front" });
  }
  return [plot, legendView(legendLayout(entries, style, style.width), style, channels)];
}

const lostWhole = ({ y, outage }: FigurePoint) => y === null && outage !== undefined && outage > 0;

const frontMark = (style: FigureStyle) => ({
  type: "line",
  strokeWidth: style.line_width * 2.6,
  color: style.grid,
  clip: true,
});

/** The bar of the arrow, the top of its shape, stands at the bound. */
const boundOffset = (style: FigureStyle) => Math.sqrt(style.marker_size * 3) / 2;
