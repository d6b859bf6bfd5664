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

/**
 * Bit error rate of a repetition code whose hard decisions are counted; an even split errs for one of the two values.
 * @param esN0 Es/N0, linear; over Rayleigh fading, new for each symbol, its mean
 * @param copies of each bit, in a row
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bitErrorRateAwgn, bitErrorRateMajority } from "./theory.ts";
 *
 * const p = bitErrorRateAwgn("bpsk", 1);
 * assert.ok(Math.abs(bitErrorRateMajority("bpsk", "awgn", 1, 3) / (3 * p ** 2 - 2 * p ** 3) - 1) < 1e-12);
 * ```
 */
export function bitErrorRateMajority(
  modulation: "bpsk" | "qpsk",
  channel: "awgn" | "flat_rayleigh",
  esN0: number,
  copies: number,
): number {
  const rate = channel === "awgn" ? bitErrorRateAwgn : bitErrorRateRayleigh, p = rate(modulation, esN0);
  const one = [1 - p, p], both = channel === "awgn" ? p ** 2 : squaredQRayleigh(esN0 / 2);
  const pair = [1 - 2 * p + both, 2 * (p - both), both], pairs = modulation === "qpsk" ? Math.floor(copies / 2) : 0;
  let wrong = [1];
  for (let i = 0; i < copies - pairs; i++) wrong = convolved(wrong, i < pairs ? pair : one);
  return wrong.reduce((sum, chance, k) => sum + chance * (2 * k > copies ? 1 : 2 * k === copies ? 1 / 2 : 0), 0);
}

/** The mean of Q²(sqrt(2·gamma)) for exponential gamma. Without the cancellation of 1/4 - mu/pi·atan(1/mu). */
function squaredQRayleigh(mean: number): number {
  const mu = Math.sqrt(mean / (1 + mean)), less = 1 / ((1 + mean) * (1 + mu));
  return less / 4 - mu / Math.PI * Math.atan(less / (1 + mu));
}

function convolved(a: readonly number[], b: readonly number[]): number[] {
  const product = new Array<number>(a.length + b.length - 1).fill(0);
  a.forEach((x, i) => b.forEach((y, k) => product[i + k] += x * y));
  return product;
}
