/** Recipes as callers have them: a JavaScript value, a text, or a file that was read. */
import { basename, dirname } from "node:path";
import { type Code, type Diagnostic, type Place, refusal, SvcError } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import { didYouMean } from "../contract/nearest.ts";
import { isObject, type Value } from "../contract/value.ts";
import { applyOverrides, choosesValue } from "../recipe/overrides.ts";
import { readLimited, readRecipeText, recipeFromValue } from "../recipe/read.ts";
import type { Locate } from "../recipe/types.ts";

export { decodeRecipeText } from "../recipe/read.ts";

/** A recipe that was read, with the way back to the lines of its text. */
export class AuthoredRecipe {
  constructor(
    readonly value: Value,
    /** Names the recipe in messages. */
    readonly file: string = "the recipe",
    readonly locate?: Locate,
    /** The text that {@link locate} points into. */
    readonly text?: string,
    /** Digest of the bytes of its file. */
    readonly sha256?: string,
    /** The recipe with its whole matrix, where overrides chose values of dimensions: a single remaining point is meant. */
    readonly whole?: Value,
  ) {}

  /** @throws SvcError `code` with the diagnostics */
  refuse(code: Code, verb: string, diagnostics: Diagnostic[]): never {
    throw refusal(code, `Cannot ${verb} ${this.file}`, diagnostics);
  }
}

/**
 * A recipe as a script has it: a JavaScript value, the text of a YAML or JSON file, or what `read` returned.
 *
 * In a JavaScript value integral numbers are integers; write `float(6)` for `6.0`.
 */
export type RecipeInput = string | Record<string, unknown> | AuthoredRecipe;

/** @throws SvcError where a text cannot be read */
export function authored(recipe: RecipeInput): AuthoredRecipe {
  if (recipe instanceof AuthoredRecipe) return recipe;
  return typeof recipe === "string" ? parseRecipe(recipe) : new AuthoredRecipe(recipeFromValue(recipe));
}

/**
 * Reads the text of a recipe.
 * @param options `file` names it in messages; `set` are overrides: `step.param=value`, `dimension=value`
 * @throws SvcError findings about the text or the overrides
 */
export function parseRecipe(
  text: string,
  { file = "<recipe>", set = [], sha256 }: { file?: string; set?: readonly string[]; sha256?: string } = {},
): AuthoredRecipe {
  const { value, locate } = readRecipeText(text, { file });
  if (set.length === 0) return new AuthoredRecipe(value, file, locate, text, sha256);
  const changed = applyOverrides(value, set);
  // An overridden value is not in the text: no line shows it.
  const located: Locate = (at, part) => sameValue(place(value, at), place(changed, at)) ? locate(at, part) : undefined;
  const whole = set.some(choosesValue) ? applyOverrides(value, set.filter((one) => !choosesValue(one))) : undefined;
  return new AuthoredRecipe(changed, file, located, text, undefined, whole);
}

/**
 * Reads the bytes of a recipe file: a path, or the name of a recipe of the project or the program.
 * @param name in messages
 * @throws SvcError `recipe_not_found` with the nearest name
 */
export async function recipeBytes(file: string, projectRoot: string, name = file): Promise<Uint8Array> {
  try {
    return await readLimited(file, name);
  } catch (error) {
    if (!(error instanceof SvcError && error.cause instanceof Deno.errors.NotFound)) throw error;
    const { locateRecipe, recipeNames } = await import("../recipe/recipe_files.ts");
    const known = locateRecipe(file, projectRoot);
    if (known !== null) return await readLimited(known.file, name);
    const hint = didYouMean(file.replace(/^recipes\/|\.(ya?ml|json)$/g, ""), recipeNames(projectRoot)) ??
      (/[/.]/.test(file) ? similarFile(file) : "svc recipe list lists the recipes");
    throw new SvcError(error.code, error.message, { hint });
  }
}

function similarFile(file: string): string {
  const folder = dirname(file);
  try {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => /\.(ya?ml|json)$/.test(name));
    return didYouMean(basename(file), names.sort()) ?? "Check the path";
  } catch {
    return `There is no folder ${folder}`;
  }
}

/** The value at a place of a document, or undefined. */
function place(document: Value, parts: Place): Value | undefined {
  return parts.reduce<Value | undefined>((value, part) => {
    // A place from a JSON pointer has its indices as text.
    if (Array.isArray(value)) return value[Number(part)];
    return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, document);
}
