/** Stored facts of shipped recipes: a list compiles only files of another digest, and says the same of the others. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { recipeFacts, storedFacts } from "../../../lib/api/recipe_facts.ts";
import { recipeFiles } from "../../../lib/recipe/recipe_files.ts";
import { open } from "../../../mod.ts";

Deno.test("the first list compiles no shipped recipe, and each changed file of the project once", async () => {
  const folder = await Deno.makeTempDir();
  await using svc = await open({ projectRoot: folder, stateDir: folder });
  const shipped = await svc.recipes.text("qam_awgn");
  await Deno.mkdir(join(folder, "recipes"));
  await Deno.writeTextFile(join(folder, "recipes/same.yaml"), shipped);
  await Deno.writeTextFile(join(folder, "recipes/mine.yaml"), shipped.replace("name: qam_awgn", "name: mine"));
  const compile = svc.recipes.compile.bind(svc.recipes), compiled: unknown[] = [];
  svc.recipes.compile = (recipe, options) => {
    compiled.push((recipe as { value: { name: unknown } }).value.name);
    return compile(recipe, options);
  };
  const rows = await svc.recipes.list();
  assert.deepEqual(compiled, ["mine"]);
  assert.deepEqual(await svc.recipes.list(), rows);
  assert.deepEqual(compiled, ["mine"]);
  await Deno.writeTextFile(join(folder, "recipes/mine.yaml"), shipped.replace("name: qam_awgn", "name: other"));
  const names = new Map((await svc.recipes.list()).map(({ path, name }) => [path, name]));
  assert.deepEqual(compiled, ["mine", "other"]);
  assert.equal(names.get("recipes/mine.yaml"), "other");
  assert.equal(names.get("recipes/same.yaml"), "qam_awgn");
});

Deno.test("stored facts are those of the recipe, and lead to the same readiness", async () => {
  const folder = await Deno.makeTempDir(), stored = await storedFacts();
  await using svc = await open({ projectRoot: folder, stateDir: folder });
  const rows = new Map((await svc.recipes.list()).map((row) => [row.path, row]));
  // With a dataset, a trained artifact and a named model.
  const wanted = /(segmentation_camvid|ofdm_channel_estimation_learned|text_bart_jscc|qam_awgn)\w*\.yaml$/;
  const files = recipeFiles(folder).filter(({ path }) => wanted.test(path));
  assert.ok(files.length >= 4, files.map(({ path }) => path).join());
  for (const { file, path } of files) {
    const source = await svc.recipes.read(file), { facts } = stored.get(source.sha256!)!;
    const present = recipeFacts(source, await svc.recipes.compile(source), await svc.registry());
    assert.equal(canonicalJson(facts as never), canonicalJson(present as never), path);
    const { id: _, path: __, place: ___, recipe_sha256: ____, template: _____, ...listed } = rows.get(path)!;
    assert.deepEqual(listed, await svc.recipes.overview(source), path);
  }
});
