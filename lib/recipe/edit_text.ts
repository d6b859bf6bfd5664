/** Saves a recipe over its text: unchanged parts keep comments, layout and spelling, such as `1e3` and `1.0`. */
import { SvcError } from "../contract/error.ts";
import { canonicalJson, prettyJson, sameValue } from "../contract/json.ts";
import { isObject, type JsonObject, type Value } from "../contract/value.ts";
import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, type Node } from "../contract/yaml_library.ts";
import { Pair, type Scalar, YAMLMap, YAMLSeq } from "../contract/yaml_library.ts";
import { jsonStyleOf, jsonText } from "./json_write.ts";
import { commonItems, keepLines, keepSpace } from "./keep_lines.ts";
import { readRecipeText, type TextFormat, textFormatOf } from "./read.ts";
import { commentHolder, type Part, settleDocument } from "./yaml_comments.ts";
import { documentText, newItem, newNode, yamlText } from "./yaml_write.ts";
import { readYaml } from "./yaml_reader.ts";

/**
 * Rewrites a recipe's text for another value.
 *
 * The value is merged into the document of the text, which is printed before and after; the lines that differ are
 * changed in the text. A new field follows its predecessor in the value; steps are matched by id. The result is read
 * again and must equal the value.
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
  const reading = { file: options.file, format, emptyValues: "null" } as const;
  const { value: old } = readRecipeText(body, reading);
  if (sameValue(old, value)) return text;
  let why = "it does not read as the same value";
  for (const edited of format === "json" ? jsonEdits(body, old, value) : yamlEdits(body, old, value)) {
    try {
      if (sameValue(readRecipeText(edited, reading).value, value)) {
        return mark + (crlf ? edited.replaceAll("\n", "\r\n") : edited);
      }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      why = error.message;
    }
  }
  throw new SvcError("recipe_edit_failed", `Cannot save the recipe as ${format.toUpperCase()}: ${why}`);
}

/** Edited texts, the one nearest to the text first. */
function* jsonEdits(text: string, old: Value, value: Value): Generator<string> {
  const document = documentOf(text);
  if (document !== null) {
    const style = jsonStyleOf(text);
    yield keepSpace(text, jsonText(new Merge().value(document.contents as Node, old, value), style));
  }
  yield prettyJson(value);
}

function* yamlEdits(text: string, old: Value, value: Value): Generator<string> {
  const document = documentOf(text)!;
  settleDocument(text, document);
  const layout = { source: text, ...indentationOf(text, document.contents as Node | null) };
  const before = documentText(document, layout);
  document.contents = new Merge().value(document.contents as Node | null, old, value);
  const after = documentText(document, layout);
  if (before !== null && after !== null) {
    const kept = keepLines(text, before, after);
    yield text.endsWith("\n") ? kept : kept.replace(/\n$/, "");
    yield after;
  }
  const opening = /^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)![0];
  yield opening + yamlText(value);
}

/** The document of a text that was read; null for JSON that is no YAML. */
function documentOf(text: string): Document | null {
  try {
    return readYaml(text, "", "null").document!;
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** The indentation of a text's first level, and whether lists have one. */
function indentationOf(text: string, root: Node | null): { indent: number; indentSeq: boolean } {
  const columns: { map?: number; list?: number } = {};
  for (const { value } of isMap(root) ? root.items as Pair<Node, Node | null>[] : []) {
    if (!isCollection(value) || value.flow || value.items.length === 0) continue;
    const start = value.range![0];
    columns[isMap(value) ? "map" : "list"] ??= start - text.lastIndexOf("\n", start) - 1;
  }
  return { indent: Math.max(2, columns.map ?? columns.list ?? 2), indentSeq: columns.list !== 0 };
}

/** Merges a value into the tree of a text. */
class Merge {
  /** Values of anchors at the current place of the new text. */
  readonly #anchors = new Map<string, Value>();

  /** The node for a value: the old one where it holds it, else one without a range. */
  value(node: Node | null, old: Value, next: Value): Node | null {
    const merged = this.#merged(node, old, next);
    const anchor = (merged as Scalar | null)?.anchor;
    if (anchor !== undefined) this.#anchors.set(anchor, next);
    return merged;
  }

  #merged(node: Node | null, old: Value, next: Value): Node | null {
    if (isAlias(node)) {
      const meant = this.#anchors.get(node.source);
      return meant !== undefined && sameValue(meant, next) ? node : dressed(newNode(next), node);
    }
    if (isCollection(node) && node.items.length > 0 && Object.keys(Object(next)).length > 0) {
      if (isMap(node) && isObject(next)) return this.#map(node as YAMLMap<Node, Node>, old as JsonObject, next);
      if (isSeq(node) && Array.isArray(next)) return this.#list(node as YAMLSeq<Node>, old as Value[], next);
    }
    return sameValue(old, next) ? node : dressed(newNode(next), node);
  }

  #map(map: YAMLMap<Node, Node>, old: JsonObject, next: JsonObject): Node {
    const nameOf = ({ key }: Pair<Node, Node>) => String((key as Scalar).value);
    const kept = new Set(map.items.filter((pair) => Object.hasOwn(next, nameOf(pair))).map(nameOf));
    // A new field is inserted after its predecessor in the new value.
    const first: string[] = [], added = new Map<string, string[]>();
    let into = first;
    for (const name of Object.keys(next)) {
      if (kept.has(name)) added.set(name, into = []);
      else into.push(name);
    }
    const newPair = (name: string) => new Pair(newNode(name), newNode(next[name]) as Node);
    const items = map.items.filter((pair) => kept.has(nameOf(pair))).flatMap((pair) => {
      const name = nameOf(pair), value = this.value(pair.value, old[name], next[name]);
      return [value === pair.value ? pair : new Pair(pair.key, value as Node), ...added.get(name)!.map(newPair)];
    });
    return replaceItems(map, [...first.map(newPair), ...items], (pair) => kept.has(nameOf(pair)));
  }

  #list(list: YAMLSeq<Node>, old: Value[], next: Value[]): Node {
    const from = matchItems(old, next), kept = new Set(from);
    const items = next.map((item, at) =>
      from[at] === undefined
        ? newItem(item, list.flow === true)
        : this.value(list.items[from[at]], old[from[at]], item) as Node
    );
    return replaceItems(list, items, (_, at) => kept.has(at));
  }
}

