/** Counts of rates for tests. */
import { countRate, type RateCounts } from "../../lib/numeric/rate_interval.ts";

/** Counts of independent bits. */
export const bitCounts = (events: number, trials: number): RateCounts => ({
  ...countRate([], "bit"),
  events,
  trials,
  units: trials,
  unit_failures: events,
  events_squared: events,
  events_trials: events,
  trials_squared: trials,
});
