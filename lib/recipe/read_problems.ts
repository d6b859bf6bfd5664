/** What is wrong with a text, gathered while it is read. */
import { type Diagnostic, diagnostic, type Place, SvcError } from "../contract/error.ts";
import { MAX_DEPTH } from "./limits.ts";
import type { Positions } from "./positions.ts";

/** A text with hundreds of problems is not a recipe; the first ones say so. */
const MAX_PROBLEMS = 20;

export class ReadProblems {
  readonly #found: Diagnostic[] = [];

  constructor(readonly positions: Positions) {}

  /** Notes a problem and goes on reading. */
  add(code: string, offset: number, message: string, more: { place?: Place; hint?: string } = {}): void {
    this.#found.push(diagnostic(code, more.place ?? [], message, {
      hint: more.hint ?? null,
      location: this.positions.at(offset),
    }));
    if (this.#found.length >= MAX_PROBLEMS) this.throwAny();
  }

  /** Notes a problem after which nothing can be read. */
  stop(code: string, offset: number, message: string, more: { place?: Place; hint?: string } = {}): never {
    this.add(code, offset, message, more);
    this.throwAny();
    throw new Error("unreachable");
  }

  tooDeep(offset: number, place: Place): never {
    return this.stop("recipe_limit_exceeded", offset, `Cannot read values nested deeper than ${MAX_DEPTH} levels`, {
      place: place.slice(0, 8),
    });
  }

  /** @throws SvcError with everything that was found; its code is that of the first problem */
  throwAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    throw new SvcError(first.code, first.message, { hint: first.hint, diagnostics: this.#found });
  }
}
