/**
 * Indices to images by a user's callable.
 *
 * Shapes: indices of an integer type, any shape -> images uint8 or float32 in [0, 1], [N, H, W, C].
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, INDICES } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_decode_indices",
  name: "User callable: indices to images",
  description: "Calls a user's decoder that turns semantic indices into images",
  inputs: { indices: [INDICES] },
  outputs: { images: IMAGES },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { images: { from: "indices", keys: ["boundary_contract"] } },
});
