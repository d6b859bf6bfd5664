/** Collects the problems of a text during reading. */
import { type Code, type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { MAX_DEPTH } from "./limits.ts";
import type { Positions } from "./positions.ts";

/** Reading stops after this number of problems. */
const MAX_PROBLEMS = 20;

export class ReadProblems {
  readonly #found: Diagnostic[] = [];

  constructor(readonly positions: Positions) {}

  /** Records a problem; reading continues. */
  add(code: Code, offset: number, message: string, more: { place?: Place; hint?: string } = {}): void {
    this.#found.push(diagnostic(code, more.place ?? [], message, {
      hint: more.hint ?? null,
      location: this.positions.at(offset),
    }));
    if (this.#found.length >= MAX_PROBLEMS) this.throwAny();
  }

  /** Records a problem and ends reading. */
  stop(code: Code, offset: number, message: string, more: { place?: Place; hint?: string } = {}): never {
    this.add(code, offset, message, more);
    this.throwAny();
    throw new Error("unreachable");
  }

  /** Records the second use of a key. @param first offset of its first use */
  duplicateKey(name: string, offset: number, first: number, place: Place): void {
    this.add("recipe_duplicate_key", offset, `Cannot use the key ${JSON.stringify(name)} twice`, {
      place,
      hint: `It is already on line ${this.positions.at(first).line}`,
    });
  }

  syntax(offset: number, message: string, hint?: string): never {
    return this.stop("recipe_syntax_invalid", offset, message, { hint });
  }

  tooDeep(offset: number, place: Place = []): never {
    return this.stop("recipe_limit_exceeded", offset, `Cannot read values nested deeper than ${MAX_DEPTH} levels`, {
      place: place.slice(0, 8),
    });
  }

  /** @throws SvcError with all problems; its code is that of the first */
  throwAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    throw new SvcError(first.code, first.message, { hint: first.hint, diagnostics: this.#found });
  }
}
