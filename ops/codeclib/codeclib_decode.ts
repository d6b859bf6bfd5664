/**
 * Payload bits of a learned codec to images. Number, size, sample type and boundaries of the images come from the
 * trusted metadata; an image has failed if the link reported it, or its bytes do not pass their checksums.
 *
 * on_error sets the treatment of a failed image: fail refuses the payload, zeros and erasure give black, gray_image and
 * report_outage middle grey. All but fail list the failed images in the metadata (failed_item_indices, delivered).
 *
 * Source: _codeclib_codec.ts.
 */
import { PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";
import { anyModel, checkState, CODECLIB_ENTROPY, DEVICE, factsOf, openCodec } from "./_codeclib.ts";
import { around, decodeBatch, INFERENCE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_decode",
  name: "Learned codec bits to images",
  description: "Decodes payload bits of a learned image codec; policies other than fail are for outage studies",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject({
    device: DEVICE,
    on_error: z.enum(["fail", "zeros", "gray_image", "erasure", "report_outage"]).default("fail")
      .describe("treatment of a failed image: an error, black (zeros, erasure) or middle grey"),
    data_plane_backend: dataPlaneParameter(),
  }),
  entropyInfo: CODECLIB_ENTROPY,
  backends: INFERENCE,
  inputMetadataRequirements: { bits: { all_of: ["codeclib"] } },
  outputMetadataGuarantees: { images: { from: "bits" } },
  timingMetric: "decoder.payload_decode",
  threadSafe: true,
  models: anyModel,
  async run(context) {
    const { inputs: { bits }, model, params } = context;
    const facts = factsOf(bits);
    const codec = await openCodec(model, facts.model);
    checkState(codec, facts);
    return await decodeBatch(codec, bits, { ...around(context), onError: params.on_error });
  },
});
