/**
 * Continuous latents to images by a user's callable.
 *
 * Shapes: latents float32 or float64, any shape -> images uint8 or float32 in [0, 1], [N, H, W, C].
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { CODER_PARAMS, needsAdapter, refuseBare } from "../_external.ts";

const id = "model.external_decode_latents";

export default defineOperation({
  id,
  name: "User callable: latents to images",
  description: "Calls a user's decoder that turns continuous latents into images",
  inputs: { latents: [LATENTS] },
  outputs: { images: IMAGES },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { images: { from: "latents", keys: ["boundary_contract"] } },
  // An adapter may share state between calls, so its steps never overlap with others.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
