/**
 * NR transport blocks decoded on several threads, one code block at a time: a code block depends on its own
 * log-likelihood ratios alone, so any thread can decode it. The caller combines the CRCs of whole blocks.
 *
 * Shapes: llr float32 [blocks · G] -> bits uint8 [A] of each block.
 */
import type { CodeParameters } from "../nr_ldpc/code_parameters.ts";
import {
  decodeCodeBlock,
  type DecodedCodeBlock,
  type DecodedTransportBlock,
  type DecoderOptions,
  decodeTransportBlock,
  joinCodeBlocks,
} from "../nr_ldpc/decoder.ts";
import { checkLength } from "../nr_ldpc/encoder.ts";
import type { Task } from "./job.ts";
import { sharedArray } from "../shared_array.ts";
import { type ParallelOptions, shared, threadsOf } from "./shared.ts";
import { runChunks } from "./team.ts";

const CODE_BLOCK_FACTS = 2;

/** Code blocks of consecutive transport blocks, one per chunk. */
export const CODE_BLOCKS_DECODED: Task<{
  llr: Float32Array;
  parameters: CodeParameters;
  options: DecoderOptions;
  /** parameters.segmentBits of each chunk. */
  bits: Uint8Array;
  /** CODE_BLOCK_FACTS of each chunk: whether its CRC holds, iterations done. */
  facts: Int32Array;
}> = {
  name: "code blocks",
  run({ llr, parameters, options, bits, facts }, chunk) {
    const { codeBlockCount, codedBits, segmentBits } = parameters;
    const block = Math.floor(chunk / codeBlockCount);
    const { crcPassed, iterations } = decodeCodeBlock(
      llr.subarray(block * codedBits, (block + 1) * codedBits),
      parameters,
      chunk % codeBlockCount,
      options,
      bits.subarray(chunk * segmentBits, (chunk + 1) * segmentBits),
    );
    facts.set([crcPassed ? 1 : 0, iterations], CODE_BLOCK_FACTS * chunk);
  },
};

/**
 * As `decodeTransportBlock`, for consecutive blocks. Values outside shared memory are copied first.
 * @param llr blockCount · parameters.codedBits log-likelihood ratios
 * @throws RangeError for a length that does not match the parameters
 */
export function decodeTransportBlocks(
  llr: Float32Array,
  parameters: CodeParameters,
  blockCount: number,
  options: DecoderOptions & ParallelOptions,
): DecodedTransportBlock[] {
  const { codedBits, codeBlockCount, segmentBits } = parameters;
  const { iterations, earlyStop, scrambling } = options, chunks = blockCount * codeBlockCount;
  checkLength("log-likelihood ratios", llr.length, blockCount * codedBits);
  const blocks = Array.from({ length: blockCount }, (_, block) => block);
  const threads = threadsOf(options);
  if (threads === 1 || chunks < 2) {
    return blocks.map((block) =>
      decodeTransportBlock(llr.subarray(block * codedBits, (block + 1) * codedBits), parameters, options)
    );
  }
  if (scrambling !== undefined) checkLength("scrambling bits", scrambling.length, codedBits);
  const bits = sharedArray(Uint8Array<SharedArrayBuffer>, chunks * segmentBits);
  const facts = sharedArray(Int32Array<SharedArrayBuffer>, chunks * CODE_BLOCK_FACTS);
  runChunks(
    CODE_BLOCKS_DECODED,
    {
      llr: shared(llr),
      parameters,
      options: { iterations, earlyStop, ...(scrambling === undefined ? {} : { scrambling: shared(scrambling) }) },
      bits,
      facts,
    },
    chunks,
    threads,
  );
  const decoded = (chunk: number): DecodedCodeBlock => ({
    crcPassed: facts[CODE_BLOCK_FACTS * chunk] === 1,
    iterations: facts[CODE_BLOCK_FACTS * chunk + 1],
  });
  return blocks.map((block) => {
    const first = block * codeBlockCount;
    return joinCodeBlocks(
      bits.subarray(first * segmentBits, (first + codeBlockCount) * segmentBits),
      Array.from({ length: codeBlockCount }, (_, index) => decoded(first + index)),
      parameters,
    );
  });
}
