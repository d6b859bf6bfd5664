/**
 * Runs the YAML library so that it refuses a text at the first error, with its position, in bounded time and stack. The
 * language is YAML 1.2.2, core schema, one document without tags.
 */
import process from "node:process";
import { Composer, CST, type Document, Lexer, type Node, Parser, type Tags } from "./yaml_library.ts";

export { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from "./yaml_library.ts";
export type { YAMLMap, YAMLSeq } from "./yaml_library.ts";

/** Nested collections of a document, including the root. */
export const MAX_DEPTH = 64;

/** Refuses a text by throwing; offsets count UTF-16 units. */
export interface YamlRefusal {
  syntax(offset: number, message: string, hint?: string): never;
  tooDeep(offset: number): never;
}

const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  intAsBigInt: true,
  // The library compares every pair of keys, which takes minutes for large mappings; the later walk uses look-ups.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** Non-printable characters of YAML, except tab, line feed, carriage return and next line. */
// deno-lint-ignore no-control-regex -- it searches control characters
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;

/** The tree of the document, as {@link composeDocument}; null for an empty one. */
export function composeYaml(text: string, refuse: YamlRefusal): Node | null {
  return composeDocument(text, refuse).contents as Node | null;
}

/**
 * The document, with comments and positions.
 * @param refuse throws at the first error; later errors are often its consequences
 * @param customTags how its values are written
 */
export function composeDocument(text: string, refuse: YamlRefusal, customTags?: (tags: Tags) => Tags): Document {
  const unprintable = text.search(UNPRINTABLE);
  if (unprintable >= 0) {
    const hint = 'Write it as an escape in double quotes, such as "\\x07"';
    refuse.syntax(unprintable, "Cannot read a control character in YAML", hint);
  }
  // The library prints tokens when LOG_TOKENS or LOG_STREAM is set, and reading a variable without permission throws.
  // It therefore gets an empty environment.
  const environment = process.env;
  process.env = {};
  try {
    return composeTokens(text, refuse, customTags);
  } finally {
    process.env = environment;
  }
}

function composeTokens(text: string, refuse: YamlRefusal, customTags?: (tags: Tags) => Tags): Document {
  const parser = new Parser(), composer = new Composer({ ...OPTIONS, customTags });
  const fail = (offset: number, code: string, message: string) => yamlError(text, refuse, offset, code, message);
  failAtFirstError(composer, fail);
  let document: Document | undefined;
  const compose = (tokens: Iterable<CST.Token>) => {
    for (const token of tokens) take(composer.next(token));
  };
  const take = (documents: Iterable<unknown>) => {
    for (const found of documents as Iterable<Document>) {
      // Errors of the parser; composer errors were already thrown.
      const error = found.errors[0];
      if (error !== undefined) fail(error.pos[0], error.code, error.message);
      if (document !== undefined) {
        const hint = "Keep one document and remove the --- between them";
        refuse.syntax(found.range?.[0] ?? 0, "Cannot read more than one YAML document", hint);
      }
      document = found;
    }
  };
  const guard = new TokenGuard(refuse);
  for (const lexeme of new Lexer().lex(text)) {
    guard.check(lexeme, parser.offset);
    compose(parser.next(lexeme));
    refuseDeep(parser.stack, refuse);
  }
  compose(parser.end());
  take(composer.end(true, text.length));
  return document!;
}

type Where = number | [number, number] | { offset: number };

/** By default the composer collects every error, up to a million. */
function failAtFirstError(
  composer: Composer,
  fail: (offset: number, code: string, message: string) => never,
): void {
  let first: unknown;
  const onError = (where: Where, code: string, message: string, warning?: boolean) => {
    if (warning) return;
    // The library catches thrown errors and continues.
    if (first !== undefined) throw first;
    const offset = typeof where === "number" ? where : Array.isArray(where) ? where[0] : where.offset;
    try {
      fail(offset, code, message);
    } catch (error) {
      throw first = error;
    }
  };
  Object.assign(composer, { onError });
}

/** Parser and composer are recursive, so nesting is limited during parsing. */
function refuseDeep(stack: readonly CST.Token[], refuse: YamlRefusal): void {
  if (stack.length <= MAX_DEPTH) return;
  const collections = stack.filter((token) => "items" in token);
  if (collections.length > MAX_DEPTH) refuse.tooDeep(collections[MAX_DEPTH].offset);
}

const HINTS: Record<string, string> = {
  TAB_AS_INDENT: "Indent with spaces",
  BAD_INDENT: "Align the keys of a mapping and the dashes of a list",
  BLOCK_AS_IMPLICIT_KEY: "Put a text that holds a colon and a space in quotes",
  BAD_SCALAR_START: "Put the text in quotes",
  MISSING_CHAR: "Close every quote and bracket",
};

function yamlError(text: string, refuse: YamlRefusal, offset: number, code: string, message: string): never {
  const hint = indentationHint(text, offset, code, message) ?? HINTS[code];
  return refuse.syntax(offset, `Cannot read the YAML: ${message.replace(/\.$/, "")}`, hint);
}

/** The hint where a line has the wrong indentation; the library reports its consequence. */
function indentationHint(text: string, offset: number, code: string, message: string): string | null {
  if (/must be sufficiently indented and end with a/.test(message)) {
    return "Close every bracket, and indent the lines between";
  }
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  if (code === "BAD_INDENT" || /without - indicator/.test(message)) return siblingIndentation(text, start);
  if (code !== "BLOCK_AS_IMPLICIT_KEY") return null;
  const [line, ...rest] = text.slice(start).split("\n");
  const next = rest.find((other) => /^ *[^ #]/.test(other)) ?? "";
  // A key with a value on its own line has no nested keys.
  const column = line.search(/[^ ]/) + (/^ *(- +)/.exec(line)?.[1].length ?? 0);
  if (!/^ *(- +)?[\w.-]+: +[^ ]/.test(line) || !/^ *[\w.-]+:( |$)/.test(next) || next.search(/[^ ]/) <= column) {
    return null;
  }
  return `Indent the next line by ${column} spaces, as this one`;
}

/** The columns of the keys above to which a line can be aligned; null where none is near. */
function siblingIndentation(text: string, start: number): string | null {
  const own = /^ */.exec(text.slice(start))![0].length;
  const columns = new Set<number>();
  for (const line of text.slice(0, start).split("\n").reverse()) {
    if (!/^ *[^ #\n]/.test(line)) continue;
    const column = line.search(/[^ ]/), dash = /^ *(- +)/.exec(line)?.[1].length ?? 0;
    if (column + dash >= Math.max(...columns, 0) && columns.size > 0) continue;
    columns.add(column + dash);
    if (column + dash < own || columns.size === 2) break;
  }
  const near = [...columns].sort((a, b) => b - a);
  if (near.length === 0 || near.includes(own)) return null;
  return `Indent this line by ${near.join(" or ")} spaces, as the keys above`;
}

/** Refuses YAML features that documents do not use, and inputs that the library takes too long to refuse. */
class TokenGuard {
  #scalar = false;
  #directive = false;
  #depth = 0;
  #last: string | null = null;
  /** Indicators of block collections since the last value; the lexer recurses for each, as for an anchor. */
  #indicators = 0;

  constructor(readonly refuse: YamlRefusal) {}

  check(lexeme: string, offset: number): void {
    if (this.#scalar) {
      this.#scalar = false;
      return;
    }
    const refuse = (message: string, hint?: string) => this.refuse.syntax(offset, message, hint);
    const type = CST.tokenType(lexeme), before = this.#last;
    if (type === "space") return;
    this.#last = type;
    switch (type) {
      case "scalar":
        this.#scalar = true;
        break;
      case "seq-item-ind":
      case "explicit-key-ind":
      case "map-value-ind":
        if (++this.#indicators > 2 * MAX_DEPTH) this.refuse.tooDeep(offset);
        return;
      case "flow-map-start":
      case "flow-seq-start":
        this.#depth++;
        break;
      case "anchor":
        if (before === "anchor") refuse("Cannot read the YAML: a node has one anchor at most");
        return;
      case "flow-map-end":
      case "flow-seq-end":
        if (--this.#depth < 0) refuse(`Cannot read the YAML: ${lexeme} closes no open collection`);
        break;
      case "tag":
        refuse(`Cannot use the YAML tag ${lexeme.slice(0, 40)}`, "Write the value without it; quotes make a text");
        break;
      case "directive-line":
        if (!/^%YAML[ \t]+1\.2[ \t]*(#.*)?$/.test(lexeme)) {
          refuse(`Cannot use the YAML directive ${lexeme.slice(0, 40)}`, "Documents are YAML 1.2 without tags");
        }
        if (this.#directive) refuse("Cannot use more than one %YAML directive", "Remove this line");
        this.#directive = true;
        break;
    }
    this.#indicators = 0;
  }
}
