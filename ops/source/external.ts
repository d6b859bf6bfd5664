/** Contracts of a user's datasets, for adapters; they do not run by themselves (see `../_external.ts`). */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { defineAdapterContract, TASK_PARAMS } from "../_external.ts";

export default [
  // The callable returns {examples: [{id, label, prediction}], metadata}: a dataset with the predictions of an external
  // classifier. The labels become the reference, the predictions the candidate, both in the order of the examples.
  defineAdapterContract({
    id: "source.external_classification_dataset",
    name: "User callable classification data",
    description: "Calls a user's function that returns labels and predictions",
    outputs: { candidate: "task.predictions.json", reference: "task.labels.json" },
    params: z.strictObject(TASK_PARAMS),
    estimate: () => ({}),
  }),
  // The callable returns {texts: [{id, text}], metadata}; the ids are unique and pair sent and received texts.
  defineAdapterContract({
    id: "source.external_texts",
    name: "User callable texts",
    description: "Calls a user's function that returns texts",
    outputs: { texts: TEXTS },
    params: z.strictObject(TASK_PARAMS),
    estimate: () => ({}),
  }),
];
