/** A recipe named on the command line: a file, or `-` for standard input, with the overrides of `--set`. */
import { basename, dirname } from "node:path";
import { type Place, SvcError } from "../contract/error.ts";
import { sameValue } from "../contract/json.ts";
import type { Registry } from "../contract/registry.ts";
import { isObject, type Value } from "../contract/value.ts";
import { compileRecipe } from "../recipe/compile.ts";
import { applyOverrides } from "../recipe/overrides.ts";
import { decodeRecipeText, excerpt, readRecipeText, readTextFile } from "../recipe/read.ts";
import type { Compilation, CompileMode, Locate } from "../recipe/types.ts";
import type { CliContext } from "./context.ts";
import { didYouMean } from "../contract/nearest.ts";

export interface LoadedRecipe {
  file: string;
  raw: Value;
  locate: Locate;
}

/** Reads a recipe. @throws SvcError `recipe_not_found`, or what is wrong with its text */
export async function loadRecipe(context: CliContext, file: string, overrides: string[] = []): Promise<LoadedRecipe> {
  const name = file === "-" ? "<stdin>" : file;
  const text = file === "-" ? await readStandardInput() : await readText(file);
  context.excerpt = (location) => excerpt(text, location);
  const { value, locate } = readRecipeText(text, { file: name });
  if (overrides.length === 0) return { file: name, raw: value, locate };
  const raw = applyOverrides(value, overrides);
  // What --set changed does not stand in the text: a caret there would point at the value that was replaced.
  return {
    file: name,
    raw,
    locate: (at, part) => sameValue(place(value, at), place(raw, at)) ? locate(at, part) : undefined,
  };
}

/** The value at a place of a document, or undefined. */
function place(document: Value, parts: Place): Value | undefined {
  return parts.reduce<Value | undefined>((value, part) => {
    // An index is a text in a place that came from a JSON pointer.
    if (Array.isArray(value)) return value[Number(part)];
    return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, document);
}

/** All of standard input. @throws SvcError as a recipe file of these bytes */
export async function readStandardInput(): Promise<string> {
  return decodeRecipeText(new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer()), "<stdin>");
}

async function readText(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (error) {
    if (!(error instanceof SvcError && error.cause instanceof Deno.errors.NotFound)) throw error;
    throw new SvcError(error.code, error.message, { hint: await similarFiles(file) });
  }
}

async function similarFiles(file: string): Promise<string | null> {
  const folder = dirname(file);
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (/\.(ya?ml|json)$/.test(entry.name)) names.push(entry.name);
    }
  } catch {
    return `There is no folder ${folder}`;
  }
  return didYouMean(basename(file), names.sort()) ?? "Check the path";
}

/** Compiles a loaded recipe. */
export function compileLoaded(recipe: LoadedRecipe, registry: Registry, mode: CompileMode = "strict"): Compilation {
  return compileRecipe(recipe.raw, { mode, registry, locate: recipe.locate });
}

/** Compiles a loaded recipe and refuses an invalid one. @throws SvcError `recipe_invalid` with every diagnostic */
export function compileOrRefuse(recipe: LoadedRecipe, registry: Registry): Compilation & { status: "valid" } {
  const compilation = compileLoaded(recipe, registry);
  if (compilation.status === "invalid") {
    throw new SvcError("recipe_invalid", `Cannot compile ${recipe.file}`, { diagnostics: compilation.diagnostics });
  }
  return compilation as Compilation & { status: "valid" };
}
