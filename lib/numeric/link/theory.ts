/**
 * Bit error rates in closed form, averaged over the bits of a symbol, for Gray mapping and nearest-point decisions (those
 * of max-log LLRs). gamma = Es/N0 per complex symbol, linear.
 *
 *     AWGN              sum of w_i · erfc(sqrt(c_i·gamma))
 *     flat Rayleigh     sum of w_i · (1 - mu_i), mu_i = sqrt(c_i·gamma / (1 + c_i·gamma)), gamma the mean, with known gain
 *     L branches        sum of 2 w_i · q_i^L · sum over k < L of binomial(L-1+k, k)·(1 - q_i)^k, q_i = (1 - mu_i)/2, for
 *                       the sum of the gains of L independent Rayleigh branches, gamma the mean of each. Zero forcing
 *                       of tx streams with rx antennas has L = rx - tx + 1 and gamma = Es/(tx·N0)
 *
 * Source: Cho and Yoon, "On the general BER expression of one- and two-dimensional amplitude modulations", IEEE Trans.
 * Commun. 50, 2002, eq. 14-16 (all terms); Proakis and Salehi, Digital Communications, 5th ed., 2008, 13.3 and 13.4.
 */
import { erfc } from "../linalg/error_function.ts";
import type { Modulation } from "./modulations.ts";

/** Weight w and scale c of a term. */
type Term = readonly [weight: number, scale: number];

const TERMS: Readonly<Record<Modulation, readonly Term[]>> = {
  bpsk: [[1 / 2, 1]],
  qpsk: squareQam(4),
  qam16: squareQam(16),
  qam64: squareQam(64),
  qam256: squareQam(256),
};

/** The terms of square QAM with M points: odd multiples 2i + 1 of half the distance between neighbours. */
function squareQam(points: number): Term[] {
  const levels = Math.sqrt(points);
  const bitsPerPart = Math.log2(levels);
  const weights = new Array<number>(levels).fill(0);
  for (let bit = 1; bit <= bitsPerPart; bit++) {
    for (let i = 0; i < levels - levels / 2 ** bit; i++) {
      const turn = i * 2 ** (bit - 1) / levels;
      const sign = Math.floor(turn) % 2 === 0 ? 1 : -1;
      weights[i] += sign * (2 ** (bit - 1) - Math.floor(turn + 0.5)) / (levels * bitsPerPart);
    }
  }
  return weights.flatMap((weight, i) => weight === 0 ? [] : [[weight, (2 * i + 1) ** 2 * 1.5 / (points - 1)] as const]);
}

/**
 * Bit error rate over additive white Gaussian noise.
 * @param esN0 Es/N0, linear
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bitErrorRateAwgn } from "./theory.ts";
 *
 * const esN0 = 10 ** (9.6 / 10);
 * assert.ok(Math.abs(bitErrorRateAwgn("bpsk", esN0) / 1e-5 - 1) < 0.05);
 * ```
 */
export function bitErrorRateAwgn(modulation: Modulation, esN0: number): number {
  return TERMS[modulation].reduce((rate, [weight, scale]) => rate + weight * erfc(Math.sqrt(scale * esN0)), 0);
}

/**
 * Bit error rate over flat Rayleigh fading with known gains.
 * @param meanEsN0 Es/N0 per branch, averaged over the fading, linear
 * @param branches independent branches whose gains add, the diversity order
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bitErrorRateRayleigh } from "./theory.ts";
 *
 * const one = bitErrorRateRayleigh("bpsk", 100), two = bitErrorRateRayleigh("bpsk", 100, 2);
 * // 1/(4γ) and 3/(4γ)² at high Es/N0
 * assert.ok(Math.abs(one / 2.5e-3 - 1) < 0.02 && Math.abs(two / 1.875e-5 - 1) < 0.02);
 * ```
 */
export function bitErrorRateRayleigh(modulation: Modulation, meanEsN0: number, branches = 1): number {
  return TERMS[modulation].reduce((rate, [weight, scale]) => {
    const gamma = scale * meanEsN0;
    // (1 - sqrt(gamma/(1+gamma))) / 2 without cancellation
    const q = 1 / (2 * (1 + gamma) * (1 + Math.sqrt(gamma / (1 + gamma))));
    let sum = 0, term = 1;
    for (let k = 0; k < branches; k++) {
      sum += term;
      term *= (branches + k) / (k + 1) * (1 - q);
    }
    return rate + 2 * weight * q ** branches * sum;
  }, 0);
}
