/** Transport blocks for tests: parameters, random bits, a QPSK channel with white Gaussian noise. */
import {
  codedBitCount,
  type CodeParameters,
  codeParameters,
} from "../../../../lib/numeric/coding/nr_ldpc/code_parameters.ts";
import { decodeCodeBlock, decodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/decoder.ts";
import { encodeTransportBlock } from "../../../../lib/numeric/coding/nr_ldpc/encoder.ts";
import { demodulateLlr, modulate } from "../../../../lib/numeric/link/modulation.ts";
import { Generator } from "../../../../lib/numeric/random/random.ts";

/** QPSK on one layer. */
export function qpskBlock(blockBits: number, codeRate: number, codedBits = codedBitCount(blockBits, codeRate, 2, 1)) {
  return codeParameters({ blockBits, codedBits, codeRate, bitsPerSymbol: 2, layers: 1 });
}

/** Any parameters, as the options of `codeParameters` with the coded bits of the rate. */
export function blockOf(blockBits: number, codeRate: number, bitsPerSymbol: number, layers: number): CodeParameters {
  const codedBits = codedBitCount(blockBits, codeRate, bitsPerSymbol, layers);
  return codeParameters({ blockBits, codedBits, codeRate, bitsPerSymbol, layers });
}

export const randomBits = (generator: Generator, count: number): Uint8Array =>
  generator.integers(0, 2, count, "uint8") as Uint8Array;

/** Complex noise variance at an Eb/N0 per bit of the transport block, symbols of unit power. */
export const noiseVariance = (ebNoDb: number, { blockBits, codedBits }: CodeParameters) =>
  1 / (10 ** (ebNoDb / 10) * 2 * blockBits / codedBits);

/** Exact log-likelihood ratios of coded bits behind QPSK and noise. */
export function noisyLlr(coded: Uint8Array, variance: number, generator: Generator): Float32Array {
  return demodulateLlr(generator.addComplexNormal(modulate(coded, "qpsk"), variance), "qpsk", variance);
}

export interface Measured {
  blocks: number;
  blockErrors: number;
  bitErrors: number;
  /** Wrong blocks whose CRCs hold. */
  undetected: number;
  meanIterations: number;
}

/** Sends random blocks until there are enough errors or blocks. A block is wrong when one of its bits is. */
export function measureBlockErrors(
  parameters: CodeParameters,
  ebNoDb: number,
  limits: { errors: number; blocks: number; seed: number; iterations?: number },
  decodeBlock: typeof decodeCodeBlock = decodeCodeBlock,
): Measured {
  const generator = Generator.seeded(limits.seed), variance = noiseVariance(ebNoDb, parameters);
  const result: Measured = { blocks: 0, blockErrors: 0, bitErrors: 0, undetected: 0, meanIterations: 0 };
  while (result.blocks < limits.blocks && result.blockErrors < limits.errors) {
    const bits = randomBits(generator, parameters.blockBits);
    const llr = noisyLlr(encodeTransportBlock(bits, parameters), variance, generator);
    const decoded = decodeTransportBlock(llr, parameters, { iterations: limits.iterations ?? 20 }, decodeBlock);
    let wrong = 0;
    for (let i = 0; i < bits.length; i++) wrong += bits[i] ^ decoded.bits[i];
    const iterations = decoded.codeBlocks.reduce((sum, block) => sum + block.iterations, 0) / decoded.codeBlocks.length;
    result.meanIterations += (iterations - result.meanIterations) / ++result.blocks;
    result.bitErrors += wrong;
    if (wrong > 0) result.blockErrors++;
    if (wrong > 0 && decoded.crcPassed) result.undetected++;
  }
  return result;
}

export interface RatePoint {
  ebno_db: number;
  blocks: number;
  block_errors: number;
  bler: number;
}

/** The measured points of a stored decoder. */
export function storedRates(id: string): { block_bits: number; coded_bits: number; points: RatePoint[] } {
  const file = new URL("../../../data/nr_ldpc/error_rates.json", import.meta.url);
  return JSON.parse(Deno.readTextFileSync(file)).sets.find((set: { id: string }) => set.id === id);
}

/** Block error rate of a stored decoder at an Eb/N0: points joined by lines over the logarithm of the rate, the ends drawn on. */
export function storedRate(points: readonly RatePoint[], ebNoDb: number): number {
  const known = points.filter(({ block_errors }) => block_errors > 0);
  const above = known.findIndex(({ ebno_db }) => ebno_db > ebNoDb);
  const right = Math.max(1, above < 0 ? known.length - 1 : above), [low, high] = [known[right - 1], known[right]];
  const share = (ebNoDb - low.ebno_db) / (high.ebno_db - low.ebno_db);
  return Math.min(1, Math.exp((1 - share) * Math.log(low.bler) + share * Math.log(high.bler)));
}
