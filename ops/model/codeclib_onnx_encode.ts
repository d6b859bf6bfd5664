/**
 * Images to latents by the analysis network of a bundle, at its exported quality.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, h, w], in units of the step.
 *
 * Source: _codeclib_codec.ts.
 */
import { IMAGES, LATENTS, ONNX_BUNDLE } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import { PAD_TO_MULTIPLE } from "./_codeclib.ts";
import { openBundle, PROVIDER } from "./_codeclib_bundle.ts";
import { analyseBatch, around, INFERENCE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_onnx_encode",
  name: "ONNX codec analysis",
  description: "Turns images into latents by the networks of a bundle",
  inputs: { images: [IMAGES], model: [ONNX_BUNDLE] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    pad_to_multiple: PAD_TO_MULTIPLE,
    provider: PROVIDER,
    quantize_latents: z.boolean().default(false).describe("round the latents to integers"),
    data_plane_backend: dataPlaneParameter(),
  }),
  backends: INFERENCE,
  outputMetadataGuarantees: { latents: { from: "images", keys: ["codeclib", "image_count"] } },
  timingMetric: "encoder.inference",
  threadSafe: true,
  async run(context) {
    const { inputs: { images, model }, params } = context;
    const { codec, stated } = await openBundle(model, context.openGraph);
    return await analyseBatch(codec, imagesOf(images), images.metadata, {
      ...around(context),
      rung: stated.rung,
      metric: stated.metric,
      padToMultiple: params.pad_to_multiple,
      quantize: params.quantize_latents,
    });
  },
});
