/**
 * A classification metric of the user: a callable gets {reference, candidate}, the items of both artifacts, and returns
 * {metrics, per_example}; the metrics must be finite numbers.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { REPORT } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { defineAdapterContract, TASK_PARAMS } from "../_external.ts";

export default defineAdapterContract({
  id: "metrics.external_classification",
  name: "User-supplied classification metric",
  description: "Calls a user's function that scores predictions against labels",
  inputs: { candidate: ["task.predictions.json", "task.labels.json"], reference: ["task.labels.json"] },
  outputs: { report: REPORT },
  params: z.strictObject(TASK_PARAMS),
});
