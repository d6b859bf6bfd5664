/**
 * Bits to complex symbols of unit mean power and back to log-likelihood ratios. BPSK x = 1 - 2b; QPSK to 256QAM with the
 * Gray mapping of TS 38.211 section 5.1: even bits determine the real part, odd bits the imaginary part, each by
 * pulse-amplitude modulation:
 *
 *     QPSK    (1-2b0) / sqrt(2)
 *     16QAM   (1-2b0)[2 - (1-2b2)] / sqrt(10)
 *     64QAM   (1-2b0)[4 - (1-2b2)[2 - (1-2b4)]] / sqrt(42)
 *     256QAM  (1-2b0)[8 - (1-2b2)[4 - (1-2b4)[2 - (1-2b6)]]] / sqrt(170)
 *
 * LLR = ln P(0|y) / P(1|y), positive for bit 0; N0 is the total variance of the complex noise. BPSK and QPSK are exact
 * log-MAP. Larger constellations are exact on request, else max-log, (min over b=1 |y-s|² - min over b=0 |y-s|²) / N0,
 * in closed form: with the unit a = 1/sqrt(10), 1/sqrt(42) or 1/sqrt(170) the distances of a part t differ by piecewise
 * linear functions of |t|.
 *
 * Shapes: bits uint8 [n] -> symbols complex64 [ceil(n / bits per symbol)] interleaved -> llr float32. Arithmetic is
 * binary64, rounded once.
 */

import {
  inBlocks,
  inputBytes,
  inputFloats,
  kernelPoints,
  kernels,
  kernelVariances,
  outputBytes,
  outputFloats,
} from "../array/bits_kernel.ts";
import { resultArray } from "../array/shared_array.ts";
import { BITS_PER_SYMBOL, type Modulation, MODULATIONS } from "./modulations.ts";

/** `exact` sums over all points of a bit value (log-sum-exp), `max_log` takes the nearest one. */
export type LlrMethod = "exact" | "max_log";

/** Lower limit of the noise variance. */
export const LEAST_NOISE_VARIANCE = 1e-12;

/** Half the distance of neighbouring levels of a part at unit mean power; BPSK has one part. */
export const UNITS: Readonly<Record<Modulation, number>> = {
  bpsk: 1,
  qpsk: Math.SQRT1_2,
  qam16: 1 / Math.sqrt(10),
  qam64: 1 / Math.sqrt(42),
  qam256: 1 / Math.sqrt(170),
};

/** Odd integer amplitudes of a part by the label of its bits: v = (1 - 2c)(2^(remaining bits) - v of the rest). */
function squareLevels(bits: number): number[] {
  if (bits === 0) return [0];
  const rest = squareLevels(bits - 1), offset = bits === 1 ? 1 : 2 ** (bits - 1);
  return [1, -1].flatMap((sign) => rest.map((level) => sign * (offset - level)));
}

/** Odd amplitudes of a part of square QAM by the label of the bits behind its sign bit. */
export const amplitudesOf = (bits: number): number[] => squareLevels(bits + 1).slice(0, 2 ** bits);

/**
 * Amplitudes of a part of the constellation by the label of its bits (first bit highest), binary64. BPSK has no
 * imaginary part.
 */
export function partLevels(modulation: Modulation): Float64Array {
  if (modulation === "bpsk") return Float64Array.of(1, -1);
  const bits = BITS_PER_SYMBOL[modulation] / 2, scale = Math.sqrt(1.5 / (4 ** bits - 1));
  return Float64Array.from(squareLevels(bits), (level) => level * scale);
}

/** Points by label, the first bit highest, interleaved binary32: even bits choose the real part, odd ones the imaginary. */
export const POINTS: Readonly<Record<string, Float32Array>> = Object.fromEntries(
  MODULATIONS.map((modulation) => [modulation, standardPoints(modulation)]),
);

