/**
 * Contracts of a user's image coders, for adapters; they do not run by themselves (see `../_external.ts`).
 *
 * Images are uint8 or float32 in [0, 1], [N, H, W, C]. With bit_storage packed_bytes the callable gives and gets bytes, packed
 * in bit_order, the last one padded with zeros; metadata.bit_count is the number of bits without the padding.
 */
import { IMAGES, INDICES, LATENTS, PAYLOAD_BITS, PAYLOAD_OR_BITS, TEXTS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { BIT_PARAMS, CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default [
  // Bits uint8 [B], values 0 and 1.
  defineAdapterContract({
    id: "model.external_encode_bits",
    name: "User callable: images to bits",
    description: "Calls a user's encoder; packed bytes that it returns become one element per bit",
    inputs: { images: [IMAGES] },
    outputs: { bits: PAYLOAD_BITS },
    params: z.strictObject({ ...CODER_PARAMS, ...BIT_PARAMS }),
    outputMetadataGuarantees: { bits: { from: "images", keys: ["boundary_contract", "bit_count"] } },
  }),
  defineAdapterContract({
    id: "model.external_decode_bits",
    name: "User callable: bits to images",
    description: "Calls a user's decoder; bits are packed into bytes if it needs them",
    inputs: { bits: PAYLOAD_OR_BITS },
    outputs: { images: IMAGES },
    params: z.strictObject({ ...CODER_PARAMS, ...BIT_PARAMS }),
    outputMetadataGuarantees: { images: { from: "bits", keys: ["boundary_contract"] } },
  }),
  // Indices of an integer type, any shape, values 0 … codebook_size - 1. The callable returns codebook_size in its metadata,
  // which determines the number of bits per index.
  defineAdapterContract({
    id: "model.external_encode_indices",
    name: "User callable: images to indices",
    description: "Calls a user's encoder that returns semantic indices",
    inputs: { images: [IMAGES] },
    outputs: { indices: INDICES },
    params: z.strictObject(CODER_PARAMS),
    outputMetadataGuarantees: { indices: { from: "images", keys: ["codebook_size"] } },
  }),
  defineAdapterContract({
    id: "model.external_decode_indices",
    name: "User callable: indices to images",
    description: "Calls a user's decoder that turns semantic indices into images",
    inputs: { indices: [INDICES] },
    outputs: { images: IMAGES },
    params: z.strictObject(CODER_PARAMS),
    outputMetadataGuarantees: { images: { from: "indices", keys: ["boundary_contract"] } },
  }),
  // Latents float32 or float64, any shape, finite.
  defineAdapterContract({
    id: "model.external_encode_latents",
    name: "User callable: images to latents",
    description: "Calls a user's encoder that returns continuous latents",
    inputs: { images: [IMAGES] },
    outputs: { latents: LATENTS },
    params: z.strictObject(CODER_PARAMS),
    outputMetadataGuarantees: { latents: { from: "images" } },
  }),
  defineAdapterContract({
    id: "model.external_decode_latents",
    name: "User callable: latents to images",
    description: "Calls a user's decoder that turns continuous latents into images",
    inputs: { latents: [LATENTS] },
    outputs: { images: IMAGES },
    params: z.strictObject(CODER_PARAMS),
    outputMetadataGuarantees: { images: { from: "latents", keys: ["boundary_contract"] } },
  }),
  // A reader of signs, a captioner. The callable returns {texts, metadata} with one text of at most 1 MiB per image, in their
  // order. The texts have the ids of the images, else image_0, image_1, …, so that they pair with references of the same ids.
  defineAdapterContract({
    id: "model.external_read_texts",
    name: "User callable: images to texts",
    description: "Calls a user's function that reads or describes images",
    inputs: { images: [IMAGES] },
    outputs: { texts: TEXTS },
    params: z.strictObject(CODER_PARAMS),
    outputMetadataGuarantees: { texts: { keys: ["text_ids"] } },
  }),
];
