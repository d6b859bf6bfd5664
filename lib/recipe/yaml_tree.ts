/**
 * The YAML library, run so that a text which cannot be a recipe is refused at once and with its position. This is the
 * one place that names it.
 */
import process from "node:process";
import { Composer, CST, type Document, Lexer, type Node, Parser } from "npm:yaml@^2.9.1";
import { MAX_DEPTH } from "./limits.ts";
import type { ReadProblems } from "./read_problems.ts";

export { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from "npm:yaml@^2.9.1";
export type { YAMLMap, YAMLSeq } from "npm:yaml@^2.9.1";

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

/**
 * The tree of a text's one document; null for an empty one.
 *
 * @param problems gets the first error; everything after it tends to be its consequence
 * @throws SvcError `recipe_syntax_invalid` or `recipe_limit_exceeded`
 */
export function composeYaml(text: string, problems: ReadProblems): Node | null {
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
    return document?.contents ?? null;
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
