/** Repetition code: every bit is sent `factor` times in a row, rate 1/factor. */
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, z } from "../api.ts";
import { bitsArtifact, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";

export default defineOperation({
  id: "channel.repetition_encoder",
  name: "Repetition encode",
  description: "Repeats each bit factor times",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({
    factor: z.int().positive().default(3).describe("copies of each bit"),
    data_plane_backend: dataPlaneParameter(),
  }),
  outputMetadataGuarantees: {
    coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", "repetition_factor"] },
  },
  estimate: ({ factor }, { bits: { shape } }) =>
    shape === undefined ? {} : { coded_bits: [["uint8", shape[0] * factor]] },
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs, params: { factor } } = context, kernels = await dataPlane(context);
    const bits = bitsOf(inputs.bits, kernels);
    const items = sourceItemCounts(inputs.bits.metadata, bits.length);
    const metadata = travel(inputs.bits.metadata, {
      repetition_factor: factor,
      ...(items === undefined ? {} : { source_item_counts: items.map((count) => count * factor) }),
    });
    const coded = madeOn(kernels, bitsArtifact(kernels.repeatBits(bits, factor), metadata));
    return { outputs: { coded_bits: { ...coded, companions: companionsOf(inputs.bits) } } };
  },
});
