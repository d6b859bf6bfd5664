/**
 * Images to the latents of a learned codec, before rounding and entropy coding.
 *
 * Latents are in units of the quantisation step of the quality, so the codec rounds them to integers. quantize_latents
 * rounds them here, without subtracting the mean of the entropy coder.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, H/16, W/16] of padded images.
 *
 * Source: _codeclib_codec.ts.
 */
import { IMAGES, LATENTS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import { DEVICE, MODEL_PARAMS, modelProblems, namedModel, openCodec, PAD_TO_MULTIPLE, rungOf } from "./_codeclib.ts";
import { analyseBatch, around, INFERENCE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_analysis_encode",
  name: "Learned codec analysis transform",
  description: "Turns images into the latents of a learned image codec",
  inputs: { images: [IMAGES] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    ...MODEL_PARAMS,
    device: DEVICE,
    pad_to_multiple: PAD_TO_MULTIPLE,
    quantize_latents: z.boolean().default(false).describe("round the latents to integers"),
  }),
  differentiability: { framework: "torch", gradient: "full", trainable_params: false, exportable: true },
  backends: INFERENCE,
  outputMetadataGuarantees: { latents: { from: "images", keys: ["codeclib", "image_count"] } },
  timingMetric: "encoder.inference",
  threadSafe: true,
  check: modelProblems,
  models: namedModel,
  async run(context) {
    const { inputs, params, model } = context;
    const codec = await openCodec(model, params.model);
    return await analyseBatch(codec, imagesOf(inputs.images), inputs.images.metadata, {
      ...around(context),
      rung: rungOf(params),
      metric: params.metric,
      padToMultiple: params.pad_to_multiple,
      quantize: params.quantize_latents,
    });
  },
});
