/** Paths of summaries as they are shown over HTTP: from the state directory, ready for `/api/artifact`. */
import { isObject, type Value } from "../contract/value.ts";

/** A summary whose outputs name their files from the state directory. */
export function bundlePaths<Summary extends { steps: unknown }>(summary: Summary, runId: string): Summary {
  if (!Array.isArray(summary.steps)) return summary;
  const steps = summary.steps.map((step: Value): Value => {
    if (!isObject(step) || !isObject(step.outputs)) return step;
    const outputs = Object.fromEntries(
      Object.entries(step.outputs).map(([name, output]) => [
        name,
        isObject(output) && typeof output.path === "string"
          ? { ...output, path: `runs/${runId}/${output.path}` }
          : output,
      ]),
    );
    return { ...step, outputs };
  });
  return { ...summary, steps };
}
