/** The rows of the research catalogue. */
import type { JsonObject } from "../../contract/value.ts";

/** Whether it runs today, runs but may change, or is only foreseen. */
export type CatalogStatus = "supported" | "experimental" | "planned";
export type Modality = "image" | "text" | "audio" | "bits" | "wireless" | "multimodal" | "generic";
export type Direction = "higher_is_better" | "lower_is_better" | "neutral";
export type Reduction = "mean" | "sum" | "min" | "max" | "median" | "p90" | "p05" | "constant";
/** What repeated measurements of it are: this decides which interval they get. */
export type Statistic = "rate" | "mean" | "count" | "constant";

export const DIRECTIONS: readonly Direction[] = ["higher_is_better", "lower_is_better", "neutral"];
export const REDUCTIONS: readonly Reduction[] = ["mean", "sum", "min", "max", "median", "p90", "p05", "constant"];

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
  /** Operations that bring it into a recipe. */
  source_ops: string[];
  versions: string[];
  /** Its files come with the program. */
  bundled: boolean;
  /** It is there after `svc data fetch`, or read from a path of one's own. */
  local: boolean;
}

export interface TaskEntry extends JsonObject {
  id: string;
  name: string;
  kind: string;
  modality: Modality;
  status: CatalogStatus;
  area_id: string;
  /** What the outcome is about. */
  target: string;
  description: string;
  /** Main metrics. */
  metrics: string[];
  optional_metrics: string[];
  /** Kinds that the evaluation needs. */
  required_artifacts: string[];
}

export interface MetricEntry {
  id: string;
  name: string;
  family: string;
  unit: string;
  direction: Direction;
  /** How the one number of a run is made of its items. */
  reduction: Reduction;
  statistic: Statistic;
  /** Of a rate: the metrics that count its events and its trials. */
  counts?: { events: string; trials: string };
  status?: CatalogStatus;
  description?: string;
}

/** A metric id of the past, with what stands in its place. */
export interface DeprecatedMetric {
  id: string;
  replacement: string;
  reason: string;
}
