/** Differences between two documents, by JSON path. */
import { jsonPath, type Place } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";

/** A place where two documents differ; a side without a value is absent. */
export interface Difference {
  place: Place;
  a?: Value;
  b?: Value;
}

/**
 * Compares two values by type and value; key order does not matter.
 * @param options `ignore` excludes paths; `identify` gives list members an identity, so that an inserted member does
 *   not shift the rest
 */
export function differences(
  a: Value | undefined,
  b: Value | undefined,
  options: { ignore?: (place: Place) => boolean; identify?: (item: Value) => string | null } = {},
  place: Place = [],
): Difference[] {
  if (a === b || options.ignore?.(place)) return [];
  const within = (key: string | number, x: Value | undefined, y: Value | undefined) =>
    differences(x, y, options, [...place, key]);
  if (isObject(a) && isObject(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) => within(key, a[key], b[key]));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const pairs = alignByName(a, b, options.identify);
    if (pairs !== null) return pairs.flatMap(([index, x, y]) => within(index, x, y));
    return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => within(index, a[index], b[index])).flat();
  }
  if (sameValue(a, b)) return [];
  return [{ place, ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) }];
}

/**
 * Pairs of members with the same identity, with the index in the first list that has them; null without unique
 * identities.
 */
function alignByName(
  a: Value[],
  b: Value[],
  identify?: (item: Value) => string | null,
): [number, Value | undefined, Value | undefined][] | null {
  if (identify === undefined) return null;
  const byName = (list: Value[]) => new Map(list.map((item, index) => [identify(item), index]));
  const left = byName(a), right = byName(b);
  if (left.has(null) || right.has(null) || left.size !== a.length || right.size !== b.length) return null;
  return [
    ...a.map((item, index): [number, Value, Value | undefined] => [index, item, b[right.get(identify(item))!]]),
    ...b.filter((item) => !left.has(identify(item)))
      .map((item): [number, undefined, Value] => [right.get(identify(item))!, undefined, item]),
  ];
}

/** A difference as a row `{path, a, b}`; a side without a value is absent. */
export function differenceRow({ place, a, b }: Difference): JsonObject {
  return { path: jsonPath(place), ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) };
}
