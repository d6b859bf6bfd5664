/** Hostile values and texts, and changes of sound ones, all from a seed. */
import { cloneValue, type Float, float, isObject, type JsonObject, type Value } from "../../lib/contract/value.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { damage } from "../lib/artifact/_fuzz.ts";

/** Whole numbers below a bound. */
export type Random = (bound: number) => number;

/** Fuzzes one part of the program. */
export interface Fuzzer {
  /** Inputs that once failed, by name; performed before the random ones. */
  readonly corpus: Readonly<Record<string, () => void | Promise<void>>>;
  /** Performs a random case. @throws what is a finding */
  perform(random: Random): void | Promise<void>;
  close?(): void | Promise<void>;
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)];

/** Performs a call whose coded errors are answers; returns undefined for one. @throws every other error */
export async function coded<T>(call: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SvcError && error.code !== "internal_error") return undefined;
    throw error;
  }
}

/** Bytes of a document that are sent or printed, at most. */
const MAX_REPLY_BYTES = 8 * 2 ** 20;

/** Refuses an answer of unbounded size. */
export function checkSize(what: string, text: string | undefined): void {
  if (text !== undefined && text.length > MAX_REPLY_BYTES) throw new Error(`${what} has ${text.length} characters`);
}

const LONG = "x".repeat(70_000);
export const TEXTS = [
  "",
  " ",
  "\0",
  "\ud800",
  "é𝄞",
  "__proto__",
  "constructor",
  "toString",
  "..",
  "../../etc/passwd",
  "/",
  "a/b",
  "%2e%2e%2f",
  "a".repeat(300),
  LONG,
  "$(id)",
  "%s%n",
  "<script>",
  "=1+1",
  "a: [b",
  "- ",
  "null",
  "1e999",
  "-0",
  ".nan",
  "0x10",
  "2026-01-01",
  "wireless.chanel",
  "data.bits",
  "\r\nX: y",
];
const NUMBERS: (number | bigint | Float)[] = [
  0,
  -1,
  1,
  2,
  255,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2n ** 53n + 1n,
  2n ** 64n - 1n,
  2n ** 64n,
  10n ** 26n,
  -(10n ** 400n),
  ...[0, -0.5, 1e-320, 1e308, 0.1, 3, 1e15].map(float),
];

/** A value that no author would write. */
export function hostile(random: Random, depth = 0): Value {
  const kind = random(depth > 3 ? 8 : 12);
  if (kind < 3) return pick(random, TEXTS);
  if (kind < 6) return pick(random, NUMBERS);
  if (kind === 6) return null;
  if (kind === 7) return random(2) === 0;
  if (kind === 8) return Array.from({ length: random(4) }, () => hostile(random, depth + 1));
  if (kind === 9) return Array.from({ length: 4000 }, (_, at) => at);
  if (kind === 10) return nested(random(2) ? 60 : 200, random);
  const keys = random(4) === 0 ? Array.from({ length: 3000 }, (_, at) => `k${at}`) : [pick(random, TEXTS), "id", "op"];
  return Object.fromEntries(keys.map((key) => [key, hostile(random, depth + 4)]));
}

function nested(depth: number, random: Random): Value {
  const list = random(2) === 0;
  return Array.from({ length: depth }).reduce<Value>((inner) => list ? [inner] : { a: inner }, 1);
}

/** A copy with some members replaced, removed, renamed, repeated or exchanged. */
export function changed(value: Value, random: Random): Value {
  const root = { value: cloneValue(value) };
  for (let count = random(4); count >= 0; count--) {
    const places: [JsonObject | Value[], string | number][] = [[root, "value"]];
    const visit = (at: Value) => {
      if (Array.isArray(at)) at.forEach((item, index) => (places.push([at, index]), visit(item)));
      else if (isObject(at)) Object.keys(at).forEach((key) => (places.push([at, key]), visit(at[key])));
    };
    visit(root.value);
    const [holder, key] = pick(random, places.length > 1 && random(20) > 0 ? places.slice(1) : places);
    const members = holder as Record<string | number, Value>;
    const kind = random(7);
    if (kind < 3) members[key] = hostile(random);
    else if (kind === 3 && !Array.isArray(holder)) {
      members[pick(random, TEXTS)] = members[key];
      if (random(2)) delete members[key];
    } else if (kind === 4) Array.isArray(holder) ? holder.splice(Number(key), 1) : delete members[key];
    else if (kind === 5 && Array.isArray(holder)) {
      holder.push(...Array.from({ length: pick(random, [1, 40, 600]) }, () => cloneValue(members[key])));
    } else {
      const [other, name] = pick(random, places);
      members[key] = cloneValue((other as Record<string | number, Value>)[name]);
    }
  }
  return root.value;
}

const FRAGMENTS = [
  "- ",
  "? ",
  ": ",
  "[",
  "{a: ",
  "&a ",
  "*a",
  "<<: *a\n",
  "!!binary ",
  "!x ",
  "|\n",
  ">-\n",
  "# ",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "\t",
  "\ufeff",
  "\u2028",
  "'",
  '"',
  "\\",
  "1e400",
  "0o7",
  "~",
  "\r",
];

/** A text with lines repeated, moved or removed, fragments put in, or bytes damaged. */
export function changedText(text: string, random: Random): string {
  const kind = random(4);
  if (kind === 0) return new TextDecoder().decode(damage(new TextEncoder().encode(text), random));
  const lines = text.split("\n");
  for (let count = random(3); count >= 0; count--) {
    if (lines.length === 0) lines.push("");
    const at = random(lines.length);
    const act = random(6);
    if (act === 0) lines.splice(at, 1);
    else if (act === 1) lines.splice(at, 0, ...Array(pick(random, [1, 3, 5000])).fill(lines[at]));
    else if (act === 2) lines[at] = " ".repeat(random(6)) + lines[at].trimStart();
    else if (act === 3) lines.splice(at, 0, lines[random(lines.length)]);
    else {
      const column = random(lines[at].length + 1);
      const put = pick(random, FRAGMENTS).repeat(pick(random, [1, 1, 1, 70, 20_000]));
      lines[at] = lines[at].slice(0, column) + put + lines[at].slice(column);
    }
  }
  return lines.join("\n");
}

/** A JSON text of a value, also where the canonical writer refuses it. */
export function looseJson(value: Value): string {
  const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };
  return JSON.stringify(value, (_, member) => typeof member === "bigint" ? rawJSON(String(member)) : member);
}
