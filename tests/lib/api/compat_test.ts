/** Recipes of older forms run where they are asked for, and their bundles are as good as others. */
import assert from "node:assert/strict";
import { isWarning, SvcError } from "../../../lib/contract/error.ts";
import { open } from "../../../mod.ts";
import { temporaryFolder } from "../../support/temporary.ts";

/** Step ids are missing; recipe and step have unknown fields. */
const OLD = `
name: old
layout: {zoom: 2}
metadata:
  sweeps: {data.seed: [1, 2]}
steps:
  - {id: data, op: source.random_bits, params: {bit_count: 64}, position: [3, 4]}
  - {op: source.random_bits, params: {bit_count: 64}}
  - {op: metrics.bit_error_rate, inputs: {candidate: step_2.bits, reference: data.bits}}
`;
const POINT = OLD.replace(/metadata:\n.*\n/, "");

Deno.test("an older recipe is refused strictly; with compat it runs, is verified, reproduced and restored", async () => {
  const stateDir = temporaryFolder("svc-compat-");
  await using svc = await open({ stateDir });
  await assert.rejects(svc.recipes.run(POINT), SvcError);
  assert.equal((await svc.recipes.plan(POINT)).status, "refused");
  const planned = await svc.recipes.plan(POINT, { mode: "compat" });
  assert.ok(planned.status === "planned");
  const codes = planned.diagnostics.filter(isWarning).map(({ code }) => code);
  assert.deepEqual(codes, [
    "unknown_recipe_field",
    "implicit_recipe_step_id",
    "implicit_recipe_step_id",
    "unknown_recipe_step_field",
  ]);

  const run = await svc.recipes.run(POINT, { mode: "compat", strictLint: true });
  assert.equal(run.status, "completed");
  assert.deepEqual((run.summary.warnings as { code: string }[]).map(({ code }) => code), codes);
  assert.deepEqual((await svc.runs.recipe(run.run_id)).layout, { zoom: 2 });
  assert.equal((await svc.runs.verify(run.run_id)).status, "valid");
  const report = await svc.runs.reproduce(run.run_id);
  assert.deepEqual([report.status, report.recipe_match, report.plan_differences], ["identical", true, []]);
  await svc.runs.prune({ ids: [run.run_id] });
  assert.equal((await svc.runs.restore(run.run_id)).status, "restored");

  await assert.rejects(svc.recipes.runMatrix(OLD), SvcError);
  const matrix = await svc.recipes.runMatrix(OLD, { mode: "compat" });
  assert.deepEqual(matrix.rows.map(({ status, selection }) => [status, Object.values(selection)]), [
    ["completed", [1]],
    ["completed", [2]],
  ]);
  const again = await svc.recipes.runMatrix(OLD, { mode: "compat" });
  assert.ok(again.rows.every(({ reused }) => reused));
});
