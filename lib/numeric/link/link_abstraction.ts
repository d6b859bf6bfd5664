/**
 * Link abstraction: what a coded link carries over channels that were drawn.
 *
 *     capacity of a block     mean over its elements of log2 det(I + GᴴG/N0), G with the power of a layer, in bit/s/Hz
 *     EESM                    γ_eff = -β·ln(mean exp(-γ/β))
 *     RBIR                    γ_eff = β·I⁻¹(mean I(γ/β)), I the mutual information of bit-interleaved coded modulation
 *     information of LLRs     1 - mean log2(1 + exp(-s(1 - 2b)L)) bits for each bit b; the generalised mutual information is its
 *                             largest value over the scale s > 0
 *
 * Sources: Telatar, "Capacity of multi-antenna Gaussian channels", Eur. Trans. Telecommun. 10, 1999; Brueninghaus et al., PIMRC 2005;
 * IEEE 802.16m evaluation methodology, 2008, 4.3; Martinez et al., "Bit-interleaved coded modulation revisited", IEEE Trans. Inf.
 * Theory 55, 2009.
 */
import stored from "../data/effective_snr_betas.json" with { type: "json" };
import { cholesky, gram } from "../linalg/linear_algebra.ts";
import { dbToLinear, linearToDb } from "./decibel.ts";
import { effectiveSnrDb } from "./link_adaptation.ts";
import { type Modulation, MODULATION_BY_BITS } from "./modulations.ts";

/** Capacity of one element in bit/s/Hz. @param g interleaved gains [rx, layer], from `at` on */
export function elementCapacity(
  g: Float32Array,
  at: number,
  { rx, layers, snr }: { rx: number; layers: number; snr: number },
): number {
  if (layers === 1) {
    let power = 0;
    for (let i = 2 * at; i < 2 * (at + rx); i++) power += g[i] ** 2;
    return Math.log1p(snr * power) * Math.LOG2E;
  }
  const matrix = gram(Float64Array.from(g.subarray(2 * at, 2 * (at + rx * layers))), rx, layers);
  for (let i = 0; i < 2 * layers * layers; i++) matrix[i] *= snr;
  for (let i = 0; i < layers; i++) matrix[2 * (i * layers + i)] += 1;
  const factor = cholesky(matrix, layers);
  let bits = 0;
  for (let i = 0; i < layers; i++) bits += 2 * Math.log2(factor[2 * (i * layers + i)]);
  return bits;
}

/** Effective Es/N0 in dB by EESM. @param snrs linear; the smallest is taken out, so that nothing underflows */
export function exponentialEffectiveSnrDb(snrs: ArrayLike<number>, beta: number): number {
  let least = Infinity, sum = 0;
  for (let i = 0; i < snrs.length; i++) least = Math.min(least, snrs[i]);
  for (let i = 0; i < snrs.length; i++) sum += Math.exp((least - snrs[i]) / beta);
  return linearToDb(least - beta * Math.log(sum / snrs.length));
}

/** Effective Es/N0 in dB by mutual information (RBIR). @param snrs linear */
export function informationEffectiveSnrDb(snrs: ArrayLike<number>, beta: number, modulation: Modulation): number {
  return effectiveSnrDb(modulation, Array.from(snrs, (snr) => snr / beta)) + linearToDb(beta);
}

/** The factor that NR LDPC of a row of an MCS table was calibrated to, with its modulation; undefined for other rows. */
export function calibratedBeta(
  method: "eesm" | "rbir",
  table: string,
  index: number,
): { beta: number; modulation: Modulation } | undefined {
  const row = stored.rows.find((one) => one.mcs_table === table && one.mcs_index === index);
  return row && { beta: row[method].beta, modulation: MODULATION_BY_BITS[row.bits_per_symbol] };
}

/** Rows with a factor, for messages. */
export const calibratedRows = (): string => stored.rows.map((row) => `${row.mcs_index} of ${row.mcs_table}`).join(", ");

/** Sum of log2(1 + exp(-s·(1 - 2b)·L)) over bits start … end - 1. */
export function lostInformation(
  bits: ArrayLike<number>,
  llr: ArrayLike<number>,
  scale: number,
  start = 0,
  end = bits.length,
): number {
  let lost = 0;
  for (let i = start; i < end; i++) {
    const x = scale * (bits[i] === 0 ? llr[i] : -llr[i]);
    lost += x > 0 ? Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)) - x;
  }
  return lost * Math.LOG2E;
}

/** Least and largest scale in dB that the search takes in. */
const SCALES_DB = 60;

/** The scale of LLRs with the largest information, by golden section over its decibels; the information is concave in the scale. */
export function bestScale(bits: ArrayLike<number>, llr: ArrayLike<number>): number {
  const golden = (Math.sqrt(5) - 1) / 2, lost = (db: number) => lostInformation(bits, llr, dbToLinear(db));
  let low = -SCALES_DB, high = SCALES_DB;
  let first = high - golden * (high - low), second = low + golden * (high - low);
  let atFirst = lost(first), atSecond = lost(second);
  while (high - low > 1e-3) {
    if (atFirst < atSecond) {
      [high, second, atSecond] = [second, first, atFirst];
      first = high - golden * (high - low);
      atFirst = lost(first);
    } else {
      [low, first, atFirst] = [first, second, atSecond];
      second = low + golden * (high - low);
      atSecond = lost(second);
    }
  }
  return dbToLinear((low + high) / 2);
}
