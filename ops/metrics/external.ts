/**
 * Contracts of a user's metrics, for adapters; they do not run by themselves (see `../_external.ts`). A callable gets {reference,
 * candidate}, the items of both artifacts, and returns {metrics, per_example}; the metrics must be finite numbers.
 */
import { REPORT, TEXTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { defineAdapterContract, TASK_PARAMS } from "../_external.ts";

export default [
  defineAdapterContract({
    id: "metrics.external_classification",
    name: "User-supplied classification metric",
    description: "Calls a user's function that scores predictions against labels",
    inputs: { candidate: ["task.predictions.json", "task.labels.json"], reference: ["task.labels.json"] },
    outputs: { report: REPORT },
    params: z.strictObject(TASK_PARAMS),
  }),
  defineAdapterContract({
    id: "metrics.external_text",
    name: "User-supplied text metric",
    description: "Calls a user's function that scores received texts against those sent",
    inputs: { candidate: [TEXTS], reference: [TEXTS] },
    outputs: { report: REPORT },
    params: z.strictObject(TASK_PARAMS),
  }),
];
