/** Line figures with intervals: error rates, quality, rate and distortion, distribution functions. */
import { decadesOf, position } from "./axis.ts";
import { type LegendEntry, legendLayout, legendView, signMark, SIGNS, signsOf } from "./legend.ts";
import { hiddenPoints } from "./overlaps.ts";
import { labelSize, type PlacedLabel, placedLabels } from "./point_labels.ts";
import { type FigureStyle, seriesLooks, theoryWidth } from "./style.ts";
import type { CurveFigure, FigureAxis, FigurePoint, FigureSpec } from "./types.ts";

/** A data row of the specification. */
interface Datum {
  series: string;
  kind: string;
  x: number;
  y: number | null;
  low: number | null;
  high: number | null;
  /** Interval ends inside the plot, where caps are drawn. */
  low_cap: number | null;
  high_cap: number | null;
  bound: number | null;
  outage: number | null;
  front: boolean;
}

/** Values along the y axis that must be visible. Theory does not extend the axis unless it is marked `whole`. */
function shownHeights(figure: CurveFigure): number[] {
  const seen = figure.series.filter(({ hidden }) => hidden !== true);
  const drawn = seen.filter(({ kind, whole }) => kind !== "theory" || whole === true);
  const points = (drawn.length > 0 ? drawn : seen).flatMap(({ points }) => points);
  const guides = (figure.guides ?? []).filter(({ axis, whole }) => axis === "y" && whole === true).map(({ at }) => at);
  const values = points.flatMap(({ y, high, low, bound }) => {
    // The arrow of a bound needs space below it.
    if (bound !== undefined) return figure.y.scale === "log" ? [bound, bound / 3] : [bound];
    if (y === null) return [];
    // An interval close to 0 would add arbitrarily many decades to a logarithmic axis.
    return figure.y.scale === "log" ? [y, high ?? y] : [y, low ?? y, high ?? y];
  });
  if (figure.y.scale === "log") return values.filter((value) => value > 0);
  // Space on both sides of a reference.
  const margin = 0.05 * (Math.max(...values, ...guides) - Math.min(...values, ...guides));
  return [...values, ...guides.flatMap((at) => [at - margin, at + margin])];
}

