/** Recipe texts, and random changes of what they hold. */
import { cloneValue, float, isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { tables } from "../../support/tables.ts";

const DATA = tables(import.meta.url);

const RECIPES = new URL("../../../recipes/", import.meta.url);

/** The shipped recipes: file name and text. */
export const SHIPPED: [string, string][] = ["", "recipe_starters/"].flatMap((folder) =>
  [...Deno.readDirSync(new URL(folder, RECIPES))].filter(({ name }) => name.endsWith(".yaml"))
    .map(({ name }): [string, string] => [name, Deno.readTextFileSync(new URL(folder + name, RECIPES))])
).sort(([a], [b]) => (a < b ? -1 : 1));

/** Notations that recipes seldom have. */
export const UNUSUAL: [string, string][] = DATA.UNUSUAL;

const TEXTS = [
  "a",
  "",
  "yes",
  "null",
  "12",
  "a: b",
  "# no",
  "x # y",
  "line\nbreak",
  "page one\nand two\n",
  " lead",
  "tail ",
]
  .concat(["\u0085", "é", "😀", "- x", "'q'", '"d"', "\t", "a\\b", "true", "~", "1e3", "0x1f", "=", "!tag", "&a", "*a"])
  .concat([
    "a,b",
    "{",
    "[x]",
    "x:",
    "long ".repeat(30).trim(),
    "\u2028",
    "%d",
    "@at",
    "`b`",
    "a\n\n\nb",
    "a\n  b\n",
    "\n",
  ])
  .concat(["x\n# c", "__proto__", "<<", "---", "...", "? a", "a\r\nb", "\ufeffx"]);

/** A small generator of whole numbers. */
export function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * sides);
  };
}

function randomValue(roll: (sides: number) => number, depth = 0): Value {
  switch (roll(depth > 2 ? 7 : 10)) {
    case 0:
      return roll(100);
    case 1:
      return float(roll(20));
    case 2:
      return -0.5 - roll(5);
    case 3:
      return null;
    case 4:
      return roll(2) === 0;
    case 5:
      return 12345678901234567890n;
    case 6:
      return TEXTS[roll(TEXTS.length)];
    case 7:
      return Array.from({ length: roll(4) }, () => randomValue(roll, depth + 1));
  }
  return Object.fromEntries(
    Array.from({ length: roll(4) }, () => [TEXTS[roll(TEXTS.length)], randomValue(roll, depth + 1)]),
  );
}

type Holder = Record<string | number, Value>;

function places(value: Value, at: (string | number)[] = []): (string | number)[][] {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => places(item, [...at, index]))
    : isObject(value)
    ? Object.keys(value).flatMap((key) => places(value[key], [...at, key]))
    : [];
  return [at, ...inner];
}

/** A copy with one random place changed, removed, added to, or moved. */
export function edited(value: Value, roll: (sides: number) => number): Value {
  const copy = cloneValue(value), all = places(copy), place = all[roll(all.length)];
  const at = (path: (string | number)[]) => path.reduce((item, key) => (item as Holder)[key], copy);
  const holder = at(place.slice(0, -1)) as Holder & Value[], key = place.at(-1), target = at(place);
  switch (roll(4)) {
    case 0:
      if (key !== undefined) define(holder, key, randomValue(roll));
      break;
    case 1:
      if (key === undefined) break;
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete (holder as Holder)[key];
      break;
    case 2:
      if (Array.isArray(target)) target.splice(roll(target.length + 1), 0, randomValue(roll));
      else if (isObject(target)) define(target as Holder, TEXTS[roll(TEXTS.length)] || "new", randomValue(roll));
      break;
    case 3:
      if (Array.isArray(target) && target.length > 1) {
        target.splice(roll(target.length), 0, ...target.splice(roll(target.length), 1));
      }
  }
  return copy;
}

/** Unlike assignment, this makes `__proto__` an ordinary member. */
function define(holder: Holder | JsonObject, key: string | number, value: Value): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
