import type { FrequencyTable } from "../../lib/numeric/coding/range_kernel.ts";
import { PROBABILITY_BITS } from "../../lib/numeric/coding/range_coder.ts";

/** Information content of integers under their tables, escapes included, in bits: the least length of a code. */
export function informationBits(
  values: ArrayLike<number>,
  indexes: ArrayLike<number>,
  tables: readonly FrequencyTable[],
): number {
  let bits = 0;
  for (let at = 0; at < values.length; at++) {
    const { smallest, cumulative } = tables[indexes[at]];
    const escape = cumulative.length - 2, place = values[at] - smallest;
    const entry = place >= 0 && place < escape ? place : escape;
    bits += PROBABILITY_BITS - Math.log2(cumulative[entry + 1] - cumulative[entry]);
    const distance = place < 0 ? -place : place - escape + 1;
    // An escape sends the side and an Elias gamma code; after 31 zeros the leading 1 is implied.
    if (entry === escape) bits += Math.min(2 * (32 - Math.clz32(distance)), 63);
  }
  return bits;
}
