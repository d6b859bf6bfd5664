/**
 * Labels and predictions from a callable of the user: a dataset of which somebody else's classifier has already spoken.
 *
 * The callable returns {examples: [{id, label, prediction}], metadata}; the labels become the reference, the predictions
 * the candidate, both in the order of the examples.
 *
 * A contract that adapters wrap; by itself it does not run (see `_external.ts`).
 */
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { needsAdapter, refuseBare, TASK_PARAMS } from "../_external.ts";

const id = "source.external_classification_dataset";

export default defineOperation({
  id,
  name: "User callable classification data",
  description: "Calls a function of the user that gives labels and predictions",
  outputs: { candidate: "task.predictions.json", reference: "task.labels.json" },
  params: z.strictObject(TASK_PARAMS),
  estimate: () => ({}),
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
