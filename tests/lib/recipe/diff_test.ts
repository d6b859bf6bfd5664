import assert from "node:assert/strict";
import { float, type Value } from "../../../lib/contract/value.ts";
import { diffRecipes } from "../../../lib/recipe/diff.ts";
import { dice, edited, SHIPPED } from "./_edits.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";

const step = (id: string, params: Value = {}): Value => ({ id, op: `test.${id}`, params });
const recipe = (...steps: Value[]): Value => ({ name: "demo", steps });
const changes = (a: Value, b: Value) => diffRecipes(a, b).changes;

Deno.test("equal recipes have no changes, whatever the order of their keys", () => {
  assert.deepEqual(diffRecipes({ a: 1, b: [float(2)] }, { b: [float(2)], a: 1 }), {
    schema_version: 1,
    equal: true,
    changes: [],
    warnings: [],
  });
});

Deno.test("another name is a warning where derived seeds depend on it", () => {
  const warned = (a: Value, b: Value) =>
    diffRecipes({ name: "a", metadata: a }, { name: "b", metadata: b }).warnings.map((
      { code, path, hint },
    ) => [code, path, hint]);
  const expected = [
    "derived_seeds_renamed",
    "$.name",
    "Set metadata.seed_namespace to a in the second recipe to keep the noise",
  ];
  assert.deepEqual(warned({ seed: 3 }, { seed: 3 }), [expected]);
  assert.deepEqual(warned({ seed: 3 }, { seed: 3, seed_namespace: "a" }), []);
  assert.deepEqual(warned({ seed: 3 }, { seed: 4 }), []);
  assert.deepEqual(warned({}, {}), []);
});

Deno.test("numbers are typed, and the smallest difference is named", () => {
  assert.deepEqual(changes(recipe(step("a", { x: 6, y: { z: 1 } })), recipe(step("a", { x: float(6), y: { w: 2 } }))), [
    { kind: "changed", path: "$.steps[0].params.x", step_id: "a", a: 6, b: float(6) },
    { kind: "removed", path: "$.steps[0].params.y.z", step_id: "a", a: 1 },
    { kind: "added", path: "$.steps[0].params.y.w", step_id: "a", b: 2 },
  ]);
  assert.deepEqual(changes({ name: "a" }, { name: null }), [{ kind: "changed", path: "$.name", a: "a", b: null }]);
});

Deno.test("steps are known by their ids: added, removed, and moved as few as possible", () => {
  const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((id) => step(id));
  assert.deepEqual(changes(recipe(a, b, c, d), recipe(b, c, d, a)), [
    { kind: "moved", path: "$.steps[3]", step_id: "a", a: 0, b: 3 },
  ]);
  assert.deepEqual(changes(recipe(a, b, c), recipe(a, e, c, step("d", { x: 1 }))), [
    { kind: "removed", path: "$.steps[1]", step_id: "b", a: b },
    { kind: "added", path: "$.steps[1]", step_id: "e", b: e },
    { kind: "added", path: "$.steps[3]", step_id: "d", b: step("d", { x: 1 }) },
  ]);
  // A step may move and change at once.
  assert.deepEqual(changes(recipe(a, b, c), recipe(c, a, step("b", { x: 1 }))).map(({ kind, path }) => [kind, path]), [
    ["moved", "$.steps[0]"],
    ["added", "$.steps[2].params.x"],
  ]);
});

Deno.test("steps without ids of their own are compared as a whole", () => {
  const list = changes(recipe({ op: "x" }), recipe({ op: "y" }));
  assert.deepEqual(list.map(({ kind, path }) => [kind, path]), [["changed", "$.steps"]]);
});

Deno.test("two recipes are equal exactly when their canonical texts are", () => {
  const roll = dice(5);
  for (let round = 0; round < 200; round++) {
    const [file, text] = SHIPPED[roll(SHIPPED.length)];
    const value = readRecipeText(text, { file }).value, other = edited(value, roll);
    assert.equal(diffRecipes(value, other).equal, canonicalJson(value) === canonicalJson(other));
  }
});
