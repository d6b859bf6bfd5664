/**
 * Integers of a known distribution through a range coder: probabilities as counts out of 2^16, and an escape for
 * integers outside a table.
 *
 * A table covers smallest … smallest + length - 1; its last entry is the escape. An integer outside is coded as the
 * escape and its distance from the table, side first, in Elias gamma code, so that every int32 can be sent, however
 * unlikely.
 */
import { gaussianTail } from "../linalg/error_function.ts";
import { BLOCK, Block, type FrequencyTable, integersOf } from "./range_kernel.ts";
import { PROBABILITY_BITS, type RangeDecoder, type RangeEncoder } from "./range_coder.ts";

const TOTAL = 1 << PROBABILITY_BITS;

/**
 * A table of probabilities. Exported for tests.
 * @param smallest the integer of the first probability
 * @param probabilities of consecutive integers; the rest to 1 belongs to the escape
 * @throws RangeError for values that are not probabilities, or more than 2^15 of them (a defect of the caller)
 */
export function frequencyTable(smallest: number, probabilities: ArrayLike<number>): FrequencyTable {
  const values = Float64Array.from(probabilities);
  const inside = values.reduce((sum, value) => sum + value, 0);
  if (values.length >= TOTAL / 2 || values.some((value) => !(value >= 0)) || inside > 1 + 1e-9) {
    throw new RangeError("Cannot make a frequency table: these are no probabilities of fewer than 32768 integers");
  }
  const counts = quantizedCounts(Float64Array.of(...values, Math.max(0, 1 - inside)));
  const cumulative = new Uint32Array(counts.length + 1);
  counts.forEach((count, index) => cumulative[index + 1] = cumulative[index] + count);
  return { smallest, cumulative };
}

/** Counts of at least 1 that sum to 2^16; the rounding remainder goes where it costs the fewest bits. */
function quantizedCounts(probabilities: Float64Array): Uint32Array {
  const counts = Uint32Array.from(probabilities, (value) => Math.max(1, Math.round(value * TOTAL)));
  let excess = counts.reduce((sum, count) => sum + count, 0) - TOTAL;
  const direction = excess > 0 ? -1 : 1;
  for (; excess !== 0; excess += direction) {
    let best = -1, least = Infinity;
    for (let index = 0; index < counts.length; index++) {
      if (counts[index] + direction < 1) continue;
      const cost = probabilities[index] * Math.log(counts[index] / (counts[index] + direction));
      if (cost < least) least = cost, best = index;
    }
    counts[best] += direction;
  }
  return counts;
}

/**
 * The table of a centred normal distribution rounded to integers.
 * @param scale its standard deviation; the table ends where a probability rounds to zero counts
 */
export function normalTable(scale: number): FrequencyTable {
  const probability = (k: number) =>
    gaussianTail((Math.abs(k) - 0.5) / scale) - gaussianTail((Math.abs(k) + 0.5) / scale);
  let reach = 1;
  while (probability(reach + 1) * TOTAL >= 0.5) reach++;
  const centre = 1 - 2 * gaussianTail(0.5 / scale);
  return frequencyTable(
    -reach,
    Array.from({ length: 2 * reach + 1 }, (_, at) => at === reach ? centre : probability(at - reach)),
  );
}

/**
 * Appends integers, each coded with the table of its index.
 * @param values int32 range
 * @param indexes one per value, into `tables`
 */
export function encodeIntegers(
  encoder: RangeEncoder,
  values: ArrayLike<number>,
  indexes: ArrayLike<number>,
  tables: readonly FrequencyTable[],
): void {
  const given = integersOf(values), chosen = integersOf(indexes);
  for (let first = 0; first < given.length; first += BLOCK) {
    const size = Math.min(BLOCK, given.length - first), block = Block.of(chosen.subarray(first, first + size), tables);
    block.values.set(given.subarray(first, first + size));
    for (let from = 0; from < size; from++) {
      if (encoder.heldBack <= BLOCK) {
        encoder.lend((state) => {
          const { at, bytes } = block.encode(from, size, state);
          from = at;
          return bytes;
        });
      }
      if (from < size) encodeInteger(encoder, values[first + from], tables[indexes[first + from]]);
    }
  }
}

/** Appends one integer, which may be outside its table. */
function encodeInteger(encoder: RangeEncoder, value: number, { smallest, cumulative }: FrequencyTable): void {
  const escape = cumulative.length - 2, place = value - smallest;
  const entry = place >= 0 && place < escape ? place : escape;
  encoder.encode(cumulative[entry], cumulative[entry + 1] - cumulative[entry]);
  if (entry === escape) encodeBeyond(encoder, place, escape);
}

/**
 * Reads one integer per index. A damaged message gives other integers, and the call always ends.
 * @returns int32, one per index
 */
export function decodeIntegers(
  decoder: RangeDecoder,
  indexes: ArrayLike<number>,
  tables: readonly FrequencyTable[],
): Int32Array {
  const values = new Int32Array(indexes.length), chosen = integersOf(indexes);
  for (let first = 0; first < values.length; first += BLOCK) {
    const size = Math.min(BLOCK, values.length - first), block = Block.of(chosen.subarray(first, first + size), tables);
    for (let from = 0; from < size; from++) {
      decoder.lend((state, rest) => {
        const { at, used } = block.decode(from, size, state, rest);
        from = at;
        return used;
      });
      if (from < size) block.values[from] = decodeEscaped(decoder, tables[indexes[first + from]]);
    }
    values.set(block.values.subarray(0, size), first);
  }
  return values;
}

/** Reads an integer outside its table. */
function decodeEscaped(decoder: RangeDecoder, { smallest, cumulative }: FrequencyTable): number {
  const escape = cumulative.length - 2;
  decoder.target();
  decoder.advance(cumulative[escape], cumulative[escape + 1] - cumulative[escape]);
  return smallest + decodeBeyond(decoder, escape);
}

/** Distance of an integer from the table, from 1 on. */
const beyond = (place: number, length: number): number => (place < 0 ? -place : place - length + 1);

/** Bits behind the leading 1 of the greatest distance; after that many zeros the 1 is omitted. */
const WIDEST = 31;

/** Side, then Elias gamma: as many zeros as bits follow the leading 1 of the distance, the 1, those bits. */
function encodeBeyond(encoder: RangeEncoder, place: number, length: number): void {
  const distance = beyond(place, length), width = 31 - Math.clz32(distance);
  encoder.encodeBits(place < 0 ? 1 : 0, 1);
  for (let zero = 0; zero < width; zero++) encoder.encodeBits(0, 1);
  if (width < WIDEST) encoder.encodeBits(1, 1);
  for (let bit = width - 1; bit >= 0; bit--) encoder.encodeBits(distance >>> bit & 1, 1);
}

function decodeBeyond(decoder: RangeDecoder, length: number): number {
  const below = decoder.decodeBits(1) === 1;
  let width = 0;
  while (width < WIDEST && decoder.decodeBits(1) === 0) width++;
  let distance = 1;
  for (let bit = 0; bit < width; bit++) distance = distance * 2 + decoder.decodeBits(1);
  return below ? -distance : length - 1 + distance;
}
