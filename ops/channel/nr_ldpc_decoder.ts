/**
 * NR transport-block decoder: descrambles, deinterleaves, combines repeated bits and decodes every code block by
 * layered min-sum with 8-bit messages, at most num_bp_iter iterations, stopping at a valid CRC. The code parameters are
 * the metadata that channel.nr_ldpc_encoder wrote. Another schedule or check rule runs on binary32 and stops at a code word.
 *
 * Code blocks are distributed over the step's threads; the bits do not depend on the number of threads.
 *
 * A block is delivered if its CRC and those of its code blocks hold. The report lists the delivered blocks; the payload
 * of the others is zeros (zero_fill) or the decoder's last estimate (keep_estimate).
 *
 * Log-likelihood ratios of a redundancy version other than 0, or of a limited buffer, go to their positions of the circular
 * buffer first; a wired soft buffer of channel.nr_harq_combine is decoded as it is.
 *
 * Shapes: llr float32 [blocks · G], positive for bit 0, or a buffer float32 [block, code block, N_cb] -> bits uint8 [n].
 */
import { LLR, PAYLOAD_BITS, REPORT } from "../../lib/contract/kinds.ts";
import { defineOperation, float, type InputArtifact, SvcError, z } from "../api.ts";
import { bitsArtifact, companionsOf, reportResult, travel } from "../../lib/artifact/values.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { lostBlocks } from "../../lib/artifact/weighted_rate.ts";
import type { DecodedTransportBlock } from "../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { goldSequence } from "../../lib/numeric/coding/nr_ldpc/scrambling.ts";
import { notExported } from "../_backends.ts";
import {
  accumulate,
  circularBuffer,
  motherParameters,
  motherValues,
} from "../../lib/numeric/coding/nr_ldpc/rate_matching.ts";
import { OPTIONAL_LDPC_CHOICES, optionalLdpcOptions } from "./_ldpc_decoder.ts";
import {
  type CodedStream,
  LEAST_CODED_BYTES,
  NR_LDPC_KEY,
  readStream,
  seedOf,
  SOFT_BUFFER,
  softValues,
  valuesOf,
} from "./_nr_ldpc.ts";

/** Interval of progress reports, on several threads. */
const CODE_BLOCKS_AT_ONCE = 128;

const PARAMS = z.strictObject({
  on_tb_crc_failure: z.enum(["zero_fill", "keep_estimate", "raise"]).default("zero_fill")
    .describe("payload of a block whose CRC fails: zeros, or the last estimate of the decoder; raise fails the step"),
  ...OPTIONAL_LDPC_CHOICES,
});

export default defineOperation({
  id: "channel.nr_ldpc_decoder",
  name: "NR transport-block LDPC decode",
  description: "Decodes 5G NR transport blocks from log-likelihood ratios and reports their CRCs",
  inputs: { llr: [LLR, SOFT_BUFFER] },
  outputs: { bits: PAYLOAD_BITS, report: REPORT },
  params: PARAMS,
  differentiability: notExported("torch", "stop", "Hard bits and CRC decisions"),
  backends: { benchmark_run: ["phylib"], dataset_capture: ["phylib"] },
  inputMetadataRequirements: { llr: { all_of: [NR_LDPC_KEY] } },
  outputMetadataGuarantees: {
    bits: {
      from: "llr",
      keys: ["boundary_contract", "bit_count", "decoder_implementation", "failed_block_indices"],
    },
    report: { keys: ["decoder_implementation"] },
  },
  // At most a payload bit for each log-likelihood ratio.
  estimate: (_params, { llr: { bytes } }) => ({ bits: bytes / 4 }),
  importance: "block",
  streaming: {
    least: LEAST_CODED_BYTES,
    // The other decoders take long enough to gain from threads.
    allows: (params) => optionalLdpcOptions(params) === undefined,
    late: ["bits", "report"],
    async open({ inputs: { llr }, params, threads }) {
      const stream = readStream(llr.metadata), { parameters, blockCount, redundancyVersion, limitBits } = stream;
      const { codedBits } = parameters, plain = redundancyVersion === 0 && limitBits === 0;
      if (!plain || llr.kind === SOFT_BUFFER.id || llr.length !== blockCount * codedBits) return null;
      const { decodeTransportBlocks } = await import("../../lib/numeric/parallel/nr_ldpc.ts");
      const scrambling = goldSequence(seedOf(stream), blockCount === 0 ? 0 : codedBits);
      const options = { iterations: stream.iterations, earlyStop: params.early_stop, scrambling, threads };
      const { take, result } = await delivery(llr, stream, params);
      return {
        arrays: {},
        unit: { llr: codedBits },
        next(blocks) {
          const values = blocks.llr.data as Float32Array;
          for (const block of decodeTransportBlocks(values, parameters, values.length / codedBits, options)) {
            take(block);
          }
          return {};
        },
        end: result,
      };
    },
  },
  async run({ inputs, params, progress, threads }) {
    const { decodeTransportBlocks } = await import("../../lib/numeric/parallel/nr_ldpc.ts");
    const belief = optionalLdpcOptions(params), stream = readStream(inputs.llr.metadata);
    const { parameters: { codeBlockCount }, blockCount } = stream;
    const { decodable, llr, scrambling } = received(inputs.llr, stream), { codedBits } = decodable;
    const options = {
      iterations: stream.iterations,
      earlyStop: params.early_stop,
      ...(scrambling === undefined ? {} : { scrambling }),
      belief,
      threads,
    };
    const atOnce = threads === 1 ? 1 : Math.ceil(CODE_BLOCKS_AT_ONCE / codeBlockCount);
    const { take, result } = await delivery(inputs.llr, stream, params);
    for (let index = 0; index < blockCount; index += atOnce) {
      const count = Math.min(atOnce, blockCount - index);
      const values = llr.subarray(index * codedBits, (index + count) * codedBits);
      for (const [i, block] of decodeTransportBlocks(values, decodable, count, options).entries()) {
        take(block);
        progress(index + i + 1, blockCount, { phase: "decode", unit: "blocks" });
      }
    }
    return result();
  },
});

