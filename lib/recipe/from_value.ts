/**
 * Recipes as JavaScript values, which have no number tokens: a bigint and an integral number other than -0 are
 * integers, every other number is a float, and `float(6)` is a float with an integral value.
 */
import { type Diagnostic, diagnostic, SvcError } from "../contract/error.ts";
import { Float, float, integer, type Value } from "../contract/value.ts";
import { MAX_DEPTH } from "./limits.ts";

/**
 * Converts a JavaScript value to a recipe's raw value. `undefined` fields are dropped.
 * @throws SvcError `recipe_json_value_invalid` naming every function, date, map, NaN, cycle or lone surrogate by its
 *   path; `recipe_limit_exceeded` for values nested too deep
 */
export function recipeFromValue(value: unknown): Value {
  const problems: Diagnostic[] = [];
  const place: (string | number)[] = [];
  const around = new Set<object>();

  const refuse = (what: string, hint: string | null = null): null => {
    problems.push(diagnostic("recipe_json_value_invalid", place, `Cannot hold ${what} in a recipe`, { hint }));
    return null;
  };
  const text = (item: string): string => {
    if (!item.isWellFormed()) refuse("a lone surrogate");
    return item;
  };
  const number = (item: number): Value => {
    if (!Number.isFinite(item)) return refuse(String(item), "Only finite numbers have a JSON form");
    return Number.isInteger(item) && !Object.is(item, -0) ? integer(BigInt(item)) : item;
  };
  const within = (item: object, walk: () => Value): Value => {
    if (around.has(item)) return refuse("a value that contains itself");
    if (around.size >= MAX_DEPTH) {
      problems.push(
        diagnostic("recipe_limit_exceeded", place, `Cannot hold values nested deeper than ${MAX_DEPTH} levels`),
      );
      return null;
    }
    around.add(item);
    const walked = walk();
    around.delete(item);
    return walked;
  };
  const member = (part: string | number, item: unknown): Value => {
    place.push(part);
    const taken = take(item);
    place.pop();
    return taken;
  };
  const take = (item: unknown): Value => {
    switch (typeof item) {
      case "string":
        return text(item);
      case "boolean":
        return item;
      case "bigint":
        return integer(item);
      case "number":
        return number(item);
      case "undefined":
        return refuse("undefined in a list", "Use null");
      case "function":
      case "symbol":
        return refuse(`a ${typeof item}`);
    }
    if (item === null) return null;
    if (item instanceof Float) return Number.isFinite(item.value) ? float(item.value) : refuse(String(item.value));
    const object = item as object;
    if (Array.isArray(object)) {
      return within(object, () => Array.from(object, (entry: unknown, index) => member(index, entry)));
    }
    const prototype = Object.getPrototypeOf(object);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      const name = object.constructor?.name || "an unknown class";
      const hint = ArrayBuffer.isView(object) ? "Convert it to a list with Array.from" : "Use plain objects and lists";
      return refuse(`an instance of ${name}`, hint);
    }
    return within(object, () =>
      Object.fromEntries(
        Object.entries(object).filter(([, entry]) => entry !== undefined)
          .map(([key, entry]) => [text(key), member(key, entry)]),
      ));
  };

  const taken = value === undefined ? refuse("undefined") : take(value);
  if (problems.length > 0) {
    throw new SvcError(problems[0].code, problems[0].message, { hint: problems[0].hint, diagnostics: problems });
  }
  return taken;
}

/** As {@link recipeFromValue}; of a value that has no such form the findings are added, and the result is undefined. */
export function valueOrFindings(value: unknown, found: Diagnostic[]): Value | undefined {
  try {
    return recipeFromValue(value);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    found.push(...error.diagnostics);
  }
}
