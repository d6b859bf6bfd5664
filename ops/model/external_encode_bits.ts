/**
 * Images to payload bits by a callable of the user.
 *
 * Shapes: images uint8 or float32 [N, H, W, C] -> bits uint8 [B], values 0 and 1. With bit_storage packed_bytes the callable
 * returns bytes, which are unpacked in bit_order; its metadata.bit_count cuts off the padding of the last byte.
 *
 * A contract that adapters wrap; by itself it does not run (see `_external.ts`).
 */
import { IMAGES, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { BIT_PARAMS, CODER_PARAMS, needsAdapter, refuseBare } from "../_external.ts";

const id = "model.external_encode_bits";

export default defineOperation({
  id,
  name: "User callable: images to bits",
  description: "Calls an encoder of the user; packed bytes that it returns become one element per bit",
  inputs: { images: [IMAGES] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({ ...CODER_PARAMS, ...BIT_PARAMS }),
  outputMetadataGuarantees: { bits: { from: "images", keys: ["boundary_contract", "bit_count"] } },
  // An adapter's state is its own business; steps of one never overlap with anything.
  threadSafe: false,
  requires: needsAdapter(id),
  run: refuseBare(id),
});
