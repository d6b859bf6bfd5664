/**
 * Received bits to images by a user's callable.
 *
 * Shapes: bits uint8 [B], values 0 and 1 -> images uint8 or float32 in [0, 1], [N, H, W, C]. With bit_storage
 * packed_bytes the callable gets bytes, packed in bit_order, the last one padded with zeros; metadata.bit_count is the
 * number of bits.
 *
 * A contract for adapters; it does not run by itself (see `_external.ts`).
 */
import { IMAGES, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { z } from "../api.ts";
import { BIT_PARAMS, CODER_PARAMS, defineAdapterContract } from "../_external.ts";

export default defineAdapterContract({
  id: "model.external_decode_bits",
  name: "User callable: bits to images",
  description: "Calls a user's decoder; bits are packed into bytes if it needs them",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { images: IMAGES },
  params: z.strictObject({ ...CODER_PARAMS, ...BIT_PARAMS }),
  outputMetadataGuarantees: { images: { from: "bits", keys: ["boundary_contract"] } },
});
