/**
 * Pilot symbols of OFDM grids. A grid has F subcarriers and S OFDM symbols; element k of symbol l has the index l·F + k.
 *
 * DM-RS configuration type 1, single symbol: with the Gold sequence c of c_init = (2^17 (14·slot + l + 1)(2·n_id + 1) + 2·n_id +
 * n_scid) mod 2^31,
 *
 *     r(m) = ((1 - 2c(2m)) + j(1 - 2c(2m + 1))) / sqrt(2)        m counted from common resource block 0
 *     port p on subcarrier k = 4n + 2k' + Δ: w(k')·r(2n + k')    Δ = 0 for ports 0, 1 and 1 for ports 2, 3
 *                                                                w(1) = -1 for ports 1 and 3, else 1
 *
 * PT-RS of the layer of a DM-RS port on every L-th OFDM symbol, counted anew from each DM-RS symbol, and on one subcarrier of every K-th resource
 * block: k = k_RE + 12·(i·K + k_RB), k_RB = n_RNTI mod K, or mod (N_RB mod K) where this is not 0. Its values on all
 * symbols are r(m) of the first DM-RS symbol at the same subcarrier, without w. k_RE follows from port and offset.
 *
 * With transform precoding of M subcarriers PT-RS lies between the M symbols before the DFT, in G groups of N samples: with N = 2 around
 * (2g + 1)·M/(2G), with N = 4 at the first and the last symbols and in the middle of the G-th parts between. With c of c_init as above, of the
 * first OFDM symbol of a slot with PT-RS, n_scid = 0, and a Walsh sequence w of n_RNTI mod N,
 *
 *     r_m(gN + k) = w(k)·exp(jπ/2·(m mod 2))·(1 + j)/sqrt(2)·(1 - 2c(gN + k))        on symbol m
 *
 * Source: TS 38.211 V17, 6.4.1.1.1 to 6.4.1.1.3, 6.4.1.2 and 7.4.1.1.1, 7.4.1.1.2, 7.4.1.2.
 */
import { goldSequence } from "../coding/nr_ldpc/scrambling.ts";

export interface DmrsSettings {
  readonly subcarriers: number;
  readonly firstRb: number;
  readonly nId: number;
  readonly nScid: number;
}

/** Subcarrier offset of a port's CDM group. */
export const combOf = (port: number): number => port >> 1;

/** Subcarriers of a DM-RS port, ascending. */
export function dmrsSubcarriers(port: number, subcarriers: number): number[] {
  return Array.from({ length: subcarriers / 2 }, (_, i) => 2 * i + combOf(port));
}

/** Values of a DM-RS port on an OFDM symbol of a slot, interleaved, unit power, in the order of its subcarriers. */
export function dmrsValues(port: number, slot: number, symbol: number, settings: DmrsSettings): Float64Array {
  const { subcarriers, firstRb, nId, nScid } = settings;
  const seed = (BigInt(2 ** 17) * BigInt(14 * slot + symbol + 1) * BigInt(2 * nId + 1) + BigInt(2 * nId + nScid)) %
    (1n << 31n);
  const count = subcarriers / 2, first = 6 * firstRb;
  const bits = goldSequence(Number(seed), 2 * (first + count));
  const values = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    const cover = (port & 1) === 1 && (i & 1) === 1 ? -Math.SQRT1_2 : Math.SQRT1_2;
    values[2 * i] = cover * (1 - 2 * bits[2 * (first + i)]);
    values[2 * i + 1] = cover * (1 - 2 * bits[2 * (first + i) + 1]);
  }
  return values;
}

/** Subcarriers k_RE of DM-RS ports 0 to 3 by resourceElementOffset 00, 01, 10 and 11. */
const PTRS_ELEMENTS = [[0, 2, 6, 8], [2, 4, 8, 10], [1, 3, 7, 9], [3, 5, 9, 11]] as const;

/** OFDM symbols with PT-RS of a slot of `rows`, ascending. @param step L_PT-RS */
export function ptrsSymbols(rows: number, dmrsSymbols: readonly number[], step: number): number[] {
  const found: number[] = [];
  for (let reference = 0, i = 0; reference + i * step < rows;) {
    const last = reference + i * step, first = Math.max(last - step + 1, reference);
    const dmrs = Math.max(...dmrsSymbols.filter((time) => first <= time && time <= last));
    if (dmrs >= 0) [reference, i] = [dmrs, 1];
    else found.push(reference + step * i++);
  }
  return found;
}

/** Subcarriers with PT-RS of the layer of a DM-RS port, ascending. */
export function ptrsSubcarriers(
  subcarriers: number,
  { step, offset, rnti, port }: { /** K_PT-RS. */ step: number; offset: number; rnti: number; port: number },
): number[] {
  const blocks = subcarriers / 12, found: number[] = [];
  for (let block = rnti % (blocks % step || step); block < blocks; block += step) {
    found.push(12 * block + PTRS_ELEMENTS[port][offset]);
  }
  return found;
}

/** PT-RS of transform precoding. */
export interface PrecodedPtrs {
  /** 2, 4, or 8 with 4 samples. */
  readonly groups: number;
  /** Samples of a group, 2 or 4. */
  readonly samples: number;
  /** OFDM symbols from PT-RS to PT-RS. */
  readonly step: number;
  readonly nId: number;
  readonly rnti: number;
}

/** Symbols with PT-RS among the M before transform precoding, group after group. */
export function precodedPtrsPlaces(active: number, { groups, samples }: PrecodedPtrs): number[] {
  return Array.from({ length: groups * samples }, (_, i) => {
    const group = Math.floor(i / samples), k = i % samples;
    if (samples === 2) return Math.floor((2 * group + 1) * active / (2 * groups)) + k - 1;
    if (group === 0) return k;
    if (group === groups - 1) return active - samples + k;
    return Math.floor(group * active / groups) + Math.floor(active / (2 * groups)) + k - 2;
  });
}

/** Values of PT-RS at its places, interleaved, unit power. @param symbol the first OFDM symbol of the slot with PT-RS */
export function precodedPtrsValues(
  places: readonly number[],
  { samples, nId, rnti }: PrecodedPtrs,
  slot: number,
  symbol: number,
): Float64Array {
  const seed = (BigInt(2 ** 17) * BigInt(14 * slot + symbol + 1) * BigInt(2 * nId + 1) + BigInt(2 * nId)) % (1n << 31n);
  const bits = goldSequence(Number(seed), places.length), values = new Float64Array(2 * places.length);
  places.forEach((place, i) => {
    // Walsh's sequences by the parity of common bits.
    const common = i % samples & rnti % samples, turned = place % 2;
    const sign = (common === 1 || common === 2 ? -1 : 1) * (1 - 2 * bits[i]) * Math.SQRT1_2;
    values.set([turned === 0 ? sign : -sign, sign], 2 * i);
  });
  return values;
}
