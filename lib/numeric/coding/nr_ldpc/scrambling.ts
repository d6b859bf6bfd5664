/**
 * Scrambling of TS 38.211 sections 6.3.1.1 and 7.3.1.1 with the length-31 Gold sequence of section 5.2.1:
 *
 *     c(n) = x1(n + 1600) + x2(n + 1600)
 *     x1(n + 31) = x1(n + 3) + x1(n)                           x1(0 … 30) = 1, 0, …, 0
 *     x2(n + 31) = x2(n + 3) + x2(n + 2) + x2(n + 1) + x2(n)   x2(0 … 30) = the bits of c_init, lowest first
 */

export type SharedChannel = "PUSCH" | "PDSCH";

/** c_init of the data of a shared channel; the uplink has one codeword only. */
export function scramblingSeed(channel: SharedChannel, rnti: number, id: number, codeword: number): number {
  return rnti * 2 ** 15 + (channel === "PDSCH" ? codeword * 2 ** 14 : 0) + id;
}

/** New bits per step: the recursions refer back by at least 28 places. */
const STEP = 28;
const STEP_MASK = 2 ** STEP - 1;
const DISCARDED = 1600;

/**
 * The first bits of a Gold sequence, one per byte.
 * @param seed c_init, 0 … 2^31 - 1
 */
export const goldSequence = (seed: number, length: number): Uint8Array<ArrayBuffer> => goldBits(seed)(length);

/** The next bits of a Gold sequence at every call. */
export function goldBits(seed: number): (length: number) => Uint8Array<ArrayBuffer> {
  let x1 = 1, x2 = seed, start = -DISCARDED, at = 0;
  return (length) => {
    const bits = new Uint8Array(length), from = at;
    at += length;
    for (;; start += STEP) {
      // The lowest bit of a register is its oldest, at the place `start`.
      const both = x1 ^ x2;
      for (let i = Math.max(from, start), end = Math.min(start + STEP, at); i < end; i++) {
        bits[i - from] = both >>> (i - start) & 1;
      }
      if (start + STEP > at) return bits;
      x1 = x1 >>> STEP | ((x1 ^ x1 >>> 3) & STEP_MASK) << 3;
      x2 = x2 >>> STEP | ((x2 ^ x2 >>> 1 ^ x2 >>> 2 ^ x2 >>> 3) & STEP_MASK) << 3;
      x1 &= 0x7fffffff;
      x2 &= 0x7fffffff;
    }
  };
}
