/** Types of figures of a result. */
import type { JsonObject } from "../../../contract/value.ts";
import type { CurveFigure, Figure, FigureType, IntervalsOver } from "../../../figure/types.ts";
import type { BenchmarkResult, ResultRow } from "../../pack/types.ts";

/** A requested figure; every field has a default. */
export interface PlotRequest {
  plot?: FigureType;
  x?: string;
  y?: string;
  /** `method`, `recipe`, `role` or `metric:<id>`: the key of a series. */
  group?: string;
  /** Series in this order; the others follow in the order of the pack. */
  methodOrder?: readonly string[];
  /** Only these recipes. */
  recipes?: readonly string[];
  /** Only recipes with these values of a coordinate or a metric. */
  where?: Readonly<Record<string, string | number>>;
  /** Names of series in place of their own, by method id or label. */
  label?: Readonly<Record<string, string>>;
  /** Units of the axes in place of their own, by metric or coordinate. */
  units?: Readonly<Record<string, string>>;
  /** Series whose values are subtracted in a figure of differences: a method id, a label or the value that only it has. */
  baseline?: string;
  /** Metric that colours the cells of a heat map, or the rate beside the points of a figure of perception. */
  value?: string;
  /** Metric that bounds the one along y, drawn as theory; empty for none. */
  bound?: string;
  /** What intervals are over: replicates (the aggregates, the default), or items such as photographs. */
  intervals?: IntervalsOver;
}

/** Documents of the rows of a result, read on need. */
export interface RowEvidence {
  /** The effective recipe of a row, or null. */
  recipe(row: ResultRow): JsonObject | null;
  /** Rows that the benchmark plans; those of the result where it is not known. */
  planned?: number;
  /** The reports of a row, decoded. */
  reports(row: ResultRow): JsonObject[];
}

export const NO_EVIDENCE: RowEvidence = { recipe: () => null, reports: () => [] };

/** A figure, and its request with all defaults. */
export interface PlotOutcome {
  figure: Figure;
  plot: FigureType;
  x: string;
  y: string;
  group: string;
  /** Ids of the drawn recipes. */
  drawn: readonly string[];
  /** Metric of the cells of a heat map, or beside the points. */
  value?: string;
  /** Empty for none. */
  bound: string;
}

/** The recipes of one series. */
export interface Group {
  /** Method id, or what the recipes were grouped by. */
  key: string;
  label: string;
  kind: "measured" | "baseline";
  recipes: ResultRow[];
}

/** A figure in progress: the result, its series, and the request with all defaults. */
export interface Draft {
  result: BenchmarkResult;
  groups: readonly Group[];
  base: Pick<CurveFigure, "type" | "source" | "title" | "subtitle">;
  request: PlotRequest & { plot: FigureType; x: string; y: string };
  evidence: RowEvidence;
}