/** Replaces the parts of a collection. */
function replaceItems<T extends YAMLMap<Node, Node> | YAMLSeq<Node>>(
  collection: T,
  items: T["items"],
  isKept: (part: T["items"][number], index: number) => boolean,
): T {
  const old = collection.items as Part[];
  const whole = (part: Part) =>
    part === null ||
    (part instanceof Pair ? part.value?.range !== undefined || part.value === null : part.range !== undefined);
  if (items.length !== old.length || items.some((part, at) => part !== old[at] || !whole(part))) {
    collection.range = undefined;
  }
  // A comment separated by a blank line stays when the part below it is removed.
  let orphan = "", space = false;
  old.forEach((part, at) => {
    const holder = commentHolder(part), comment = holder?.commentBefore ?? "";
    if (!isKept(part as never, at)) {
      const left = /^[^]*\n\n/.exec(comment)?.[0] ?? "";
      if (orphan === "" && left !== "") space = holder?.spaceBefore ?? false;
      orphan += left;
    } else if (holder !== null && orphan !== "") {
      holder.commentBefore = comment === "" ? orphan.slice(0, -1) : orphan + comment;
      [holder.spaceBefore, orphan] = [space, ""];
    }
  });
  if (orphan !== "") collection.comment = orphan.trimEnd() + (collection.comment ? `\n\n${collection.comment}` : "");
  collection.items = items as never;
  const first = commentHolder(items[0]);
  if (first !== null) first.spaceBefore = false;
  return collection;
}

/** A new node with the comments, anchor and quotes of the one that it replaces. */
function dressed(node: Node, old: Node | null): Node {
  if (old === null) return node;
  const { commentBefore, comment, spaceBefore } = old;
  Object.assign(node, { commentBefore, spaceBefore, anchor: (old as Scalar).anchor });
  if (!isCollection(old) || old.flow) node.comment = comment;
  if (isScalar(old) && isScalar(node) && old.type?.startsWith("QUOTE") && node.source === undefined) {
    if (typeof node.value === "string") node.type = old.type;
  }
  return node;
}

/** The old item of each new one: by id if all items have one, like steps; otherwise equal ones, and those in one place. */
function matchItems(old: readonly Value[], next: readonly Value[]): (number | undefined)[] {
  const [ids, nextIds] = [idsOf(old), idsOf(next)];
  if (ids !== null && nextIds !== null) {
    const index = new Map(ids.map((id, at) => [id, at]));
    return nextIds.map((id) => index.get(id));
  }
  const [texts, nextTexts] = [old, next].map((items) => items.map((item) => canonicalJson(item)));
  const from = new Map(commonItems(nextTexts, texts)), taken = new Set(from.values());
  return next.map((_, at) => from.get(at) ?? (at < old.length && !taken.has(at) ? at : undefined));
}

/** The ids of items; null for a missing or repeated id. */
function idsOf(items: readonly Value[]): string[] | null {
  const ids = items.map((item) => isObject(item) && typeof item.id === "string" ? item.id : null);
  return ids.includes(null) || new Set(ids).size < ids.length ? null : ids as string[];
}
