import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { parseJson, prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { findTask } from "../../../lib/research/catalog.ts";
import { profileIds } from "../../../lib/plan/profiles.ts";
import packaged from "../../../lib/template/catalog.json" with { type: "json" };
import { findTemplate, packagedCatalog, readCatalog } from "../../../lib/template/catalog.ts";
import { startersSource } from "../../../lib/template/generate_starters.ts";
import { PACKAGED_STARTERS } from "../../../lib/template/source.ts";

const { templates } = packagedCatalog();
const RECIPES = new URL("../../../recipes/", import.meta.url);

Deno.test("the catalogue holds its rules: ids, orders, and one supported default for each of its tasks", () => {
  assert.equal(templates.length, 37);
  for (const { id, recipe_path, starter_resource, label, execution_profile } of templates) {
    assert.match(id, /^(?:ai_phy|semantic_comm)\.[a-z_]+\.[a-z0-9_]+$/);
    assert.equal(starter_resource, recipe_path.replace("recipes/", "recipe_starters/"), id);
    assert.match(label, /^[A-Z].*[^.]$/);
    assert.ok(profileIds().includes(execution_profile.id), execution_profile.id);
  }
  const tasks = new Set(templates.map(({ task_id }) => task_id));
  assert.equal(tasks.size, 21);
  for (const task of tasks) {
    const defaults = templates.filter((entry) => entry.task_id === task && entry.default);
    assert.deepEqual(defaults.map(({ status }) => status), ["supported"], task);
    assert.ok(findTask(task), `${task} is a task of the research catalogue`);
  }
  assert.deepEqual(templates.map(({ order }) => order), [...templates.map(({ order }) => order)].sort((a, b) => a - b));
  assert.equal(new Set(templates.map(({ label }) => label)).size, templates.length);
});

Deno.test("one binding ships, and it is canonical", () => {
  const bound = templates.filter(({ editor_bindings }) => editor_bindings !== undefined);
  assert.deepEqual(bound.map(({ id, editor_bindings }) => [id, editor_bindings]), [[
    "semantic_comm.image_reconstruction.default",
    { image_ids: { step_id: "data", op: "source.image_dataset", param: "image_ids" } },
  ]]);
});

Deno.test("the starters in the program are the files of the repository, and the catalogue knows each", async () => {
  const file = new URL("../../../lib/template/starters.json", import.meta.url);
  assert.equal(await Deno.readTextFile(file), startersSource(), "run deno task generate");
  const known = templates.map(({ starter_resource }) => starter_resource);
  for (const resource of Object.keys(PACKAGED_STARTERS)) assert.ok(known.includes(resource), resource);
});

Deno.test("nothing shipped is its own project override", () => {
  const shipped = [...Deno.readDirSync(RECIPES)].map(({ name }) => `recipes/${name}`);
  assert.ok(shipped.includes("recipes/quickstart.yaml"));
  assert.deepEqual(templates.filter(({ recipe_path }) => shipped.includes(recipe_path)), []);
});

Deno.test("every template has its starter", () => {
  for (const { id, starter_resource } of templates) assert.ok(String(starter_resource) in PACKAGED_STARTERS, id);
  assert.equal(Object.keys(PACKAGED_STARTERS).length, templates.length);
});

type Change = (entries: JsonObject[], catalog: JsonObject) => void;

const BAD: [name: string, change: Change, path: string, message: RegExp][] = [
  ["another schema version", (_, c) => c.schema_version = 2, "$.schema_version", /schema version/],
  ["no list", (_, c) => c.templates = null, "$.templates", /Missing list/],
  [
    "an entry that is no mapping",
    (e) => e.splice(1, 1, "x" as never),
    "$.templates[1]",
    /as a template/,
  ],
  ["an upper-case id", (e) => e[1].id = "Codec", "$.templates[1].id", /this id/],
  ["a repeated id", (e) => e[1].id = e[0].id, "$.templates[1].id", /id .* twice/],
  ["a repeated order", (e) => e[1].order = e[0].order, "$.templates[1].order", /order 10 twice/],
  ["a negative order", (e) => e[1].order = -1, "$.templates[1].order", /this order/],
  ["an order that is a float", (e) => e[1].order = 1.5, "$.templates[1].order", /this order/],
  ["an unknown field", (e) => e[1].lable = "x", "$.templates[1].lable", /field named lable/],
  ["an unknown status", (e) => e[1].status = "beta", "$.templates[1].status", /this status/],
  ["an unknown editor", (e) => e[1].editor = "form", "$.templates[1].editor", /this editor/],
  [
    "a recipe outside recipes/",
    (e) => e[1].recipe_path = "recipes/../a.yaml",
    "$.templates[1].recipe_path",
    /recipe_path/,
  ],
  [
    "a starter elsewhere",
    (e) => e[1].starter_resource = "/a.yaml",
    "$.templates[1].starter_resource",
    /starter_resource/,
  ],
  [
    "a profile without a version",
    (e) => e[1].execution_profile = { id: "a" },
    "$.templates[1].execution_profile",
    /profile/,
  ],
  ["a default that is a text", (e) => e[1].default = "yes", "$.templates[1].default", /this default/],
  ["an unsupported default", (e) => e[0].status = "experimental", "$.templates[0].default", /not supported/],
  ["a second default", (e) => e[1].default = true, "$.templates[1].default", /second default/],
  ["a task without a default", (e) => e[0].default = false, "$.templates", /without a default/],
  ["bindings that are a text", (e) => e[0].editor_bindings = "x", "$.templates[0].editor_bindings", /editor bindings/],
  [
    "a binding without its op",
    (e) => e[0].editor_bindings = { a: { step_id: "s", param: "p" } },
    "$.templates[0].editor_bindings.a",
    /binding a/,
  ],
  [
    "a nameless binding",
    (e) => e[0].editor_bindings = [{ step_id: "s" }],
    "$.templates[0].editor_bindings[0].name",
    /without a name/,
  ],
  [
    "a repeated binding",
    (e) => e[0].editor_bindings = [1, 2].map(() => ({ name: "a", step_id: "s", op: "o", param: "p" })),
    "$.templates[0].editor_bindings[1]",
    /name a twice/,
  ],
];

for (const [name, change, path, message] of BAD) {
  Deno.test(`a catalogue with ${name} is refused`, () => {
    const catalog = parseJson(prettyJson(packaged)) as JsonObject;
    change(catalog.templates as JsonObject[], catalog);
    assert.throws(() => readCatalog(catalog), (error) => {
      assert.ok(error instanceof SvcError);
      assert.equal(error.code, "template_catalog_invalid");
      const found = error.diagnostics.find((item) => item.path === path);
      assert.ok(found, JSON.stringify(error.diagnostics));
      assert.match(found.message, message);
      return true;
    });
  });
}

Deno.test("a list of named bindings becomes the map by name", () => {
  const catalog = parseJson(prettyJson(packaged)) as JsonObject;
  const [first] = catalog.templates as JsonObject[];
  first.editor_bindings = [{ name: "image_ids", step_id: "data", op: "source.image_dataset", param: "image_ids" }];
  (catalog.templates as JsonObject[]).reverse();
  assert.deepEqual(readCatalog(catalog), packagedCatalog(), "and the rows stand in their order");
});

Deno.test("an unknown template is answered with the nearest one", () => {
  assert.throws(() => findTemplate(packagedCatalog(), "semantic_comm.image_reconstruction.defualt"), {
    code: "template_not_found",
    hint: "Did you mean semantic_comm.image_reconstruction.default?",
  });
});
