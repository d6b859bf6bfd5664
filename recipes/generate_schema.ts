/**
 * Writes `recipe.schema.json`, which editors find by the first line of the recipes beside it.
 *
 *     deno run -A recipes/generate_schema.ts [--check]
 */
import { prettyJson } from "../lib/contract/json.ts";
import { recipeSchema } from "../lib/plan/recipe_schema.ts";
import { createRegistry } from "../ops/registry.ts";

if (import.meta.main) {
  const path = new URL("./recipe.schema.json", import.meta.url);
  const text = prettyJson(recipeSchema(await createRegistry()));
  if (!Deno.args.includes("--check")) await Deno.writeTextFile(path, text);
  else if (await Deno.readTextFile(path).catch(() => "") !== text) {
    console.error("recipes/recipe.schema.json is not what its generator writes; run deno task generate");
    Deno.exit(1);
  }
}
