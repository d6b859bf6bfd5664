import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { BITS, BITS_YAML, openTestServer } from "./support.ts";

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("saving keeps comments, gives the new tag, and refuses to write over what changed", async () => {
  await using server = await openTestServer();
  const file = join(server.folder, "recipes/bits.yaml");
  const read = await server.get("/api/recipe?path=recipes/bits.yaml");
  const tag = read.headers.get("etag")!;
  assert.equal(tag, `"${sha256Hex(BITS_YAML)}"`);
  assert.equal(read.json.file_sha256, tag.slice(1, -1));
  const recipe = { ...read.json.recipe, metadata: { seed: 8 } };
  const saved = await server.post("/api/recipe/save", { recipe, filename: "recipes/bits.yaml" }, { "if-match": tag });
  assert.equal(saved.status, 200, saved.text);
  const text = await Deno.readTextFile(file);
  assert.equal(text, BITS_YAML.replace("seed: 7", "seed: 8"));
  assert.equal(saved.headers.get("etag"), `"${sha256Hex(text)}"`);
  assert.equal(saved.json.path, "recipes/bits.yaml");

  const stale = await server.post("/api/recipe/save", { recipe: BITS, filename: "bits.yaml" }, { "if-match": tag });
  assert.deepEqual([stale.status, stale.json.code], [412, "stale_overwrite"]);
  assert.equal(stale.json.file_sha256, sha256Hex(text));
  const absent = await server.post("/api/recipe/save", { recipe: BITS, filename: "new.yaml" }, { "if-match": tag });
  assert.equal(absent.status, 412);
  assert.equal(await Deno.readTextFile(file), text);
});

Deno.test("a recipe that does not validate leaves the file as it was and nothing beside it", async () => {
  await using server = await openTestServer();
  const wrong = { ...BITS, steps: [{ id: "data", op: "source.random_bits", params: { bit_count: "many" } }] };
  const refused = await server.post("/api/recipe/save", { recipe: wrong, filename: "bits.yaml" });
  assert.deepEqual([refused.status, refused.json.code], [400, "recipe_invalid"]);
  assert.equal(await Deno.readTextFile(join(server.folder, "recipes/bits.yaml")), BITS_YAML);
  assert.deepEqual(names(join(server.folder, "recipes")), ["bits.yaml"]);
});

Deno.test("a new recipe gets a file named after it, in the form its extension says, and reads as what was sent", async () => {
  await using server = await openTestServer();
  const recipe = `{"name": "a study/1", "metadata": {"seed": 3, "gain": 2.0},
    "steps": [{"id": "data", "op": "source.random_bits", "params": {"bit_count": 64}}]}`;
  const saved = await server.post("/api/recipe/save", `{"recipe": ${recipe}}`);
  assert.equal(saved.json.path, "recipes/a_study_1.yaml", saved.text);
  assert.match(await Deno.readTextFile(join(server.folder, "recipes/a_study_1.yaml")), /gain: 2\.0/);
  await server.post("/api/recipe/save", `{"recipe": ${recipe}, "filename": "deep/er/one.json"}`);
  assert.match(await Deno.readTextFile(join(server.folder, "recipes/deep/er/one.json")), /"gain": 2\.0/);
  for (const path of ["recipes/a_study_1.yaml", "recipes/deep/er/one.json"]) {
    assert.match((await server.get(`/api/recipe?path=${path}`)).text, /"gain":2\.0/);
  }
  for (const filename of ["x.txt", ".hidden.yaml", "deep/.git/x.yaml", "deep/er", "bits.yaml/x.yaml", "con\nx.yaml"]) {
    const refused = await server.post("/api/recipe/save", { recipe: BITS, filename });
    assert.deepEqual([refused.status, refused.json.code], [403, "path_forbidden"], filename);
  }
});

Deno.test("of many who save over the same version, one wins and the others hear of it", async () => {
  await using server = await openTestServer({ threads: 2 });
  const tag = (await server.get("/api/recipe?path=recipes/bits.yaml")).headers.get("etag")!;
  const replies = await Promise.all(
    Array.from(
      { length: 12 },
      (_, seed) =>
        server.post("/api/recipe/save", { recipe: { ...BITS, metadata: { seed } }, filename: "bits.yaml" }, {
          "if-match": tag,
        }),
    ),
  );
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...new Array(11).fill(412)]);
  const winner = replies.find(({ status }) => status === 200)!;
  const now = await server.get("/api/recipe?path=recipes/bits.yaml");
  assert.equal(now.headers.get("etag"), winner.headers.get("etag"));
  assert.deepEqual(names(join(server.folder, "recipes")), ["bits.yaml"]);
});
