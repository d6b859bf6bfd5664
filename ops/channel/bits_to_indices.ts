/**
 * Bits to indices: the inverse of channel.indices_to_bits. Bit errors can produce an index beyond the codebook; it is
 * wrapped (`mod`) or replaced by the last one (`clamp`).
 */
import { INDICES, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsOf, companionsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { codebookOf } from "./_indices.ts";
import { recordedShape, recountedItems } from "./_serial.ts";

export default defineOperation({
  id: "channel.bits_to_indices",
  name: "Bits to indices",
  description: "Rebuilds index codes from bits",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { indices: INDICES },
  params: z.strictObject({
    invalid_policy: z.enum(["mod", "clamp"]).default("mod").describe(
      "wraps an index beyond the codebook, or uses the last one",
    ),
    data_plane_backend: dataPlaneParameter(),
  }),
  inputMetadataRequirements: { bits: { all_of: ["codebook_size", "index_shape"] } },
  outputMetadataGuarantees: { indices: { from: "bits", keys: ["codebook_size"] } },
  threadSafe: true,
  run({ inputs, params }) {
    const bits = bitsOf(inputs.bits);
    const { metadata } = inputs.bits;
    const { size, width } = codebookOf(metadata);
    const shape = recordedShape(metadata, "index_shape", bits.length, width);
    const indices = new Int32Array(bits.length / width);
    let invalid = 0;
    for (let i = 0, at = 0; i < indices.length; i++) {
      let index = 0;
      for (const end = at + width; at < end; at++) index = index * 2 + bits[at];
      if (index >= size) {
        invalid++;
        index = params.invalid_policy === "mod" ? index % size : size - 1;
      }
      indices[i] = index;
    }
    const kept = travel(metadata, recountedItems(metadata, bits.length, 1 / width), ["index_shape"]);
    return {
      outputs: {
        indices: {
          array: ndarray("int32", indices, shape),
          companions: companionsOf(inputs.bits),
          metadata: { ...kept, invalid_index_count: invalid },
        },
      },
    };
  },
});
