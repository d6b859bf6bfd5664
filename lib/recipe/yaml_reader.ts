/**
 * A YAML reader with typed numbers and positions.
 *
 * Language: YAML 1.2.2, core schema, one document. Keys are texts and unique; tags, merge keys, NaN and infinities are
 * refused; aliases are expanded up to a limit. `yes`, `no`, `on` and `off` are texts.
 */
import process from "node:process";
import {
  type Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "npm:yaml@^2.9.1";
import { didYouMean } from "../contract/nearest.ts";
import { cloneValue, float, integer, type Value } from "../contract/value.ts";
import { MAX_ALIAS_NODES, MAX_DEPTH } from "./limits.ts";
import { locationAt, locator, type Spot } from "./positions.ts";
import { ReadProblems } from "./read_problems.ts";
import type { DecodedText } from "./types.ts";

/**
 * Reads one YAML document.
 *
 * @param text the whole text
 * @param file name for locations
 * @throws SvcError `recipe_syntax_invalid`, `recipe_duplicate_key`, `recipe_json_value_invalid` or
 *   `recipe_limit_exceeded`, with line and column in its diagnostics
 */
export function readYaml(text: string, file: string): DecodedText {
  const problems = new ReadProblems(text, file);
  const document = compose(text, problems);
  problems.throwAny();
  const { value, spot } = new YamlWalk(problems).root(document.contents);
  problems.throwAny();
  return { value, locate: locator(text, file, spot) };
}

const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  intAsBigInt: true,
  // The library compares every pair of keys, which takes minutes for large mappings; the walk looks them up.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

type Composed = Document<Node, true> & { contents: Node | null };

/** Runs the library's stages token by token, so that a text which cannot be a recipe is refused at once. */
function compose(text: string, problems: ReadProblems): Composed {
  // The library prints its tokens when LOG_TOKENS or LOG_STREAM is set, and asking for a variable that is not granted
  // throws. It gets an empty environment.
  const environment = process.env;
  process.env = {};
  try {
    const parser = new Parser(), composer = new Composer(OPTIONS);
    let document: Composed | undefined;
    // The first error is the one to report; without this, the library gathers all of them, a million for some texts.
    (composer as unknown as { onError: OnError }).onError = (where, code, message, warning) => {
      if (!warning) {
        yamlError(
          problems,
          typeof where === "number" ? where : Array.isArray(where) ? where[0] : where.offset,
          code,
          message,
        );
      }
    };
    const emit = (documents: Iterable<unknown>) => {
      for (const found of documents as Iterable<Composed>) {
        const error = found.errors[0];
        if (error !== undefined) yamlError(problems, error.pos[0], error.code, error.message);
        if (document !== undefined) {
          problems.stop("recipe_syntax_invalid", found.range?.[0] ?? 0, "Cannot read more than one YAML document", {
            hint: "Keep one document and remove the --- between them",
          });
        }
        document = found;
      }
    };
    const guard = new TokenGuard(problems);
    for (const lexeme of new Lexer().lex(text)) {
      guard.check(lexeme, parser.offset);
      for (const token of parser.next(lexeme)) emit(composer.next(token));
    }
    for (const token of parser.end()) emit(composer.next(token));
    emit(composer.end(true, text.length));
    return document!;
  } finally {
    process.env = environment;
  }
}

type OnError = (
  where: number | [number, number] | { offset: number },
  code: string,
  message: string,
  warning?: boolean,
) => void;

const HINTS: Record<string, string> = {
  TAB_AS_INDENT: "Indent with spaces",
  BAD_INDENT: "Align the keys of a mapping and the dashes of a list",
  BLOCK_AS_IMPLICIT_KEY: "Put a text that holds a colon and a space in quotes",
  BAD_SCALAR_START: "Put the text in quotes",
  MISSING_CHAR: "Close every quote and bracket",
};

function yamlError(problems: ReadProblems, offset: number, code: string, message: string): never {
  return problems.stop("recipe_syntax_invalid", offset, `Cannot read the YAML: ${message.replace(/\.$/, "")}`, {
    hint: HINTS[code],
  });
}

/** Refuses what the language of recipes leaves out, and what the library would take too long to refuse. */
class TokenGuard {
  #scalar = false;
  #depth = 0;

  constructor(readonly problems: ReadProblems) {}

  check(lexeme: string, offset: number): void {
    if (this.#scalar) {
      this.#scalar = false;
      return;
    }
    const refuse = (message: string, hint?: string) =>
      this.problems.stop("recipe_syntax_invalid", offset, message, { hint });
    switch (CST.tokenType(lexeme)) {
      case "scalar":
        this.#scalar = true;
        break;
      case "flow-map-start":
      case "flow-seq-start":
        if (++this.#depth > MAX_DEPTH) this.problems.tooDeep(offset, []);
        break;
      case "flow-map-end":
      case "flow-seq-end":
        if (--this.#depth < 0) refuse(`Cannot read the YAML: ${lexeme} closes nothing`);
        break;
      case "tag":
        refuse(`Cannot use the YAML tag ${lexeme.slice(0, 40)}`, "Write the value without it; quotes make a text");
        break;
      case "directive-line":
        if (!/^%YAML[ \t]+1\.2[ \t]*(#.*)?$/.test(lexeme)) {
          refuse(`Cannot use the YAML directive ${lexeme.slice(0, 40)}`, "Recipes are YAML 1.2 without tags");
        }
        break;
    }
  }
}

interface Read {
  value: Value;
  spot: Spot;
  /** Values in it, aliases expanded, itself included. */
  nodes: number;
  /** Levels of collections in it. */
  height: number;
}

/** Turns the library's tree into typed values, expanding aliases. */
class YamlWalk {
  /** Null while the anchored value is being read. */
  readonly #anchors = new Map<string, Read | null>();
  #aliasNodes = 0;
  readonly #place: (string | number)[] = [];

  constructor(readonly problems: ReadProblems) {}

  root(contents: Node | null): Read {
    return this.#read(contents, 0);
  }

  #read(node: Node | null, fallback: number): Read {
    const at = node?.range?.[0] ?? fallback;
    const leaf = (value: Value): Read => ({ value, spot: { at }, nodes: 1, height: 0 });
    if (node === null) return leaf(null);
    if (isAlias(node)) return this.#alias(node, at);
    const anchor = (node as { anchor?: string }).anchor;
    if (anchor !== undefined) this.#anchors.set(anchor, null);
    const read = isMap(node)
      ? this.#map(node as YAMLMap<Node, Node | null>, at)
      : isSeq(node)
      ? this.#sequence(node as YAMLSeq<Node | null>, at)
      : leaf(isScalar(node) ? this.#scalar(node, at) : null);
    if (anchor !== undefined) this.#anchors.set(anchor, read);
    return read;
  }

  #refuse(at: number, message: string, hint?: string): void {
    this.problems.add("recipe_json_value_invalid", at, message, { place: this.#place, hint });
  }

  #scalar(node: Scalar, at: number): Value {
    const { value } = node;
    switch (typeof value) {
      case "bigint":
        return integer(value);
      case "number":
        if (Number.isFinite(value)) return float(value);
        this.#refuse(at, `Cannot hold ${node.source ?? value} as a number`, "Only finite numbers; quotes make a text");
        return 0;
      case "string":
        if (!value.isWellFormed()) this.#refuse(at, "Cannot hold half of a surrogate pair in a text");
        return value;
      case "boolean":
        return value;
    }
    return null;
  }

  #alias(node: Alias, at: number): Read {
    const target = this.#anchors.get(node.source);
    if (target === undefined) {
      return this.problems.stop("recipe_syntax_invalid", at, `Cannot find the anchor of *${node.source}`, {
        place: this.#place,
        hint: didYouMean(node.source, this.#anchors.keys()) ?? "An anchor stands before its aliases",
      });
    }
    if (target === null) {
      return this.problems.stop("recipe_json_value_invalid", at, `Cannot put *${node.source} inside itself`, {
        place: this.#place,
      });
    }
    this.#aliasNodes += target.nodes;
    if (this.#aliasNodes > MAX_ALIAS_NODES) {
      this.problems.stop("recipe_limit_exceeded", at, `Cannot expand aliases to more than ${MAX_ALIAS_NODES} values`, {
        place: this.#place,
      });
    }
    if (this.#place.length + target.height > MAX_DEPTH) this.problems.tooDeep(at, this.#place);
    return { ...target, value: cloneValue(target.value) };
  }

  #enter(at: number): void {
    if (this.#place.length >= MAX_DEPTH) this.problems.tooDeep(at, this.#place);
    this.#place.push("");
  }

  #sequence(node: YAMLSeq<Node | null>, at: number): Read {
    this.#enter(at);
    const value: Value[] = [], items: Spot[] = [];
    let nodes = 1, height = 0;
    for (const item of node.items) {
      this.#place[this.#place.length - 1] = value.length;
      const read = this.#read(item, at);
      value.push(read.value);
      items.push(read.spot);
      nodes += read.nodes;
      height = Math.max(height, read.height);
    }
    this.#place.pop();
    return { value, spot: { at, items }, nodes, height: height + 1 };
  }

  #map(node: YAMLMap<Node, Node | null>, at: number): Read {
    this.#enter(at);
    const entries: [string, Value][] = [];
    const members: NonNullable<Spot["members"]> = new Map();
    let nodes = 1, height = 0;
    for (const pair of node.items) {
      const key = pair.key?.range?.[0] ?? at;
      const name = this.#key(pair.key, key);
      this.#place[this.#place.length - 1] = name;
      const first = members.get(name);
      if (first !== undefined) {
        const { line } = locationAt(this.problems.text, first.key, this.problems.file);
        this.problems.add("recipe_duplicate_key", key, `Cannot use the key ${JSON.stringify(name)} twice`, {
          place: this.#place,
          hint: `It stands on line ${line} already`,
        });
      }
      const read = this.#read(pair.value, pair.key?.range?.[1] ?? at);
      entries.push([name, read.value]);
      members.set(name, { key, value: read.spot });
      nodes += read.nodes;
      height = Math.max(height, read.height);
    }
    this.#place.pop();
    // Unlike assignment, fromEntries makes `__proto__` an ordinary member.
    return { value: Object.fromEntries(entries), spot: { at, members }, nodes, height: height + 1 };
  }

  #key(node: Node | null, at: number): string {
    this.#place[this.#place.length - 1] = "";
    const { value } = this.#read(node, at);
    if (typeof value !== "string") {
      const shown = isScalar(node) && node.source !== undefined ? node.source : "this key";
      this.#refuse(at, `Cannot use ${shown || "an empty key"} as a key: keys are texts`, "Put it in quotes");
      return `${shown}`;
    }
    if (value === "<<" && isScalar(node) && node.type === "PLAIN") {
      this.problems.add("recipe_syntax_invalid", at, "Cannot use the YAML merge key <<", {
        place: this.#place,
        hint: "Write the members out, or give the whole mapping as an alias",
      });
    }
    return value;
  }
}
