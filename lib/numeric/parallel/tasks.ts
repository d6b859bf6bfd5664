/** What threads can share: the tasks by name, so that a job can be posted to a helper. */
import type { CodeParameters } from "../nr_ldpc/code_parameters.ts";
import { decodeCodeBlock, type DecoderOptions } from "../nr_ldpc/decoder.ts";
import { demodulateLlr, modulate, type Modulation } from "../modulation.ts";
import { drawChunk, type DrawChunks } from "./draw_chunks.ts";
import type { Turns } from "./job.ts";
import { drawSegment, type NormalSegments } from "./normal_segments.ts";

/** Bits to symbols, `symbolsPerChunk` at a time. */
export interface ModulateChunks {
  bits: Uint8Array;
  modulation: Modulation;
  symbols: Float32Array;
  symbolsPerChunk: number;
  bitsPerSymbol: number;
}

/** Symbols to log-likelihood ratios. */
export interface DemodulateChunks {
  symbols: Float32Array;
  modulation: Modulation;
  noiseVariance: number | Float32Array;
  llr: Float32Array;
  symbolsPerChunk: number;
  bitsPerSymbol: number;
}

/** Code blocks of transport blocks that follow each other, one a chunk. */
export interface CodeBlockChunks {
  llr: Float32Array;
  parameters: CodeParameters;
  options: DecoderOptions;
  /** parameters.segmentBits of each chunk. */
  bits: Uint8Array;
  /** CODE_BLOCK_FACTS of each chunk: whether its CRC holds, iterations done. */
  facts: Int32Array;
}

export const CODE_BLOCK_FACTS = 2;

export interface TaskArguments {
  decodeCodeBlocks: CodeBlockChunks;
  draws: DrawChunks;
  normals: NormalSegments;
  modulate: ModulateChunks;
  demodulate: DemodulateChunks;
}

export type TaskName = keyof TaskArguments;

export const TASKS: { [T in TaskName]: (args: TaskArguments[T], chunk: number, turns: Turns) => void } = {
  decodeCodeBlocks({ llr, parameters, options, bits, facts }, chunk) {
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

  draws: drawChunk,
  normals: drawSegment,

  modulate({ bits, modulation, symbols, symbolsPerChunk, bitsPerSymbol }, chunk) {
    const from = chunk * symbolsPerChunk, to = from + symbolsPerChunk;
    modulate(
      bits.subarray(from * bitsPerSymbol, to * bitsPerSymbol),
      modulation,
      symbols.subarray(2 * from, 2 * to),
    );
  },

  demodulate({ symbols, modulation, noiseVariance, llr, symbolsPerChunk, bitsPerSymbol }, chunk) {
    const from = chunk * symbolsPerChunk, to = from + symbolsPerChunk;
    demodulateLlr(
      symbols.subarray(2 * from, 2 * to),
      modulation,
      typeof noiseVariance === "number" ? noiseVariance : noiseVariance.subarray(from, to),
      llr.subarray(from * bitsPerSymbol, to * bitsPerSymbol),
    );
  },
};
