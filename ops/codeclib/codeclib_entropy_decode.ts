/**
 * Payload bits of a learned codec to latents: mean plus decoded difference.
 *
 * Number, size and cuts of the images come from the trusted metadata. An image has failed if the link reported it, when
 * its bytes are damaged, or when they were made with other tables; on_error refuses the payload, or puts latents of
 * zero and lists the image in failed_item_indices.
 *
 * Shapes: bits -> latents float32 [N, channel, h, w].
 *
 * Source: _codeclib_codec.ts.
 */
import { LATENTS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { anyModel, checkState, CODECLIB_ENTROPY, DEVICE, factsOf, openCodec } from "./_codeclib.ts";
import { around, entropyDecodeBatch, FAIL_OR_ZEROS, INFERENCE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_entropy_decode",
  name: "Learned codec entropy decode",
  description: "Reads latents of a learned image codec from payload bits",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { latents: LATENTS },
  params: z.strictObject({ device: DEVICE, on_error: FAIL_OR_ZEROS, data_plane_backend: dataPlaneParameter() }),
  differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
  entropyInfo: CODECLIB_ENTROPY,
  backends: INFERENCE,
  inputMetadataRequirements: { bits: { all_of: ["codeclib"] } },
  outputMetadataGuarantees: { latents: { from: "bits", keys: ["codeclib", "image_count", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  threadSafe: true,
  models: anyModel,
  async run(context) {
    const { inputs: { bits }, model, params } = context;
    const facts = factsOf(bits);
    const codec = await openCodec(model, facts.model);
    checkState(codec, facts);
    return await entropyDecodeBatch(codec, bits, { ...around(context), onError: params.on_error });
  },
});
