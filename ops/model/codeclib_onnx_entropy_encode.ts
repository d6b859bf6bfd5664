/**
 * Latents to payload bits with the hyperprior networks of a bundle; the container is compact_binary_v1.
 *
 * Shapes: latents float32 [N, channel, h, w] -> bits, eight a byte, most significant bit first.
 *
 * Source: _codeclib_codec.ts.
 */
import { LATENTS, ONNX_BUNDLE, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { CODECLIB_ENTROPY, DEVICE, factsOf } from "./_codeclib.ts";
import { checkMadeBy, openBundle, PROVIDER } from "./_codeclib_bundle.ts";
import { entropyEncodeBatch, INFERENCE, PAYLOAD_GUARANTEE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_onnx_entropy_encode",
  name: "ONNX codec entropy encode",
  description: "Codes latents as payload bits with the networks of a bundle",
  inputs: { latents: [LATENTS], model: [ONNX_BUNDLE] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ device: DEVICE, provider: PROVIDER, data_plane_backend: dataPlaneParameter() }),
  entropyInfo: CODECLIB_ENTROPY,
  backends: INFERENCE,
  inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
  outputMetadataGuarantees: { bits: { from: "latents", keys: PAYLOAD_GUARANTEE } },
  timingMetric: "encoder.payload_encode",
  threadSafe: true,
  async run(context) {
    const { latents, model } = context.inputs;
    const { codec } = await openBundle(model, context.openGraph);
    checkMadeBy(codec, factsOf(latents));
    return await entropyEncodeBatch(codec, latents, context);
  },
});
