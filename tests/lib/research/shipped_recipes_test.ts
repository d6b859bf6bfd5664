/** The recipes that come with the program name their research as the catalogue does. */
import assert from "node:assert/strict";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { checkResearch, declaredTask, recipeSpecs } from "../../../lib/research/specs.ts";
import { validateResearch } from "../../../lib/research/validate.ts";
import { createRegistry } from "../../../ops/registry.ts";

const FOLDERS = ["../../../recipes/", "../../../recipes/recipe_starters/"].map((path) =>
  new URL(path, import.meta.url)
);

Deno.test("shipped recipes pass strictly, and declare what they are scored on", async (t) => {
  const registry = await createRegistry();
  const files = FOLDERS.flatMap((folder) =>
    [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".yaml")).map(({ name }) => new URL(name, folder))
  );
  assert.ok(files.length > 4);
  for (const file of files) {
    await t.step(file.pathname.slice(file.pathname.indexOf("recipes/")), () => {
      const { value } = readRecipeText(Deno.readTextFileSync(file), { file: file.pathname });
      // A starter may use operations that this program does not have yet: its authored form is checked then.
      const { normalized, effective } = compileRecipe(value, { mode: "strict", registry });
      const recipe = effective ?? normalized!;
      assert.deepEqual(checkResearch(recipe), []);
      assert.deepEqual(validateResearch(recipe, { strict: true }), { errors: [], warnings: [] });
      const { task, dataset, metrics } = recipeSpecs(recipe);
      assert.ok(task !== null && dataset !== null && (metrics as unknown[]).length > 0);
      assert.ok(declaredTask(recipe));
    });
  }
});
