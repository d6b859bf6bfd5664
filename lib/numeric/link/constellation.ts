/**
 * Constellations of any points: 2^K complex points by label (first bit highest), unit mean power for equally likely labels,
 *
 *     c_m = p_m / sqrt(mean |p|²)
 *
 * and their log-likelihood ratios, ln P(0|y)/P(1|y) from ln P(y|c_m) = -|y - c_m|²/N0: `exact` sums over all points of a bit
 * value, `max_log` takes the nearest one.
 *
 * Shapes: points interleaved [2·2^K]; bits uint8 [n] -> symbols complex64 [ceil(n / K)] interleaved -> llr float32 [K·n].
 */
import { LEAST_NOISE_VARIANCE, type LlrMethod, logSum, modulate } from "./modulation.ts";
import { BITS_PER_SYMBOL, type Modulation } from "./modulations.ts";

/** Most bits that a symbol carries. */
export const MAXIMUM_WIDTH = 8;

/** All labels of a width as bits, the first bit highest. */
export function labelBits(width: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: width << width }, (_, i) => (Math.floor(i / width) >> (width - 1 - i % width)) & 1);
}

/** The points of a Gray mapping of TS 38.211. */
export const grayPoints = (modulation: Modulation): Float32Array =>
  modulate(labelBits(BITS_PER_SYMBOL[modulation]), modulation);

/** Points scaled to unit mean power. @throws RangeError for points without power */
export function normalizedPoints(points: ArrayLike<number>): Float32Array<ArrayBuffer> {
  let energy = 0;
  for (let i = 0; i < points.length; i++) energy += points[i] ** 2;
  const scale = Math.sqrt(points.length / 2 / energy);
  if (!Number.isFinite(scale)) throw new RangeError("Cannot normalise a constellation without power");
  return Float32Array.from(points, (part) => part * scale);
}

/** LLRs of received symbols; N0 is one for all symbols, or one per symbol. */
export function constellationLlr(
  symbols: Float32Array,
  points: Float32Array,
  noiseVariance: number | Float32Array,
  method: LlrMethod,
): Float32Array<ArrayBuffer> {
  const size = points.length / 2, width = Math.log2(size), count = symbols.length / 2;
  const llr = new Float32Array(count * width), distances = new Float64Array(size);
  const side = method === "exact" ? logSum : nearest;
  for (let i = 0; i < count; i++) {
    const variance = typeof noiseVariance === "number" ? noiseVariance : noiseVariance[i];
    const precision = 1 / Math.max(variance, LEAST_NOISE_VARIANCE);
    for (let m = 0; m < size; m++) {
      distances[m] = ((symbols[2 * i] - points[2 * m]) ** 2 + (symbols[2 * i + 1] - points[2 * m + 1]) ** 2) *
        precision;
    }
    for (let bit = 0; bit < width; bit++) {
      const mask = size >> (bit + 1);
      llr[i * width + bit] = side(distances, mask, 0) - side(distances, mask, mask);
    }
  }
  return llr;
}

/** The negative least distance of the labels whose bit `mask` has the value `wanted`. */
function nearest(distances: Float64Array, mask: number, wanted: number): number {
  let least = Infinity;
  for (let m = 0; m < distances.length; m++) if ((m & mask) === wanted) least = Math.min(least, distances[m]);
  return -least;
}
