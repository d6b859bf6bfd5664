/** What threads can share: the tasks by name, so that a job can be posted to a helper. */
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

export interface TaskArguments {
  draws: DrawChunks;
  normals: NormalSegments;
  modulate: ModulateChunks;
  demodulate: DemodulateChunks;
}

export type TaskName = keyof TaskArguments;

export const TASKS: { [T in TaskName]: (args: TaskArguments[T], chunk: number, turns: Turns) => void } = {
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
