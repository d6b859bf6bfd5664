/**
 * A text metric of the user: a callable gets {reference, candidate}, the texts with their ids, and returns {metrics,
 * per_example}; the metrics must be finite numbers.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { REPORT, TEXTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { defineAdapterContract, TASK_PARAMS } from "../_external.ts";

export default defineAdapterContract({
  id: "metrics.external_text",
  name: "User-supplied text metric",
  description: "Calls a user's function that scores received texts against those sent",
  inputs: { candidate: [TEXTS], reference: [TEXTS] },
  outputs: { report: REPORT },
  params: z.strictObject(TASK_PARAMS),
});
