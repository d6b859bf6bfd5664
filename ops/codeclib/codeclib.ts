/** A learned codec with a selected model: one step, or transform and entropy coder apart. Source: _codeclib_codec.ts. */
import { IMAGES, LATENTS, PAYLOAD_BITS, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, type InputArtifact, type NamedModel, SvcError, z } from "../api.ts";
import {
  anyModel,
  checkState,
  CODECLIB_ENTROPY,
  DEVICE,
  factsOf,
  MODEL_PARAMS,
  modelProblems,
  namedModel,
  openCodec,
  PAD_TO_MULTIPLE,
  qualityOf,
  VARIABLE_RATE_PARAMS,
} from "./_codeclib.ts";
import type { Codec } from "./_codeclib_codec.ts";
import {
  analyseBatch,
  decodeBatch,
  encodeBatch,
  entropyDecodeBatch,
  entropyEncodeBatch,
  FAIL_OR_ZEROS,
  INFERENCE,
  PAYLOAD_GUARANTEE,
  synthesiseBatch,
} from "./_codeclib_steps.ts";
import { checkDevice } from "../foundation/_pretrained.ts";
import { DELIVERED_IMAGES } from "../_jpeg_images.ts";

const ENCODER = { backends: INFERENCE, check: modelProblems, models: namedModel };
const DECODER = { backends: INFERENCE, check: checkDevice, models: anyModel };
const TRANSFORM = { framework: "torch", gradient: "full", trainable_params: false, exportable: true } as const;
const ENTROPY_CODER = { framework: "torch", gradient: "stop", trainable_params: false, exportable: false } as const;

/** The codec that made an artifact. @throws SvcError `artifact_hash_mismatch` for another state of the model */
async function codecOf({ model }: { model(role: string): NamedModel }, made: InputArtifact): Promise<Codec> {
  const facts = factsOf(made), codec = await openCodec(model, facts.model);
  checkState(codec, facts.model_state_sha256);
  return codec;
}

/**
 * Images to payload bits by a learned codec: analysis, rounding and entropy coding in one step.
 *
 * With compact_binary_v1 every image is a source item, with safe_json_base64 the whole payload is one. Rates are bits per
 * pixel (height times width, all images, without padding): native_codec counts the coded images, serialized_payload the
 * container.
 *
 * The container is that of model.jpeg_encode with codec 2.
 */
const encode = defineOperation({
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
  outputMetadataGuarantees: { bits: { from: "images", keys: PAYLOAD_GUARANTEE } },
  timingMetric: "encoder.payload_encode",
  ...ENCODER,
  async run(context) {
    const { inputs: { images }, params, model } = context;
    const codec = await openCodec(model, params.model);
    const { expected_model_state_sha256: stateSha256 } = params;
    if (stateSha256 !== "") checkState(codec, stateSha256);
    return await encodeBatch(codec, images, { ...params, quality: qualityOf(params) }, context);
  },
});

/**
 * Payload bits of a learned codec to images. Number, size, sample type and boundaries of the images come from the
 * trusted metadata; an image has failed if the link reported it, or its bytes do not pass their checksums.
 *
 * on_error sets the treatment of a failed image: fail refuses the payload, zeros and erasure give black, gray_image and
 * report_outage middle grey. All but fail list the failed images in the metadata (failed_item_indices, delivered).
 */
const decode = defineOperation({
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
  inputMetadataRequirements: { bits: { all_of: ["codeclib"] } },
  outputMetadataGuarantees: { images: { from: "bits" } },
  timingMetric: "decoder.payload_decode",
  ...DECODER,
  async run(context) {
    const { inputs: { bits }, params } = context;
    return await decodeBatch(await codecOf(context, bits), bits, params.on_error, context);
  },
});

/**
 * Images to the latents of a learned codec, before rounding and entropy coding.
 *
 * Latents are in units of the quantisation step of the quality, so the codec rounds them to integers. quantize_latents
 * rounds them here, without subtracting the mean of the entropy coder.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> latents float32 [N, channel, H/16, W/16] of padded images;
 * images of several sizes -> latents [n], one image after the other.
 */
const analysisEncode = defineOperation({
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
  differentiability: TRANSFORM,
  outputMetadataGuarantees: { latents: { from: "images", keys: ["codeclib", "image_count"] } },
  timingMetric: "encoder.inference",
  ...ENCODER,
  async run(context) {
    const { inputs, params, model } = context;
    const codec = await openCodec(model, params.model);
    const options = { ...params, quality: qualityOf(params), quantize: params.quantize_latents };
    return await analyseBatch(codec, inputs.images, options, context);
  },
});

