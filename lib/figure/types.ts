/**
 * A figure as data: what is measured and how sure it is, before any decision on looks. The specification builders turn
 * it into Vega-Lite, {@link figureCsv} into a table; both are pure functions.
 */

export const FIGURE_TYPES = [
  "error-rate",
  "graceful-degradation",
  "rate-distortion",
  "packet-success",
  "channel-uses",
  "confusion-matrix",
  "cdf",
] as const;
export type FigureType = typeof FIGURE_TYPES[number];

/** What one run shows beside its metrics. */
export type ViewType =
  | "series"
  | "histogram"
  | "channel-response"
  | "delay-profile"
  | "power-allocation"
  | "beam-pattern"
  | "angle-spectrum"
  | "map";

export interface FigureAxis {
  title: string;
  /** Behind the title; empty for none. */
  unit: string;
  scale: "linear" | "log";
  /** Ends of the axis where the quantity has its own, such as 0 … 1 of a probability; null for those of the data. */
  domain: [number, number] | null;
}

export interface FigurePoint {
  x: number;
  /** Null where only a bound is known, or nothing at all came through. */
  y: number | null;
  /** Ends of the interval. */
  low: number | null;
  high: number | null;
  /** Upper bound of a rate that showed no event: drawn as an arrow that points down from here. */
  bound?: number;
  /** Share of items that were lost; above 0 it is marked. */
  outage?: number;
  /** No other point is better on both axes. */
  front?: boolean;
  /** Replicates behind it. */
  n?: number;
}

export interface FigureSeries {
  label: string;
  /** Baselines are grey, theory is thin, dashed and without markers. */
  kind: "measured" | "baseline" | "theory";
  points: FigurePoint[];
  /** Theory that must be seen whole: the axis reaches as far as it does. */
  whole?: boolean;
  /** Put away by a reader: neither drawn nor in the legend, while the others keep their colours. */
  hidden?: boolean;
}

/** A line across the plot at a place that means something, such as a true angle. */
export interface FigureGuide {
  axis: "x" | "y";
  at: number;
  label: string;
}

interface FigureBase {
  type: FigureType | ViewType;
  title: string;
  subtitle: string;
  /** Where the numbers come from; ends up in the specification and in the SVG. */
  source: { [key: string]: string };
}

/** Lines over a number; `step` holds each value up to the next one, as distribution functions do. */
export interface CurveFigure extends FigureBase {
  form: "curves";
  x: FigureAxis;
  y: FigureAxis;
  series: FigureSeries[];
  step: boolean;
  /** Whether what a point of the Pareto front attains holds for larger x, for smaller x, or no front is drawn. */
  front: "after" | "before" | null;
  /** False for lines of so many points that markers would hide them. */
  markers?: boolean;
  /** False for points without a line, such as places on a map. */
  joined?: boolean;
  guides?: FigureGuide[];
}

/** Bars of a power on top of a floor, one per channel, and the level that water would stand at. */
export interface LevelFigure extends FigureBase {
  form: "levels";
  x: FigureAxis;
  y: FigureAxis;
  floor: { label: string; values: (number | null)[] };
  amount: { label: string; values: number[] };
  level: { label: string; value: number } | null;
  /** Of the y axis: what is higher is cut off. */
  ceiling: number;
}

/** One bar a series. */
export interface BarFigure extends FigureBase {
  form: "bars";
  value: FigureAxis;
  bars: { label: string; kind: "measured" | "baseline"; value: number; low: number | null; high: number | null }[];
}

/** Counts of a true class (row) taken for a class (column). */
export interface MatrixFigure extends FigureBase {
  form: "matrix";
  labels: string[];
  /** Of everything together. */
  counts: number[][];
  /** The same in parts, drawn side by side where there are any: a row a method, a column a condition. */
  panels?: { row: string; column: string; counts: number[][] }[];
  /** What the cells say; counts when left out. Their colour is the share of the row, or of the column. */
  cells?: "counts" | "rows" | "columns";
}

export type Figure = CurveFigure | BarFigure | LevelFigure | MatrixFigure;

/** A Vega-Lite specification, plain JSON. */
export type FigureSpec = { [key: string]: unknown };