/** Takes the decoded blocks of a stream in their order, and makes the outputs of all. */
async function delivery(
  input: InputArtifact,
  { parameters, payloadBitsPerBlock, blockCount, payloadBits, itemCounts }: CodedStream,
  params: z.output<typeof PARAMS>,
) {
  const { DECODER_IMPLEMENTATION } = await import("../../lib/numeric/coding/nr_ldpc/decoder.ts");
  const belief = optionalLdpcOptions(params), { metadata } = input;
  const implementation = belief === undefined
    ? DECODER_IMPLEMENTATION
    : `${belief.schedule}_${belief.checkRule}_float32`;
  const bits = new Uint8Array(payloadBits), passed: boolean[] = [];
  let iterations = 0;
  const take = (block: DecodedTransportBlock) => {
    const index = passed.push(block.crcPassed) - 1;
    if (!block.crcPassed && params.on_tb_crc_failure === "raise") {
      throw new SvcError("tb_crc_failed", `Cannot deliver transport block ${index} of ${blockCount}: its CRC fails`, {
        hint: "Raise snr_db or lower the code rate, or set on_tb_crc_failure to zero_fill or keep_estimate",
      });
    }
    const start = index * payloadBitsPerBlock, end = Math.min(payloadBits, start + payloadBitsPerBlock);
    if (block.crcPassed || params.on_tb_crc_failure === "keep_estimate") {
      bits.set(block.bits.subarray(0, end - start), start);
    }
    for (const codeBlock of block.codeBlocks) iterations += codeBlock.iterations;
  };
  const result = () => {
    const failed = passed.flatMap((crcPassed, index) => (crcPassed ? [] : [index]));
    const decoded = travel(metadata, {
      decoder_implementation: implementation,
      failed_block_indices: failed,
      ...(itemCounts === undefined ? {} : { source_item_counts: [...itemCounts] }),
      ...declareUnit(metadata, "transport_block", { size: payloadBitsPerBlock, total: payloadBits }),
    }, [NR_LDPC_KEY, "source_item_counts"]);
    const codeBlockCount = blockCount * parameters.codeBlockCount;
    const lost = lostBlocks("channel.payload_delivery_block_error_rate", passed, input);
    const { outputs: { report }, metrics } = reportResult(
      "channel.nr_ldpc_decoder",
      lost.metrics,
      {
        facts: {
          block_count: blockCount,
          crc_pass_count: blockCount - failed.length,
          crc_passed: passed,
          on_tb_crc_failure: params.on_tb_crc_failure,
          transport_block_size_bits: payloadBitsPerBlock,
          block_bits: parameters.blockBits,
          payload_bits: payloadBits,
          symbols_per_block: parameters.codedBits / parameters.bitsPerSymbol,
          code_block_count: codeBlockCount,
          ...(codeBlockCount === 0 ? {} : { mean_iteration_count: float(iterations / codeBlockCount) }),
        },
        metadata: { decoder_implementation: implementation },
      },
    );
    const payload = bitsArtifact(bits, decoded, "payload.bits");
    return {
      outputs: { bits: { ...payload, companions: companionsOf(input) }, report },
      metrics,
      metadata: { decoder_implementation: implementation, ...lost.metadata },
    };
  };
  return { take, result };
}

/** Values to decode and the parameters that lay them out: as received, or in the order of the circular buffer. */
function received(input: InputArtifact, stream: CodedStream) {
  const { parameters, blockCount, redundancyVersion, limitBits } = stream, { codedBits } = parameters;
  const buffered = input.kind === SOFT_BUFFER.id;
  // The length is checked before a sequence of that length is made.
  const values = buffered ? undefined : valuesOf(input, blockCount * codedBits);
  const scrambling = goldSequence(seedOf(stream), blockCount === 0 ? 0 : codedBits);
  if (values !== undefined && redundancyVersion === 0 && limitBits === 0) {
    return { decodable: parameters, llr: values, scrambling };
  }
  const buffer = circularBuffer(parameters, limitBits), size = parameters.codeBlockCount * buffer.length;
  const soft = buffered ? softValues(input, blockCount * size) : new Float64Array(blockCount * size);
  const decodable = motherParameters(parameters), llr = new Float32Array(blockCount * decodable.codedBits);
  for (let block = 0; block < blockCount; block++) {
    const own = soft.subarray(block * size, (block + 1) * size);
    if (values !== undefined) {
      const part = values.subarray(block * codedBits, (block + 1) * codedBits);
      accumulate(part, parameters, { buffer, redundancyVersion, scrambling }, own);
    }
    llr.set(motherValues(own, parameters, buffer), block * decodable.codedBits);
  }
  return { decodable, llr, scrambling: undefined };
}
