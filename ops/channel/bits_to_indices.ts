/**
 * Bits to indices: the inverse of channel.indices_to_bits. Bit errors can produce an index beyond the codebook; it is
 * wrapped (`mod`) or replaced by the last one (`clamp`).
 */
import { INDICES, PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { bitsOf, companionsOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { dataPlane } from "../_data_plane.ts";
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
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const { metadata } = inputs.bits;
    const { size, width } = codebookOf(metadata);
    const shape = recordedShape(metadata, "index_shape", bits.length, width);
    const { indices, beyond } = kernels.bitsIndex(bits, width, size, params.invalid_policy === "clamp");
    const kept = travel(metadata, recountedItems(metadata, bits.length, 1 / width), ["index_shape"]);
    return {
      outputs: {
        indices: {
          array: ndarray("int32", indices, shape),
          companions: companionsOf(inputs.bits),
          metadata: { ...kept, invalid_index_count: beyond },
        },
      },
    };
  },
});
