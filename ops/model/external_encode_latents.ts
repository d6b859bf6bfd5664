/**
 * Images to continuous latents by a callable of the user.
 *
 * Shapes: images uint8 or float32 [N, H, W, C] -> latents float32 or float64, any shape, finite.
 *
 * A contract that adapters wrap; by itself it does not run (see `_external.ts`).
 */
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { CODER_PARAMS, needsAdapter, refuseBare } from "../_external.ts";

const id = "model.external_encode_latents";

export default defineOperation({
  id,
  name: "User callable: images to latents",
  description: "Calls an encoder of the user that gives continuous latents",
  inputs: { images: [IMAGES] },
  outputs: { latents: LATENTS },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { latents: { from: "images" } },
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
