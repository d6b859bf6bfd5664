/** `modulate` and `demodulateLlr` on several threads: the same values in shared memory. Short arrays take one thread. */
import { BITS_PER_SYMBOL, demodulateLlr, modulate, type Modulation } from "../modulation.ts";
import { type ParallelOptions, shared, sharedArray, threadsOf } from "./shared.ts";
import { runChunks } from "./team.ts";

const LEAST_SYMBOLS = 1 << 18;
const CHUNK_SYMBOLS = 1 << 14;

/** As `modulate`. Bits outside shared memory are copied first. */
export function modulateParallel(
  bits: Uint8Array,
  modulation: Modulation,
  options: ParallelOptions & { out?: Float32Array<SharedArrayBuffer> } = {},
): Float32Array {
  const bitsPerSymbol = BITS_PER_SYMBOL[modulation];
  const count = Math.ceil(bits.length / bitsPerSymbol);
  const threads = threadsOf(options);
  if (threads === 1 || count < LEAST_SYMBOLS) {
    return options.out ? modulate(bits, modulation, options.out) : modulate(bits, modulation);
  }
  const symbols = options.out ?? sharedArray(Float32Array<SharedArrayBuffer>, 2 * count);
  if (symbols.length !== 2 * count) {
    throw new RangeError(`Cannot put ${2 * count} values into an array of ${symbols.length}`);
  }
  const chunk = { bits: shared(bits), modulation, symbols, symbolsPerChunk: CHUNK_SYMBOLS, bitsPerSymbol };
  runChunks("modulate", chunk, Math.ceil(count / CHUNK_SYMBOLS), threads);
  return symbols;
}

/** As `demodulateLlr`. Symbols and variances outside shared memory are copied first. */
export function demodulateLlrParallel(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  options: ParallelOptions & { out?: Float32Array<SharedArrayBuffer> } = {},
): Float32Array {
  const bitsPerSymbol = BITS_PER_SYMBOL[modulation];
  const count = symbols.length / 2;
  const threads = threadsOf(options);
  if (threads === 1 || count < LEAST_SYMBOLS) {
    return options.out
      ? demodulateLlr(symbols, modulation, noiseVariance, options.out)
      : demodulateLlr(symbols, modulation, noiseVariance);
  }
  if (typeof noiseVariance !== "number" && noiseVariance.length !== count) {
    throw new RangeError(`Cannot demodulate ${count} symbols with ${noiseVariance.length} noise variances`);
  }
  const llr = options.out ?? sharedArray(Float32Array<SharedArrayBuffer>, count * bitsPerSymbol);
  if (llr.length !== count * bitsPerSymbol) {
    throw new RangeError(`Cannot put ${count * bitsPerSymbol} values into an array of ${llr.length}`);
  }
  runChunks(
    "demodulate",
    {
      symbols: shared(symbols),
      modulation,
      noiseVariance: typeof noiseVariance === "number" ? noiseVariance : shared(noiseVariance),
      llr,
      symbolsPerChunk: CHUNK_SYMBOLS,
      bitsPerSymbol,
    },
    Math.ceil(count / CHUNK_SYMBOLS),
    threads,
  );
  return llr;
}
