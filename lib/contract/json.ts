/**
 * JSON with typed numbers: the canonical form for hashes, the indented form for people, and a reader.
 *
 * Canonical JSON: UTF-8, no insignificant white space, keys sorted by Unicode code point, minimal escapes, floats as in
 * `formatFloat`, lone surrogates refused.
 */
import { checkUnicode } from "./error.ts";
import {
  Float,
  float,
  formatFloat,
  integer,
  isObject,
  type JsonObject,
  type Serializable,
  type Value,
} from "./value.ts";

export type { JsonObject, Value } from "./value.ts";

/** Compares by Unicode code point (JavaScript compares UTF-16 units). */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x !== y) {
      // A surrogate stands for a code point above all units of the basic plane.
      const xHigh = x >= 0xd800 && x <= 0xdfff, yHigh = y >= 0xd800 && y <= 0xdfff;
      if (xHigh !== yHigh) return xHigh ? 1 : -1;
      return x < y ? -1 : 1;
    }
  }
  return a.length < b.length ? -1 : 1;
}

/** Printable ASCII without escapes: nearly all keys and texts. */
const PLAIN = /^[ !#-[\]-~]*$/;

function writeString(text: string, ascii: boolean): string {
  if (PLAIN.test(text)) return `"${text}"`;
  checkUnicode(text);
  const written = JSON.stringify(text);
  if (!ascii) return written;
  // deno-lint-ignore no-control-regex -- the ASCII variant is defined by this range
  return written.replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function writeScalar(value: Serializable, ascii: boolean): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "string":
      return writeString(value, ascii);
    case "bigint":
      return value.toString();
    case "number":
      return Number.isInteger(value) && !Object.is(value, -0)
        ? (Number.isSafeInteger(value) ? String(value) : BigInt(value).toString())
        : formatFloat(value);
  }
  if (value instanceof Float) return formatFloat(value.value);
  throw new TypeError(`Cannot write a ${typeof value} as JSON`);
}

/**
 * Writes a value in canonical form.
 * @param value typed value; fields with the value `undefined` are omitted
 * @param options `ascii` writes every non-ASCII UTF-16 unit as `\uXXXX`; `sorted: false` leaves keys in their own order
 * @throws SvcError `text_invalid` for lone surrogates, TypeError for values that JSON does not have, RangeError for NaN
 *   and infinities
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalJson } from "./json.ts";
 * import { float } from "./value.ts";
 *
 * assert.equal(canonicalJson({ snr_db: float(6), seed: 23 }), '{"seed":23,"snr_db":6.0}');
 * ```
 */
export function canonicalJson(value: Serializable, options: { ascii?: boolean; sorted?: boolean } = {}): string {
  const { ascii = false, sorted = true } = options;
  const write = (item: Serializable): string => {
    if (Array.isArray(item)) return `[${item.map(write).join(",")}]`;
    if (isObject(item)) {
      const keys = Object.keys(item);
      let members = "";
      for (const key of sorted ? keys.sort(compareCodePoints) : keys) {
        if (item[key] === undefined) continue;
        members += `${members === "" ? "" : ","}${writeString(key, ascii)}:${write(item[key])}`;
      }
      return `{${members}}`;
    }
    return writeScalar(item, ascii);
  };
  return write(value);
}

/** A part that many documents repeat, at one indent; its bytes once they were asked for. */
interface Repeated {
  text: string;
  bytes?: Uint8Array;
}

const repeated = new WeakMap<object, Map<string, Repeated>>();

/** Keeps the text of an object that never changes from now on, for {@link prettyJson}. @returns the object */
export function repeatedPart<T extends object>(part: T): T {
  if (!repeated.has(part)) repeated.set(part, new Map());
  return part;
}

/**
 * Writes a value in the form for people: two-space indent, keys in their own order, short scalar lists on one line,
 * final newline.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { prettyJson } from "./json.ts";
 * import { float } from "./value.ts";
 *
 * assert.equal(prettyJson({ snr_db: [float(0), 2.5] }), '{\n  "snr_db": [0.0, 2.5]\n}\n');
 * ```
 */
