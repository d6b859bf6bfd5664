/**
 * Coding rate of short packets by the normal approximation. With n channel uses and block error probability eps
 *
 *     R = C - sqrt(V/n) · Q⁻¹(eps) [+ log2(n)/(2n)]
 *     eps = Q((C - R [+ log2(n)/(2n)]) · sqrt(n/V))
 *
 * where C is the capacity and V the dispersion per channel use, in bits and bits²; the bracket is the third-order term.
 * A complex channel use at Es/N0 s has C = log2(1 + s) and V = (1 - (1+s)^-2) log2²e, a real one half
 * of each. Parallel channels with equal shares of the packet average C and V.
 *
 * Source: Polyanskiy, Poor and Verdú, "Channel coding rate in the finite blocklength regime", IEEE Trans. Inf. Theory 56,
 * 2010, eq. 1 and theorem 54; the third-order term: Tan and Tomamichel, "The third-order term in the normal
 * approximation for the AWGN channel", IEEE Trans. Inf. Theory 61, 2015; parallel channels: Polyanskiy, thesis, 2010.
 */
import { gaussianTail } from "../linalg/error_function.ts";

export interface ChannelStatistics {
  /** Bits per channel use. */
  readonly capacity: number;
  /** Bits² per channel use. */
  readonly dispersion: number;
}

export interface BlockOptions {
  readonly blocklength: number;
  /** Adds log2(n)/(2n) to the rate. */
  readonly thirdOrder?: boolean;
}

/** Capacity and dispersion of a complex channel use; snr is linear. Exported for tests. */
export function complexAwgn(snr: number): ChannelStatistics {
  // 1 - (1+s)^-2 without cancellation.
  return {
    capacity: Math.log1p(snr) * Math.LOG2E,
    dispersion: snr * (snr + 2) / (1 + snr) ** 2 * Math.LOG2E ** 2,
  };
}

/** Capacity and dispersion of a use of parallel complex channels that share the packet equally. */
export function parallelAwgn(snrs: ArrayLike<number>): ChannelStatistics {
  let capacity = 0, dispersion = 0;
  for (let i = 0; i < snrs.length; i++) {
    const one = complexAwgn(snrs[i]);
    capacity += one.capacity;
    dispersion += one.dispersion;
  }
  return { capacity: capacity / snrs.length, dispersion: dispersion / snrs.length };
}

const thirdOrderBits = ({ blocklength, thirdOrder = false }: BlockOptions) =>
  thirdOrder ? Math.log2(blocklength) / (2 * blocklength) : 0;

/**
 * The probability that a packet of n channel uses at a rate fails. Without dispersion it is 0 below capacity, else 1.
 * @param rate bits per channel use
 */
export function normalApproximationErrorRate(
  { capacity, dispersion }: ChannelStatistics,
  rate: number,
  options: BlockOptions,
): number {
  if (dispersion === 0) return rate < capacity ? 0 : 1;
  return gaussianTail((capacity - rate + thirdOrderBits(options)) * Math.sqrt(options.blocklength / dispersion));
}
