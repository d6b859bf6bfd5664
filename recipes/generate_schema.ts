/** Writes `recipe.schema.json`, which editors find by the first line of the recipes beside it. */
import { prettyJson } from "../lib/contract/json.ts";
import { recipeSchema } from "../lib/plan/recipe_schema.ts";
import { createRegistry } from "../ops/registry.ts";

/** The generated file, by path from the root. */
export const generated = async (): Promise<Record<string, string>> => ({
  "recipes/recipe.schema.json": prettyJson(recipeSchema(await createRegistry())),
});
