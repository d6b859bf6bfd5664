/**
 * Continuous latents to images by a user's callable.
 *
 * Shapes: latents float32 or float64, any shape -> images uint8 or float32 in [0, 1], [N, H, W, C].
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_decode_latents",
  name: "User callable: latents to images",
  description: "Calls a user's decoder that turns continuous latents into images",
  inputs: { latents: [LATENTS] },
  outputs: { images: IMAGES },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { images: { from: "latents", keys: ["boundary_contract"] } },
});
