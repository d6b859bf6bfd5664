/** What `/api/runs/<id>` answers, as far as the page reads it. */
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { measuredText } from "./metrics.ts";
import type { Diagnostic } from "../api.ts";

export interface Output {
  kind: string;
  /** From the state directory, ready for `/api/artifact`. */
  path: string;
  metadata: JsonObject;
  sha256: string;
}

export interface RunStep {
  id: string;
  op: string;
  status: "completed" | "failed" | "canceled";
  execution_binding: JsonObject;
  outputs: Record<string, Output>;
  metrics: JsonObject;
  metadata: JsonObject;
}

export interface RunSummary {
  run_id: string;
  job_id: string | null;
  recipe_name: string;
  status: string;
  created_at_utc: string;
  completed_at_utc: string | null;
  steps: RunStep[];
  metrics: JsonObject;
  execution: JsonObject;
  execution_plan: JsonObject;
  seed_policy: JsonObject;
  error?: string;
  failure?: JsonObject;
  warnings?: Diagnostic[];
  [key: string]: unknown;
}

export interface RunDocuments {
  summary: RunSummary;
  manifest: JsonObject;
}

/** An output with the step that left it. */
export interface Artifact extends Output {
  step: string;
  name: string;
  dtype: string | null;
  shape: number[] | null;
  /** Name of its main array in the file. */
  array: string | null;
}

export function artifactsOf({ steps }: RunSummary): Artifact[] {
  return steps.flatMap(({ id, outputs }) =>
    Object.entries(outputs ?? {}).map(([name, output]) => {
      const { dtype, shape, array } = isObject(output.metadata) ? output.metadata : {};
      return {
        ...output,
        step: id,
        name,
        dtype: typeof dtype === "string" ? dtype : null,
        array: typeof array === "string" ? array : null,
        shape: Array.isArray(shape) ? shape.map(Number) : null,
      };
    })
  );
}

/** Metrics of all steps in plan order; timings are told apart by their name. */
export function metricRows(
  { steps }: RunSummary,
): { step: string; metric: string; value: unknown; shown: string }[] {
  return steps.flatMap(({ id, metrics, metadata }) =>
    Object.entries(metrics ?? {}).map(([metric, value]) => ({
      step: id,
      metric,
      value,
      shown: measuredText({ metrics, metadata }, metric),
    }))
  );
}

/** Whether a metric tells of time or memory, which differ from run to run. */
export const isVolatile = (metric: string): boolean => /^(timing|memory|encoder|decoder)\./.test(metric);
