/**
 * NR transport-block encoder: payload bits are cut into blocks of transport_block_size_bits, each padded with zeros to the
 * smallest block size A that TS 38.214 section 5.1.3.2 allows, and encoded to G = Qm·L·ceil(A / (R·Qm·L)) bits by TS 38.212:
 * CRC, code blocks, LDPC, rate matching, bit interleaving; scrambled by TS 38.211,
 * the sequence restarting with every block. A wired transport format gives the block size, code rate, bits per symbol, layers
 * and G instead.
 *
 * Shapes: bits uint8 [n] -> coded_bits uint8 [blocks · G].
 */
import { BITS, CODED_BITS, FRAMED_BITS, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation, SvcError, usedWhen, z } from "../api.ts";
import { LARGEST_BLOCK, legalBlockSize } from "../../lib/numeric/coding/nr_ldpc/block_size.ts";
import {
  type CircularBuffer,
  circularBuffer,
  encodeRedundancyVersion,
} from "../../lib/numeric/coding/nr_ldpc/rate_matching.ts";
import {
  codedBitCount,
  type CodeParameters,
  codeParameters,
} from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { goldSequence } from "../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { type ReadFormat, readFormat, TRANSPORT_FORMAT } from "../_nr_transport_format.ts";
import {
  type CodedStream,
  describeStream,
  LEAST_CODED_BYTES,
  MOST_ITERATIONS,
  NR_LDPC_KEY,
  seedOf,
} from "./_nr_ldpc.ts";
import { blockwise, encoding } from "./_blockwise.ts";

/** Parameters that a format replaces, with their defaults. */
const FORMAT_DEFAULTS = {
  transport_block_size_bits: 16000,
  target_coderate: 0.5,
  num_bits_per_symbol: 2,
  num_layers: 1,
};

export default defineOperation({
  id: "channel.nr_ldpc_encoder",
  name: "NR transport-block LDPC encode",
  description: "Attaches CRCs, segments, encodes, rate-matches and scrambles transport blocks as 5G NR does",
  inputs: { bits: [PAYLOAD_BITS, FRAMED_BITS, BITS] },
  optionalInputs: { format: [TRANSPORT_FORMAT] },
  outputs: { coded_bits: CODED_BITS },
  params: z.strictObject({
    transport_block_size_bits: z.int().min(1).max(LARGEST_BLOCK).default(FORMAT_DEFAULTS.transport_block_size_bits)
      .describe("payload bits per block, padded with zeros to a size of TS 38.214"),
    target_coderate: z.number().min(0.01).max(1).default(FORMAT_DEFAULTS.target_coderate)
      .describe("block bits per coded bit; also chooses the base graph"),
    num_bits_per_symbol: z.literal([1, 2, 4, 6, 8]).default(2).describe("bits per symbol, for interleaving"),
    num_layers: z.int().min(1).max(4).default(FORMAT_DEFAULTS.num_layers).describe("transmission layers, 1 to 4"),
    channel_type: z.enum(["PUSCH", "PDSCH"]).default("PUSCH").describe("shared channel, for scrambling"),
    n_rnti: z.int().min(0).max(65535).default(1).describe("radio network temporary identifier, for scrambling"),
    n_id: z.int().min(0).max(1023).default(1).describe("scrambling identity"),
    codeword_index: z.literal([0, 1]).default(0).describe("codeword of PDSCH, for scrambling; PUSCH has one")
      .meta(usedWhen({ channel_type: "PDSCH" })),
    redundancy_version: z.int().min(0).max(3).optional()
      .describe("redundancy version of a transmission, 0 to 3; default 0"),
    tbs_lbrm_bits: z.int().min(0).max(LARGEST_BLOCK).optional()
      .describe("block size in bits that limits the circular buffer; default 0, no limit"),
    coded_bits_per_block: z.int().min(0).max(100_000_000).optional()
      .describe(
        "coded bits of a transmission, a multiple of bits per symbol times layers; default 0, by the code rate",
      ),
    num_bp_iter: z.int().min(1).max(MOST_ITERATIONS).default(20).describe("maximum iterations of the decoder"),
  }),
  differentiability: { framework: "torch", gradient: "stop", trainable_params: false, exportable: false },
  backends: { benchmark_run: ["phylib"], dataset_capture: ["phylib"] },
  outputMetadataGuarantees: {
    coded_bits: { from: "bits", keys: ["boundary_contract", "bit_count", NR_LDPC_KEY] },
  },
  check: (params, connected) =>
    connected.has("format")
      ? Object.entries(FORMAT_DEFAULTS).filter(([name, value]) => params[name as keyof typeof params] !== value)
        .map(([name]) => ({
          place: [name],
          message: `Cannot set ${name} with a wired format: the format has its own`,
          hint: `Remove ${name}, or format`,
        }))
      : lengthProblems(params),
  estimate(params, { bits: { bytes, shape = [bytes] }, format }) {
    // The rate of a format is known in the run only: that of the mother code.
    if (format !== undefined) return { coded_bits: 3 * bytes };
    const { size, codedBits } = blockOf(params);
    return { coded_bits: [["uint8", Math.ceil(shape[0] / size) * codedBits]] };
  },
  ...blockwise("bits", "coded_bits", "uint8", {
    least: LEAST_CODED_BYTES,
    async begin(stream, params: Sizes & StreamParams, { inputs: { format } }) {
      const { encodeTransportBlock } = await import("../../lib/numeric/coding/nr_ldpc/encoder.ts");
      const coding = format === undefined ? blockOf(params) : wholeBlocks(readFormat(format));
      const { size, blockBits, codedBits } = coding, parameters = codeParameters(coding);
      const redundancyVersion = params.redundancy_version ?? 0, limitBits = params.tbs_lbrm_bits ?? 0;
      const buffer = redundancyVersion === 0 && limitBits === 0 ? undefined : bufferOf(parameters, limitBits);
      const shared = {
        parameters,
        payloadBitsPerBlock: size,
        payloadBits: stream.length,
        channelType: params.channel_type,
        rnti: params.n_rnti,
        id: params.n_id,
        codeword: params.codeword_index,
        iterations: params.num_bp_iter,
        redundancyVersion,
        limitBits,
      };
      const scrambling = goldSequence(seedOf(shared), codedBits);
      return encoding(stream, {
        size,
        filled: blockBits,
        sent: codedBits,
        describe: (blockCount, itemCounts) => ({
          [NR_LDPC_KEY]: describeStream({ ...shared, blockCount, itemCounts }),
        }),
        encode(block, sent) {
          if (buffer === undefined) encodeTransportBlock(block, parameters, scrambling, sent);
          else sent.set(encodeRedundancyVersion(block, parameters, { buffer, redundancyVersion, scrambling }));
        },
      });
    },
  }),
});

