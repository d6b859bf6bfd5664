/**
 * Unequal error protection decode: decodes the class map and each class, and puts the bits of every block back into their
 * place. Repetition takes the majority of hard copies (a tie gives 1) or the sum of log-likelihood ratios; NR LDPC needs
 * log-likelihood ratios. Everything but the classes comes from the metadata, the classes from the received map only.
 *
 * A class map whose CRC16 fails, or whose classes have other sizes than sent, loses its item: zeros, and a place in
 * failed_item_indices. The statistical unit of its rate is the source item.
 */
import { BITS, CODED_BITS, DEMOD_BITS, LLR, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation, type InputArtifact, type Metrics, SvcError, z } from "../api.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { bitsArtifact, bitsOf, metadataCounts, travel } from "../../lib/artifact/values.ts";
import { valuesOf } from "./_nr_ldpc.ts";
import {
  blocksOf,
  classBits,
  codedLength,
  decodePart,
  itemBits,
  mapParts,
  type PartCode,
  type ProtectedStream,
  readMap,
  readProtection,
  UNEQUAL_PROTECTION_KEY,
  usedLength,
  wordClasses,
} from "./_unequal_protection.ts";

export default defineOperation({
  id: "channel.unequal_error_protection_decoder",
  name: "Unequal error protection decode",
  description: "Decodes the class map and the classes of importance, and restores the order of the payload bits",
  inputs: { received: [LLR, CODED_BITS, DEMOD_BITS, BITS] },
  outputs: { bits: PAYLOAD_BITS },
  params: z.strictObject({
    on_tb_crc_failure: z.enum(["zero_fill", "keep_estimate"]).default("zero_fill")
      .describe("payload of a transport block whose CRC fails: zeros, or the last estimate of the decoder"),
  }),
  inputMetadataRequirements: { received: { all_of: [UNEQUAL_PROTECTION_KEY] } },
  outputMetadataGuarantees: {
    bits: { from: "received", keys: ["boundary_contract", "bit_count", "failed_item_indices"] },
  },
  async run({ inputs, params, threads }) {
    const stream = readProtection(inputs.received), { grids, bitsPerBlock, bitClasses } = stream;
    const received = receivedOf(inputs.received, stream);
    const options = { threads, keepEstimate: params.on_tb_crc_failure === "keep_estimate" };
    let at = 0;
    const part = (code: PartCode, length: number) => {
      const start = at;
      at += codedLength(code, length);
      return decodePart(code, received.subarray(start, at), length, options);
    };
    const maps: (Uint8Array | null)[] = bitClasses === undefined
      ? []
      : grids.map((grid) => wordClasses(grid, bitClasses));
    for (const { code, items, length } of mapParts(stream)) {
      const { bits, failed } = await part(code, items * length);
      for (let item = 0; item < items; item++) {
        const own = failed[item] ? null : bits.subarray(item * length, (item + 1) * length);
        maps.push(own === null ? null : readMap(own, grids[maps.length]));
      }
    }
    const classes: Awaited<ReturnType<typeof part>>[] = [];
    for (const [index, code] of stream.classCodes.entries()) classes.push(await part(code, classBits(stream, index)));

    const bits = new Uint8Array(grids.reduce((sum, grid) => sum + itemBits(grid, stream), 0));
    const read = classes.map(() => 0), lost = maps.map((own) => own === null ? 1 : 0);
    let first = 0;
    for (const [item, grid] of grids.entries()) {
      const own = maps[item], places = own === null ? null : blocksOf(own, grid, stream);
      for (const [index, { bits: classBits }] of classes.entries()) {
        let from = read[index];
        for (const block of places?.[index] ?? []) {
          bits.set(classBits.subarray(from, from + bitsPerBlock), first + block * bitsPerBlock);
          from += bitsPerBlock;
        }
        read[index] += grid.sizes[index] * stream.side ** 2 * bitsPerBlock;
      }
      first += itemBits(grid, stream);
    }
    const failed = lost.flatMap((isLost, item) => isLost ? [item] : []);
    const { metadata } = inputs.received, counts = metadataCounts(metadata, "payload_source_item_counts");
    const kept = travel(metadata, {
      failed_item_indices: failed,
      ...(counts === undefined ? {} : { source_item_counts: counts }),
    }, [UNEQUAL_PROTECTION_KEY, "payload_source_item_counts"]);
    const mapLoss = rateCounts(lost, metadata, "source_item");
    const blocks = classes.flatMap((one) => one.failed.map(Number));
    const blockLoss = rateCounts(blocks, metadata, "transport_block");
    const metrics: Metrics = {
      "channel.class_map_failure_rate": failed.length / grids.length,
      ...(blocks.length === 0 ? {} : {
        "channel.payload_delivery_block_error_rate": blocks.reduce((sum, one) => sum + one, 0) / blocks.length,
      }),
    };
    return {
      outputs: { bits: bitsArtifact(bits, kept, "payload.bits") },
      metrics,
      metadata: rateMetadata({
        "channel.class_map_failure_rate": mapLoss,
        ...(blocks.length === 0 ? {} : { "channel.payload_delivery_block_error_rate": blockLoss }),
      }),
    };
  },
});

/** Hard bits or log-likelihood ratios of the whole stream. */
function receivedOf(input: InputArtifact, stream: ProtectedStream): Uint8Array | Float32Array {
  const expected = usedLength(stream) + stream.fillerBits;
  if (input.kind === LLR) return valuesOf(input, expected);
  const bits = bitsOf(input);
  if (bits.length === expected) return bits;
  throw new SvcError("boundary_count_mismatch", `Cannot decode ${bits.length} bits: ${expected} are expected`);
}
