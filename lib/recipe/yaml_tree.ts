/**
 * The YAML library, run so that a text which cannot be a recipe is refused at once and with its position.
 */
import process from "node:process";
import { Composer, CST, type Document, Lexer, type Node, Parser } from "../contract/yaml_library.ts";
import { MAX_DEPTH } from "./limits.ts";
import type { ReadProblems } from "./read_problems.ts";

export { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from "../contract/yaml_library.ts";
export type { YAMLMap, YAMLSeq } from "../contract/yaml_library.ts";

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

/** What YAML calls non-printable, apart from tab, line feed, carriage return and next line. */
// deno-lint-ignore no-control-regex -- control characters are what is looked for
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;

/**
 * The tree of a text's one document; null for an empty one.
 *
 * @param problems gets the first error; what follows it tends to be its consequence
 * @throws SvcError `recipe_syntax_invalid` or `recipe_limit_exceeded`
 */
export function composeYaml(text: string, problems: ReadProblems): Node | null {
  const unprintable = text.search(UNPRINTABLE);
  if (unprintable >= 0) {
    problems.stop("recipe_syntax_invalid", unprintable, "Cannot read a control character in YAML", {
      hint: 'Write it as an escape in double quotes, such as "\\x07"',
    });
  }
  // The library prints its tokens when LOG_TOKENS or LOG_STREAM is set, and asking for a variable that is not granted
  // throws. It gets an empty environment.
  const environment = process.env;
  process.env = {};
  try {
    return composeTokens(text, problems);
  } finally {
    process.env = environment;
  }
}

function composeTokens(text: string, problems: ReadProblems): Node | null {
  const parser = new Parser(), composer = new Composer(OPTIONS);
  failAtFirstError(composer, problems);
  let document: Document | undefined;
  const compose = (tokens: Iterable<CST.Token>) => {
    for (const token of tokens) {
      if (token.type === "document") refuseDeepBlocks(token.value, problems);
      take(composer.next(token));
    }
  };
  const take = (documents: Iterable<unknown>) => {
    for (const found of documents as Iterable<Document>) {
      // Errors of the parser; those of the composer were thrown.
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
    compose(parser.next(lexeme));
  }
  compose(parser.end());
  take(composer.end(true, text.length));
  return document?.contents as Node | undefined ?? null;
}

type Where = number | [number, number] | { offset: number };

/** Left alone, the composer gathers every error, a million of them for some texts. */
function failAtFirstError(composer: Composer, problems: ReadProblems): void {
  let first: unknown;
  const onError = (where: Where, code: string, message: string, warning?: boolean) => {
    if (warning) return;
    // The library catches what is thrown and comes back with it.
    if (first !== undefined) throw first;
    const offset = typeof where === "number" ? where : Array.isArray(where) ? where[0] : where.offset;
    try {
      yamlError(problems, offset, code, message);
    } catch (error) {
      throw first = error;
    }
  };
  (composer as unknown as { onError: typeof onError }).onError = onError;
}

/** The composer works by recursion, so what is too deep must not reach it. */
function refuseDeepBlocks(root: CST.Token | undefined, problems: ReadProblems): void {
  let level = root === undefined ? [] : [root];
  for (let depth = 0; level.length > 0; depth++) {
    const inner: CST.Token[] = [];
    for (const token of level) {
      if (!("items" in token)) continue;
      if (depth >= MAX_DEPTH) problems.tooDeep(token.offset, []);
      for (const item of token.items) {
        if (item.key) inner.push(item.key);
        if (item.value) inner.push(item.value);
      }
    }
    level = inner;
  }
}

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
