/**
 * A figure as data: measured values and their uncertainty, independent of style. The specification builders convert it
 * to Vega-Lite, {@link figureCsv} to a table; both are pure functions.
 */
import type { NoEvent } from "../numeric/scores/rate_interval.ts";

export const FIGURE_TYPES = [
  "error-rate",
  "graceful-degradation",
  "rate-distortion",
  "rate-distortion-perception",
  "packet-success",
  "channel-uses",
  "confusion-matrix",
  "cdf",
  "box",
  "difference",
  "heat-map",
  "curves",
] as const;
export type FigureType = typeof FIGURE_TYPES[number];

/** What the intervals of a benchmark's figure are taken over. */
export const INTERVALS_OVER = ["replicates", "items"] as const;
export type IntervalsOver = typeof INTERVALS_OVER[number];

/** Forms in which a figure is written, beside its specification and its table. */
export const FIGURE_FORMATS = ["svg", "pdf", "pgf", "png"] as const;
export type FigureFormat = typeof FIGURE_FORMATS[number];

/** Views of a single run besides its metrics. */
export type ViewType =
  | "series"
  | "histogram"
  | "channel-response"
  | "delay-profile"
  | "power-allocation"
  | "beam-pattern"
  | "angle-spectrum"
  | "link-budget"
  | "waveform-spectrum"
  | "waveform-envelope"
  | "user-rates"
  | "harq-transmissions"
  | "schedule"
  | "map";

export interface FigureAxis {
  title: string;
  /** After the title; empty for none. */
  unit: string;
  scale: "linear" | "log";
  /** Natural ends of the axis, such as 0 … 1 of a probability; null for those of the data. */
  domain: [number, number] | null;
}

export interface FigurePoint {
  x: number;
  /** Null if only a bound is known, or no item was received. */
  y: number | null;
  /** Ends of the interval. */
  low: number | null;
  high: number | null;
  /** What was seen of a rate with a bound. */
  none?: NoEvent;
  /** Upper bound of a rate without an observed event, drawn as a downward arrow. */
  bound?: number;
  /** Share of lost items; marked if above 0. */
  outage?: number;
  /** Whether no other point dominates this one. */
  front?: boolean;
  /** Number of replicates. */
  n?: number;
  /** Written beside the point. */
  label?: string;
}

export interface FigureSeries {
  label: string;
  /** Baselines are grey, theory is thin, dashed and without markers. */
  kind: "measured" | "baseline" | "theory";
  points: FigurePoint[];
  /** Whether a line joins the points; true when left out. Where a theory curve is drawn, it is the line. */
  joined?: boolean;
  /** Whether the axis extends to show this theory completely. */
  whole?: boolean;
  /** Hidden by the reader: neither drawn nor in the legend; other series keep their colours. */
  hidden?: boolean;
}

/** A line across the plot at a reference value, such as a true angle. */
export interface FigureGuide {
  axis: "x" | "y";
  at: number;
  label: string;
  /** Whether the axis extends to show it; it is then named in the legend and lies behind the series. */
  whole?: boolean;
}

interface FigureBase {
  type: FigureType | ViewType;
  title: string;
  subtitle: string;
  /** Says that the numbers are not complete; drawn above the plot. */
  mark?: string;
  /** Origin of the numbers, written to the specification and the SVG. */
  source: { [key: string]: string };
}

/** Lines over a numeric x axis; `step` holds each value up to the next one, as in distribution functions. */
export interface CurveFigure extends FigureBase {
  form: "curves";
  x: FigureAxis;
  y: FigureAxis;
  series: FigureSeries[];
  step: boolean;
  /** Whether the Pareto front extends to larger x, to smaller x, or is not drawn. */
  front: "after" | "before" | null;
  /** False for lines with too many points for markers. */
  markers?: boolean;
  /** False for points without a line, such as positions on a map. */
  joined?: boolean;
  guides?: FigureGuide[];
  /** Whether a second plot below shows the share of lost items of each point. */
  lost?: boolean;
  /** Whether both axes show the same quantity: the plot is square. Domains are then of equal length. */
  equal?: boolean;
  /** Thin lines between pairs of points, such as from a true place to its estimate. */
  segments?: { x: number; y: number; x2: number; y2: number }[];
}

/** Bars of power above a floor, one per channel, and the water level. */
export interface LevelFigure extends FigureBase {
  form: "levels";
  x: FigureAxis;
  y: FigureAxis;
  floor: { label: string; values: (number | null)[] };
  amount: { label: string; values: number[] };
  level: { label: string; value: number } | null;
  /** Of the y axis; higher values are cut off. */
  ceiling: number;
}

/** One bar per series. */
export interface BarFigure extends FigureBase {
  form: "bars";
  value: FigureAxis;
  bars: { label: string; kind: "measured" | "baseline"; value: number; low: number | null; high: number | null }[];
}

/** Counts of true class (row) and predicted class (column). */
export interface MatrixFigure extends FigureBase {
  form: "matrix";
  labels: string[];
  /** Total counts. */
  counts: number[][];
  /** The same by panel: a row per method, a column per condition. */
  panels?: { row: string; column: string; counts: number[][] }[];
  /** Content of the cells, default counts. Their colour is the share of the row, or of the column. */
  cells?: "counts" | "rows" | "columns";
}

/** A value for each pair of places along two dimensions. */
export interface HeatFigure extends FigureBase {
  form: "heat";
  x: FigureAxis;
  y: FigureAxis;
  value: FigureAxis;
  /** Places along x, and along y from below. */
  columns: string[];
  rows: string[];
  /** Indices of the place; a pair without a cell was not measured. */
  cells: {
    column: number;
    row: number;
    value: number | null;
    low: number | null;
    high: number | null;
    /** Upper bound of a rate without an observed event. */
    bound?: number;
    n?: number;
  }[];
}

/** A summary of values by the rule of Tukey, see `boxes_spec.ts`. */
export interface FigureBox {
  series: string;
  /** Place along x; empty where the figure has none. */
  place: string;
  n: number;
  /** Ends of the whiskers. */
  low: number;
  q1: number;
  median: number;
  q3: number;
  high: number;
  /** Values beyond the whiskers, ascending. */
  outliers: number[];
}

/** Box plots of values, one per series or one per series and place. */
export interface BoxFigure extends FigureBase {
  form: "boxes";
  /** Null for one box per series. */
  x: FigureAxis | null;
  value: FigureAxis;
  series: { label: string; kind: "measured" | "baseline" }[];
  places: string[];
  boxes: FigureBox[];
}

export type Figure = CurveFigure | BarFigure | LevelFigure | MatrixFigure | HeatFigure | BoxFigure;

/** A Vega-Lite specification, plain JSON. */
export type FigureSpec = { [key: string]: unknown };
