/**
 * Texts from a user's callable: sentences of one's own corpus, generator or file format.
 *
 * The callable returns {texts: [{id, text}], metadata}; the ids are unique and pair sent and received texts.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { defineAdapterContract, TASK_PARAMS } from "../_external.ts";

export default defineAdapterContract({
  id: "source.external_texts",
  name: "User callable texts",
  description: "Calls a user's function that returns texts",
  outputs: { texts: TEXTS },
  params: z.strictObject(TASK_PARAMS),
  estimate: () => ({}),
});
