/** Counts of rates for tests. */
import {
  countRate,
  type FailedUnits,
  type RateCounts,
  type StatisticalUnit,
} from "../../lib/numeric/scores/rate_interval.ts";

/** Counts of independent bits. */
export const bitCounts = (events: number, trials: number): RateCounts => ({
  ...countRate([], "bit"),
  events,
  trials,
  units: trials,
  unit_failures: events,
  unit_sizes: [1, 1],
});

/** Counts of units of bits with so many errors each, of so many bits each. */
export function unitCounts(unit: StatisticalUnit, errors: readonly number[], bits: number): RateCounts {
  const failed = Map.groupBy(errors.filter((count) => count > 0).toSorted((a, b) => a - b), (count) => count);
  const failed_units = Array.from(failed, ([count, equal]): FailedUnits => [count, bits, equal.length]);
  return {
    events: errors.reduce((sum, count) => sum + count, 0),
    trials: errors.length * bits,
    unit,
    units: errors.length,
    unit_failures: failed_units.reduce((sum, [, , count]) => sum + count, 0),
    failed_units,
    unit_sizes: [bits, bits],
    bits: true,
  };
}
