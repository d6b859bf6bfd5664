/**
 * Writes values as hand-written YAML: short collections of scalars on one line, everything else in blocks, texts
 * without quotes where unambiguous. Values that a text already has keep their spelling.
 */
import { canonicalJson } from "../contract/json.ts";
import { isInteger, isObject, toNumber, type Value } from "../contract/value.ts";
import { composeDocument } from "../contract/yaml_tree.ts";
import { type Document, isMap, isSeq, type Node, Pair, Scalar } from "../contract/yaml_library.ts";
import { type Tags, YAMLMap, YAMLSeq } from "../contract/yaml_library.ts";

/** Width to which a new collection takes one line. */
const NEW_WIDTH = 100;
/** Width to which the standard layout puts a collection in brackets on one line. */
const LINE_WIDTH = 120;

/** Words that some YAML readers do not read as texts. */
const NO_TEXT = /^(?:yes|no|on|off|y|n|nan|inf|<<|=)$/i;
/** Characters that need an escape beside those of JSON: non-printing ones and line breaks. */
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
// deno-lint-ignore no-control-regex -- it searches control characters
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;

/** Layout of a document. */
interface Layout {
  /** The text from which the document was read. */
  source?: string;
  /** Whether collections in brackets are laid out anew; default as in the source. */
  tidy?: boolean;
  /** Levels of indentation; default 2. */
  indent?: number;
  /** Whether lists are indented below their key; default true. */
  indentSeq?: boolean;
}

type Context = NonNullable<Parameters<YAMLMap["toString"]>[0]>;
type Printed = Scalar | YAMLMap | YAMLSeq;

/** Prints a value as its source has it; replaced values have no range. */
export function sourceTags(tags: Tags): Tags {
  return tags.map((tag) => {
    if (typeof tag === "string") return tag;
    // deno-lint-ignore no-explicit-any -- the library types the printers of scalars and collections apart
    const { stringify } = tag as any;
    const print = (node: Printed, context: Context, ...calls: [(() => void)?, (() => void)?]): string => {
      if (isMap(node) || isSeq(node)) {
        return collectionText(node as YAMLMap, context, () => node.toString(context, ...calls));
      }
      const scalar = node as Scalar;
      if (scalar.range == null && scalar.source !== undefined) return scalar.source;
      const own = sourceText(scalar, context);
      // The library keeps every line of a literal text; a folded one would be filled anew.
      if (own === undefined || scalar.type === "BLOCK_LITERAL" || /^>[-\d]*\+/.test(own)) {
        return stringify(scalar, context, ...calls);
      }
      if (scalar.type === "BLOCK_FOLDED") calls[0]?.();
      return aligned(own, context.indent);
    };
    return { ...tag, stringify: print } as typeof tag;
  });
}

function layoutOf(context: Context): Layout {
  return context.options as Layout;
}

function sourceText(node: Printed, context: Context): string | undefined {
  const { source } = layoutOf(context);
  return source === undefined || node.range == null ? undefined : source.slice(node.range[0], node.range[1]).trimEnd();
}

function collectionText(node: YAMLMap, context: Context, print: () => string): string {
  const own = node.flow && !context.inFlow ? sourceText(node, context) : undefined;
  if (own === undefined) return print();
  const { tidy } = layoutOf(context);
  if (tidy && !/#/.test(own)) {
    const line = print();
    if (context.indent.length + line.length <= LINE_WIDTH) return line;
  }
  if (tidy && !own.includes("\n")) return print();
  return aligned(own.replace(/[ \t]+$/gm, ""), context.indent);
}

/** Moves the lines after the first to an indentation. */
function aligned(text: string, indent: string): string {
  const [first, ...rest] = text.split("\n");
  const width = rest.reduce(
    (least, line) => line.trim() === "" ? least : Math.min(least, line.search(/[^ ]/)),
    Infinity,
  );
  return [first, ...rest.map((line) => line.trim() === "" ? "" : indent + line.slice(width))].join("\n");
}

/**
 * Prints a document that was read with {@link sourceTags}.
 * @returns null where an alias precedes its anchor
 */
export function documentText(document: Document, layout: Layout = {}): string | null {
  try {
    return document.toString({
      lineWidth: 0,
      flowCollectionPadding: false,
      doubleQuotedMinMultiLineLength: Infinity,
      ...layout,
    });
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("Unresolved alias")) return null;
    throw error;
  }
}

/** A value as YAML, its root in lines. */
export function yamlText(value: Value): string {
  const refuse = (): never => {
    throw new TypeError("An empty text is a document");
  };
  const document = composeDocument("", { syntax: refuse, tooDeep: refuse }, sourceTags);
  document.contents = newNode(value);
  (document.contents as YAMLMap).flow = false;
  return documentText(document)!;
}

/** A value as a node without a source. @param room width for a collection on one line */
export function newNode(value: Value, room: number = NEW_WIDTH): Node {
  if (Array.isArray(value)) {
    const list = new YAMLSeq<Node>();
    list.flow = isShort(value, room);
    list.items = value.map((item) => newItem(item, list.flow!, room - 2));
    return list;
  }
  if (isObject(value)) {
    const map = new YAMLMap<Node, Node>();
    map.flow = isShort(value, room);
    map.items = Object.entries(value).map(([key, item]) => new Pair(newNode(key), newNode(item, room - 2)));
    return map;
  }
  if (typeof value === "string") return newText(value);
  const scalar = new Scalar(
    value === null || typeof value === "boolean" ? value : isInteger(value) ? BigInt(value) : toNumber(value),
  );
  scalar.source = canonicalJson(value);
  return scalar;
}

/** An item of a list; a mapping of a list in lines begins on the line of its dash. */
export function newItem(value: Value, inFlow: boolean, room?: number): Node {
  const node = newNode(value, room);
  if (!inFlow && isMap(node) && node.items.length > 0) node.flow = false;
  return node;
}

function newText(text: string): Scalar {
  const scalar = new Scalar(text);
  if (text.includes("\n") && !CONTROL.test(text) && text.search(ESCAPED) < 0) {
    // White space at the edges of a block is hard to see.
    scalar.type = /^\S(?:[^]*\S)?\n?$/.test(text) ? "BLOCK_LITERAL" : "QUOTE_DOUBLE";
  } else if (CONTROL.test(text) || text.search(ESCAPED) >= 0 || NO_TEXT.test(text)) {
    scalar.source = canonicalJson(text).replace(
      ESCAPED,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }
  return scalar;
}

function isShort(value: Value, room: number): boolean {
  const isFlat = (item: Value) =>
    Array.isArray(item)
      ? item.every((inner) => !Array.isArray(inner) && !isObject(inner))
      : !isObject(item) || Object.keys(item).length === 0;
  const items = Object.values(value as object);
  return items.every(isFlat) && (items.length === 0 || canonicalJson(value).length <= room);
}
