/** Values that differ between runs of one recipe without affecting results: times, memory, process ids. */
import type { Place } from "../contract/error.ts";
import type { JsonObject } from "../contract/value.ts";
import { type Difference, differences } from "./compare.ts";

export function isVolatileMetric(metric: string): boolean {
  return /^(timing|memory|encoder|decoder)\./.test(metric);
}

/** Differences between two environments except capture time and process. */
export function environmentDifferences(a: JsonObject, b: JsonObject): Difference[] {
  const ignore = (place: Place) => place[0] === "captured_at_utc" || (place[0] === "process" && place[1] === "pid");
  return differences(a, b, { ignore });
}
