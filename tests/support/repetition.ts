/**
 * Soft combining of repeated bits: the log-likelihood ratios of independent copies add up. Over AWGN, L copies are worth
 * L times the SNR; over independent Rayleigh gains they are a diversity of L branches (maximum-ratio combining).
 *
 * Source: Proakis and Salehi, Digital Communications, 5th ed., 2008, 13.4.
 */

/**
 * The sum of the LLRs of each bit's copies, which follow each other.
 *
 * @param llr `factor` values a bit
 * @param factor copies of each bit, a positive integer
 * @returns one LLR a bit, summed in binary64 and rounded once
 * @throws RangeError when the LLRs are not whole groups
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { combineRepetition } from "./repetition.ts";
 *
 * // Two of three copies speak for 1, but the third is surer.
 * assert.equal(combineRepetition(Float32Array.of(-1, -0.5, 4), 3)[0], 2.5);
 * ```
 */
export function combineRepetition(llr: Float32Array, factor: number): Float32Array<ArrayBuffer> {
  if (!Number.isSafeInteger(factor) || factor < 1 || llr.length % factor !== 0) {
    throw new RangeError(`Cannot cut ${llr.length} LLRs into groups of ${factor} copies`);
  }
  const combined = new Float32Array(llr.length / factor);
  for (let bit = 0, at = 0; bit < combined.length; bit++) {
    let sum = 0;
    for (const end = at + factor; at < end; at++) sum += llr[at];
    combined[bit] = sum;
  }
  return combined;
}
