/**
 * Power p over the F subcarriers of an OFDM symbol that serves a receiver and, by its echo, a radar:
 *
 *     R(p) = (1/F)·Σ log2(1 + a_k·p_k),  a = |g_c|²/N0        communication rate, bit/s/Hz
 *     S(p) = Σ b_k·p_k,                  b = |g_s|²/N0        Es/N0 of the echo, coherently summed
 *     U(p) = (1-w)·R/R_max + w·S/S_max,  p >= 0, Σ p = P      0 … 1
 *
 * R_max is the rate of water-filling, S_max that of all power on the strongest sensing subcarrier. For a side without
 * any gain the term is 0. U is concave: its maximum is where the projected gradient is zero, that is where ∂U/∂p_k is
 * one price λ for every p_k > 0 and at most λ elsewhere.
 *
 * Sources: Liu et al., "Integrated sensing and communications", IEEE JSAC 40, 2022; Boyd and Vandenberghe, Convex
 * Optimization, 2004, 5.5.3.
 */
import { sum } from "../scores/statistics.ts";
import { projectOntoSimplex, waterFill } from "../link/water_filling.ts";

/** Maximum share of the power that rounding may leave unallocated. */
const SETTLED = 1e-12;
/** Halvings after which a bracket of binary64 numbers cannot become narrower. */
const MOST_HALVINGS = 400;

/** The two channels of one OFDM symbol and the power for it. */
export interface IsacChannels {
  /** a_k = |g_c|²/N0 */
  communication: Float64Array;
  /** b_k = |g_s|²/N0 */
  sensing: Float64Array;
  totalPower: number;
}

/** R(p), bit/s/Hz. */
export function communicationRate(power: ArrayLike<number>, { communication: a }: IsacChannels): number {
  return sum(a.map((snr, k) => Math.log1p(snr * power[k]))) / (Math.LN2 * a.length);
}

/** S(p), a power ratio. */
export function sensingSnr(power: ArrayLike<number>, { sensing: b }: IsacChannels): number {
  return sum(b.map((snr, k) => snr * power[k]));
}

/** The p of R_max; equal power where no subcarrier has a gain. */
export function rateOnlyAllocation({ communication, totalPower }: IsacChannels): Float64Array<ArrayBuffer> {
  return waterFill(communication.map((a) => 1 / a), totalPower);
}

/** U and its gradient for one weight. */
export class IsacUtility {
  /** R_max; 0 without any gain. */
  readonly rateLimit: number;
  /** S_max; 0 without any gain. */
  readonly sensingLimit: number;
  /** α and β of U = Σ [α·ln(1 + a_k·p_k) + β·b_k·p_k]. */
  readonly rateScale: number;
  readonly echoScale: number;

  /** @param weight w, 0 (rate only) … 1 (echo only) */
  constructor(readonly channels: IsacChannels, readonly weight: number) {
    this.rateLimit = communicationRate(rateOnlyAllocation(channels), channels);
    this.sensingLimit = channels.totalPower * channels.sensing.reduce((most, b) => Math.max(most, b), 0);
    this.rateScale = share(1 - weight, this.rateLimit) / (Math.LN2 * channels.communication.length);
    this.echoScale = share(weight, this.sensingLimit);
  }

  at(power: ArrayLike<number>): number {
    const { channels, weight, rateLimit, sensingLimit } = this;
    return (1 - weight) * share(communicationRate(power, channels), rateLimit) +
      weight * share(sensingSnr(power, channels), sensingLimit);
  }

  /** ∂U/∂p_k */
  gradient(power: ArrayLike<number>): Float64Array<ArrayBuffer> {
    const { channels: { communication, sensing }, rateScale, echoScale } = this;
    return Float64Array.from(communication, (a, k) => rateScale * a / (1 + a * power[k]) + echoScale * sensing[k]);
  }
}

const share = (part: number, whole: number) => whole > 0 ? part / whole : 0;

/**
 * The p of the largest U, exact except for rounding. With U = Σ [α·ln(1 + a_k·p_k) + β·b_k·p_k] and the price λ = β·max
 * b + ν,
 *
 *     p_k = max(0, α/(ν + β·(max b - b_k)) - 1/a_k)
 *
 * whose sum decreases with ν; bisection finds ν. Power that the rate does not use goes to a subcarrier with an echo
 * only. With sensing gain only, the strongest echo gets all power (the first of equal ones); without any gain all get
 * the same.
 * @returns powers whose sum is the budget within rounding; a new array
 */
export function scalarizedAllocation(utility: IsacUtility): Float64Array<ArrayBuffer> {
  const { channels: { communication: a, sensing: b, totalPower }, rateScale: alpha, echoScale: beta } = utility;
  const power = new Float64Array(a.length);
  if (alpha === 0 && beta === 0) return power.fill(totalPower / a.length);
  let strongest = 0;
  b.forEach((gain, k) => strongest = gain > b[strongest] ? k : strongest);
  if (alpha === 0) {
    power[strongest] = totalPower;
    return power;
  }
  const at = (nu: number) => a.map((gain, k) => Math.max(0, alpha / (nu + beta * (b[strongest] - b[k])) - 1 / gain));
  const needed = (nu: number) => sum(at(nu));
  // At the lower end the sum reaches or exceeds the budget; at the upper end it is zero.
  let low = alpha / (totalPower + 1 / a[strongest]), high = alpha * a.reduce((most, gain) => Math.max(most, gain), 0);
  for (let halving = 0; halving < MOST_HALVINGS; halving++) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (needed(middle) > totalPower) low = middle;
    else high = middle;
  }
  power.set(at(high));
  const rest = totalPower - sum(power);
  // A remainder beyond rounding goes to the strongest echo.
  if (rest > SETTLED * totalPower) power[strongest] += rest;
  return projectOntoSimplex(power, totalPower);
}
