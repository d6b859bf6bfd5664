/** The texts of a block: which lines it has at a scale, their sizes and baselines. No line touches another or the state below. */
import { isNumber, isObject, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import { FACETS } from "../form/presentation.ts";

/** From this scale a block shows all its texts; below, its name and its main parameter in larger type. */
export const READABLE = 0.85;
/** Type sizes: in full detail, and the largest that a block takes to stay readable from afar. */
const TYPE = 13, SUB = 11, LARGEST_TYPE = 23;
/** The smallest readable type in pixels of the screen; widths of letters, and the distance of lines in parts of their size. */
const LEAST_TYPE = 11, LETTER = 0.58, MONO = 0.62, LEADING = 1.18;
/** Space above the first line, and below the last one for the state and its bar. */
const ABOVE = 5, BELOW = 13, INDENT = 18, EDGE = 6;
/** Parts of the size that a name takes from afar, from the largest on, and the least pixels of a smaller one on the screen. */
const SMALLER = [1, 0.9, 0.8], LEAST_SMALLER = 8;
/** Size of the last line from afar, and the least width that a parameter in it needs. */
const FAR_SUB = 15, LEAST_LAST = 40;
/** Below this scale a state is its sign alone, at the top. */
export const TINY = 0.5;
/** Size of the state in words. */
export const stateSize = (scale: number): number => scale < READABLE ? FAR_SUB : SUB;

export interface TextLine {
  text: string;
  size: number;
  /** Baseline. */
  y: number;
  /** A line below the name. */
  sub: boolean;
}

interface Frame {
  width: number;
  height: number;
  scale: number;
  /** Width that an image or a sign takes at the right. */
  taken: number;
  /** Width that a state and problems take in the last line. */
  last: number;
}

/**
 * The lines of a block: its name, its main parameter and its id. From afar the main parameter stands in the last line, beside
 * the state, and the id is left out; what has no space is left out.
 */
export function blockTexts(
  { name, id, headline }: { name: string; id: string; headline: string | null },
  { width, height, scale, taken, last }: Frame,
): TextLine[] {
  const far = scale < READABLE, type = far ? Math.min(LARGEST_TYPE, Math.max(TYPE, LEAST_TYPE / scale)) : TYPE;
  const room = width - INDENT - EDGE - taken, bottom = height - BELOW - (far ? FAR_SUB : SUB);
  const linesAt = (size: number) => {
    // The descent of a line takes a quarter of its size.
    const rows = Math.max(1, Math.floor((bottom - ABOVE - size / 4) / (size * LEADING)));
    return shortLines(name, Math.floor(room / (LETTER * size)), Math.min(2, rows))
      .map((text, at): TextLine => ({ text, size, y: ABOVE + size * LEADING * (at + 1), sub: false }));
  };
  // A whole name in smaller type says more than the beginning of it in larger type.
  const sizes = SMALLER.map((part) => part * type).filter((size) =>
    size === type || far && size * scale >= LEAST_SMALLER
  );
  const lines = linesAt(sizes.find((size) => linesAt(size).every(({ text }) => !text.endsWith("…"))) ?? sizes.at(-1)!);
  const subLine = (text: string, size: number, y: number, room: number) =>
    lines.push({ text: clip(text, Math.floor(room / (MONO * size))), size, y, sub: true });
  if (far) {
    const own = width - INDENT - EDGE - last;
    if (headline !== null && own > LEAST_LAST) subLine(headline, FAR_SUB, height - BELOW, own);
    return lines;
  }
  for (const text of [headline, id].filter((text) => text !== null)) {
    const y = lines.at(-1)!.y + SUB * LEADING;
    if (y + SUB / 4 <= bottom) subLine(text, SUB, y, room);
  }
  return lines;
}

/** Parameters that studies turn, by the operations that have them. */
const mainParams = (op: string): readonly string[] =>
  FACETS.filter(({ ops }) => ops.test(op)).flatMap(({ params }) => params);

/**
 * The main parameter of a block: `9 dB`, `qpsk`, `quality 75`, or its sweep, `0 … 12 dB`; null for a block without one.
 *
 * @param params of the author; missing ones have their defaults
 * @param swept values of the parameters that a matrix varies
 */
export function headlineOf(
  op: string,
  schema: JsonObject,
  params: JsonObject,
  swept: ReadonlyMap<string, readonly Value[]>,
): string | null {
  const properties = (schema.properties ?? {}) as { [name: string]: JsonObject };
  // The rules of schemas are no part of the first page: conditions on the choices of other parameters are enough here.
  const isActive = (name: string) =>
    Object.entries((properties[name]["x-svc-effective-when"] ?? {}) as JsonObject).every(([other, wanted]) =>
      [wanted].flat().includes(params[other] ?? properties[other]?.default ?? null)
    );
  const names = mainParams(op).filter((name) => properties[name] !== undefined && name !== "label");
  const varied = names.find((name) => swept.has(name));
  if (varied !== undefined) return sweepText(varied, swept.get(varied)!, properties[varied]);
  const parts = names.flatMap((name) => {
    const value = params[name] ?? properties[name].default;
    if (value === undefined || value === "" || !isActive(name)) return [];
    if (typeof value === "string") return [value];
    const text = isObject(value) && !("value" in value) || Array.isArray(value) ? null : String(value);
    return text === null ? [] : [withUnit(name, text, properties[name])];
  });
  return parts.length === 0 ? null : parts.slice(0, 2).join(", ");
}

/** A value with its unit, or after its name. */
function withUnit(name: string, text: string, schema: JsonObject): string {
  const { unit } = isObject(schema["x-svc-ui"]) ? schema["x-svc-ui"] : {};
  return typeof unit === "string" ? `${text} ${unit}` : `${name} ${text}`;
}

/** The ends of swept numbers, or the swept texts themselves. */
function sweepText(name: string, values: readonly Value[], schema: JsonObject): string {
  const numbers = values.filter(isNumber).map(toNumber), ends = [Math.min(...numbers), Math.max(...numbers)];
  if (numbers.length > 0) return withUnit(name, [...new Set(ends)].join(" … "), schema);
  return values.filter((value) => typeof value === "string").join(", ") || `${name} swept`;
}

/** Words in lines of a length, which also end after a hyphen; longer words are cut at their end. */
export function shortLines(text: string, most: number, lines: number): string[] {
  const wrapped: string[] = [""];
  for (const part of text.split(/(?<=[ -])/)) {
    const last = wrapped.at(-1)! + part;
    if (last === part || last.trimEnd().length <= most) wrapped[wrapped.length - 1] = last;
    else wrapped.push(part);
  }
  const kept = wrapped.slice(0, lines).map((line) => clip(line.trimEnd(), most));
  if (wrapped.length > lines) kept[lines - 1] = clip(`${kept[lines - 1]} …`, most);
  return kept;
}

const clip = (text: string, most: number): string => text.length > most ? `${text.slice(0, most - 1)}…` : text;