export function prettyJson(value: Serializable): string {
  return `${textOf(prettyPieces(value, ""))}\n`;
}

/** Room for documents of usual size, which is used again. */
let room = new Uint8Array(0);
const MOST_ROOM = 2 ** 22;

/** The UTF-8 form of {@link prettyJson}; repeated parts are copied as bytes. */
export function prettyBytes(value: Serializable): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder(), pieces = prettyPieces(value, "");
  pieces.push("\n");
  // A UTF-16 unit takes three bytes at most.
  const most = pieces.reduce((sum, piece) => sum + 3 * (typeof piece === "string" ? piece : piece.text).length, 0);
  const into = most <= room.length ? room : new Uint8Array(most);
  if (most <= MOST_ROOM) room = into;
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === "string") at += encoder.encodeInto(piece, into.subarray(at)).written;
    else {
      piece.bytes ??= encoder.encode(piece.text);
      into.set(piece.bytes, at);
      at += piece.bytes.length;
    }
  }
  return into.slice(0, at);
}

const textOf = (pieces: readonly (string | Repeated)[]): string =>
  pieces.map((piece) => typeof piece === "string" ? piece : piece.text).join("");

/** The text of a value in the form for people, repeated parts by themselves. */
function prettyPieces(value: Serializable, indent: string): (string | Repeated)[] {
  const pieces: (string | Repeated)[] = [];
  let text = "";
  const write = (item: Serializable, indent: string): void => {
    const inner = indent + "  ";
    if (Array.isArray(item)) {
      if (item.length === 0) return void (text += "[]");
      if (item.every((entry) => !Array.isArray(entry) && !isObject(entry))) {
        const line = `[${item.map((entry) => writeScalar(entry, false)).join(", ")}]`;
        if (line.length <= 100) return void (text += line);
      }
      let before = `[\n${inner}`;
      for (const entry of item) {
        text += before;
        write(entry, inner);
        before = `,\n${inner}`;
      }
      text += `\n${indent}]`;
      return;
    }
    if (!isObject(item)) return void (text += writeScalar(item, false));
    const known = item === value ? undefined : repeated.get(item);
    if (known !== undefined) {
      let part = known.get(indent);
      if (part === undefined) known.set(indent, part = { text: textOf(prettyPieces(item, indent)) });
      pieces.push(text, part);
      text = "";
      return;
    }
    let before = `{\n${inner}`;
    for (const key of Object.keys(item)) {
      if (item[key] === undefined) continue;
      text += `${before}${writeString(key, false)}: `;
      write(item[key], inner);
      before = `,\n${inner}`;
    }
    text += before.startsWith("{") ? "{}" : `\n${indent}}`;
  };
  write(value, indent);
  pieces.push(text);
  return pieces;
}

/**
 * Reads JSON with typed numbers, without positions. Duplicate keys are not detected; the recipe reader reads files
 * written by people.
 * @param options `repair` replaces lone surrogates from damaged escapes by U+FFFD instead of refusing them
 * @throws SyntaxError for a text that is not JSON, nests deeper than 2,000 levels, has a lone surrogate, or a float beyond
 *   binary64
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalJson, parseJson } from "./json.ts";
 *
 * const metrics = '{"bit_errors":0,"snr_db":6.0}';
 * assert.equal(canonicalJson(parseJson(metrics)), metrics);
 * assert.equal(JSON.stringify(JSON.parse(metrics)), '{"bit_errors":0,"snr_db":6}');
 * ```
 */
export function parseJson(text: string, { repair = false }: { repair?: boolean } = {}): Value {
  return new JsonReader(text, repair).document();
}

const QUOTE = 0x22, COMMA = 0x2c, COLON = 0x3a, OPEN_LIST = 0x5b, BACKSLASH = 0x5c, CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Less than the stack takes when a value of this depth is written. */
const MAX_DEPTH = 2000;
const LITERALS: [string, Value][] = [["true", true], ["false", false], ["null", null]];

