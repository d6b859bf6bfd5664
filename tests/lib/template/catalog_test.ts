import assert from "node:assert/strict";
import { z } from "../../../lib/contract/zod.ts";
import { findTask } from "../../../lib/research/catalog.ts";
import { profileIds } from "../../../lib/plan/profiles.ts";
import packaged from "../../../lib/template/catalog.json" with { type: "json" };
import { findTemplate, packagedCatalog } from "../../../lib/template/catalog.ts";
import { startersSource } from "../../../lib/template/generate_starters.ts";
import { PACKAGED_STARTERS } from "../../../lib/template/source.ts";

const { templates } = packagedCatalog();
const ENTRY = z.strictObject({
  id: z.string().regex(/^(?:ai_phy|semantic_comm)\.[a-z_]+\.[a-z0-9_]+$/),
  label: z.string().regex(/^[A-Z].*[^.]$/),
  task_id: z.string(),
  execution_profile: z.strictObject({ id: z.enum(profileIds()), version: z.int() }),
  editor: z.enum(["graph", "image", "task", "text"]),
  recipe_path: z.string().regex(/^recipes\/[A-Za-z0-9_-]+\.yaml$/),
  starter_resource: z.string().regex(/^recipe_starters\/[A-Za-z0-9_-]+\.yaml$/),
  order: z.int().nonnegative(),
  default: z.boolean(),
  status: z.enum(["supported", "experimental", "planned"]),
  editor_bindings: z.record(z.string(), z.strictObject({ step_id: z.string(), op: z.string(), param: z.string() }))
    .optional(),
});
const CATALOG = z.strictObject({ schema_version: z.literal(1), templates: z.array(ENTRY) });
const RECIPES = new URL("../../../recipes/", import.meta.url);

Deno.test("the catalogue holds its rules: ids, orders, and one supported default for each of its tasks", () => {
  assert.equal(templates.length, 41);
  assert.deepEqual(CATALOG.parse(packaged), packaged);
  for (const { id, recipe_path, starter_resource } of templates) {
    assert.equal(starter_resource, recipe_path.replace("recipes/", "recipe_starters/"), id);
  }
  const tasks = new Set(templates.map(({ task_id }) => task_id));
  assert.equal(tasks.size, 21);
  for (const task of tasks) {
    const defaults = templates.filter((entry) => entry.task_id === task && entry.default);
    assert.deepEqual(defaults.map(({ status }) => status), ["supported"], task);
    assert.ok(findTask(task), `${task} is a task of the research catalogue`);
  }
  assert.deepEqual(templates.map(({ order }) => order), [...templates.map(({ order }) => order)].sort((a, b) => a - b));
  for (const key of ["id", "label", "order"]) {
    assert.equal(new Set(templates.map((entry) => entry[key])).size, templates.length, `a ${key} is repeated`);
  }
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

Deno.test("an unknown template is answered with the nearest one", () => {
  assert.throws(() => findTemplate(packagedCatalog(), "semantic_comm.image_reconstruction.defualt"), {
    code: "template_not_found",
    hint: "Did you mean semantic_comm.image_reconstruction.default?",
  });
});