/** Parameters of a stream besides the sizes of its blocks. */
interface StreamParams {
  channel_type: CodedStream["channelType"];
  n_rnti: number;
  n_id: number;
  codeword_index: CodedStream["codeword"];
  num_bp_iter: number;
  redundancy_version?: number;
  tbs_lbrm_bits?: number;
}

type Sizes = typeof FORMAT_DEFAULTS & { coded_bits_per_block?: number };

/** Blocks of a format carry as many payload bits as they have. */
const wholeBlocks = (format: ReadFormat) => ({ ...format, size: format.blockBits });

/** Sizes of a block without a format: the payload is padded to a legal size, and G keeps the code rate. */
function blockOf(params: Sizes) {
  const { transport_block_size_bits: size, target_coderate: codeRate } = params;
  const { num_bits_per_symbol: bitsPerSymbol, num_layers: layers } = params;
  const blockBits = legalBlockSize(size, codeRate);
  const codedBits = params.coded_bits_per_block || codedBitCount(blockBits, codeRate, bitsPerSymbol, layers);
  return { size, blockBits, codeRate, bitsPerSymbol, layers, codedBits };
}

/** Lengths that do not fill whole symbols on all layers. */
function lengthProblems(params: Sizes) {
  const unit = params.num_bits_per_symbol * params.num_layers, given = params.coded_bits_per_block ?? 0;
  if (given % unit === 0) return [];
  const message = `Cannot send ${given} coded bits in symbols of ${unit} bits on all layers`;
  return [{ place: ["coded_bits_per_block"], message, hint: `Set a multiple of ${unit}` }];
}

function bufferOf(parameters: CodeParameters, limitBits: number): CircularBuffer {
  try {
    return circularBuffer(parameters, limitBits);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("params_conflict", error.message, { hint: "Raise tbs_lbrm_bits, or set it to 0" });
  }
}