/**
 * Latents of a learned codec to images, with the model and the step in their metadata.
 *
 * Lost images (failed_item_indices) and latents that are not finite are failures: on_error refuses or blackens them.
 *
 * Shapes: latents float32 [N, channel, h, w], or [n] of several sizes -> images [N, H, W, C] of the size and sample type of the source.
 */
const synthesisDecode = defineOperation({
  id: "model.codeclib_synthesis_decode",
  name: "Learned codec synthesis transform",
  description: "Turns latents of a learned image codec back into images",
  inputs: { latents: [LATENTS] },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject({ device: DEVICE, on_error: FAIL_OR_ZEROS }),
  differentiability: TRANSFORM,
  inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
  outputMetadataGuarantees: { images: { from: "latents" } },
  timingMetric: "decoder.inference",
  ...DECODER,
  async run(context) {
    const { inputs: { latents }, params } = context, codec = await codecOf(context, latents);
    return await synthesiseBatch(codec, latents, params.on_error, context);
  },
});

/**
 * Latents of a learned codec to payload bits: hyper latents, then the rounded distance of each latent from its mean, by
 * one range coder per image. The container is compact_binary_v1: every image is a source item.
 *
 * Model, metric and quality must be those of the latents.
 *
 * Shapes: latents float32 [N, channel, h, w], or [n] of several sizes -> bits, eight a byte, most significant bit first.
 */
const entropyEncode = defineOperation({
  id: "model.codeclib_entropy_encode",
  name: "Learned codec entropy encode",
  description: "Codes latents of a learned image codec as payload bits",
  inputs: { latents: [LATENTS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ ...MODEL_PARAMS, device: DEVICE, data_plane_backend: dataPlaneParameter() }),
  differentiability: ENTROPY_CODER,
  entropyInfo: CODECLIB_ENTROPY,
  inputMetadataRequirements: { latents: { all_of: ["codeclib", "image_count"] } },
  outputMetadataGuarantees: { bits: { from: "latents", keys: PAYLOAD_GUARANTEE } },
  timingMetric: "encoder.payload_encode",
  ...ENCODER,
  async run(context) {
    const { inputs: { latents }, params } = context;
    const facts = factsOf(latents), stated = `${params.model} ${params.metric}`;
    // The quality level of a variable-rate model comes from the analysis.
    const sameRate = facts.model.endsWith("_vbr") || facts.quality === params.quality;
    if (`${facts.model} ${facts.metric}` !== stated || !sameRate) {
      throw new SvcError(
        "params_conflict",
        `Cannot code latents of ${facts.model}, quality ${facts.quality}, as ${params.model}, quality ${params.quality}`,
        { hint: "Set the model, metric and quality of the analysis" },
      );
    }
    return await entropyEncodeBatch(await codecOf(context, latents), latents, context);
  },
});

/**
 * Payload bits of a learned codec to latents: mean plus decoded difference.
 *
 * Number, size and cuts of the images come from the trusted metadata. An image has failed if the link reported it, when
 * its bytes are damaged, or when they were made with other tables; on_error refuses the payload, or puts latents of
 * zero and lists the image in failed_item_indices.
 *
 * Shapes: bits -> latents float32 [N, channel, h, w], or [n] of images of several sizes.
 */
const entropyDecode = defineOperation({
  id: "model.codeclib_entropy_decode",
  name: "Learned codec entropy decode",
  description: "Reads latents of a learned image codec from payload bits",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { latents: LATENTS },
  params: z.strictObject({ device: DEVICE, on_error: FAIL_OR_ZEROS, data_plane_backend: dataPlaneParameter() }),
  differentiability: ENTROPY_CODER,
  entropyInfo: CODECLIB_ENTROPY,
  inputMetadataRequirements: { bits: { all_of: ["codeclib"] } },
  outputMetadataGuarantees: { latents: { from: "bits", keys: ["codeclib", "image_count", "failed_item_indices"] } },
  timingMetric: "decoder.payload_decode",
  ...DECODER,
  async run(context) {
    const { inputs: { bits }, params } = context, codec = await codecOf(context, bits);
    return await entropyDecodeBatch(codec, bits, params.on_error, context);
  },
});

export default [encode, decode, analysisEncode, synthesisDecode, entropyEncode, entropyDecode];
