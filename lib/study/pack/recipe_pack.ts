/** Recipes as a pack: every file is a method, with a row for each point of its matrix. */
import { basename, dirname, relative } from "node:path";
import { refusal, SvcError } from "../../contract/error.ts";
import { sha256Json } from "../../contract/hash.ts";
import type { Registry } from "../../contract/registry.ts";
import { isObject, type JsonObject, type Value } from "../../contract/value.ts";
import { compileRecipe } from "../../recipe/compile.ts";
import type { Locate, RecipeDocument } from "../../recipe/types.ts";
import { recipeSpecs } from "../../research/specs.ts";

/** Id of an undeclared dataset or task. */
export const UNDECLARED = "undeclared";

/** A recipe file and its contents. */
export interface RecipeSource {
  /** Absolute path. */
  file: string;
  value: Value;
  locate: Locate;
}

/** Whether a document is a recipe instead of a pack. */
export const isRecipe = (value: unknown): boolean => isObject(value) && "steps" in value && !("recipes" in value);

/**
 * The pack of recipes: dataset, task and metrics are those that all recipes share; there are no baselines.
 * @returns the document; its paths start at the folder of the first file
 * @throws SvcError `recipe_invalid` with every diagnostic, `pack_invalid` if the recipes share no metric
 */
export function packOfRecipes(sources: readonly RecipeSource[], registry: Registry): JsonObject {
  const compiled = sources.map(({ file, value, locate }) => {
    const { effective, effective_sha256, diagnostics } = compileRecipe(value, { mode: "strict", registry, locate });
    if (effective === null) throw refusal("recipe_invalid", `Cannot use ${basename(file)} as a pack`, diagnostics);
    return { file, effective, sha256: effective_sha256, specs: recipeSpecs(effective) };
  });
  const [first, ...others] = compiled;
  const metrics = first.specs.metrics.filter(({ id, unit }) =>
    unit !== undefined && others.every(({ specs }) => specs.metrics.some((other) => other.id === id))
  ).map(({ id }) => id);
  if (metrics.length === 0) {
    throw new SvcError("pack_invalid", `Cannot benchmark ${names(compiled)}: the recipes share no metric`, {
      hint: "Declare the metrics in metadata.research.metrics",
    });
  }
  const shared = (kind: "dataset" | "task"): Value => ({ id: first.specs[kind]?.id ?? UNDECLARED });
  return {
    schema_version: 1,
    id: names(compiled, "_").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[^A-Za-z0-9]+/, "").slice(0, 100) || "recipe",
    version: sha256Json(compiled.map(({ sha256 }) => sha256)).slice(0, 12),
    name: names(compiled),
    dataset: shared("dataset"),
    task: shared("task"),
    metrics,
    recipes: compiled.map(({ file, effective }, index) => ({
      id: entryId(effective, compiled.slice(0, index)),
      label: effective.name,
      path: relative(dirname(first.file), file).replaceAll("\\", "/"),
    })),
  };
}

const names = (recipes: readonly { effective: RecipeDocument }[], joint = ", ") =>
  recipes.map(({ effective: { name } }) => name).join(joint);

/** The name of the recipe, with a number for a repeated one. */
function entryId({ name }: RecipeDocument, before: readonly { effective: RecipeDocument }[]): string {
  const id = name.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[^A-Za-z0-9]+/, "").slice(0, 90) || "recipe";
  const uses = before.filter(({ effective }) => effective.name === name).length;
  return uses === 0 ? id : `${id}-${uses + 1}`;
}
