/**
 * The standard layout of recipe files: fields of the recipe and its steps in serialised order, two spaces per level,
 * short collections as `{a: 1, b: [1, 2]}`, at most one blank line. Comments stay with their values; numbers and texts
 * keep their spelling.
 */
import { SvcError } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { CST, isMap, isSeq, Lexer, type Node, type Scalar, type YAMLMap } from "../contract/yaml_library.ts";
import { jsonText } from "./json_write.ts";
import { readRecipeText, type TextFormat, textFormatOf } from "./read.ts";
import { commentHolder, settleDocument } from "./yaml_comments.ts";
import { ROOT_ORDER, STEP_ORDER } from "../contract/recipe_order.ts";
import { readYaml } from "./yaml_reader.ts";
import { documentText } from "./yaml_write.ts";

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
  const { value } = readRecipeText(body, reading);
  // What the first pass moves, such as a comment, may take its final place in the second.
  for (const keepLinked of [false, true]) {
    let laidOut = body;
    for (let pass = 0; pass < 4; pass++) {
      const next = format === "json" ? json(laidOut) : yaml(laidOut, keepLinked);
      if (next === laidOut) return next;
      if (next === null || !saysTheSame(next)) break;
      laidOut = next;
    }
  }
  throw new SvcError("recipe_format_failed", `Cannot format ${options.file} without changing its value`, {
    hint: "First replace unusual notation, such as explicit keys",
  });

  function saysTheSame(next: string): boolean {
    try {
      if (!sameValue(readRecipeText(next, reading).value, value)) return false;
    } catch (error) {
      if (error instanceof SvcError) return false;
      throw error;
    }
    return format === "json" || comments(next).join("\n") === comments(body).join("\n");
  }
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

function json(text: string): string {
  const root = readYaml(text, "", "null").document!.contents as Node;
  sortFields(root, () => false);
  return jsonText(root, { source: text, unit: "  ", space: " " }) + "\n";
}

/** @param keepLinked whether collections with an anchor or an alias keep their order: an alias follows its anchor */
function yaml(text: string, keepLinked: boolean): string | null {
  const document = readYaml(text, "", "null").document!, root = document.contents as Node | null;
  settleDocument(text, document);
  sortFields(root, (node) => keepLinked && /[&*]/.test(text.slice(node.range![0], node.range![1])));
  return documentText(document, { source: text, tidy: true });
}

function sortFields(root: Node | null, isFixed: (node: Node) => boolean): void {
  if (!isMap(root)) return;
  const steps = root.items.find(({ key }) => (key as Scalar).value === "steps")?.value;
  sort(root as YAMLMap, ROOT_ORDER);
  if (isSeq(steps)) { for (const step of steps.items) if (isMap(step)) sort(step as YAMLMap, STEP_ORDER); }

  function sort(map: YAMLMap, order: readonly string[]): void {
    if (isFixed(map)) return;
    const rank = ({ key }: { key: unknown }) => order.indexOf(String((key as Scalar).value));
    const sorted = map.items.toSorted((a, b) => rank(a) - rank(b));
    if (sorted.every((pair, at) => pair === map.items[at])) return;
    [map.items, map.range] = [sorted, undefined];
    const first = commentHolder(sorted[0] as never);
    if (first !== null) first.spaceBefore = false;
  }
}
