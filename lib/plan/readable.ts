/** The readable part of a recipe, compiled or not, so that all problems are reported at once. */
import { Findings } from "../recipe/findings.ts";
import { normalizeRecipe } from "../recipe/normalize.ts";
import type { Compilation, RecipeDocument } from "../recipe/types.ts";

export interface Readable {
  /** The effective form, or the sparse one of a recipe that does not compile. */
  document: RecipeDocument;
  /** Refusals of the compiler; undefined after a successful compilation. */
  refused?: {
    /** Indices of steps with invalid parameters. */
    steps: Set<number>;
    profile: boolean;
  };
}

/** The document of a compilation; null when nothing is readable. */
export function readableRecipe({ raw, mode, normalized, effective, diagnostics }: Compilation): Readable | null {
  if (effective !== null) return { document: effective };
  const document = normalized ?? normalizeRecipe(raw, new Findings(mode))?.document;
  if (document === undefined) return null;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const steps = new Set(errors.flatMap(({ path }) => {
    const index = /^\$\.steps\[(\d+)\]\.params\b/.exec(path)?.[1];
    return index === undefined ? [] : [Number(index)];
  }));
  return { document, refused: { steps, profile: errors.some(({ path }) => path.startsWith("$.execution_profile")) } };
}
