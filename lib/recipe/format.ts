/**
 * The standard layout of recipe files: fields of the recipe and its steps in serialised order, two spaces per level,
 * short collections as `{a: 1, b: [1, 2]}`, at most one blank line. Comments stay with their values; numbers and texts
 * keep their spelling.
 */
import { canonicalJson } from "../contract/json.ts";
import { SvcError } from "../contract/error.ts";
import { CST, Lexer } from "../contract/yaml_library.ts";
import { readRecipeText, type TextFormat, textFormatOf } from "./read.ts";
import { chunksOf } from "./text_chunks.ts";
import { columnOf, type Part, type Piece, textPieces } from "./text_pieces.ts";

/** The serialised order; other fields come first, in the order of the text. */
const ROOT_ORDER = [
  "schema_version",
  "name",
  "execution_profile",
  "metadata",
  "steps",
  "description",
  "suite",
  "dataset_capture",
];
const STEP_ORDER = ["id", "op", "params", "inputs", "description"];

const LINE_WIDTH = 120;

/**
 * Formats a recipe's text. The result has the same value and comments; formatting it again changes nothing.
 * @param text YAML or JSON
 * @param options as for `readRecipeText`
 * @throws SvcError for an unreadable text; `recipe_format_failed` for a text whose layout cannot change without
 *   changing its value
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { formatRecipeText } from "./format.ts";
 *
 * const text = formatRecipeText("steps:\n- {op: source.random_bits,  id: data} # bits\nname: demo\n", { file: "a.yaml" });
 * assert.equal(text, "name: demo\nsteps:\n  - {id: data, op: source.random_bits} # bits\n");
 * ```
 */
export function formatRecipeText(text: string, options: { file: string; format?: TextFormat }): string {
  const body = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const format = options.format ?? textFormatOf(options.file, body);
  const reading = { file: options.file, format, emptyValues: "null" } as const;
  const { value, tree } = readRecipeText(body, reading);
  const root = textPieces(body, { tree });
  if (root === null) return body;
  for (const order of [byRank, byRankUnlessLinked]) {
    const laidOut = format === "json" ? json(body, root, "", "") + "\n" : yaml(body, root, order);
    if (laidOut === body || saysTheSame(laidOut, body, canonicalJson(value), reading)) return laidOut;
  }
  throw new SvcError("recipe_format_failed", `Cannot format ${options.file} without changing its value`, {
    hint: "First replace unusual notation, such as explicit keys",
  });
}

function saysTheSame(
  text: string,
  before: string,
  canonical: string,
  reading: { file: string; format: TextFormat; emptyValues: "null" },
): boolean {
  try {
    if (canonicalJson(readRecipeText(text, reading).value) !== canonical) return false;
  } catch {
    return false;
  }
  return reading.format === "json" || comments(text).join("\n") === comments(before).join("\n");
}

/** The comments of a text, sorted. */
function comments(text: string): string[] {
  if (!text.includes("#")) return [];
  const lexemes = [...new Lexer().lex(text)];
  return lexemes.filter((lexeme, index) =>
    CST.tokenType(lexeme) === "comment" && CST.tokenType(lexemes[index - 1] ?? "") !== "scalar"
  )
    .map((comment) => comment.trimEnd()).sort();
}

type Order = (piece: Piece, pointer: string) => Part[];

/** The serialised order for a recipe or a step. */
const byRank: Order = ({ parts }, pointer) => {
  const order = pointer === "" ? ROOT_ORDER : /^\/steps\/\d+$/.test(pointer) ? STEP_ORDER : null;
  if (order === null) return parts;
  return parts.toSorted((a, b) => order.indexOf(a.name ?? "") - order.indexOf(b.name ?? ""));
};

/** An alias must stay after its anchor. */
const byRankUnlessLinked: Order = (piece, pointer) => piece.linked ? piece.parts : byRank(piece, pointer);

const under = (pointer: string, part: Part, index: number) => `${pointer}/${part.name ?? index}`;

