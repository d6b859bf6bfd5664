/**
 * A strict JSON reader with typed numbers and positions. Own code: `JSON.parse` gives no positions and keeps the last of
 * two equal keys, and a YAML reader accepts texts that are no JSON.
 *
 * Grammar: RFC 8259. Duplicate keys, lone surrogates and numbers outside binary64 are refused too, because they are
 * ambiguous. A number token without `.`, `e` or `E` is an integer of any size, every other one a float.
 */
import { numberFromToken } from "../contract/json.ts";
import { isNumber, toNumber, type Value } from "../contract/value.ts";
import { MAX_DEPTH } from "./limits.ts";
import { locator, Positions, type Spot } from "./positions.ts";
import { ReadProblems } from "./read_problems.ts";
import type { DecodedText } from "./types.ts";

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
// deno-lint-ignore no-control-regex -- the characters that JSON wants escaped
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const WORDS: [string, null | boolean][] = [["null", null], ["true", true], ["false", false]];

/**
 * Reads one JSON value.
 * @param file name for locations
 * @throws SvcError `recipe_syntax_invalid`, `recipe_duplicate_key`, `recipe_json_value_invalid` or
 *   `recipe_limit_exceeded`, with line and column in its diagnostics
 */
export function readJson(text: string, file: string): DecodedText {
  const positions = new Positions(text, file);
  const { value, spot } = new JsonReader(text, new ReadProblems(positions)).document();
  return { value, locate: locator(positions, spot) };
}

interface Read {
  value: Value;
  spot: Spot;
}

class JsonReader {
  #at = 0;
  /** Keys and indices from the root to the current value. */
  readonly #place: (string | number)[] = [];

  constructor(readonly text: string, readonly problems: ReadProblems) {}

  document(): Read {
    this.#space();
    const read = this.#value();
    this.#space();
    if (this.#at < this.text.length) this.#syntax("the end of the text");
    this.problems.throwAny();
    return read;
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.text);
    this.#at = SPACE.lastIndex;
  }

  #syntax(expected: string, hint?: string): never {
    const found = this.#at >= this.text.length
      ? "the text ends"
      : `there is ${JSON.stringify(String.fromCodePoint(this.text.codePointAt(this.#at)!))}`;
    return this.problems.stop(
      "recipe_syntax_invalid",
      this.#at,
      `Cannot read the JSON: expected ${expected}, but ${found}`,
      { place: this.#place, hint },
    );
  }

  #value(): Read {
    const at = this.#at;
    switch (this.text[at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return { value: this.#string(), spot: { at } };
    }
    NUMBER.lastIndex = at;
    const token = NUMBER.exec(this.text)?.[0];
    if (token !== undefined) {
      this.#at += token.length;
      if (/[0-9]/.test(this.text[this.#at] ?? "")) {
        this.#at = at;
        this.#syntax("a number without leading zeros");
      }
      const value = numberFromToken(token);
      if (isNumber(value) && typeof value !== "bigint" && !Number.isFinite(toNumber(value))) {
        this.#refuse(at, "Cannot hold a number beyond the range of binary64", "The largest magnitude is about 1.8e308");
        return { value: 0, spot: { at } };
      }
      return { value, spot: { at } };
    }
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, at)) {
        this.#at += word.length;
        return { value, spot: { at } };
      }
    }
    return this.#syntax("a value", this.#valueHint());
  }

  #valueHint(): string | undefined {
    const rest = this.text.slice(this.#at, this.#at + 9);
    if (/^[-+]?(nan|inf)/i.test(rest)) return "JSON has no NaN and no infinity";
    if (rest.startsWith("'")) return "Write texts in double quotes";
    if (/^(#|\/\/|\/\*)/.test(rest)) return "JSON has no comments; a .yaml recipe may have them";
    if (/^[\]}]/.test(rest)) return "Remove the comma before it";
    if (/^\.\d/.test(rest)) return "Write a digit before the point";
    if (/^\+\d/.test(rest)) return "Write the number without the plus sign";
    return undefined;
  }

  #refuse(at: number, message: string, hint?: string): void {
    this.problems.add("recipe_json_value_invalid", at, message, { place: this.#place, hint });
  }

  #enter(at: number, part: string | number): void {
    if (this.#place.length >= MAX_DEPTH) this.problems.tooDeep(at, this.#place);
    this.#place.push(part);
  }

  #array(): Read {
    const at = this.#at++;
    const value: Value[] = [], items: Spot[] = [];
    this.#enter(at, 0);
    this.#space();
    if (this.text[this.#at] !== "]") {
      for (;;) {
        this.#place[this.#place.length - 1] = value.length;
        const item = this.#value();
        value.push(item.value);
        items.push(item.spot);
        this.#space();
        if (this.text[this.#at] !== ",") break;
        this.#at++;
        this.#space();
      }
      if (this.text[this.#at] !== "]") this.#syntax("a comma or ]");
    }
    this.#at++;
    this.#place.pop();
    return { value, spot: { at, items } };
  }

  #object(): Read {
    const at = this.#at++;
    const entries: [string, Value][] = [];
    const members: NonNullable<Spot["members"]> = new Map();
    this.#enter(at, "");
    this.#space();
    if (this.text[this.#at] !== "}") {
      for (;;) {
        const key = this.#at;
        if (this.text[key] !== '"') this.#syntax("a key in double quotes", this.#valueHint());
        const name = this.#string();
        this.#place[this.#place.length - 1] = name;
        const first = members.get(name);
        if (first !== undefined) this.problems.duplicateKey(name, key, first.key, this.#place);
        this.#space();
        if (this.text[this.#at] !== ":") this.#syntax("a colon");
        this.#at++;
        this.#space();
        const member = this.#value();
        entries.push([name, member.value]);
        members.set(name, { key, value: member.spot });
        this.#space();
        if (this.text[this.#at] !== ",") break;
        this.#at++;
        this.#space();
      }
      if (this.text[this.#at] !== "}") this.#syntax("a comma or }");
    }
    this.#at++;
    this.#place.pop();
    // Unlike assignment, fromEntries makes `__proto__` an ordinary field.
    return { value: Object.fromEntries(entries), spot: { at, members } };
  }

  #string(): string {
    const start = this.#at++;
    let value = "";
    for (;;) {
      PLAIN.lastIndex = this.#at;
      value += PLAIN.exec(this.text)![0];
      this.#at = PLAIN.lastIndex;
      const next = this.text[this.#at];
      if (next === '"') break;
      if (next !== "\\") this.#syntax("the end of a text", next === undefined ? undefined : "Write line breaks as \\n");
      value += this.#escape();
    }
    this.#at++;
    if (!value.isWellFormed()) this.#refuse(start, "Cannot use a lone surrogate in a text");
    return value;
  }

  #escape(): string {
    const letter = this.text[this.#at + 1];
    const hex = this.text.slice(this.#at + 2, this.#at + 6);
    if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(hex)) {
      this.#at += 6;
      return String.fromCharCode(parseInt(hex, 16));
    }
    if (letter === undefined || !Object.hasOwn(ESCAPES, letter)) {
      this.#syntax('an escape such as \\n, \\" or \\u00e9', "Write a backslash as \\\\");
    }
    this.#at += 2;
    return ESCAPES[letter];
  }
}
