/**
 * Recipe, effective recipe, plan: stored for every shipped recipe, so that whatever changes them is a diff to read.
 *
 * Digests of source files stay out, for they change with every edit of the code, and so do those of contracts, which
 * change with every word of a description; what a contract means for a recipe stands in its effective form. After a change
 * that is meant: UPDATE_GOLDEN=1 deno test -A tests/golden
 */
import assert from "node:assert/strict";
import { prettyJson } from "../../lib/contract/json.ts";
import { isObject, type JsonObject } from "../../lib/contract/value.ts";
import { planRecipe } from "../../lib/plan/planner.ts";
import type { ExecutionPlan } from "../../lib/plan/types.ts";
import { compileRecipe } from "../../lib/recipe/compile.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { createRegistry } from "../../ops/registry.ts";

const RECIPES = new URL("../../recipes/", import.meta.url), STORED = new URL("stored/", import.meta.url);
const UPDATE = Deno.env.get("UPDATE_GOLDEN") === "1";

/** Every shipped recipe, by its path below `recipes/`. */
const NAMES = ["", "recipe_starters/"].flatMap((folder) =>
  [...Deno.readDirSync(new URL(folder || "./", RECIPES))]
    .filter(({ name }) => name.endsWith(".yaml")).map(({ name }) => folder + name.slice(0, -".yaml".length))
).sort();
/** File names are unique over both folders. */
const fileOf = (name: string) => new URL(`${name.split("/").pop()}.json`, STORED);

const VOLATILE = ["source_sha256", "implementation_identity", "binding_sha256", "operation_contract_sha256"];

/** A document without the members that change with code and wording. */
function lasting(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => !VOLATILE.includes(key))
      .map(([key, item]) => [key, isObject(item) ? lasting(item) : item]),
  );
}

function planned({ runner, recipe, steps, resources: { per_step: _, ...resources } }: ExecutionPlan): JsonObject {
  return { runner, recipe, steps: steps.map(lasting), resources };
}

async function golden(name: string): Promise<string> {
  const registry = await createRegistry();
  const { value, locate } = readRecipeText(await Deno.readTextFile(new URL(`${name}.yaml`, RECIPES)), { file: name });
  const compilation = compileRecipe(value, { mode: "strict", registry, locate });
  const result = await planRecipe(compilation, { registry, locate, usePlanCache: false });
  assert.equal(result.status, "planned", JSON.stringify(result.diagnostics));
  if (result.status !== "planned") throw new Error("unreachable");
  const { authored_sha256, effective_sha256, seed_policy } = compilation;
  return prettyJson({
    authored_sha256,
    effective_sha256,
    seed_policy,
    effective: result.recipe,
    plan: planned(result.plan),
  });
}

for (const name of NAMES) {
  Deno.test(`${name}: effective recipe and plan are the stored ones`, async () => {
    const text = await golden(name);
    if (UPDATE) await Deno.writeTextFile(fileOf(name), text);
    const stored = await Deno.readTextFile(fileOf(name)).catch(() =>
      assert.fail(`${name} is not stored: UPDATE_GOLDEN=1`)
    );
    assert.equal(text, stored);
  });
}

Deno.test("every stored plan belongs to a shipped recipe", async () => {
  const wanted = NAMES.map((name) => fileOf(name).href);
  assert.equal(new Set(wanted).size, NAMES.length);
  for (const { name } of Deno.readDirSync(STORED)) {
    const file = new URL(name, STORED);
    if (UPDATE && !wanted.includes(file.href)) await Deno.remove(file);
    else assert.ok(wanted.includes(file.href), `${name} has no recipe any more`);
  }
});