/**
 * Reads one document by descent, because `JSON.parse` tells the token of a number only to a reviver, which takes three times as
 * long. What is no JSON is given to `JSON.parse` for its message.
 */
class JsonReader {
  #at = 0;
  #depth = 0;

  constructor(readonly text: string, readonly repair: boolean) {}

  document(): Value {
    const value = this.#value();
    this.#next();
    if (this.#at < this.text.length) this.#refuse();
    return value;
  }

  /** The next code unit that is no white space; NaN at the end. */
  #next(): number {
    let code = this.text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.text.charCodeAt(++this.#at);
    return code;
  }

  #refuse(): never {
    JSON.parse(this.text);
    throw new SyntaxError("Cannot read this JSON");
  }

  #value(): Value {
    const code = this.#next();
    switch (code) {
      case OPEN_OBJECT:
      case OPEN_LIST: {
        if (++this.#depth > MAX_DEPTH) throw new SyntaxError("Cannot read JSON nested this deep");
        const value = code === OPEN_LIST ? this.#list() : this.#object();
        this.#depth--;
        return value;
      }
      case QUOTE:
        return this.#string();
    }
    NUMBER.lastIndex = this.#at;
    const token = NUMBER.exec(this.text)?.[0];
    if (token !== undefined) {
      this.#at += token.length;
      const number = numberFromToken(token);
      if (number === Infinity || number === -Infinity) throw new SyntaxError("Cannot read a number beyond 1.8e308");
      return number;
    }
    for (const [word, value] of LITERALS) {
      if (!this.text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    this.#refuse();
  }

  #list(): Value[] {
    const items: Value[] = [];
    this.#at++;
    if (this.#ends(CLOSE_LIST)) return items;
    do items.push(this.#value()); while (this.#goesOn(CLOSE_LIST));
    return items;
  }

  #object(): JsonObject {
    const members: JsonObject = {};
    this.#at++;
    if (this.#ends(CLOSE_OBJECT)) return members;
    do {
      if (this.#next() !== QUOTE) this.#refuse();
      const key = this.#string();
      if (this.#next() !== COLON) this.#refuse();
      this.#at++;
      const value = this.#value();
      if (key !== "__proto__") members[key] = value;
      else Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
    } while (this.#goesOn(CLOSE_OBJECT));
    return members;
  }

  /** Whether a list or an object closes here. */
  #ends(close: number): boolean {
    if (this.#next() !== close) return false;
    this.#at++;
    return true;
  }

  /** Whether another member follows. */
  #goesOn(close: number): boolean {
    const code = this.#next();
    if (code !== COMMA && code !== close) this.#refuse();
    this.#at++;
    return code === COMMA;
  }

  #string(): string {
    const { text } = this, start = this.#at;
    let end = text.indexOf('"', start + 1);
    const plain = text.slice(start + 1, end);
    if (end > 0 && PLAIN.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    for (end = start + 1; text.charCodeAt(end) !== QUOTE; end++) {
      if (end >= text.length) this.#refuse();
      if (text.charCodeAt(end) === BACKSLASH) end++;
    }
    this.#at = end + 1;
    let read: string;
    try {
      read = JSON.parse(text.slice(start, end + 1));
    } catch {
      this.#refuse();
    }
    if (read.isWellFormed()) return read;
    if (!this.repair) throw new SyntaxError("Cannot read a text with a lone surrogate");
    return read.toWellFormed();
  }
}

/** Reads a JSON number token: an integer without `.`, `e`, `E`, else a float. */
export function numberFromToken(token: string): Value {
  if (/[.eE]/.test(token)) return float(Number(token));
  // Up to 15 digits are exact, and -0 is the integer 0.
  return token.length <= 15 ? Number(token) + 0 : integer(token);
}

/** Type-sensitive equality: 1 and 1.0 differ, key order does not matter. */
export function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** Narrows a value to an object, for documents whose shape was checked before. */
export function asObject(value: Value | undefined): JsonObject {
  if (!isObject(value)) throw new TypeError("Expected a JSON object");
  return value;
}
