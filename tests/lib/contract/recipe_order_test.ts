import assert from "node:assert/strict";
import { inOrder } from "../../../lib/contract/recipe_order.ts";

Deno.test("a recipe is written name first, and its steps id and operation first, with equal values", () => {
  const recipe = {
    description: "a link",
    metadata: { seed: 1 },
    name: "link",
    own: true,
    steps: [{ inputs: { bits: "data.bits" }, id: "a", params: { b: 1, a: 2 }, op: "x.y" }, "not a step"],
    schema_version: 1,
  };
  const ordered = inOrder(recipe);
  assert.deepEqual(ordered, recipe);
  assert.deepEqual(Object.keys(ordered), ["own", "schema_version", "name", "metadata", "steps", "description"]);
  const [step] = ordered.steps as { params: object }[];
  assert.deepEqual(Object.keys(step), ["id", "op", "params", "inputs"]);
  assert.deepEqual(Object.keys(step.params), ["b", "a"], "parameters keep their order");
  assert.deepEqual(inOrder({ name: "no steps" }), { name: "no steps" });
});
