/**
 * Images to texts by a user's callable: a reader of signs, a captioner.
 *
 * Shapes: images uint8 or float32 in [0, 1], [N, H, W, C]. The callable returns {texts, metadata} with one text of at most
 * 1 MiB per image, in their order. The texts have the ids of the images, else image_0, image_1, …, so that they pair with
 * references of the same ids.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, TEXTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_read_texts",
  name: "User callable: images to texts",
  description: "Calls a user's function that reads or describes images",
  inputs: { images: [IMAGES] },
  outputs: { texts: TEXTS },
  params: z.strictObject(CODER_PARAMS),
  outputMetadataGuarantees: { texts: { keys: ["text_ids"] } },
});
