/**
 * Images to continuous latents by a user's callable.
 *
 * Shapes: images uint8 or float32 [N, H, W, C] -> latents float32 or float64, any shape, finite.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_encode_latents",
  name: "User callable: images to latents",
  description: "Calls a user's encoder that returns continuous latents",
  inputs: { images: [IMAGES] },
  outputs: { latents: LATENTS },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { latents: { from: "images" } },
});
