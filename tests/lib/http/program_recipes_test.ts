import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT_PATH } from "../../support/paths.ts";
import { openTestServer } from "./support.ts";

Deno.test("recipes of the program are listed, opened, and saved as a copy of the project", async () => {
  await using server = await openTestServer();
  const path = "recipes/quickstart.yaml";
  const rowOf = async (wanted: string) =>
    (await server.get("/api/recipes")).json.recipes.filter((row: { path: string }) => row.path === wanted);
  const listed = await rowOf(path);
  assert.deepEqual(listed.map(({ id, place, status }: Record<string, string>) => [id, place, status]), [
    ["quickstart", "program", "valid"],
  ]);
  const opened = await server.get(`/api/recipe?path=${path}`);
  assert.equal(opened.json.recipe.name, "quickstart");
  const original = await Deno.readTextFile(join(ROOT_PATH, path));

  const stale = await server.post("/api/recipe/save", { recipe: opened.json.recipe, filename: "quickstart.yaml" }, {
    "if-match": '"0"',
  });
  assert.deepEqual([stale.status, stale.json.code], [412, "stale_overwrite"]);
  const recipe = { ...opened.json.recipe, description: "mine" };
  const saved = await server.post("/api/recipe/save", { recipe, filename: "quickstart.yaml" }, {
    "if-match": opened.headers.get("etag")!,
  });
  assert.equal(saved.status, 200, saved.text);
  const copy = await Deno.readTextFile(join(server.folder, path));
  assert.ok(copy.includes("# Sender: images"), "the comments of the program's recipe stay");
  assert.ok(copy.includes("description: mine"));
  assert.equal(await Deno.readTextFile(join(ROOT_PATH, path)), original);
  assert.deepEqual((await rowOf(path)).map(({ place, description }: Record<string, string>) => [place, description]), [
    ["project", "mine"],
  ]);
});

Deno.test("a path of the program's recipes cannot leave them", async () => {
  await using server = await openTestServer();
  for (const path of ["recipes/../deno.json", "recipes/nothing.yaml", "recipes/../recipes/quickstart.yaml"]) {
    const { status } = await server.get(`/api/recipe?path=${encodeURIComponent(path)}`);
    assert.ok([403, 404].includes(status), `${path} ${status}`);
  }
});
