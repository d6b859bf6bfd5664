/**
 * Recipes: files to read and save, and every view of a recipe without a run.
 * By hand: files with an ETag for If-Match.
 */
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { AuthoredRecipe } from "../../api/authored_recipe.ts";
import { warned } from "../../api/call.ts";
import { formsOf, recipes, VALIDATION } from "../../api/calls/recipes.ts";
import { RECIPE_FILE, routesOf } from "../call_routes.ts";
import { readRecipeAt } from "../recipe_file.ts";
import { saveRecipe } from "../recipe_save.ts";
import { Answer, get, post } from "../route.ts";
import { DIAGNOSTIC, documentOf, OBJECT, RECIPE, refusals, reply } from "../schemas.ts";

export const recipeRoutes = [
  ...routesOf("recipes", recipes),
  get("/api/recipe", "A recipe file, decoded", {
    description: "file_sha256 is the ETag: send it as If-Match when saving.",
    stable: true,
    tool: { name: "recipes_show" },
    query: z.strictObject({ path: RECIPE_FILE }),
    replies: {
      200: reply(
        "The authored recipe",
        z.object({ path: z.string(), recipe: documentOf<JsonObject>(z.unknown()), file_sha256: z.string() }),
      ),
      ...refusals(400, 403, 404),
    },
    async thread({ query: { path }, session }) {
      const { value, sha256 } = await readRecipeAt(session, path);
      return new Answer({ path, recipe: value, file_sha256: sha256 }, { headers: { etag: `"${sha256}"` } });
    },
  }),
  post("/api/recipe/save", "Save a valid recipe in one step; comments of the file stay", {
    description: "With If-Match, a file that changed since it was read is not overwritten (412).",
    tool: { name: "recipes_save", destructive: true },
    body: z.strictObject({
      recipe: RECIPE,
      filename: z.string().optional().describe("in recipes/; the recipe's name when left out"),
    }),
    replies: {
      200: reply(
        "The file that holds the recipe",
        z.object({
          status: z.enum(["saved"]),
          path: z.string(),
          recipe: OBJECT,
          validation: VALIDATION,
          file_sha256: z.string(),
          warnings: z.array(DIAGNOSTIC),
        }),
      ),
      ...refusals(400, 403, 412),
    },
    async thread({ body: { recipe: given, filename }, headers, session }) {
      const source = new AuthoredRecipe(given as Value);
      const valid = await session.recipes.validate(source), { recipe, validation } = await formsOf(valid);
      const options = { filename, name: recipe.name, ifMatch: headers["if-match"] };
      const { path, sha256: file_sha256 } = await saveRecipe(session, source, options);
      const document = warned(recipes.validate, valid, { status: "saved", path, recipe, validation, file_sha256 });
      return new Answer(document, { headers: { etag: `"${file_sha256}"` } });
    },
  }),
] as const;
