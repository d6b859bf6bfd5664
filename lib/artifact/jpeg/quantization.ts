/** Quantisation: Annex K tables scaled by a quality factor, and rounded division of transform coefficients. */
import { CHROMINANCE_QUANTIZATION, LUMINANCE_QUANTIZATION, ZIGZAG } from "./tables.ts";

/**
 * The luminance and chrominance tables of a quality in zigzag order, with entries 1 … 255.
 *
 * Scale of the Independent JPEG Group: the tables are multiplied by 50/quality below 50 and by (200 - 2·quality)/100
 * from 50.
 * @param quality integer 1 … 100
 */
export function quantizationTables(quality: number): [luminance: Uint8Array, chrominance: Uint8Array] {
  const percent = quality < 50 ? Math.floor(5000 / quality) : 200 - 2 * quality;
  const scale = (table: readonly number[]) =>
    Uint8Array.from(ZIGZAG, (at) => Math.min(255, Math.max(1, Math.floor((table[at] * percent + 50) / 100))));
  return [scale(LUMINANCE_QUANTIZATION), scale(CHROMINANCE_QUANTIZATION)];
}

/**
 * Divides coefficients, 64 per block, by a table; halves are rounded away from zero.
 * @param coefficients eight times the transform coefficients, as from the forward transform
 * @param table divisors in the order of the coefficients
 */
export function quantize(coefficients: Int16Array, table: Uint8Array): Int16Array {
  const quantized = new Int16Array(coefficients.length);
  const half = Int32Array.from(table, (divisor) => divisor * 4);
  // With a half added to the numerator no quotient is near enough to an integer for the reciprocal to round across it.
  const reciprocal = Float64Array.from(table, (divisor) => 1 / (divisor * 8));
  for (let start = 0; start < coefficients.length; start += 64) {
    for (let k = 0; k < 64; k++) {
      const value = coefficients[start + k];
      const sign = value >> 31;
      const quotient = ((((value ^ sign) - sign) + half[k] + 0.5) * reciprocal[k]) | 0;
      quantized[start + k] = (quotient ^ sign) - sign;
    }
  }
  return quantized;
}
