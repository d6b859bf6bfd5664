/**
 * A classification metric of the user: a callable gets {reference, candidate}, the items of both artifacts, and returns
 * {metrics, per_example}; the metrics must be finite numbers.
 *
 * A contract that adapters wrap; by itself it does not run (see `_external.ts`).
 */
import { REPORT } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { needsAdapter, refuseBare, TASK_PARAMS } from "../_external.ts";

const id = "metrics.external_classification";

export default defineOperation({
  id,
  name: "User-supplied classification metric",
  description: "Calls a function of the user that scores predictions against labels",
  inputs: { candidate: ["task.predictions.json", "task.labels.json"], reference: ["task.labels.json"] },
  outputs: { report: REPORT },
  params: z.strictObject(TASK_PARAMS),
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
