/** `modulate` and `demodulateLlr` on several threads: the same values in shared memory. Short arrays take one thread. */
import { demodulateLlr, type LlrMethod, modulate } from "../link/modulation.ts";
import { BITS_PER_SYMBOL, type Modulation } from "../link/modulations.ts";
import type { Task } from "./job.ts";
import { resultArray, sharedArray } from "../array/shared_array.ts";
import { type ParallelOptions, shared, threadsFor } from "./shared.ts";
import { runChunks } from "./team.ts";

const LEAST_SYMBOLS = 1 << 18;
const CHUNK_SYMBOLS = 1 << 14;

interface Chunks {
  modulation: Modulation;
  symbols: Float32Array;
  bitsPerSymbol: number;
}

/** Bits to symbols. */
export const MODULATED: Task<Chunks & { bits: Uint8Array }> = {
  name: "modulate",
  run({ bits, modulation, symbols, bitsPerSymbol }, chunk) {
    const from = chunk * CHUNK_SYMBOLS, to = from + CHUNK_SYMBOLS;
    modulate(bits.subarray(from * bitsPerSymbol, to * bitsPerSymbol), modulation, symbols.subarray(2 * from, 2 * to));
  },
};

/** Symbols to log-likelihood ratios. */
export const DEMODULATED: Task<
  Chunks & { noiseVariance: number | Float32Array; llr: Float32Array; method: LlrMethod }
> = {
  name: "demodulate",
  run({ symbols, modulation, noiseVariance, llr, bitsPerSymbol, method }, chunk) {
    const from = chunk * CHUNK_SYMBOLS, to = from + CHUNK_SYMBOLS;
    const variances = typeof noiseVariance === "number" ? noiseVariance : noiseVariance.subarray(from, to);
    const values = llr.subarray(from * bitsPerSymbol, to * bitsPerSymbol);
    demodulateLlr(symbols.subarray(2 * from, 2 * to), modulation, variances, values, method);
  },
};

/** As `modulate`. Bits outside shared memory are copied first. */
export function modulateParallel(
  bits: Uint8Array,
  modulation: Modulation,
  options: ParallelOptions = {},
): Float32Array {
  const bitsPerSymbol = BITS_PER_SYMBOL[modulation];
  const count = Math.ceil(bits.length / bitsPerSymbol);
  const threads = threadsFor(count, LEAST_SYMBOLS, options);
  if (threads === 1) {
    return modulate(bits, modulation, resultArray<Float32Array>(Float32Array, 2 * count));
  }
  const symbols = sharedArray(Float32Array<SharedArrayBuffer>, 2 * count);
  const args = { bits: shared(bits), modulation, symbols, bitsPerSymbol };
  runChunks(MODULATED, args, Math.ceil(count / CHUNK_SYMBOLS), threads);
  return symbols;
}

/** As `demodulateLlr`. Symbols and variances outside shared memory are copied first. */
export function demodulateLlrParallel(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  { method = "max_log", ...options }: ParallelOptions & { method?: LlrMethod } = {},
): Float32Array {
  const bitsPerSymbol = BITS_PER_SYMBOL[modulation];
  const count = symbols.length / 2;
  const threads = threadsFor(count, LEAST_SYMBOLS, options);
  if (threads === 1) {
    const llr = resultArray<Float32Array>(Float32Array, count * bitsPerSymbol);
    return demodulateLlr(symbols, modulation, noiseVariance, llr, method);
  }
  if (typeof noiseVariance !== "number" && noiseVariance.length !== count) {
    throw new RangeError(`Cannot demodulate ${count} symbols with ${noiseVariance.length} noise variances`);
  }
  const llr = sharedArray(Float32Array<SharedArrayBuffer>, count * bitsPerSymbol);
  const variances = typeof noiseVariance === "number" ? noiseVariance : shared(noiseVariance);
  const args = { symbols: shared(symbols), modulation, noiseVariance: variances, llr, bitsPerSymbol, method };
  runChunks(DEMODULATED, args, Math.ceil(count / CHUNK_SYMBOLS), threads);
  return llr;
}