function standardPoints(modulation: Modulation): Float32Array {
  const bits = BITS_PER_SYMBOL[modulation];
  if (modulation === "bpsk") return Float32Array.of(1, 0, -1, 0);
  const levels = squareLevels(bits / 2).map((level) => level * UNITS[modulation]);
  return Float32Array.from({ length: 2 << bits }, (_, at) => {
    let part = 0;
    for (let bit = at & 1; bit < bits; bit += 2) part = part << 1 | (at >> (bits - bit)) & 1;
    return levels[part];
  });
}

/**
 * Maps bits to symbols; zero bits fill the last symbol.
 * @param bits one bit (0 or 1) per byte
 * @param symbols output array; default a new one
 * @returns interleaved complex64
 * @throws RangeError when the given array has another length
 */
export function modulate(bits: Uint8Array, modulation: Modulation): Float32Array<ArrayBuffer>;
export function modulate<T extends Float32Array>(bits: Uint8Array, modulation: Modulation, symbols: T): T;
export function modulate(bits: Uint8Array, modulation: Modulation, symbols?: Float32Array): Float32Array {
  return mapToPoints(bits, POINTS[modulation], symbols);
}

/**
 * Maps bits to points; zero bits fill the last symbol.
 * @param points 2^K points by label, the first bit highest, interleaved; K is at most 8
 * @param symbols output array; default a new one
 * @throws RangeError when the given array has another length
 */
export function mapToPoints(bits: Uint8Array, points: Float32Array): Float32Array<ArrayBuffer>;
export function mapToPoints(bits: Uint8Array, points: Float32Array, symbols: Float32Array | undefined): Float32Array;
export function mapToPoints(bits: Uint8Array, points: Float32Array, symbols?: Float32Array): Float32Array {
  const width = Math.log2(points.length / 2), count = Math.ceil(bits.length / width);
  const out = symbols ?? new Float32Array(2 * count);
  checkLength(out, 2 * count);
  kernelPoints.set(points);
  const signs = points === POINTS.qpsk;
  inBlocks(bits, inputBytes, width, out, outputFloats, 2, count, (size) => {
    if (signs) kernels.mapSigns(2 * size, Math.SQRT1_2);
    else if (width === 4) kernels.map4(size);
    else kernels.map(width, size);
  });
  return out;
}

function checkLength(out: Float32Array, length: number): void {
  if (out.length !== length) throw new RangeError(`Cannot put ${length} values into an array of ${out.length}`);
}

/**
 * Log-likelihood ratios of the bits of received symbols.
 * @param symbols interleaved complex64
 * @param noiseVariance total complex variance N0, one for all or one per symbol; floored at 1e-12
 * @param llr output array; default a new one. For QPSK it may be the array of the symbols
 * @param method of 16QAM and larger constellations; BPSK and QPSK have one formula
 * @returns bits-per-symbol values per symbol
 * @throws RangeError for another number of variances than one per symbol, or an output array of another length
 */
export function demodulateLlr(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr?: undefined,
  method?: LlrMethod,
): Float32Array<ArrayBuffer>;
export function demodulateLlr<T extends Float32Array>(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr: T,
  method?: LlrMethod,
): T;
export function demodulateLlr(
  symbols: Float32Array,
  modulation: Modulation,
  noiseVariance: number | Float32Array,
  llr: Float32Array = new Float32Array(symbols.length / 2 * BITS_PER_SYMBOL[modulation]),
  method: LlrMethod = "max_log",
): Float32Array {
  const count = symbols.length / 2;
  if (typeof noiseVariance !== "number" && noiseVariance.length !== count) {
    throw new RangeError(`Cannot demodulate ${count} symbols with ${noiseVariance.length} noise variances`);
  }
  checkLength(llr, count * BITS_PER_SYMBOL[modulation]);
  if (method === "exact" && BITS_PER_SYMBOL[modulation] > 2) {
    const demap = exactDemapper(partLevels(modulation));
    for (let i = 0; i < count; i++) {
      const variance = typeof noiseVariance === "number" ? noiseVariance : noiseVariance[i];
      demap(symbols, llr, i, 1 / Math.max(variance, LEAST_NOISE_VARIANCE));
    }
    return llr;
  }
  const each = typeof noiseVariance !== "number";
  const precision = each ? -1 : 1 / Math.max(noiseVariance, LEAST_NOISE_VARIANCE);
  const bits = BITS_PER_SYMBOL[modulation], unit = UNITS[modulation];
  inBlocks(symbols, inputFloats, 2, llr, outputFloats, bits, count, (size, from) => {
    if (each) kernelVariances.set(noiseVariance.subarray(from, from + size));
    if (bits === 1) kernels.demapReal(size, precision);
    else if (bits === 2 && !each) kernels.scale(2 * size, 4 * unit * precision);
    else if (bits === 4) kernels.demap16(size, 4 * unit, 2 * unit, precision);
    else kernels.demap(bits / 2, size, 4 * unit, 2 * unit, precision);
  });
  return llr;
}

