/** The code parameters of NR LDPC from the encoder to the decoder, as the metadata `nr_ldpc`. */
import { artifactKind } from "../../lib/contract/kinds.ts";
import { float, type InputArtifact, isNumber, isObject, type JsonObject, SvcError, toNumber } from "../api.ts";
import { metadataCounts } from "../../lib/artifact/values.ts";
import { LARGEST_BLOCK } from "../../lib/numeric/coding/nr_ldpc/block_size.ts";
import { type CodeParameters, codeParameters } from "../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { scramblingSeed, type SharedChannel } from "../../lib/numeric/coding/nr_ldpc/scrambling.ts";

export const NR_LDPC_KEY = "nr_ldpc";

/** Sums of received values at their positions of the circular buffer, float32 [block, code block, N_cb]. */
export const SOFT_BUFFER = artifactKind("channel.nr_soft_buffer.numpy", { rv_sequence: "list" });

/** Least outputs of coded links that work in blocks; shorter ones keep the files of whole arrays that they had. */
export const LEAST_CODED_BYTES = 2 ** 26;

export const MOST_ITERATIONS = 1000;

/** c_init of a stream. */
export const seedOf = ({ channelType, rnti, id, codeword }: Omit<CodedStream, "blockCount" | "itemCounts">): number =>
  scramblingSeed(channelType, rnti, id, codeword);

export function describeStream(stream: CodedStream): JsonObject {
  const { parameters, payloadBitsPerBlock, blockCount, payloadBits, itemCounts } = stream;
  return {
    transport_block_size_bits: payloadBitsPerBlock,
    block_bits: parameters.blockBits,
    block_count: blockCount,
    payload_bits: payloadBits,
    padding_bits: blockCount * parameters.blockBits - payloadBits,
    coded_bits_per_block: parameters.codedBits,
    target_coderate: float(parameters.codeRate),
    num_bits_per_symbol: parameters.bitsPerSymbol,
    num_layers: parameters.layers,
    base_graph: parameters.baseGraph,
    lifting_size: parameters.liftingSize,
    code_blocks_per_block: parameters.codeBlockCount,
    channel_type: stream.channelType,
    n_rnti: stream.rnti,
    n_id: stream.id,
    codeword_index: stream.codeword,
    num_bp_iter: stream.iterations,
    // Absent from streams of the first transmission in a full buffer.
    ...(stream.redundancyVersion === 0 ? {} : { redundancy_version: stream.redundancyVersion }),
    ...(stream.limitBits === 0 ? {} : { tbs_lbrm_bits: stream.limitBits }),
    ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
  };
}

/**
 * Reads what {@link describeStream} wrote.
 * @throws SvcError `input_metadata_missing` without it, `boundary_value_invalid` for an invalid description
 */
export function readStream(metadata: JsonObject) {
  const record = metadata[NR_LDPC_KEY];
  if (!isObject(record)) {
    throw new SvcError("input_metadata_missing", "Cannot decode NR LDPC: the metadata nr_ldpc is missing", {
      hint: "Put a channel.nr_ldpc_encoder step before the channel",
    });
  }
  const count = (key: string, least: number, most: number): number => {
    const value = record[key];
    const number = isNumber(value) ? toNumber(value) : NaN;
    if (!(Number.isSafeInteger(number) && number >= least && number <= most)) throw unreadable(key);
    return number;
  };
  const channelType = record.channel_type, rate = record.target_coderate;
  if (channelType !== "PUSCH" && channelType !== "PDSCH") throw unreadable("channel_type");
  if (!isNumber(rate)) throw unreadable("target_coderate");
  const blockBits = count("block_bits", 1, 2 * LARGEST_BLOCK), codeRate = toNumber(rate);
  const options = {
    blockBits,
    codeRate,
    codedBits: count("coded_bits_per_block", 1, Number.MAX_SAFE_INTEGER),
    bitsPerSymbol: count("num_bits_per_symbol", 1, 8),
    layers: count("num_layers", 1, 4),
  };
  const payloadBitsPerBlock = count("transport_block_size_bits", 1, blockBits);
  const blockCount = count("block_count", 0, Number.MAX_SAFE_INTEGER);
  const most = blockCount * payloadBitsPerBlock;
  return {
    parameters: parametersOf(options),
    /** Payload bits of each block before its padding, and of the whole stream. */
    payloadBitsPerBlock,
    blockCount,
    payloadBits: count("payload_bits", Math.max(0, most - payloadBitsPerBlock + 1), most),
    channelType: channelType as SharedChannel,
    rnti: count("n_rnti", 0, 65535),
    id: count("n_id", 0, 1023),
    codeword: count("codeword_index", 0, 1),
    iterations: count("num_bp_iter", 1, MOST_ITERATIONS),
    redundancyVersion: record.redundancy_version === undefined ? 0 : count("redundancy_version", 0, 3),
    /** TBS_LBRM of the limited buffer; 0 without a limit. */
    limitBits: record.tbs_lbrm_bits === undefined ? 0 : count("tbs_lbrm_bits", 1, Number.MAX_SAFE_INTEGER),
    /** Payload bits per source item. */
    itemCounts: metadataCounts(record, "source_item_counts") as readonly number[] | undefined,
  };
}

export type CodedStream = ReturnType<typeof readStream>;

const unreadable = (key: string) =>
  new SvcError("boundary_value_invalid", `Cannot decode NR LDPC: the metadata ${NR_LDPC_KEY}.${key} is invalid`);

function parametersOf(options: Parameters<typeof codeParameters>[0]): CodeParameters {
  try {
    return codeParameters(options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SvcError("boundary_value_invalid", error.message);
  }
}

/** The log-likelihood ratios, one per coded bit, without NaN. */
export function valuesOf(input: InputArtifact, expected: number): Float32Array {
  const { dtype, shape, data } = input.array();
  if (dtype !== "float32") {
    throw new SvcError("boundary_dtype_invalid", `Cannot decode ${dtype}: log-likelihood ratios are float32`);
  }
  if (shape.length !== 1 || shape[0] !== expected) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot decode log-likelihood ratios of the shape [${shape.join(", ")}]: ${expected} are expected`,
    );
  }
  const values = data as Float32Array;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isNaN(values[i])) continue;
    throw new SvcError("boundary_non_finite", `Cannot decode log-likelihood ratios: value ${i} is NaN`);
  }
  return values;
}

/** Sums of a soft buffer with its filler bits at 0. @throws SvcError for another number of values, or a NaN */
export function softValues(input: InputArtifact, expected: number): Float64Array {
  const { dtype, data } = input.array();
  if (dtype !== "float32" || data.length !== expected) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot use ${data.length} ${dtype} values as a soft buffer of ${expected}`,
    );
  }
  const values = data as Float32Array;
  if (values.some(Number.isNaN)) throw new SvcError("boundary_non_finite", "Cannot use a soft buffer with NaN");
  return Float64Array.from(values, (value) => value === Infinity ? 0 : value);
}
