/**
 * The statistical unit of a stream: the largest part whose trials fail together. Operations that create such parts
 * declare them in the metadata; metrics count over them.
 *
 *     statistical_unit         "packet" | "transport_block" | "source_item" | "fading_block"; absent: each bit
 *     statistical_unit_layout  {size, total}: parts of equal size, the last one shorter; or {counts}: the size of each
 *
 * A layout is relative to its stream. It is scaled to the length of another stream, so that it stays valid after
 * modulators and codes.
 */
import { type RatioSums, ratioSums } from "../numeric/scores/pooled_ratio.ts";
import { RateCounter, type RateCounts, type StatisticalUnit } from "../numeric/scores/rate_interval.ts";
import { sum } from "../numeric/scores/statistics.ts";
import { isNumber, isObject, type JsonObject, toNumber } from "../contract/value.ts";
import { metadataCounts } from "./values.ts";

/** Parts of a stream, in any element. */
export type UnitLayout = { size: number; total: number } | { counts: readonly number[] };

const UNIT = "statistical_unit", LAYOUT = "statistical_unit_layout";

/** The keys of a unit, which do not travel to an output with units of its own. */
export const UNIT_KEYS = [UNIT, LAYOUT] as const;

function unitCount(layout: UnitLayout): number {
  return "counts" in layout ? layout.counts.length : Math.ceil(layout.total / layout.size);
}

/** Equal parts by their size, others by a list. */
function plainLayout(layout: UnitLayout): JsonObject {
  if ("size" in layout) return { ...layout };
  const [size] = layout.counts, total = size * layout.counts.length;
  return layout.counts.every((count) => count === size) ? { size, total } : { counts: [...layout.counts] };
}

function layoutOf({ [LAYOUT]: layout }: JsonObject): UnitLayout | null {
  if (!isObject(layout)) return null;
  const counts = metadataCounts(layout, "counts");
  if (counts !== undefined) return { counts };
  const { size, total } = layout;
  return isNumber(size) && isNumber(total) ? { size: toNumber(size), total: toNumber(total) } : null;
}

/**
 * Metadata that declare a unit, unless the declared one is as large.
 * @param metadata of the stream before
 */
export function declareUnit(metadata: JsonObject, unit: StatisticalUnit, layout: UnitLayout): JsonObject {
  const units = unitCount(layout), declared = layoutOf(metadata);
  if (units === 0 || declared !== null && unitCount(declared) <= units) return {};
  return { [UNIT]: unit, [LAYOUT]: plainLayout(layout) };
}

/**
 * A counter of a rate over the units of a stream.
 * @param own the unit if no larger one is declared: each trial
 * @param length trials of the whole stream
 */
export function rateCounter(metadata: JsonObject, own: StatisticalUnit, length: number): RateCounter {
  const layout = layoutOf(metadata);
  if (layout === null || unitCount(layout) >= length) return new RateCounter(own);
  return new RateCounter(metadata[UNIT] as StatisticalUnit, unitEnds(layout, length), own === "bit");
}

/**
 * Counts a rate over the units of a stream.
 * @param failed 1 for each trial with an event, else 0
 * @param length trials of the whole stream, if not all of them were counted
 */
export function rateCounts(
  failed: ArrayLike<number>,
  metadata: JsonObject,
  own: StatisticalUnit,
  length = failed.length,
): RateCounts {
  const counter = rateCounter(metadata, own, length);
  counter.add(failed);
  return counter.counts();
}

/** The end of each unit in a stream of this length. */
function* unitEnds(layout: UnitLayout, length: number): Generator<number> {
  const equal = "size" in layout;
  const total = equal ? layout.total : layout.counts.reduce((sum, count) => sum + count, 0);
  let end = 0;
  for (let unit = 0; unit < unitCount(layout); unit++) {
    end = equal ? Math.min(total, end + layout.size) : end + layout.counts[unit];
    yield Math.round(end / total * length);
  }
}

/** The trials of each declared unit in a stream of this length; null without a declared layout. */
export function unitSizes(metadata: JsonObject, length: number): number[] | null {
  const layout = layoutOf(metadata);
  if (layout === null) return null;
  const ends = [...unitEnds(layout, length)];
  return ends.map((end, unit) => end - (ends[unit - 1] ?? 0));
}

/**
 * Sums over the units of a stream, for the interval of a ratio: parts of one unit, such as the grids of a realisation in motion, are
 * not independent.
 * @param values of consecutive parts of equal length
 * @returns the values where no larger unit is declared
 */
export function unitSums(values: readonly number[], metadata: JsonObject): number[] {
  const layout = layoutOf(metadata);
  if (layout === null || unitCount(layout) >= values.length) return [...values];
  let start = 0;
  return [...unitEnds(layout, values.length)].map((end) => sum(values.slice(start, start = end)));
}

/** The sums of a ratio of values of consecutive parts, over the units of their stream. @param denominators 1 for each part when left out */
export const unitRatio = (
  metadata: JsonObject,
  numerators: readonly number[],
  denominators = numerators.map(() => 1),
): RatioSums => ratioSums(unitSums(numerators, metadata), unitSums(denominators, metadata));

/** The share of trials without an event. */
export const successes = (counts: RateCounts): RateCounts => ({ ...counts, complement: true });
