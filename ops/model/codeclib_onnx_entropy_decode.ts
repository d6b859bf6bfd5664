/**
 * Payload bits to latents with the hyperprior networks of a bundle; a failed image is an error, or zeros that are listed in
 * failed_item_indices.
 *
 * Shapes: bits -> latents float32 [N, channel, h, w].
 *
 * Source: _codeclib_codec.ts.
 */
import { LATENTS, ONNX_BUNDLE, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { CODECLIB_ENTROPY, DEVICE, factsOf } from "./_codeclib.ts";
import { checkMadeBy, openBundle, PROVIDER } from "./_codeclib_bundle.ts";
import { around, entropyDecodeBatch, FAIL_OR_ZEROS, INFERENCE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_onnx_entropy_decode",
  name: "ONNX codec entropy decode",
  description: "Reads latents from payload bits with the networks of a bundle",
  inputs: { bits: PAYLOAD_OR_BITS, model: [ONNX_BUNDLE] },
  outputs: { latents: LATENTS },
  params: z.strictObject({
    device: DEVICE,
    on_error: FAIL_OR_ZEROS,
    provider: PROVIDER,
    data_plane_backend: dataPlaneParameter(),
  }),
  entropyInfo: CODECLIB_ENTROPY,
  backends: INFERENCE,
  inputMetadataRequirements: { bits: { all_of: ["codeclib"] } },
  outputMetadataGuarantees: { latents: { from: "bits", keys: ["codeclib", "image_count", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  threadSafe: true,
  async run(context) {
    const { inputs: { bits, model }, params } = context;
    const { codec } = await openBundle(model, context.openGraph);
    checkMadeBy(codec, factsOf(bits));
    return await entropyDecodeBatch(codec, bits, { ...around(context), onError: params.on_error });
  },
});
