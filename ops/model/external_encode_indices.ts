/**
 * Images to indices by a callable of the user.
 *
 * Shapes: images uint8 or float32 [N, H, W, C] -> indices of an integer type, any shape, values 0 … codebook_size - 1. The
 * callable tells codebook_size in its metadata, for the width of an index on the wire follows from it.
 *
 * A contract that adapters wrap; by itself it does not run (see `_external.ts`).
 */
import { IMAGES, INDICES } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { CODER_PARAMS, needsAdapter, refuseBare } from "../_external.ts";

const id = "model.external_encode_indices";

export default defineOperation({
  id,
  name: "User callable: images to indices",
  description: "Calls an encoder of the user that gives semantic indices",
  inputs: { images: [IMAGES] },
  outputs: { indices: INDICES },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { indices: { from: "images", keys: ["codebook_size"] } },
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
