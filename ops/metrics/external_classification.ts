/**
 * A classification metric of the user: a callable gets {reference, candidate}, the items of both artifacts, and returns
 * {metrics, per_example}; the metrics must be finite numbers.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { REPORT } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { needsAdapter, refuseBare, TASK_PARAMS } from "../_external.ts";

const id = "metrics.external_classification";

export default defineOperation({
  id,
  name: "User-supplied classification metric",
  description: "Calls a user's function that scores predictions against labels",
  inputs: { candidate: ["task.predictions.json", "task.labels.json"], reference: ["task.labels.json"] },
  outputs: { report: REPORT },
  params: z.strictObject(TASK_PARAMS),
  // An adapter may share state between calls, so its steps never overlap with others.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
