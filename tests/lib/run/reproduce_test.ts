import assert from "node:assert/strict";
import { join } from "node:path";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { SvcError } from "../../../lib/contract/error.ts";
import { canonicalJson, type JsonObject, parseJson, prettyJson } from "../../../lib/contract/json.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { arrayDifference } from "../../../lib/run/array_difference.ts";
import { differences } from "../../../lib/run/compare.ts";
import { diffRuns } from "../../../lib/run/diff.ts";
import { reproduceRun } from "../../../lib/run/reproduce.ts";
import { showRun } from "../../../lib/run/store.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import type { Workspace } from "../../../lib/run/workspace.ts";
import { type FakeExecution, fakeExecutor, runSmall, testRecipe, testRegistry, withWorkspace } from "./fixture.ts";

function reproduce(workspace: Workspace, runId: string, fake: FakeExecution = {}) {
  return reproduceRun(workspace, runId, {
    registry: testRegistry(),
    cancellation: createCancellation(),
    execute: fakeExecutor(fake),
  });
}

Deno.test("a run is reproduced: every artifact, metric and binding", () =>
  withWorkspace(async (workspace) => {
    const { run_id, summary } = await runSmall(workspace, { parallelWorkers: 3 });
    const report = await reproduce(workspace, run_id);
    assert.equal(report.status, "identical");
    assert.equal(report.recipe_match, true);
    assert.deepEqual(report.plan_differences, []);
    assert.deepEqual(report.environment_differences, []);
    assert.equal(report.first_difference, null);
    assert.deepEqual(report.artifacts.map(({ step_id, output_name, match }) => [step_id, output_name, match]), [
      ["data_0", "bits", true],
      ["report_0", "report", true],
      ["data_1", "bits", true],
      ["report_1", "report", true],
    ]);
    assert.ok(report.metrics.every(({ match, metric }) => match && !String(metric).startsWith("timing.")));
    assert.equal(report.metrics.length, 8);
    const again = showRun(workspace, report.reproduced_run_id);
    assert.equal(again.summary.effective_recipe_sha256, summary.effective_recipe_sha256);
    assert.deepEqual(again.summary.execution, { mode: "parallel", parallel_workers: 3 });
    assert.equal((await verifyRun(workspace, report.reproduced_run_id)).status, "valid");
    canonicalJson(report);
  }));

Deno.test("the first step that differs is named, with the distance of its numbers", () =>
  withWorkspace(async (workspace) => {
    const { run_id } = await runSmall(workspace);
    const report = await reproduce(workspace, run_id, { offset: 2 });
    assert.equal(report.status, "different");
    assert.equal(report.recipe_match, true);
    assert.equal(report.first_difference, "data_0");
    const [row, other] = report.artifacts;
    assert.equal(row.match, false);
    assert.equal(canonicalJson((row.array_difference as JsonObject).max_abs), "2.0");
    assert.equal((row.array_difference as JsonObject).count, 4);
    assert.equal(other.match, true);
    assert.equal("array_difference" in other, false);
    const rate = report.metrics.find(({ metric }) => metric === "test.rate")!;
    assert.deepEqual([rate.expected, rate.actual, rate.match], [0.5, 2.5, false]);
  }));

Deno.test("a recipe that was changed after the run is no match", () =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    const authored = join(directory, "recipe.authored.json");
    const text = Deno.readTextFileSync(authored);
    Deno.writeTextFileSync(authored, text.replace('"count": 4', '"count": 6'));
    const report = await reproduce(workspace, run_id);
    assert.equal(report.recipe_match, false);
    assert.equal(report.status, "different");
    Deno.writeTextFileSync(authored, text);
    const recipe = parseJson(Deno.readTextFileSync(join(directory, "recipe.json"))) as JsonObject;
    ((recipe.steps as JsonObject[])[0].params as JsonObject).count = 6;
    Deno.writeTextFileSync(join(directory, "recipe.json"), prettyJson(recipe));
    const second = await reproduce(workspace, run_id);
    assert.equal(second.recipe_match, false);
    assert.equal(second.first_difference, "data_0");
  }));

Deno.test("a changed binding is a plan difference", () =>
  withWorkspace(async (workspace) => {
    const { run_id, directory } = await runSmall(workspace);
    const path = join(directory, "execution-plan.json");
    const plan = parseJson(Deno.readTextFileSync(path)) as JsonObject;
    (plan.steps as JsonObject[])[2].implementation_identity = "another";
    Deno.writeTextFileSync(path, prettyJson(plan));
    const report = await reproduce(workspace, run_id);
    assert.equal(report.status, "different");
    assert.equal(report.first_difference, "data_1");
    assert.ok(report.plan_differences.some(({ path, expected }) =>
      path === "$.implementation_identity" && expected === "another"
    ));
  }));

