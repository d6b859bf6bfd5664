/**
 * Line and column of a place in a document, and source excerpts.
 *
 * Lines and columns count from 1; a column counts characters (code points).
 */
import type { Diagnostic, Place, SourceLocation } from "../contract/error.ts";
import type { Locate } from "./types.ts";

/** Position of a value in a text, with the positions of its parts. Offsets count UTF-16 units. */
export interface Spot {
  at: number;
  members?: Map<string, { key: number; value: Spot }>;
  items?: Spot[];
}

/** Finds lines and columns of one text; builds its index on first use. */
export class Positions {
  #lineStarts: number[] | undefined;
  /** Second halves of surrogate pairs, which do not count as characters. */
  #lowSurrogates: number[] = [];

  constructor(readonly text: string, readonly file: string) {}

  at(offset: number): SourceLocation {
    const starts = this.#lineStarts ??= this.#index();
    const line = countUpTo(starts, offset);
    const start = starts[line - 1];
    const pairs = countUpTo(this.#lowSurrogates, offset) - countUpTo(this.#lowSurrogates, start);
    return { file: this.file, line, column: offset - start - pairs + 1 };
  }

  #index(): number[] {
    const starts = [0];
    for (const match of this.text.matchAll(/\n|[\ud800-\udbff][\udc00-\udfff]/g)) {
      if (match[0] === "\n") starts.push(match.index + 1);
      else this.#lowSurrogates.push(match.index + 1);
    }
    return starts;
  }
}

/** Number of entries of an ascending list up to `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0, high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the location of a place. A missing place, such as an absent field, has the location of the nearest enclosing
 * value.
 */
export function locator(positions: Positions, root: Spot): Locate {
  return (place, at = "value") => {
    let spot = root, offset = root.at;
    for (const part of place) {
      const member = spot.members?.get(String(part));
      const inner = member?.value ?? spot.items?.[Number(part)];
      if (inner === undefined) return positions.at(offset);
      spot = inner;
      offset = at === "key" && member !== undefined ? member.key : inner.at;
    }
    return positions.at(offset);
  };
}

/** The place of a JSON pointer; array indices stay texts, which a `Locate` accepts. */
function placeOfPointer(pointer: string): Place {
  return pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const ABOUT_KEYS = new Set([
  "unknown_recipe_field",
  "unknown_recipe_step_field",
  "operation_param_inactive",
  "matrix_step_unknown",
  "matrix_dimension_unused",
  "legacy_sweep_normalized",
  "legacy_sweep_precedence",
]);

/** Whether a finding concerns a name; its location is then that of the key. */
function isAboutKey(item: Diagnostic): boolean {
  return ABOUT_KEYS.has(item.code) || /^Cannot find a (parameter|field) named/.test(item.message);
}

/** Adds locations to diagnostics of a document read from a text. */
export function attachLocations(diagnostics: readonly Diagnostic[], locate: Locate): Diagnostic[] {
  return diagnostics.map((item) => {
    if (item.location !== undefined || item.pointer === undefined) return item;
    const location = locate(placeOfPointer(item.pointer), isAboutKey(item) ? "key" : "value");
    return location === undefined ? item : { ...item, location };
  });
}

const WIDTH = 100;

/**
 * The source line of a location and a caret under its column, both indented by two spaces. Long lines are truncated
 * around the column; control characters are shown as `·`, so that a text cannot control the terminal.
 * @returns two lines without a final newline, or an empty text for a missing line
 */
export function excerpt(text: string, location: { line: number; column: number }): string {
  const line = text.split("\n", location.line)[location.line - 1];
  if (line === undefined) return "";
  // deno-lint-ignore no-control-regex -- exactly the characters that a terminal would obey
  const shown = line.replace(/\r$/, "").replace(/\t/g, " ").replace(/[\u0000-\u001f\u007f-\u009f]/g, "·");
  const characters = [...shown];
  const column = Math.min(location.column, characters.length + 1);
  const from = characters.length <= WIDTH
    ? 0
    : Math.max(0, Math.min(column - 1 - WIDTH / 2, characters.length - WIDTH));
  const cutLeft = from > 0 ? "…" : "", cutRight = from + WIDTH < characters.length ? "…" : "";
  const window = characters.slice(from, from + WIDTH).join("");
  return `  ${cutLeft}${window}${cutRight}\n  ${" ".repeat(cutLeft.length + column - 1 - from)}^`;
}