function dataOf(figure: CurveFigure, floor: number): Datum[] {
  return figure.series.filter(({ hidden }) => hidden !== true).flatMap(({ label, kind, points }) =>
    points.map((point): Datum => {
      // A logarithmic axis has no place for an interval that ends at 0.
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

/** The rows of a figure, its axes, and the labels beside its points. */
export function layoutOf(figure: CurveFigure, style: FigureStyle) {
  const heights = shownHeights(figure);
  const floor = figure.y.scale === "log" ? 10 ** decadesOf(heights)[0] : -Infinity;
  const data = dataOf(figure, floor);
  const xs = data.map(({ x }) => x);
  const marked = figure.markers !== false && !figure.step;
  const measured = figure.front !== null || !marked || figure.joined === false
    ? []
    : xs.filter((_, i) => data[i].kind !== "theory");
  const x = position(figure.x, xs, measured), y = position(figure.y, heights);
  const beside = marked ? placedLabels(figure.series, style, { x, y }) : [];
  // The places of labels are known only where no axis grows to round numbers.
  if (beside.length > 0) x.scale.nice = y.scale.nice = false;
  return { data, x, y, marked, beside };
}

/** The plot and its legend, side by side or one above the other. */
export function curvesViews(figure: CurveFigure, style: FigureStyle): FigureSpec[] {
  const { series } = figure, { data, x, y, marked, beside } = layoutOf(figure, style);
  const looks = seriesLooks(series.map(({ kind }) => kind), style);
  const labels = series.map(({ label }) => label);
  const scaled = <T>(range: T[]) => ({
    field: "series",
    type: "nominal",
    scale: { domain: labels, range },
    legend: null,
  });
  const channels = {
    color: scaled(looks.map(({ color }) => color)),
    strokeDash: scaled(looks.map(({ dash }) => dash)),
    // Distribution functions have steps instead of markers.
    shape: scaled(looks.map(({ marker }) => !marked || marker === null ? "M0,0" : marker)),
  };
  const { color, strokeDash, shape } = channels;
  const lost = figure.lost === true && data.some(({ outage }) => outage !== null);
  // The plot below has the numbers and the title.
  const upper = lost ? { ...x, title: null, axis: { ...x.axis, labels: false } } : x;
  const encoding = {
    x: { field: "x", type: "quantitative", ...upper },
    y: { field: "y", type: "quantitative", ...y },
  };
  // Layers that draw other fields share the y axis: only one of them may describe it.
  const along = (field: string) => ({ field, type: "quantitative", scale: y.scale, title: y.title });
  const detail = { field: "series", type: "nominal" };
  const measuredData = data.filter(({ kind }) => kind !== "theory");
  // Points beyond the ends of a chosen axis are not drawn.
  const [inside] = insideOf(figure, data);
  const thin = style.line_width * 0.55;
  const references = (figure.guides ?? []).filter(({ whole }) => whole === true);
  const layers: (FigureSpec | false)[] = [
    ...guideLayers({ ...figure, guides: references }, style, encoding).filter(({ mark }) =>
      (mark as FigureSpec).type === "rule"
    ),
    figure.step && measuredData.some(({ low }) => low !== null) && {
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
    marked && {
      transform: [{ filter: "datum.kind !== 'theory' && datum.low !== null" }],
      mark: { type: "rule", strokeWidth: thin, clip: true },
      encoding: { x: encoding.x, y: along("low"), y2: { field: "high" }, color },
    },
    ...(!marked ? [] : ["low_cap", "high_cap"].map((field) => ({
      transform: [{ filter: `datum.kind !== 'theory' && datum.${field} !== null${inside}` }],
      mark: { type: "point", shape: "stroke", strokeWidth: thin, size: style.marker_size, opacity: 1 },
      encoding: { x: encoding.x, y: along(field), color },
    }))),
    (figure.segments ?? []).length > 0 && {
      data: { values: figure.segments },
      mark: { type: "rule", color: style.muted, strokeWidth: thin, clip: true },
      encoding: { ...encoding, x2: { field: "x2" }, y2: { field: "y2" } },
    },
    figure.joined !== false && {
      transform: [{ filter: `datum.kind !== 'theory' && datum.y !== null${joinedOf(figure)}` }],
      mark: {
        type: "line",
        clip: true,
        strokeWidth: style.line_width,
        ...(figure.step ? { interpolate: "step-after" } : {}),
      },
      encoding: { ...encoding, color, strokeDash, detail },
    },
    ...outlines(hiddenPoints(figure), style, { ...encoding, color, shape }),
    marked && {
      transform: [{ filter: `datum.kind !== 'theory' && datum.y !== null${inside}` }],
      mark: { type: "point", opacity: 1, size: style.marker_size, strokeWidth: thin * 1.4 },
      encoding: {
        ...encoding,
        color,
        shape,
        // Dominated points are hollow.
        fill: figure.front !== null ? { condition: { test: "datum.front", ...color }, value: style.background } : color,
      },
    },
    ...besideLayers(beside, style, { ...encoding, color }),
    ...signLayers(figure, style, data, { encoding, color, along }),
  ];
  const guides = (figure.guides ?? []).filter(({ whole }) => whole !== true);
  layers.push(...guideLayers({ ...figure, guides }, style, encoding));
  const values = {
    width: style.width,
    height: style.height,
    data: { values: data },
    layer: layers.filter((layer) => layer !== false),
  };
  const below = { x: { field: "x", type: "quantitative", ...x }, color, strokeDash, detail };
  const plot = lost ? { vconcat: [values, lostView(figure, style, below, shape)], spacing: style.font_size } : values;
  if (style.legend === "none") return [plot];
  return [plot, legendView(legendLayout(entriesOf(figure), style, style.width), style, channels)];
}

/** The share of lost items along the same axis. */
function lostView(
  figure: CurveFigure,
  style: FigureStyle,
  { detail, strokeDash, ...encoding }: FigureSpec,
  shape: FigureSpec,
): FigureSpec {
  const data = figure.series.filter(({ hidden }) => hidden !== true).flatMap(({ label, points }) =>
    points.flatMap(({ x, outage }) => outage === undefined ? [] : [{ series: label, x, outage }])
  );
  const y = {
    field: "outage",
    type: "quantitative",
    title: LOST_TITLE,
    scale: { domain: [0, 1], nice: false },
    axis: { values: [0, 0.5, 1] },
  };
  const points = { ...encoding, y };
  const shares = figure.series.map((one) => ({
    ...one,
    points: one.points.map((point) => ({ ...point, y: point.outage ?? null })),
  }));
  const hidden = hiddenPoints({ ...figure, series: shares, y: { ...figure.y, scale: "linear" } });
  return {
    width: style.width,
    height: Math.round(style.height * 0.3),
    data: { values: data },
    layer: [
      {
        mark: { type: "line", clip: true, strokeWidth: style.line_width },
        encoding: { ...points, strokeDash, detail },
      },
      ...outlines(hidden.map(({ y, ...point }) => ({ ...point, outage: y })), style, { ...points, shape }),
      {
        mark: { type: "point", opacity: 1, size: style.marker_size, filled: true },
        encoding: { ...points, shape },
      },
    ],
  };
}

/** Labels beside points, with lines to those away from them; the halo of a text covers the end of its line. */
function besideLayers(labels: readonly PlacedLabel[], style: FigureStyle, encoding: FigureSpec): FigureSpec[] {
  if (labels.length === 0) return [];
  const { x, y, color } = encoding as Record<"x" | "y" | "color", FigureSpec>;
  const middle = { x: { ...x, field: "label_x" }, y: { ...y, field: "label_y" } }, size = labelSize(style);
  const texts = [style.background, null].map((halo) => ({
    data: { values: labels },
    mark: {
      type: "text",
      fontSize: size,
      ...(halo === null ? {} : { stroke: halo, strokeWidth: size * 0.3, strokeJoin: "round" }),
    },
    encoding: { ...middle, color, text: { field: "label", type: "nominal" } },
  }));
  return [
    {
      data: { values: labels.filter(({ away }) => away) },
      mark: { type: "rule", strokeWidth: style.line_width * 0.4 },
      encoding: { x, y, x2: { field: "label_x" }, y2: { field: "label_y" }, color },
    },
    ...texts,
  ];
}

/** The layer of outlines around markers that hide others; none without any. */
function outlines(points: readonly { side: number }[], style: FigureStyle, encoding: FigureSpec): FigureSpec[] {
  if (points.length === 0) return [];
  return [{
    data: { values: points.map((point) => ({ ...point, area: style.marker_size * point.side ** 2 })) },
    mark: { type: "point", filled: false, opacity: 1, strokeWidth: style.line_width * 0.77, clip: true },
    encoding: { ...encoding, size: { field: "area", type: "quantitative", scale: null, legend: null } },
  }];
}

/** Title of the axis of lost items. */
export const LOST_TITLE = "Share lost";

/** Layers of points without a value: bounds where no error was seen, and items that were lost. */
function signLayers(
  figure: CurveFigure,
  style: FigureStyle,
  data: readonly Datum[],
  { encoding, color, along }: { encoding: FigureSpec; color: FigureSpec; along: (field: string) => FigureSpec },
): (FigureSpec | false)[] {
  const [inside, noneOutside] = insideOf(figure, data);
  const measured = data.filter(({ kind }) => kind !== "theory");
  return [
    measured.some(({ bound }) => bound !== null) && {
      transform: [{
        filter: `datum.bound !== null${
          noneOutside ? "" : ` && ${within(figure.x, "x")} && ${within(figure.y, "bound")}`
        }`,
      }],
      mark: { ...signMark("bound", SIGNS.bound, style), stroke: undefined, yOffset: boundOffset(style) },
      encoding: { x: encoding.x, y: along("bound"), color },
    },
    measured.some(({ outage, y }) => outage !== null && y !== null) && {
      transform: [{ filter: `datum.outage !== null && datum.y !== null${inside}` }],
      mark: signMark("outage", SIGNS.outage, style),
      encoding,
    },
    // A series without any received item has no value: its marks are above the axis, one line per series.
    ...figure.series.filter(({ points }) => points.some(lostWhole)).map(({ label }, line) => ({
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
}

function entriesOf(figure: CurveFigure): LegendEntry[] {
  const series = figure.series.filter(({ hidden }) => hidden !== true).map(({ label, kind, joined }): LegendEntry => ({
    label,
    series: label,
    kind,
    ...(kind !== "theory" && (joined === false || figure.joined === false) ? { line: false } : {}),
  }));
  return [
    ...series,
    ...signsOf(figure).map(([sign, label]): LegendEntry => ({ label, series: null, kind: null, sign })),
  ];
}

/** A filter for the series without lines. */
function joinedOf({ series }: CurveFigure): string {
  const alone = series.filter(({ joined }) => joined === false).map(({ label }) => label);
  return alone.length === 0 ? "" : ` && indexof(${JSON.stringify(alone)}, datum.series) < 0`;
}

/** Whether a field is within the chosen part of an axis, as an expression. */
const within = ({ domain }: FigureAxis, field: string) =>
  domain === null ? "true" : `datum.${field} >= ${domain[0]} && datum.${field} <= ${domain[1]}`;

/** A filter for points beyond the ends of the axes, and whether all points are inside. */
function insideOf({ x, y }: CurveFigure, data: readonly Datum[]): [filter: string, none: boolean] {
  const out = (domain: [number, number] | null, value: number | null) =>
    domain !== null && value !== null && (value < domain[0] || value > domain[1]);
  const none = !data.some((point) => out(x.domain, point.x) || out(y.domain, point.y) || out(y.domain, point.bound));
  return none ? ["", true] : [` && ${within(x, "x")} && ${within(y, "y")}`, false];
}

/** Lines across the plot, then their labels, which no line crosses. */
function guideLayers({ guides = [], x, y }: CurveFigure, style: FigureStyle, encoding: GuideEncoding): FigureSpec[] {
  const inside = guides.filter(({ axis, at }) => {
    const { domain } = axis === "x" ? x : y;
    return domain === null || (at >= domain[0] && at <= domain[1]);
  });
  const size = style.font_size, placeOf = (axis: "x" | "y") => ({ ...encoding[axis], field: "at" });
  const rules = inside.map(({ axis, at }) => ({
    data: { values: [{ at }] },
    mark: { type: "rule", color: style.muted, strokeDash: [3, 3], strokeWidth: style.line_width * 0.7 },
    encoding: {
      [axis]: placeOf(axis),
      ...(axis === "x"
        ? { y: { value: 0 }, y2: { value: style.height } }
        : { x: { value: 0 }, x2: { value: style.width } }),
    },
  }));
  const labels = inside.flatMap(({ axis, at, label }, line) => {
    const text = axis === "x"
      ? { y: { value: style.height - size * (0.8 + 1.25 * line) } }
      : { x: { value: style.width - size * 0.4 } };
    // A halo first, so that lines do not cross the letters.
    return [style.background, null].map((halo) => ({
      data: { values: [{ at, label }] },
      mark: {
        type: "text",
        color: halo ?? style.ink,
        ...(halo === null ? {} : { stroke: halo, strokeWidth: size * 0.4, strokeJoin: "round" }),
        fontSize: size,
        align: axis === "x" ? "left" : "right",
        dx: axis === "x" ? size * 0.4 : 0,
        dy: axis === "x" ? 0 : -size * 0.6,
      },
      encoding: { [axis]: placeOf(axis), ...text, text: { field: "label", type: "nominal" } },
    }));
  });
  return [...rules, ...labels];
}

type GuideEncoding = Record<"x" | "y", FigureSpec>;

const lostWhole = ({ y, outage }: FigurePoint) => y === null && outage !== undefined && outage > 0;

const frontMark = (style: FigureStyle) => ({
  type: "line",
  strokeWidth: style.line_width * 2.6,
  color: style.grid,
  clip: true,
});

/** The bar of the arrow, the top of its shape, is at the bound. */
const boundOffset = (style: FigureStyle) => Math.sqrt(style.marker_size * 3) / 2;
