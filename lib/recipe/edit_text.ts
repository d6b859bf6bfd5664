/** Saves a recipe over its text: unchanged parts keep comments and spelling, such as `1e3` and `1.0`. */
import { canonicalJson } from "../contract/json.ts";
import { messageOf, SvcError } from "../contract/error.ts";
import { isObject, type Value } from "../contract/value.ts";
import { readRecipeText, type TextFormat, textFormatOf } from "./read.ts";
import { textPieces } from "./text_pieces.ts";
import { spliceText } from "./text_splice.ts";
import { jsonLines, yamlBlock } from "./text_writer.ts";

/**
 * Rewrites a recipe's text for another value.
 *
 * Changed values are replaced in place; a new field follows its predecessor in the value; steps are matched by id.
 * Where a notation cannot be edited, the smallest enclosing value is rewritten. The result is read again and must equal
 * the value.
 * @param text readable YAML or JSON
 * @param value the new value
 * @param options as for `readRecipeText`
 * @throws SvcError for an unreadable text; `recipe_edit_failed` for a value that no text can represent
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { float } from "../contract/value.ts";
 * import { editRecipeText } from "./edit_text.ts";
 *
 * const text = "name: demo # mine\nmetadata: {gain: 1e3, seed: 23}\n";
 * const value = { name: "demo", metadata: { gain: float(1e3), seed: 24 } };
 * const edited = editRecipeText(text, value, { file: "demo.yaml" });
 * assert.equal(edited, "name: demo # mine\nmetadata: {gain: 1e3, seed: 24}\n");
 * ```
 */
export function editRecipeText(text: string, value: Value, options: { file: string; format?: TextFormat }): string {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const crlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  const body = crlf ? text.slice(mark.length).replaceAll("\r\n", "\n") : text.slice(mark.length);
  const format = options.format ?? textFormatOf(options.file, body);
  const edited = new Edit(body, value, { file: options.file, format }).run();
  return mark + (crlf ? edited.replaceAll("\n", "\r\n") : edited);
}

class Edit {
  /** Pointers of values to rewrite as a whole. */
  readonly #rewrite = new Set<string>();
  readonly #wanted: string;

  constructor(readonly text: string, readonly value: Value, readonly options: { file: string; format: TextFormat }) {
    this.#wanted = canonicalJson(value);
  }

  run(): string {
    const { text, value, options } = this;
    const { value: old, tree } = readRecipeText(text, { ...options, emptyValues: "null" });
    if (canonicalJson(old) === this.#wanted) return text;
    const root = textPieces(text, { tree });
    while (root !== null && !this.#rewrite.has("")) {
      const json = options.format === "json";
      const edited = spliceText(text, root, old, value, { json, rewrite: this.#rewrite });
      const found = this.#read(edited);
      if (found !== undefined && canonicalJson(found) === this.#wanted) return edited;
      this.#widen(found === undefined ? "" : firstDifference(found, value));
    }
    return this.#anew();
  }

  #read(text: string): Value | undefined {
    try {
      return readRecipeText(text, { ...this.options, emptyValues: "null" }).value;
    } catch (error) {
      if (error instanceof SvcError) return undefined;
      throw error;
    }
  }

  /** Marks the value at a place for rewriting; if it is marked, the enclosing one. */
  #widen(pointer: string): void {
    while (this.#rewrite.has(pointer)) pointer = pointer.slice(0, pointer.lastIndexOf("/"));
    this.#rewrite.add(pointer);
  }

  /** The whole value, after the leading comments of the text. */
  #anew(): string {
    const { text, value, options } = this;
    const opening = options.format === "json" ? "" : /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)![0];
    const { line, below } = yamlBlock(value, 0);
    const body = options.format === "json" ? jsonLines(value, "", "  ") : line + below.slice(1);
    const edited = `${opening}${body}\n`;
    let why = "it does not read as the same value";
    try {
      if (canonicalJson(readRecipeText(edited, options).value) === this.#wanted) return edited;
    } catch (error) {
      why = messageOf(error);
    }
    throw new SvcError("recipe_edit_failed", `Cannot save the recipe as ${options.format.toUpperCase()}: ${why}`);
  }
}

/** Pointer to the first difference of two values. */
function firstDifference(a: Value, b: Value): string {
  const differ = (x: Value | undefined, y: Value | undefined) =>
    x === undefined || y === undefined ? x !== y : canonicalJson(x) !== canonicalJson(y);
  let pointer = "";
  for (;;) {
    const both = (Array.isArray(a) && Array.isArray(b) && a.length === b.length) || (isObject(a) && isObject(b));
    if (!both) return pointer;
    const [x, y] = [a as Record<string, Value>, b as Record<string, Value>];
    const keys = new Set([...Object.keys(x), ...Object.keys(y)]);
    const key = [...keys].find((name) => differ(own(x, name), own(y, name)))!;
    if (own(x, key) === undefined || own(y, key) === undefined) return pointer;
    pointer += `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    [a, b] = [x[key], y[key]];
  }
}

function own(object: Record<string, Value>, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
