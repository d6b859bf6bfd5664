/**
 * Received bits to images by a callable of the user.
 *
 * Shapes: bits uint8 [B], values 0 and 1 -> images uint8 or float32 in [0, 1], [N, H, W, C]. With bit_storage packed_bytes the
 * callable gets bytes, packed in bit_order, the last one padded with zeros; metadata.bit_count tells how many bits count.
 *
 * A contract that adapters wrap; by itself it does not run (see `_external.ts`).
 */
import { IMAGES, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { BIT_PARAMS, CODER_PARAMS, needsAdapter, refuseBare } from "../_external.ts";

const id = "model.external_decode_bits";

export default defineOperation({
  id,
  name: "User callable: bits to images",
  description: "Calls a decoder of the user; bits are packed into bytes first where it wants them so",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { images: IMAGES },
  params: z.strictObject({ ...CODER_PARAMS, ...BIT_PARAMS }),
  outputMetadataGuarantees: { images: { from: "bits", keys: ["boundary_contract"] } },
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
