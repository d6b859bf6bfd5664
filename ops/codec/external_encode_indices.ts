/**
 * Images to indices by a user's callable.
 *
 * Shapes: images uint8 or float32 [N, H, W, C] -> indices of an integer type, any shape, values 0 … codebook_size - 1.
 * The callable returns codebook_size in its metadata, which determines the number of bits per index.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, INDICES } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_encode_indices",
  name: "User callable: images to indices",
  description: "Calls a user's encoder that returns semantic indices",
  inputs: { images: [IMAGES] },
  outputs: { indices: INDICES },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { indices: { from: "images", keys: ["codebook_size"] } },
});
