/**
 * NR transport-block encoder: payload bits are cut into blocks of transport_block_size_bits, each padded with zeros to the
 * smallest block size A that TS 38.214 section 5.1.3.2 allows, and encoded to G = Qm·L·ceil(A / (R·Qm·L)) bits by TS 38.212:
 * CRC, code blocks, LDPC, rate matching of redundancy version 0 without buffer limit, bit interleaving; scrambled by TS 38.211,
 * the sequence restarting with every block.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · G]. No operation modulates Qm above 6.
 */
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { bitsArtifact, bitsOf, companionsOf, sourceItemCounts, travel } from "../../lib/artifact/values.ts";
import { LARGEST_BLOCK, legalBlockSize } from "../../lib/numeric/nr_ldpc/block_size.ts";
import { codedBitCount, codeParameters } from "../../lib/numeric/nr_ldpc/code_parameters.ts";
import { goldSequence } from "../../lib/numeric/nr_ldpc/scrambling.ts";
import { type CodedStream, describeStream, MOST_ITERATIONS, NR_LDPC_KEY, seedOf } from "./_nr_ldpc.ts";

export default defineOperation({
  id: "channel.nr_ldpc_encoder",
  name: "NR transport-block LDPC encode",
  description: "Attaches CRCs, segments, encodes, rate-matches and scrambles transport blocks as 5G NR does",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({
    transport_block_size_bits: z.int().min(1).max(LARGEST_BLOCK).default(16000)
      .describe("payload bits per block, padded with zeros to a size of TS 38.214"),
    target_coderate: z.number().min(0.01).max(1).default(0.5)
      .describe("block bits per coded bit; also chooses the base graph"),
    num_bits_per_symbol: z.literal([1, 2, 4, 6, 8]).default(2).describe("bits per symbol, for interleaving"),
    num_layers: z.int().min(1).max(4).default(1).describe("transmission layers, 1 to 4"),
    channel_type: z.enum(["PUSCH", "PDSCH"]).default("PUSCH").describe("shared channel, for scrambling"),
    n_rnti: z.int().min(0).max(65535).default(1).describe("radio network temporary identifier, for scrambling"),
    n_id: z.int().min(0).max(1023).default(1).describe("scrambling identity"),
    codeword_index: z.literal([0, 1]).default(0).describe("codeword of PDSCH, for scrambling; PUSCH has one"),
    num_bp_iter: z.int().min(1).max(MOST_ITERATIONS).default(20).describe("maximum iterations of the decoder"),
  }),
  differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
  backends: { benchmark_run: ["phylib"], dataset_capture: ["phylib"] },
  outputMetadataGuarantees: {
    coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", NR_LDPC_KEY] },
  },
  threadSafe: true,
  async run({ inputs, params, progress }) {
    const { encodeTransportBlock } = await import("../../lib/numeric/nr_ldpc/encoder.ts");
    const bits = bitsOf(inputs.bits), size = params.transport_block_size_bits;
    const { target_coderate: codeRate, num_bits_per_symbol: bitsPerSymbol, num_layers: layers } = params;
    const blockBits = legalBlockSize(size, codeRate);
    const codedBits = codedBitCount(blockBits, codeRate, bitsPerSymbol, layers);
    const parameters = codeParameters({ blockBits, codedBits, codeRate, bitsPerSymbol, layers });
    const blockCount = Math.ceil(bits.length / size);
    const items = sourceItemCounts(inputs.bits.metadata, bits.length);
    const stream: CodedStream = {
      parameters,
      payloadBitsPerBlock: size,
      blockCount,
      payloadBits: bits.length,
      channelType: params.channel_type,
      rnti: params.n_rnti,
      id: params.n_id,
      codeword: params.codeword_index,
      iterations: params.num_bp_iter,
      itemCounts: items,
    };
    const scrambling = goldSequence(seedOf(stream), codedBits);
    const coded = new Uint8Array(blockCount * codedBits), block = new Uint8Array(blockBits);
    for (let index = 0; index < blockCount; index++) {
      const payload = bits.subarray(index * size, (index + 1) * size);
      block.fill(0).set(payload);
      coded.set(encodeTransportBlock(block, parameters, scrambling), index * codedBits);
      progress(index + 1, blockCount, { phase: "encode", unit: "blocks" });
    }
    // Source items are kept if each fills whole blocks.
    const aligned = items?.every((count, item) => count % size === 0 || item === items.length - 1);
    const metadata = travel(inputs.bits.metadata, {
      [NR_LDPC_KEY]: describeStream(stream),
      ...(aligned ? { source_item_counts: items!.map((count) => Math.ceil(count / size) * codedBits) } : {}),
    }, ["source_item_counts"]);
    return { outputs: { coded_bits: { ...bitsArtifact(coded, metadata), companions: companionsOf(inputs.bits) } } };
  },
});
