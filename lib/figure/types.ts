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
}

interface FigureBase {
  type: FigureType;
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
  counts: number[][];
}

export type Figure = CurveFigure | BarFigure | MatrixFigure;

/** A Vega-Lite specification, plain JSON. */
export type FigureSpec = { [key: string]: unknown };
