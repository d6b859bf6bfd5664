/** What differs between two runs of one recipe without saying anything about their results. */
import type { Place } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { type Difference, differences } from "./compare.ts";

/** Whether a metric measures time or memory. */
export function isVolatileMetric(metric: string): boolean {
  return /^(timing|memory|encoder|decoder)\./.test(metric);
}

/** Differences between two environments; when and as which process they were captured does not count. */
export function environmentDifferences(a: JsonObject, b: JsonObject): Difference[] {
  const ignore = (place: Place) => place[0] === "captured_at_utc" || (place[0] === "process" && place[1] === "pid");
  return differences(a, b, { ignore });
}
