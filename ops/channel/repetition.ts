/** Repetition code of rate 1/factor. */
import { BITS, CODED_BITS, DEMOD_BITS, FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { dataPlaneParameter, defineOperation, type JsonObject, SvcError, z } from "../api.ts";
import { bitMetadata, metadataNumber, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { blockwise } from "./_blockwise.ts";

/** Repetition code: every bit is sent `factor` times in a row, rate 1/factor. */
const repetitionEncoder = defineOperation({
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
  nativeKernels: true,
  ...blockwise("bits", "coded_bits", "uint8", {
    begin({ metadata, length: count }, { factor }: { factor: number }, { kernels }) {
      const items = sourceItemCounts(metadata, count), length = count * factor;
      const kept = travel(metadata, {
        repetition_factor: factor,
        ...(items === undefined ? {} : { source_item_counts: items.map((count) => count * factor) }),
      });
      return { length, metadata: bitMetadata(length, kept), next: (bits) => kernels.repeatBits(bits, factor) };
    },
  }),
});

/** Repetition decode: a bit is 1 if the mean of its copies is at least 0.5, so a tie gives 1. */
const repetitionDecoder = defineOperation({
  id: "channel.repetition_decoder",
  name: "Repetition decode",
  description: "Decides each bit by the majority of its copies",
  inputs: { coded_bits: [CODED_BITS, DEMOD_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    factor: z.int().nonnegative().default(0)
      .describe("copies of each bit; 0 uses the encoder's factor in the metadata"),
    data_plane_backend: dataPlaneParameter(),
  }),
  outputMetadataGuarantees: { bits: { from: "coded_bits", keys: ["boundary_contract", "bit_count"] } },
  estimate: ({ factor }, { coded_bits: { shape } }) =>
    shape === undefined || factor === 0 ? {} : { bits: [["uint8", Math.floor(shape[0] / factor)]] },
  nativeKernels: true,
  importance: "block",
  ...blockwise("coded_bits", "bits", "uint8", {
    begin({ metadata, length: count }, params: { factor: number }, { kernels }) {
      const factor = repetitionFactor(params.factor, metadata), length = count / factor;
      if (!Number.isInteger(length)) {
        throw new SvcError("boundary_count_mismatch", `Cannot cut ${count} bits into groups of ${factor} copies`);
      }
      const items = sourceItemCounts(metadata, count)?.map((count) => count / factor);
      const whole = items?.every(Number.isInteger);
      const kept = travel(metadata, whole ? { source_item_counts: items! } : {}, [
        "repetition_factor",
        "source_item_counts",
      ]);
      return {
        length,
        unit: factor,
        metadata: bitMetadata(length, kept, "payload.bits"),
        next: (bits) => kernels.majorityBits(bits, factor),
      };
    },
  }),
});

function repetitionFactor(factor: number, metadata: JsonObject): number {
  if (factor > 0) return factor;
  const recorded = metadataNumber(metadata, "repetition_factor");
  if (recorded !== undefined && Number.isSafeInteger(recorded) && recorded > 0) return recorded;
  throw new SvcError("params_conflict", "Cannot decode with factor 0: the metadata have no repetition factor", {
    hint: "Set factor to that of the channel.repetition_encoder",
  });
}

export default [repetitionEncoder, repetitionDecoder];
