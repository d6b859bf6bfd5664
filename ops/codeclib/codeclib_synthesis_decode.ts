/**
 * Latents of a learned codec to images, with the model and the step in their metadata.
 *
 * Lost images (failed_item_indices) and latents that are not finite are failures: on_error refuses or blackens them.
 *
 * Shapes: latents float32 [N, channel, h, w] -> images [N, H, W, C] of the size and sample type of the source.
 *
 * Source: _codeclib_codec.ts.
 */
import { LATENTS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";
import { anyModel, checkState, DEVICE, factsOf, openCodec } from "./_codeclib.ts";
import { around, FAIL_OR_ZEROS, INFERENCE, synthesiseBatch } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_synthesis_decode",
  name: "Learned codec synthesis transform",
  description: "Turns latents of a learned image codec back into images",
  inputs: { latents: [LATENTS] },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject({ device: DEVICE, on_error: FAIL_OR_ZEROS }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: INFERENCE,
  inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
  outputMetadataGuarantees: { images: { from: "latents" } },
  timingMetric: "decoder.inference",
  threadSafe: true,
  models: anyModel,
  async run(context) {
    const facts = factsOf(context.inputs.latents);
    const codec = await openCodec(context.model, facts.model);
    checkState(codec, facts);
    return await synthesiseBatch(codec, context.inputs.latents, {
      ...around(context),
      onError: context.params.on_error,
    });
  },
});
