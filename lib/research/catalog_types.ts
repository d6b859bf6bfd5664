/** The rows of the research catalogue. */
import type { JsonObject } from "../contract/value.ts";

/** Whether it runs, runs but may change, or does not run yet. */
export type CatalogStatus = "supported" | "experimental" | "planned";
export type Modality = "image" | "text" | "audio" | "bits" | "wireless" | "multimodal" | "generic";
export const DIRECTIONS = ["higher_is_better", "lower_is_better", "neutral"] as const;
export type Direction = typeof DIRECTIONS[number];
export const REDUCTIONS = [
  "mean",
  "sum",
  "min",
  "max",
  "median",
  "p90",
  "p05",
  "constant",
  "root_mean_square",
  "ratio_of_sums",
  "ratio_of_sums_db",
  "quantile",
] as const;
export type Reduction = typeof REDUCTIONS[number];
/** Type of repeated measurements, which determines the interval. */
export type Statistic = "rate" | "mean" | "count" | "constant";

export interface AreaEntry extends JsonObject {
  id: string;
  name: string;
  order: number;
}

export interface DatasetEntry extends JsonObject {
  id: string;
  name: string;
  modality: Modality;
  status: CatalogStatus;
  /** Operations that provide it. */
  source_ops: string[];
  versions: string[];
  /** Its files ship with the program. */
  bundled: boolean;
  /** Needs `svc data fetch`, or a user's path. */
  local: boolean;
}

export interface TaskEntry extends JsonObject {
  id: string;
  name: string;
  kind: string;
  modality: Modality;
  status: CatalogStatus;
  area_id: string;
  /** Subject of the outcome. */
  target: string;
  description: string;
  /** Main metrics. */
  metrics: string[];
  optional_metrics: string[];
  /** Kinds that the evaluation needs. */
  required_artifacts: string[];
}

export type MetricEntry = {
  id: string;
  name: string;
  family: string;
  unit: string;
  direction: Direction;
  /** Reduction over the items of a run. */
  reduction: Reduction;
  statistic: Statistic;
  /** For a rate: the metrics with its events and trials. */
  counts?: { events: string; trials: string };
  status?: CatalogStatus;
  description?: string;
};

/** A former metric id, with its replacement. */
export interface DeprecatedMetric {
  id: string;
  replacement: string;
  reason: string;
}
