/**
 * NR transport blocks decoded on several threads, one code block at a time: a code block depends on its own
 * log-likelihood ratios alone, so any thread can decode it. The thread that ends a transport block checks its CRC.
 *
 * Shapes: llr float32 [blocks · G] -> bits uint8 [A] of each block.
 */
import type { CodeParameters } from "../coding/nr_ldpc/code_parameters.ts";
import {
  blockCrcHolds,
  decodeCodeBlock,
  type DecodedTransportBlock,
  type DecoderOptions,
  decodeTransportBlock,
} from "../coding/nr_ldpc/decoder.ts";
import { checkLength } from "../coding/nr_ldpc/encoder.ts";
import type { Task } from "./job.ts";
import { sharedArray } from "../array/shared_array.ts";
import { type ParallelOptions, shared, threadsOf } from "./shared.ts";
import { runChunks } from "./team.ts";

/** Words of each code block: whether its CRC holds, iterations done. */
const CODE_BLOCK_FACTS = 2;
/** Words of each transport block: decoded code blocks, those whose CRC holds, whether its own CRC holds. */
const BLOCK_FACTS = 3;

/** Code blocks of consecutive transport blocks, one per chunk. */
export const CODE_BLOCKS_DECODED: Task<{
  llr: Float32Array;
  parameters: CodeParameters;
  options: DecoderOptions;
  /** parameters.segmentBits of each chunk. */
  bits: Uint8Array;
  /** CODE_BLOCK_FACTS of each chunk. */
  facts: Int32Array;
  /** BLOCK_FACTS of each transport block. */
  blockFacts: Int32Array;
}> = {
  name: "code blocks",
  run({ llr, parameters, options, bits, facts, blockFacts }, chunk) {
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
    const at = BLOCK_FACTS * block;
    if (crcPassed) Atomics.add(blockFacts, at + 1, 1);
    if (Atomics.add(blockFacts, at, 1) + 1 < codeBlockCount || Atomics.load(blockFacts, at + 1) < codeBlockCount) {
      return;
    }
    const whole = bits.subarray(block * codeBlockCount * segmentBits, (block + 1) * codeBlockCount * segmentBits);
    blockFacts[at + 2] = blockCrcHolds(whole, parameters) ? 1 : 0;
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
  const { codedBits, codeBlockCount, segmentBits, blockBits } = parameters;
  const { iterations, earlyStop, scrambling, belief } = options, chunks = blockCount * codeBlockCount;
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
  const blockFacts = sharedArray(Int32Array<SharedArrayBuffer>, blockCount * BLOCK_FACTS);
  runChunks(
    CODE_BLOCKS_DECODED,
    {
      llr: shared(llr),
      parameters,
      options: {
        iterations,
        earlyStop,
        belief,
        ...(scrambling === undefined ? {} : { scrambling: shared(scrambling) }),
      },
      bits,
      facts,
      blockFacts,
    },
    chunks,
    threads,
  );
  return blocks.map((block) => {
    const first = block * codeBlockCount, start = first * segmentBits;
    return {
      bits: Uint8Array.from(bits.subarray(start, start + blockBits)),
      crcPassed: blockFacts[BLOCK_FACTS * block + 2] === 1,
      codeBlocks: Array.from({ length: codeBlockCount }, (_, index) => {
        const at = CODE_BLOCK_FACTS * (first + index);
        return { crcPassed: facts[at] === 1, iterations: facts[at + 1] };
      }),
    };
  });
}
