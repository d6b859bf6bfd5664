/**
 * Images to payload bits by a learned codec: analysis, rounding and entropy coding in one step.
 *
 * With compact_binary_v1 every image is a source item, with safe_json_base64 the whole payload is one. Rates are bits per
 * pixel (height times width, all images, without padding): native_codec counts the coded images, serialized_payload the
 * container.
 *
 * Source: _codeclib_codec.ts; the container is that of model.jpeg_encode with codec 2.
 */
import { IMAGES, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import {
  checkState,
  CODECLIB_ENTROPY,
  DEVICE,
  MODEL_PARAMS,
  modelProblems,
  namedModel,
  openCodec,
  PAD_TO_MULTIPLE,
  rungOf,
  VARIABLE_RATE_PARAMS,
} from "./_codeclib.ts";
import { around, encodeBatch, INFERENCE, PAYLOAD_GUARANTEE } from "./_codeclib_steps.ts";

export default defineOperation({
  id: "model.codeclib_encode",
  name: "Learned codec images to bits",
  description: "Compresses images to payload bits by a learned image codec",
  inputs: { images: [IMAGES] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    ...MODEL_PARAMS,
    ...VARIABLE_RATE_PARAMS,
    device: DEVICE,
    pad_to_multiple: PAD_TO_MULTIPLE,
    expected_model_state_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("")
      .describe("required digest of networks and tables; empty accepts any"),
    wire_format: z.enum(["safe_json_base64", "compact_binary_v1"]).default("safe_json_base64")
      .describe("container of the images; with compact_binary_v1 every image is a source item"),
    data_plane_backend: dataPlaneParameter(),
  }),
  entropyInfo: CODECLIB_ENTROPY,
  backends: INFERENCE,
  outputMetadataGuarantees: { bits: { from: "images", keys: PAYLOAD_GUARANTEE } },
  timingMetric: "encoder.payload_encode",
  threadSafe: true,
  check: modelProblems,
  models: namedModel,
  async run(context) {
    const { inputs: { images }, params, model } = context;
    const codec = await openCodec(model, params.model);
    const { expected_model_state_sha256: stateSha256 } = params;
    if (stateSha256 !== "") checkState(codec, { stateSha256 });
    return await encodeBatch(codec, imagesOf(images), images.metadata, {
      ...around(context),
      rung: rungOf(params),
      metric: params.metric,
      padToMultiple: params.pad_to_multiple,
      wireFormat: params.wire_format,
    });
  },
});
