/**
 * Bit loading: each resource element carries as many bits as its Es/N0 allows, possibly 0. Bits fill
 * the elements in order; the last used element is padded with zeros, later elements carry nothing.
 *
 * Source: Cioffi, "A multicarrier primer", 1991 (rate-adaptive loading by thresholds).
 */
import { modulate } from "./modulation.ts";
import { BITS_PER_SYMBOL, type Modulation, MODULATION_BY_BITS, MODULATIONS } from "./modulations.ts";

/** Minimum Es/N0 in dB of each modulation. */
export type LoadingThresholds = Readonly<Record<Modulation, number>>;

/**
 * The largest number of bits whose threshold an element meets.
 * @param snrs Es/N0, linear
 * @param mostBits maximum number of bits
 * @returns 0, 1, 2, 4, 6 or 8 per element
 */
export function loadBits(
  snrs: ArrayLike<number>,
  thresholdsDb: LoadingThresholds,
  mostBits: number,
): Uint8Array<ArrayBuffer> {
  const allowed = MODULATIONS
    .map((name) => ({ bits: BITS_PER_SYMBOL[name], thresholdDb: thresholdsDb[name] }))
    .filter(({ bits }) => bits <= mostBits);
  return Uint8Array.from(snrs, (snr) => {
    const snrDb = 10 * Math.log10(snr);
    return allowed.reduce((most, { bits, thresholdDb }) => (snrDb >= thresholdDb ? Math.max(most, bits) : most), 0);
  });
}

/** The loading of the elements up to the last one in use. */
export interface LoadedBits {
  /** Bits of each element; those after the last one in use carry 0. */
  readonly loading: Uint8Array<ArrayBuffer>;
  /** Elements up to and including the last one in use. */
  readonly count: number;
  /** Zeros after the last bit. */
  readonly padding: number;
}

/**
 * Truncates a loading after the element that takes the last bit.
 * @returns null when the elements carry fewer bits than given
 */
export function fillLoading(loading: Uint8Array, bitCount: number): LoadedBits | null {
  const used = new Uint8Array(loading.length);
  let carried = 0;
  let count = 0;
  for (let i = 0; i < loading.length && carried < bitCount; i++) {
    used[i] = loading[i];
    carried += loading[i];
    count = i + 1;
  }
  return carried < bitCount ? null : { loading: used, count, padding: carried - bitCount };
}

/**
 * Maps bits onto elements of unit mean power; an element without bits is 0.
 * @returns interleaved symbols of the elements in use, a new array
 */
export function modulateLoaded(bits: Uint8Array, { loading, count, padding }: LoadedBits): Float32Array<ArrayBuffer> {
  const padded = new Uint8Array(bits.length + padding);
  padded.set(bits);
  const symbols = new Float32Array(2 * count);
  for (const { bitsPerSymbol, modulation, elements, starts } of loadedGroups(loading.subarray(0, count))) {
    const group = new Uint8Array(elements.length * bitsPerSymbol);
    elements.forEach((_, k) => group.set(padded.subarray(starts[k], starts[k] + bitsPerSymbol), k * bitsPerSymbol));
    const mapped = modulate(group, modulation);
    elements.forEach((element, k) => symbols.set(mapped.subarray(2 * k, 2 * k + 2), 2 * element));
  }
  return symbols;
}

/** The elements of one modulation, and where the bits of each start in the stream. */
export interface LoadedGroup {
  readonly bitsPerSymbol: number;
  readonly modulation: Modulation;
  readonly elements: number[];
  readonly starts: number[];
}

/**
 * Elements grouped by modulation; those without bits are in no group.
 * @throws RangeError for a number of bits that no modulation carries
 */
export function loadedGroups(loading: ArrayLike<number>): LoadedGroup[] {
  const groups = new Map<number, LoadedGroup>();
  let start = 0;
  for (let element = 0; element < loading.length; element++) {
    const bitsPerSymbol = loading[element];
    if (bitsPerSymbol === 0) continue;
    let group = groups.get(bitsPerSymbol);
    if (group === undefined) {
      const modulation = MODULATION_BY_BITS[bitsPerSymbol];
      if (modulation === undefined) throw new RangeError(`Cannot carry ${bitsPerSymbol} bits in a symbol`);
      groups.set(bitsPerSymbol, group = { bitsPerSymbol, modulation, elements: [], starts: [] });
    }
    group.elements.push(element);
    group.starts.push(start);
    start += bitsPerSymbol;
  }
  return [...groups.values()];
}
