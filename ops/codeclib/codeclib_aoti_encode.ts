/**
 * Images to latents by a network compiled ahead of time.
 *
 * Such a bundle contains a shared library for one machine and one version of its framework. No runtime of this program
 * loads one, and running foreign machine code would need every permission, so planning refuses the step.
 */
import { AOT_BUNDLE, IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { DEVICE, PAD_TO_MULTIPLE } from "./_codeclib.ts";
import { plannedFor } from "./_codeclib_runtimes.ts";

const id = "model.codeclib_aoti_encode";

export default defineOperation({
  id,
  name: "Compiled codec analysis",
  description: "Turns images into latents by a network compiled ahead of time; not part of this release",
  inputs: { images: [IMAGES], model: [AOT_BUNDLE] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    device: DEVICE,
    pad_to_multiple: PAD_TO_MULTIPLE,
    quantize_latents: z.boolean().default(false).describe("round the latents to integers"),
    data_plane_backend: dataPlaneParameter(),
  }),
  threadSafe: true,
  ...plannedFor("aoti", id),
});
