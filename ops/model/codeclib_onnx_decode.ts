/**
 * Latents to images by the synthesis network of a bundle, which must be that of the codec of the latents.
 *
 * Lost images (failed_item_indices) and latents that are not finite are failures: on_error refuses or blackens them.
 *
 * Shapes: latents float32 [N, channel, h, w] -> images [N, H, W, C] of the size and sample type of the source.
 *
 * Source: _codeclib_codec.ts.
 */
import { LATENTS, ONNX_BUNDLE } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";
import { factsOf } from "./_codeclib.ts";
import { checkMadeBy, openBundle, PROVIDER } from "./_codeclib_bundle.ts";
import { around, FAIL_OR_ZEROS, INFERENCE, synthesiseBatch } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_onnx_decode",
  name: "ONNX codec synthesis",
  description: "Turns latents back into images by the networks of a bundle",
  inputs: { latents: [LATENTS], model: [ONNX_BUNDLE] },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject({ on_error: FAIL_OR_ZEROS, provider: PROVIDER, data_plane_backend: dataPlaneParameter() }),
  backends: INFERENCE,
  inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
  outputMetadataGuarantees: { images: { from: "latents" } },
  timingMetric: "decoder.inference",
  threadSafe: true,
  async run(context) {
    const { inputs: { latents, model }, params } = context;
    const { codec } = await openBundle(model, context.openGraph);
    checkMadeBy(codec, factsOf(latents));
    return await synthesiseBatch(codec, latents, { ...around(context), onError: params.on_error });
  },
});
