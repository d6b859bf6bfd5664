/** The documents of a run: its artifacts and metrics in plan order. */
import { isObject, type Value } from "../../lib/contract/value.ts";
import type { Reply } from "../api.ts";
import { measuredText } from "./metrics.ts";

/** Paths of outputs begin at the state directory. */
export type RunDocuments = Reply<"/api/runs/:run_id">;
export type RunSummary = RunDocuments["summary"];
type Output = RunSummary["steps"][number]["outputs"][string];

/** An output with the step that left it. */
export interface Artifact extends Pick<Output, "kind" | "metadata"> {
  path: string;
  sha256: string;
  step: string;
  name: string;
  dtype: string | null;
  shape: number[] | null;
  /** Name of its main array in the file. */
  array: string | null;
}

export function artifactsOf({ steps }: RunSummary): Artifact[] {
  return steps.flatMap(({ id, outputs }) =>
    Object.entries(outputs).map(([name, output]) => {
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

/** Metrics of all steps in plan order, timings included. */
export function metricRows({ steps }: RunSummary): { step: string; metric: string; value: Value; shown: string }[] {
  return steps.flatMap(({ id, metrics, metadata }) =>
    Object.entries(metrics).map(([metric, value]) => ({
      step: id,
      metric,
      value,
      shown: measuredText({ metrics, metadata }, metric),
    }))
  );
}

/** The task of a run, as its research specifications name it, or null. */
export function taskOf({ manifest }: RunDocuments): string | null {
  const research = isObject(manifest.recipe.research) ? manifest.recipe.research : {};
  return isObject(research.task) ? String(research.task.id) : null;
}
