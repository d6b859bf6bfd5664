/**
 * Permutations of the bits of a block, as the place p(i) from which output i takes its bit, and additive scrambling sequences.
 *
 *     block    written row by row into `columns` columns, read column by column
 *     random   the permutation of NumPy's default_rng(seed)
 *     qpp      p(i) = (f1·i + f2·i²) mod K, a permutation for the pairs of TS 36.212, table 5.1.3-3
 *     shaped   amplitudes in front, one sign bit each behind: symbols of `columns` bits as in TS 38.211, both sign bits first
 *
 * A shorter last block takes the places below its length, in the order of the permutation.
 *
 * Sources: Sun and Takeshita, IEEE Trans. Inf. Theory 51, 2005 (quadratic permutation polynomials); IEEE 802.11-2020, 17.3.5.5; TS
 * 38.211, 5.2.1.
 */
import { Generator } from "../random/random.ts";
import { goldBits } from "./nr_ldpc/scrambling.ts";

export const INTERLEAVERS = ["block", "random", "qpp", "shaped"] as const;
export type Interleaver =
  | { kind: "block"; size: number; columns: number }
  | { kind: "shaped"; size: number; columns: number }
  | { kind: "random"; size: number; seed: number }
  | { kind: "qpp"; size: number; f1: number; f2: number };

/** @throws RangeError for a polynomial that is no permutation, or a block of parts of shaped symbols */
export function permutationOf(interleaver: Interleaver): Int32Array {
  const { size } = interleaver;
  if (interleaver.kind === "random") return Generator.seeded(interleaver.seed).permutation(size);
  const places = new Int32Array(size);
  if (interleaver.kind === "block") {
    let at = 0;
    for (let column = 0; column < interleaver.columns; column++) {
      for (let place = column; place < size; place += interleaver.columns) places[at++] = place;
    }
    return places;
  }
  if (interleaver.kind === "shaped") {
    const { columns } = interleaver, label = columns / 2 - 1;
    if (columns % 2 !== 0 || columns < 4 || size % columns !== 0) {
      throw new RangeError(
        `Cannot arrange ${size} bits in shaped symbols of ${columns}: columns is 4, 6 or 8, and divides them`,
      );
    }
    const amplitudes = 2 * size / columns;
    return places.map((_, i) => {
      const amplitude = 2 * Math.floor(i / columns) + i % 2, bit = Math.floor(i % columns / 2);
      return bit === 0 ? amplitudes * label + amplitude : amplitude * label + bit - 1;
    });
  }
  const { f1, f2 } = interleaver, seen = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    // Factors below 2^17 keep the products exact.
    const place = (f1 * i % size + f2 * i % size * i % size) % size;
    if (seen[place]++ > 0) {
      throw new RangeError(`Cannot interleave ${size} bits by (${f1}·i + ${f2}·i²) mod ${size}: it is no permutation`);
    }
    places[i] = place;
  }
  return places;
}

/**
 * Puts the values of consecutive blocks, the last one shorter, into the order of a permutation, or back.
 * @returns `found`
 */
export function permuteBlocks<T extends Uint8Array | Float32Array>(
  values: T,
  permutation: Int32Array,
  found: T,
  { back = false } = {},
): T {
  const size = permutation.length;
  let to = 0;
  for (let start = 0; start < values.length; start += size) {
    const left = values.length - start;
    for (let i = 0; i < size; i++) {
      const place = permutation[i];
      if (place >= left) continue;
      if (back) found[start + place] = values[to++];
      else found[to++] = values[start + place];
    }
  }
  return found;
}

/**
 * The next bits of x⁷ + x⁴ + 1 of IEEE 802.11 at every call, one bit per byte; 127 bits repeat.
 * @param state initial state x7 … x1, 1 … 127
 */
function wlanBits(state: number): (length: number) => Uint8Array<ArrayBuffer> {
  let register = state;
  return (length) => {
    const bits = new Uint8Array(length);
    for (let i = 0; i < length; i++) {
      const bit = (register >> 6 ^ register >> 3) & 1;
      bits[i] = bit;
      register = (register << 1 | bit) & 127;
    }
    return bits;
  };
}

export const SCRAMBLERS = ["ieee80211", "nr_gold"] as const;
export type Scrambler = typeof SCRAMBLERS[number];
/** The next bits of a sequence at every call. @param seed initial state, or c_init */
export const scramblingBits = (kind: Scrambler, seed: number): (length: number) => Uint8Array =>
  kind === "nr_gold" ? goldBits(seed) : wlanBits(seed);
