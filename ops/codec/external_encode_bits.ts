/**
 * Images to payload bits by a user's callable.
 *
 * Shapes: images uint8 or float32 [N, H, W, C] -> bits uint8 [B], values 0 and 1. With bit_storage packed_bytes the
 * callable returns bytes, which are unpacked in bit_order; its metadata.bit_count excludes the padding of the last
 * byte.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { BIT_PARAMS, CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_encode_bits",
  name: "User callable: images to bits",
  description: "Calls a user's encoder; packed bytes that it returns become one element per bit",
  inputs: { images: [IMAGES] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ ...CODER_PARAMS, ...BIT_PARAMS }),
  outputMetadataGuarantees: { bits: { from: "images", keys: ["boundary_contract", "bit_count"] } },
});
