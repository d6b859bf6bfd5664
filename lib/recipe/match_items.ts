/** Matches the items of two lists. */
import { sameValue } from "../contract/json.ts";
import { isObject, type Value } from "../contract/value.ts";

/**
 * Finds the old item of each new one: by id if all items are mappings with unique ids, like steps; otherwise equal
 * items at both ends, and position between them.
 * @returns indices into the old list, null for a new item
 */
export function matchItems(old: readonly Value[], next: readonly Value[]): (number | null)[] {
  const ids = idsOf(old), nextIds = idsOf(next);
  if (ids !== null && nextIds !== null) {
    const index = new Map(ids.map((id, at) => [id, at]));
    return nextIds.map((id) => index.get(id) ?? null);
  }
  const most = Math.min(old.length, next.length);
  let head = 0, tail = 0;
  while (head < most && sameValue(old[head], next[head])) head++;
  while (tail < most - head && sameValue(old.at(-1 - tail), next.at(-1 - tail))) tail++;
  return next.map((_, at) => {
    if (at < head) return at;
    if (at >= next.length - tail) return at - next.length + old.length;
    return at < old.length - tail ? at : null;
  });
}

/** The ids of items; null for a missing or repeated id. */
function idsOf(items: readonly Value[]): string[] | null {
  const ids = items.map((item) => isObject(item) && typeof item.id === "string" ? item.id : null);
  return ids.includes(null) || new Set(ids).size < ids.length ? null : ids as string[];
}
