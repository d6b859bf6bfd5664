/**
 * Labels and predictions from a user's callable: a dataset with the predictions of an external classifier.
 *
 * The callable returns {examples: [{id, label, prediction}], metadata}; the labels become the reference, the predictions
 * the candidate, both in the order of the examples.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { z } from "../api.ts";
import { defineAdapterContract, TASK_PARAMS } from "../_external.ts";

export default defineAdapterContract({
  id: "source.external_classification_dataset",
  name: "User callable classification data",
  description: "Calls a user's function that returns labels and predictions",
  outputs: { candidate: "task.predictions.json", reference: "task.labels.json" },
  params: z.strictObject(TASK_PARAMS),
  estimate: () => ({}),
});
