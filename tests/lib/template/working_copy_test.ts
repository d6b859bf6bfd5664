import assert from "node:assert/strict";
import { cloneValue, type JsonObject } from "../../../lib/contract/value.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import type { RecipeDocument } from "../../../lib/recipe/types.ts";
import { instantiateTemplate } from "../../../lib/template/instantiate.ts";
import { replaceWorkingCopy } from "../../../lib/template/working_copy.ts";
import { CODEC, inProject, PROTECTED, registry, TEXTS } from "./_setup.ts";

const instance = async (id: string): Promise<RecipeDocument> => {
  let recipe!: RecipeDocument;
  await inProject({}, async (options) => {
    ({ recipe } = await instantiateTemplate(id, {}, options));
  });
  return recipe;
};

const authored = (recipe: RecipeDocument): RecipeDocument => ({
  ...recipe,
  name: "my_study",
  description: "what I want to know",
  suite: { id: "s", version: "1" },
  metadata: { ...recipe.metadata, seed: 99, experiment_seed: 5, seed_namespace: "paired", note: "mine" },
  steps: [...recipe.steps, { id: "extra", op: "metrics.image_delivery_status", params: {}, inputs: {} }],
});

Deno.test("another template brings its whole graph; name, seeds, protocol and notes of the author stay", async () => {
  const [previous, next] = [await instance(PROTECTED), await instance(TEXTS)];
  const current = authored(previous);
  const before = cloneValue(current);
  const replaced = replaceWorkingCopy(current, next, previous);
  assert.deepEqual(replaced.steps, next.steps);
  assert.deepEqual(replaced.execution_profile, next.execution_profile);
  assert.equal(replaced.name, "my_study");
  assert.equal(replaced.description, "what I want to know");
  assert.deepEqual(replaced.suite, { id: "s", version: "1" });
  const { seed, experiment_seed, seed_namespace, note, ...rest } = replaced.metadata;
  assert.deepEqual([seed, experiment_seed, seed_namespace, note], [99, 5, "paired", "mine"]);
  // The matrix, the task and the provenance of the old graph are gone with it.
  const { seed: _seed, ...fresh } = next.metadata;
  assert.deepEqual(rest, fresh);
  assert.equal(rest.matrix, undefined);
  assert.equal(((rest.research as JsonObject).task as JsonObject).id, "text_semantic_similarity");
  assert.equal((rest.template_provenance as JsonObject).template_id, TEXTS);
  assert.equal(compileRecipe(replaced, { mode: "strict", registry }).status, "valid");
  assert.deepEqual(current, before, "the working copy is left alone");
});

Deno.test("what the author did not change follows the template", async () => {
  const [previous, next] = [await instance(PROTECTED), await instance(CODEC)];
  assert.deepEqual(replaceWorkingCopy(previous, next, previous), next);
  const reseeded = { ...previous, metadata: { ...previous.metadata, seed: 7 } };
  assert.deepEqual(replaceWorkingCopy(reseeded, next, previous), { ...next, metadata: { ...next.metadata, seed: 7 } });
});

Deno.test("of a copy whose beginning is unknown every name and protocol field counts as the author's", async () => {
  const [current, next] = [await instance(PROTECTED), await instance(CODEC)];
  const replaced = replaceWorkingCopy(current, next);
  assert.equal(replaced.name, current.name);
  assert.equal(replaced.description, current.description);
  assert.deepEqual(replaced.metadata, next.metadata, "what belongs to the old graph went with it");
  assert.deepEqual(replaced.steps, next.steps);
});

Deno.test("the result shares nothing with what it was made of", async () => {
  const [current, next] = [authored(await instance(CODEC)), await instance(TEXTS)];
  const replaced = replaceWorkingCopy(current, next);
  (replaced.suite as JsonObject).id = "changed";
  replaced.steps[0].params.seed = 1;
  assert.equal((current.suite as JsonObject).id, "s");
  assert.equal(next.steps[0].params.seed, undefined);
});
