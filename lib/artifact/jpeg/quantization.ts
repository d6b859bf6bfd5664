/** Quantisation tables: those of Annex K scaled by a quality factor. */
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
