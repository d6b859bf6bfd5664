/**
 * Offsets of the parts of a recipe's text: one tree for YAML and JSON, for partial edits of a text. Values come from
 * the readers, which must have accepted the text.
 */
import type { DecodedText } from "./types.ts";
import { isAlias, isMap, isScalar, type Node, type Scalar, type YAMLMap, type YAMLSeq } from "../contract/yaml_tree.ts";

/** A value in a text; `start` and `end` exclude its anchor and surroundings. */
export interface Piece {
  /** A `unit` is a collection in an unusual notation, which is kept or replaced as a whole. */
  kind: "scalar" | "alias" | "map" | "list" | "unit";
  start: number;
  /** A block collection ends with its last line, including a comment; a block scalar before its last newline. */
  end: number;
  /** Whether it is written without brackets over its own lines. */
  block: boolean;
  anchor?: string;
  /** Anchor of an alias. */
  source?: string;
  /** Whether it is or contains an alias or an anchor. */
  linked: boolean;
  /** Fields or items, in the order of the text. */
  parts: Part[];
}

/** A field of a mapping or an item of a list. */
export interface Part {
  /** Key of a field, null for an item. */
  name: string | null;
  /** Start of the key or the item; in a block list, of the dash. */
  start: number;
  /** Offset after the colon or the dash; without them, after the key or before the item. */
  open: number;
  /** Whether a field of a flow mapping has no colon. */
  bare: boolean;
  /** Null for an omitted value. */
  value: Piece | null;
  /** End of the text; in a block of the line, including a comment. */
  end: number;
}

/**
 * Finds the pieces of a text.
 * @param text accepted text without byte order mark
 * @param tree of a YAML text, as its reader returned it
 * @returns the root, or null for an empty text
 */
export function textPieces(text: string, { tree }: Pick<DecodedText, "tree">): Piece | null {
  if (tree === undefined) return new JsonPieces(text).value();
  return tree === null ? null : new YamlPieces(text).value(tree);
}

/** Skips white space, line breaks and comments. */
export function skipBlank(text: string, at: number): number {
  BLANK.lastIndex = at;
  BLANK.exec(text);
  return BLANK.lastIndex;
}
const BLANK = /(?:[ \t\r\n]+|(?<![^ \t\r\n])#[^\n]*)*/y;

/** The offset of the next line break, or the end of the text. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Number of characters before an offset on its line. */
export function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf("\n", at - 1) + 1);
}

class YamlPieces {
  constructor(readonly text: string) {}

  value(node: Node): Piece {
    const [start, end] = node.range!;
    if (isAlias(node)) {
      return { kind: "alias", start, end, block: false, source: node.source, linked: true, parts: [] };
    }
    const anchor = (node as Scalar).anchor;
    const linked = anchor !== undefined;
    if (isScalar(node)) {
      const block = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
      const last = block ? this.text.slice(start, end).replace(/\r?\n$/, "").length + start : end;
      return { kind: "scalar", start, end: last, block: false, anchor, linked, parts: [] };
    }
    const block = !(node as YAMLMap).flow;
    const parts = isMap(node)
      ? this.#members(node as YAMLMap<Node, Node | null>, block)
      : this.#items(node as YAMLSeq<Node | null>, block);
    if (parts === null || (!block && !"{[".includes(this.text[start]))) {
      const trimmed = start + this.text.slice(start, end).trimEnd().length;
      // Links inside a unit are not searched: its aliases are expanded when it changes.
      return {
        kind: "unit",
        start,
        end: block ? lineEnd(this.text, trimmed) : end,
        block,
        anchor,
        linked: linked || /[&*]/.test(this.text.slice(start, trimmed)),
        parts: [],
      };
    }
    return {
      kind: isMap(node) ? "map" : "list",
      start,
      end: block ? parts.at(-1)!.end : end,
      block,
      anchor,
      linked: linked || parts.some((part) => part.value?.linked),
      parts,
    };
  }

  #part(
    name: string | null,
    start: number,
    open: number,
    bare: boolean,
    node: Node | null,
    block: boolean,
  ): Part | null {
    const empty = node === null || (isScalar(node) && node.range![0] === node.range![1]);
    if (empty && (node as Scalar | null)?.anchor !== undefined) return null;
    const value = empty ? null : this.value(node);
    const end = value?.end ?? open;
    return { name, start, open, bare, value, end: block ? lineEnd(this.text, end) : end };
  }

  #members(map: YAMLMap<Node, Node | null>, block: boolean): Part[] | null {
    const parts: Part[] = [];
    for (const { key, value } of map.items) {
      if (!isScalar(key) || typeof key.value !== "string" || key.anchor !== undefined) return null;
      const [start, end] = key.range!;
      // A key after a question mark, or one without its colon on the same line.
      if (/\?[ \t]+$/.test(this.text.slice(Math.max(0, start - 100), start))) return null;
      const colon = /[ \t]*:/y;
      colon.lastIndex = end;
      const found = colon.test(this.text);
      if (!found && (block || value !== null)) return null;
      const part = this.#part(key.value, start, found ? colon.lastIndex : end, !found, value, block);
      if (part === null) return null;
      parts.push(part);
    }
    return parts;
  }

  #items(list: YAMLSeq<Node | null>, block: boolean): Part[] | null {
    const parts: Part[] = [];
    let at = list.range![0];
    for (const item of list.items) {
      let start = item?.range?.[0] ?? at, open = start;
      if (block) {
        start = skipBlank(this.text, at);
        if (this.text[start] !== "-") return null;
        open = start + 1;
      } else if (item === null || (item as Scalar).anchor !== undefined) return null;
      const part = this.#part(null, start, open, false, item, block);
      if (part === null) return null;
      parts.push(part);
      at = part.end;
    }
    return parts;
  }
}

class JsonPieces {
  #at = 0;

  constructor(readonly text: string) {}

  value(): Piece {
    this.#at = skipSpace(this.text, this.#at);
    const start = this.#at;
    const opening = this.text[start];
    const parts: Part[] = [];
    if (opening === "{" || opening === "[") {
      this.#at = skipSpace(this.text, start + 1);
      while (this.text[this.#at] !== "}" && this.text[this.#at] !== "]") {
        const from = this.#at;
        let name: string | null = null;
        if (opening === "{") {
          name = JSON.parse(this.#token()) as string;
          this.#at = skipSpace(this.text, this.#at) + 1;
        }
        const open = this.#at, value = this.value();
        parts.push({ name, start: from, open, bare: false, value, end: this.#at });
        this.#at = skipSpace(this.text, this.#at);
        if (this.text[this.#at] === ",") this.#at = skipSpace(this.text, this.#at + 1);
      }
      this.#at++;
    } else this.#token();
    const kind = opening === "{" ? "map" : opening === "[" ? "list" : "scalar";
    return { kind, start, end: this.#at, block: false, linked: false, parts };
  }

  #token(): string {
    const token = /"(?:[^"\\]+|\\.)*"|[^\s,\]}]+/y;
    token.lastIndex = this.#at;
    const [found] = token.exec(this.text)!;
    this.#at = token.lastIndex;
    return found;
  }
}

function skipSpace(text: string, at: number): number {
  while (" \t\r\n".includes(text[at])) at++;
  return at;
}
