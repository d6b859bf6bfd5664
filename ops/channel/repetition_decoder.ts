/** Repetition decode: a bit is 1 if the mean of its copies is at least 0.5, so a tie gives 1. */
import { BITS, CODED_BITS, DEMOD_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, type JsonObject, SvcError, z } from "../api.ts";
import {
  bitsArtifact,
  bitsOf,
  companionsOf,
  metadataNumber,
  sourceItemCounts,
  travel,
} from "../../lib/artifact/values.ts";
import { dataPlane, madeOn } from "../_data_plane.ts";

export default defineOperation({
  id: "channel.repetition_decoder",
  name: "Repetition decode",
  description: "Decides each bit by the majority of its copies",
  inputs: { coded_bits: [CODED_BITS, DEMOD_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    factor: z.int().nonnegative().default(0).describe(
      "copies of each bit; 0 uses the encoder's factor in the metadata",
    ),
    data_plane_backend: dataPlaneParameter(),
  }),
  outputMetadataGuarantees: { bits: { from: "coded_bits", keys: ["boundary_contract", "bit_count"] } },
  estimate: ({ factor }, { coded_bits: { shape } }) =>
    shape === undefined || factor === 0 ? {} : { bits: [["uint8", Math.floor(shape[0] / factor)]] },
  threadSafe: true,
  nativeKernels: true,
  async run(context) {
    const { inputs, params } = context, kernels = await dataPlane(context);
    const coded = bitsOf(inputs.coded_bits, kernels);
    const { metadata } = inputs.coded_bits;
    const factor = repetitionFactor(params.factor, metadata);
    if (coded.length % factor !== 0) {
      throw new SvcError("boundary_count_mismatch", `Cannot cut ${coded.length} bits into groups of ${factor} copies`);
    }
    const bits = kernels.majorityBits(coded, factor);
    const items = sourceItemCounts(metadata, coded.length)?.map((count) => count / factor);
    const whole = items?.every(Number.isInteger);
    const kept = travel(metadata, whole ? { source_item_counts: items! } : {}, [
      "repetition_factor",
      "source_item_counts",
    ]);
    const decoded = madeOn(kernels, bitsArtifact(bits, kept, "payload.bits"));
    return { outputs: { bits: { ...decoded, companions: companionsOf(inputs.coded_bits) } } };
  },
});

function repetitionFactor(factor: number, metadata: JsonObject): number {
  if (factor > 0) return factor;
  const recorded = metadataNumber(metadata, "repetition_factor");
  if (recorded !== undefined && Number.isSafeInteger(recorded) && recorded > 0) return recorded;
  throw new SvcError("params_conflict", "Cannot decode with factor 0: the metadata have no repetition factor", {
    hint: "Set factor to that of the channel.repetition_encoder",
  });
}
