/**
 * Recipes: files to read and save, and every view of a recipe without a run.
 * By hand: confined files, with ETag and If-Match.
 */
import type { JsonObject, Value } from "../../contract/value.ts";
import { z } from "../../contract/zod.ts";
import { AuthoredRecipe } from "../../api/authored_recipe.ts";
import { expansionOf, formsOf, recipes, VALIDATION } from "../../api/calls/recipes.ts";
import { RECIPE_FILE, routesOf } from "../call_routes.ts";
import { readRecipeAt } from "../recipe_file.ts";
import { saveRecipe } from "../recipe_save.ts";
import { Answer, get, post } from "../route.ts";
import { documentOf, OBJECT, RECIPE, refusals, reply } from "../schemas.ts";

const PATH = z.strictObject({ path: RECIPE_FILE });

export const recipeRoutes = [
  ...routesOf("recipes", recipes),
  get("/api/recipe", "A recipe file, decoded", {
    description: "file_sha256 is the ETag: send it as If-Match when saving.",
    stable: true,
    tool: { name: "recipes_show" },
    query: PATH,
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
  get("/api/recipe/matrix", "The matrix of a recipe file", {
    query: PATH,
    replies: {
      200: reply("The canonical matrix, or null", z.object({ canonical_matrix: OBJECT.nullable() })),
      ...refusals(400, 403, 404),
    },
    async thread({ query, session }) {
      const source = await readRecipeAt(session, query.path);
      const { canonical_matrix } = await expansionOf(await session.recipes.expand(source), source.file);
      return { canonical_matrix };
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
        }),
      ),
      ...refusals(400, 403, 412),
    },
    async thread({ body: { recipe: given, filename }, headers, session }) {
      const source = new AuthoredRecipe(given as Value);
      const { recipe, validation } = await formsOf(await session.recipes.validate(source));
      const options = { filename, name: recipe.name, ifMatch: headers["if-match"] };
      const { path, sha256: file_sha256 } = await saveRecipe(session, source, options);
      return new Answer({ status: "saved", path, recipe, validation, file_sha256 }, {
        headers: { etag: `"${file_sha256}"` },
      });
    },
  }),
] as const;