Deno.test("a reproduction that fails says so", () =>
  withWorkspace(async (workspace) => {
    const { run_id } = await runSmall(workspace);
    const report = await reproduce(workspace, run_id, { failAt: "data_1" });
    assert.equal(report.status, "failed");
    assert.equal(report.first_difference, "data_1");
    assert.deepEqual(report.artifacts.map(({ actual_sha256 }) => actual_sha256 === null), [false, false, true, true]);
    await assert.rejects(reproduce(workspace, "nothing"), (error: SvcError) => error.code === "run_not_found");
  }));

Deno.test("equal runs are equal, whatever their times", () =>
  withWorkspace(async (workspace) => {
    const a = await runSmall(workspace), b = await runSmall(workspace, { parallelWorkers: 2 });
    const diff = await diffRuns(workspace, a.run_id, b.run_id);
    assert.equal(diff.equal, true);
    assert.deepEqual([diff.recipe, diff.plan, diff.environment], [[], [], []]);
    assert.deepEqual(new Set(diff.metrics.map(({ metric }) => metric)), new Set(["timing.step.wall_time_s"]));
    assert.ok(diff.artifacts.length === 4 && diff.artifacts.every(({ equal }) => equal));
  }));

Deno.test("a diff names what differs: parameters, steps, metrics with their change, artifacts", () =>
  withWorkspace(async (workspace) => {
    const a = await runSmall(workspace, { raw: testRecipe(1) });
    const b = await runSmall(workspace, {
      raw: { ...testRecipe(2, { scale: 3 }), name: "small recipe" },
      fake: { offset: 1 },
    });
    const diff = await diffRuns(workspace, a.run_id, b.run_id);
    assert.equal(diff.equal, false);
    const recipe = new Map(diff.recipe.map(({ path, ...sides }) => [path, sides]));
    assert.equal(canonicalJson(recipe.get("$.steps[0].params.scale")!), '{"a":1.0,"b":3}');
    assert.equal("a" in recipe.get("$.steps[2]")!, false);
    assert.ok(diff.plan.some(({ path }) => path === "$.steps[3]"));
    const rate = diff.metrics.find(({ step_id, metric }) => step_id === "data_0" && metric === "test.rate")!;
    assert.deepEqual(rate, {
      step_id: "data_0",
      metric: "test.rate",
      a: 0.5,
      b: 1.5,
      absolute: parseJson("1.0"),
      relative: parseJson("2.0"),
    });
    const only = diff.metrics.find(({ step_id, metric }) => step_id === "data_1" && metric === "test.count")!;
    assert.deepEqual([only.a, only.b, only.absolute, only.relative], [null, 3, null, null]);
    assert.deepEqual(diff.artifacts.map(({ step_id, equal }) => [step_id, equal]), [
      ["data_0", false],
      ["report_0", true],
      ["data_1", false],
      ["report_1", false],
    ]);
  }));

Deno.test("differences are by type, and a step that was put in does not move the others", () => {
  assert.deepEqual(differences(parseJson("[1,2.0]"), parseJson("[1.0,2.0]")).map(({ place }) => place), [[0]]);
  const identify = (item: unknown) => (item as { id: string }).id ?? null;
  const rows = differences([{ id: "x" }, { id: "y", n: 1 }], [{ id: "w" }, { id: "x" }, { id: "y", n: 2 }], {
    identify,
  });
  assert.deepEqual(rows, [{ place: [1, "n"], a: 1, b: 2 }, { place: [0], b: { id: "w" } }]);
});

Deno.test("arrays are compared number by number", () => {
  const npz = (values: number[]) => writeNpz({ x: ndarray("float64", Float64Array.from(values)), metadata_json: "{}" });
  assert.deepEqual(arrayDifference(npz([1, -2, NaN, 0]), npz([1, -3, NaN, 0])), {
    max_abs: parseJson("1.0"),
    max_rel: 0.5,
    count: 1,
  });
  assert.deepEqual(arrayDifference(npz([1]), npz([NaN])), { max_abs: null, max_rel: null, count: 1 });
  assert.deepEqual(arrayDifference(npz([0]), npz([2])), { max_abs: parseJson("2.0"), max_rel: null, count: 1 });
  assert.equal(arrayDifference(npz([1]), npz([1, 2])), null);
  assert.equal(arrayDifference(npz([1]), new Uint8Array([1, 2, 3])), null);
  const big = (value: bigint) => writeNpz({ x: ndarray("uint64", BigUint64Array.of(value)) });
  assert.deepEqual(arrayDifference(big(0xffffffffffffffffn), big(0xfffffffffffffffen)), {
    max_abs: parseJson("1.0"),
    max_rel: 1 / 2 ** 64,
    count: 1,
  });
});
