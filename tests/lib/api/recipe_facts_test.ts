/** Stored facts of shipped recipes: a list compiles only files of another digest, and says the same of the others. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { recipes } from "../../../lib/api/calls/recipes.ts";
import { recipeFacts, storedFacts } from "../../../lib/api/recipe_facts.ts";
import { scaffoldFiles } from "../../../lib/adapter/scaffold.ts";
import { readRecipeAt } from "../../../lib/http/recipe_file.ts";
import { recipeFiles, recipesBeside } from "../../../lib/recipe/recipe_files.ts";
import { open } from "../../../mod.ts";

Deno.test("the first list compiles no shipped recipe, and each changed file of the project once", async () => {
  const folder = await Deno.makeTempDir();
  await using svc = await open({ projectRoot: folder, stateDir: folder });
  const shipped = await svc.recipes.text("qam_awgn");
  await Deno.mkdir(join(folder, "recipes"));
  await Deno.writeTextFile(join(folder, "recipes/same.yaml"), shipped);
  await Deno.writeTextFile(join(folder, "recipes/mine.yaml"), shipped.replace("name: qam_awgn", "name: mine"));
  const call = recipes.compile as { run: typeof recipes.compile.run }, { run } = call, compiled: unknown[] = [];
  using _restored = { [Symbol.dispose]: () => void (call.run = run) };
  call.run = (core, input, means) => {
    compiled.push((input.recipe as { value: { name: unknown } }).value.name);
    return run(core, input, means);
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

Deno.test("the recipes beside own operations are listed, and no other files outside recipes/", async () => {
  const folder = await Deno.makeTempDir();
  await using shipped = await open({ projectRoot: folder, stateDir: folder });
  const text = await shipped.recipes.text("qam_awgn");
  await Deno.mkdir(join(folder, "my-amp"));
  for (const path of ["limiter.yaml", "other.yaml", "my-amp/recipe.yaml"]) {
    await Deno.writeTextFile(join(folder, path), text);
  }
  const beside = recipesBeside({
    operations: [pathToFileURL(join(folder, "limiter.ts")).href],
    adapters: [{ folder: join(folder, "my-amp") }],
  }, folder);
  assert.deepEqual(beside.map(({ path }) => path), ["limiter.yaml", "my-amp/recipe.yaml"]);
  assert.deepEqual(recipesBeside({ operations: ["https://example.org/limiter.ts", "none.ts"] }, folder), []);
  assert.deepEqual(
    recipesBeside({ operations: [join(folder, "limiter.ts")] }, join(folder, "my-amp"))[0].path.split("/").at(-1),
    "limiter.yaml",
  );
  const adapter = await scaffoldFiles("operation", "my-op");
  await Deno.mkdir(join(folder, "my-op"));
  for (const [path, text] of Object.entries(adapter.files)) await Deno.writeTextFile(join(folder, "my-op", path), text);
  await using svc = await open({
    projectRoot: folder,
    stateDir: folder,
    adapters: [{ folder: join(folder, "my-op") }],
  });
  assert.deepEqual((await svc.system.operations()).filter(({ own }) => own).map(({ id }) => id), ["my_op.clip"]);
  const row = (await svc.recipes.list()).find(({ path }) => path === "my-op/recipe.yaml");
  assert.equal(row?.status, "valid", JSON.stringify(row?.diagnostics));
  assert.equal((await readRecipeAt(svc, "my-op/recipe.yaml")).file, "my-op/recipe.yaml");
  await assert.rejects(readRecipeAt(svc, "other.yaml"), { code: "path_forbidden" });
  await assert.rejects(readRecipeAt(svc, "my-amp/recipe.yaml"), { code: "path_forbidden" });
});
