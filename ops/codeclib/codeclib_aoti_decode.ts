/** Latents to images by a network compiled ahead of time; refused for the reason given in codeclib_aoti_encode. */
import { AOT_BUNDLE, IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { DEVICE } from "./_codeclib.ts";
import { plannedFor } from "./_codeclib_runtimes.ts";

const id = "model.codeclib_aoti_decode";

export default defineOperation({
  id,
  name: "Compiled codec synthesis",
  description: "Turns latents back into images by a network compiled ahead of time; not part of this release",
  inputs: { latents: [LATENTS], model: [AOT_BUNDLE] },
  outputs: { images: IMAGES },
  params: z.strictObject({
    device: DEVICE,
    on_error: z.enum(["fail", "zeros"]).default("fail").describe("treatment of a failed image: an error, or zeros"),
  }),
  threadSafe: true,
  ...plannedFor("aoti", id),
});