/** Class sums below this have lost digits to underflow. */
const LEAST_SUM = 1e-280;

/** Log-sum-exp demapper of parts with these levels by label; the parts are independent. */
function exactDemapper(levels: Float64Array) {
  const bits = Math.log2(levels.length), stride = 2 * bits;
  const distances = new Float64Array(levels.length), weights = new Float64Array(levels.length);
  return (symbols: Float32Array, llr: Float32Array, symbol: number, precision: number) => {
    for (let i = 2 * symbol; i < 2 * symbol + 2; i++) {
      let least = Infinity;
      for (let j = 0; j < levels.length; j++) {
        distances[j] = (symbols[i] - levels[j]) ** 2 * precision;
        least = Math.min(least, distances[j]);
      }
      for (let j = 0; j < levels.length; j++) weights[j] = Math.exp(least - distances[j]);
      const at = stride * (i >> 1) + (i & 1);
      for (let bit = 0; bit < bits; bit++) {
        const mask = levels.length >> (bit + 1);
        let zero = 0, one = 0;
        for (let j = 0; j < levels.length; j++) if ((j & mask) === 0) zero += weights[j];
        for (let j = 0; j < levels.length; j++) if ((j & mask) !== 0) one += weights[j];
        llr[at + 2 * bit] = Math.min(zero, one) > LEAST_SUM
          ? Math.log(zero / one)
          : logSum(distances, mask, 0) - logSum(distances, mask, mask);
      }
    }
  };
}

/** ln of the sum of exp(-distance) over the labels whose bit `mask` has the value `wanted`. */
export function logSum(distances: Float64Array, mask: number, wanted: number): number {
  let least = Infinity, sum = 0;
  for (let j = 0; j < distances.length; j++) if ((j & mask) === wanted) least = Math.min(least, distances[j]);
  for (let j = 0; j < distances.length; j++) if ((j & mask) === wanted) sum += Math.exp(least - distances[j]);
  return Math.log(sum) - least;
}

/**
 * LLR (1 - 2 Re y) / N0 of symbols with real part 0 or 1, and hard decisions: 1 where Re y > 1/2.
 * @param noiseVariance as of `demodulateLlr`
 */
export function demodulateIdentity(symbols: Float32Array, noiseVariance: number | Float32Array) {
  const llr = new Float32Array(symbols.length / 2), bits = new Uint8Array(llr.length);
  for (let i = 0; i < llr.length; i++) {
    const real = symbols[2 * i], variance = typeof noiseVariance === "number" ? noiseVariance : noiseVariance[i];
    llr[i] = (1 - 2 * real) / Math.max(variance, LEAST_NOISE_VARIANCE);
    bits[i] = real > 0.5 ? 1 : 0;
  }
  return { llr, bits };
}

/** Hard decisions: 1 where the LLR is negative; zero gives 0. */
export function hardBits(llr: Float32Array, bits = resultArray<Uint8Array>(Uint8Array, llr.length)): Uint8Array {
  inBlocks(llr, inputFloats, 1, bits, outputBytes, 1, llr.length, (size) => kernels.decide(size));
  return bits;
}
