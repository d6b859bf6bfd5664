/** Writes the tree of a JSON text: numbers and texts as they are spelled, short lists on one line. */
import { canonicalJson } from "../contract/json.ts";
import { isMap, isSeq, type Node, type Pair, type Scalar } from "../contract/yaml_library.ts";

const LIST_WIDTH = 100;

export interface JsonStyle {
  source: string;
  /** One level of indentation; null puts everything on one line. */
  unit: string | null;
  /** White space after a colon, and after a comma within a line. */
  space: string;
}

/** The style of a JSON text. */
export function jsonStyleOf(source: string): JsonStyle {
  const unit = /^\s*[{[][ \t]*\n([ \t]+)/.exec(source)?.[1] ?? (source.trim().includes("\n") ? "  " : null);
  return { source, unit, space: unit !== null || /[:,] /.test(source) ? " " : "" };
}

/** A node as JSON. @param indent indentation of its first line */
export function jsonText(node: Node | null, style: JsonStyle, indent = ""): string {
  const { source, unit, space } = style, inner = indent + (unit ?? "");
  if (!isMap(node) && !isSeq(node)) {
    const { range, value, source: spelled } = node as Scalar;
    if (range != null) return source.slice(range[0], range[1]);
    return typeof value === "string" ? canonicalJson(value) : spelled!;
  }
  const [open, close] = isMap(node) ? "{}" : "[]";
  const items = isMap(node)
    ? (node.items as Pair<Node, Node>[]).map(({ key, value }) =>
      `${jsonText(key, style)}:${space}${jsonText(value, style, inner)}`
    )
    : (node.items as Node[]).map((item) => jsonText(item, style, inner));
  const flat = isSeq(node) && node.items.every((item) => !(isMap(item) || isSeq(item)) || item.items.length === 0);
  const line = `${open}${items.join(`,${space}`)}${close}`;
  if (items.length === 0 || unit === null || flat && line.length <= LIST_WIDTH) return line;
  return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}