/** A JSON value with two spaces per level; short lists and mappings of scalars stay on one line. */
function json(text: string, piece: Piece, indent: string, pointer: string): string {
  if (piece.parts.length === 0) {
    return piece.kind === "map" ? "{}" : piece.kind === "list" ? "[]" : text.slice(piece.start, piece.end);
  }
  const inner = indent + "  ";
  const parts = byRank(piece, pointer);
  const key = (part: Part) => part.name === null ? "" : `${text.slice(part.start, part.open).replace(/\s*:$/, "")}: `;
  const [open, close] = piece.kind === "map" ? "{}" : "[]";
  const flat = piece.kind === "list" && parts.every(({ value }) => value!.parts.length === 0);
  const written = parts.map((part, index) => key(part) + json(text, part.value!, inner, under(pointer, part, index)));
  const line = `[${written.join(", ")}]`;
  if (flat && line.length <= 100) return line;
  return `${open}\n${written.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}

function yaml(text: string, root: Piece, order: Order): string {
  const layout = new YamlLayout(text, order);
  const head = tidyLines(text.slice(0, root.start).split("\n").slice(0, -1));
  const body = root.block ? layout.block(root, root.start, 0, "") : [layout.inline(root, 0, 0, "")];
  const foot = tidyLines(text.slice(root.end).split("\n").slice(1));
  while (head[0] === "") head.shift();
  while (foot.at(-1) === "") foot.pop();
  return [...head, ...body, ...foot].join("\n") + "\n";
}

/** Removes trailing white space and repeated blank lines. */
function tidyLines(lines: readonly string[], indent?: string): string[] {
  const tidy = lines.map((line) => indent === undefined || line.trim() === "" ? line.trimEnd() : indent + line.trim());
  return tidy.filter((line, index) => line !== "" || tidy[index - 1] !== "");
}

class YamlLayout {
  constructor(readonly text: string, readonly order: Order) {}

  /** The lines of a block collection whose parts begin at a column. */
  block(piece: Piece, from: number, column: number, pointer: string): string[] {
    const { text } = this;
    if (piece.kind === "unit") return this.#shifted(piece.start, piece.end, columnOf(text, piece.start), column);
    const indent = " ".repeat(column);
    const chunks = new Map(chunksOf(text, piece, from).map((chunk) => [chunk.part, chunk]));
    const blocks: string[][] = [];
    for (const [index, part] of this.order(piece, pointer).entries()) {
      const { before, above, after } = chunks.get(part)!;
      const [first, ...rest] = this.#part(part, columnOf(text, piece.start), column, under(pointer, part, index));
      blocks.push(tidyLines([...before, ...above], indent), [indent + first, ...rest], tidyLines(after, indent + "  "));
    }
    const lines = blocks.flat();
    const start = lines.findIndex((line) => line !== "");
    return lines.slice(start);
  }

  /** A field or an item: its first line without indentation, and the lines below. */
  #part(part: Part, oldColumn: number, column: number, pointer: string): string[] {
    const { text } = this, { value, open, end } = part;
    const head = part.name === null ? "-" : text.slice(part.start, open).replace(/[ \t]+:$/, ":");
    const tail = text.slice(value?.end ?? open, end).trimEnd();
    if (value === null) return [head + tail];
    const between = text.slice(open, value.start);
    const anchor = value.anchor === undefined ? "" : ` &${value.anchor}`;
    if (!value.block) {
      const remarks = between.includes("#") ? tidyLines(between.split("\n").slice(0, -1)) : null;
      const [first, ...rest] = this.inline(value, oldColumn, column, pointer).split("\n");
      const last = rest.length - 1;
      const body = last < 0 ? [first + tail] : [first, ...rest.slice(0, last), rest[last] + tail];
      if (remarks === null) return [`${head}${anchor} ${body[0]}`, ...body.slice(1)];
      // A comment between the colon and the value keeps the value on its own line.
      const indent = " ".repeat(column + 2);
      const [remark, ...more] = remarks.map((line) => line.trim());
      return [
        `${head} ${remark}`.trimEnd(),
        ...more.map((line) => indent + line),
        indent + `${anchor} ${body[0]}`.trim(),
        ...body.slice(1),
      ];
    }
    const below = between.indexOf("\n") + 1;
    const remark = /^[^\n]*?([ \t]+#[^\n]*|)[ \t]*(?=\n)/.exec(between)?.[1] ?? "";
    const lines = this.block(value, below > 0 ? open + below : value.start, column + 2, pointer);
    // The first key of an item is on the line of its dash, unless a comment comes between.
    const joined = part.name === null && anchor === "" && remark === "" && value.kind !== "unit";
    if (joined && !lines[0].trim().startsWith("#")) return [`- ${lines[0].trimStart()}`, ...lines.slice(1)];
    return [head + anchor + remark, ...lines];
  }

  /** A value within a line; a collection in brackets on one line if possible. */
  inline(piece: Piece, oldColumn: number, column: number, pointer: string): string {
    const own = this.text.slice(piece.start, piece.end);
    if (piece.parts.length > 0 && !own.includes("#")) {
      const line = this.#flow(piece, pointer);
      if (line !== null && column + line.length <= LINE_WIDTH) return line;
    }
    return this.#shifted(piece.start, piece.end, oldColumn, column).join("\n");
  }

  /** A collection in brackets on one line; null if a value in it takes several. */
  #flow(piece: Piece, pointer: string): string | null {
    const own = this.text.slice(piece.start, piece.end);
    if (piece.parts.length === 0) {
      return own.includes("\n") ? null : piece.kind === "map" ? "{}" : piece.kind === "list" ? "[]" : own;
    }
    const written: string[] = [];
    for (const [index, part] of this.order(piece, pointer).entries()) {
      const key = part.name === null ? "" : this.text.slice(part.start, part.open).replace(/[ \t]+:$/, ":");
      const value = part.value && this.#flow(part.value, under(pointer, part, index));
      if (part.value !== null && value === null) return null;
      const anchor = part.value?.anchor === undefined ? "" : `&${part.value.anchor} `;
      written.push(key + (key !== "" && value !== null ? " " : "") + anchor + (value ?? ""));
    }
    return piece.kind === "map" ? `{${written.join(", ")}}` : `[${written.join(", ")}]`;
  }

  /** Unchanged lines; those after the first move from one column to another. */
  #shifted(start: number, end: number, from: number, to: number): string[] {
    return this.text.slice(start, end).split("\n").map((line, index) => {
      if (index === 0 || line.trim() === "") return line;
      const width = line.search(/[^ ]/);
      return " ".repeat(Math.max(0, width + to - from)) + line.slice(width);
    });
  }
}
