/** A recipe that names a model, from its text to its bundle. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { decodeArtifact } from "../../../lib/artifact/codec.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { Registry } from "../../../lib/contract/registry.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { readinessOf } from "../../../lib/execute/readiness.ts";
import { PlanCache } from "../../../lib/plan/cache.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { runReadiness } from "../../../lib/plan/run_readiness.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { runRecipe } from "../../../lib/run/run.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { endlessLoop, hostileModel, largeExpand } from "../../support/hostile_graphs.ts";
import { onnxModel } from "../../support/onnx_writer.ts";
import scaled from "./operations/scaled.ts";

const registry = new Registry();
registry.register([{ operation: scaled, moduleUrl: new URL("./operations/scaled.ts", import.meta.url).href }]);

const gainModel = (gain: number) =>
  onnxModel({
    nodes: [{ op: "Mul", inputs: ["x", "gain"], outputs: ["y"] }],
    inputs: [{ name: "x", shape: ["n", 1] }],
    outputs: [{ name: "y", shape: ["n", 1] }],
    initializers: [{ name: "gain", data: Float32Array.of(gain), shape: [1] }],
  });

async function machine() {
  const folder = await Deno.makeTempDir({ prefix: "svc-models-" });
  await Deno.writeFile(join(folder, "gain.onnx"), gainModel(2));
  const workspace = openWorkspace({ projectRoot: folder });
  const readiness = readinessOf(workspace);
  const recipe = (params: JsonObject) => ({
    name: "scaled",
    metadata: { seed: 23 },
    steps: [{ id: "net", op: "test.scaled", params }],
  });
  const planCache = new PlanCache();
  return {
    folder,
    workspace,
    readiness,
    recipe,
    run: (params: JsonObject = {}, onEvent?: () => void) =>
      runRecipe({
        raw: recipe(params),
        registry,
        workspace,
        readiness,
        cancellation: createCancellation(),
        planCache,
        onEvent,
      }),
    plan: (params: JsonObject = {}) =>
      planRecipe(compileRecipe(recipe(params), { mode: "strict", registry }), {
        registry,
        readiness,
        cache: planCache,
      }),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const latentsIn = async (directory: string) => [
  ...decodeArtifact("semantic.latents.numpy", await Deno.readFile(join(directory, "artifacts/net/latents.npz")))
    .array().data as Float32Array,
];

Deno.test("a step runs the model that its recipe names, and the bundle says which bytes it was", async () => {
  await using host = await machine();
  const done = await host.run();
  assert.equal(done.status, "completed", JSON.stringify(done.summary.error));
  assert.deepEqual(await latentsIn(done.directory), [2, 4, 6, 8]);
  const [{ execution_binding }] = done.summary.steps as JsonObject[];
  const { models } = (execution_binding as JsonObject).implementation_metadata as JsonObject;
  const bytes = gainModel(2);
  assert.deepEqual(models, {
    gain: {
      id: "gain.onnx",
      source: "project",
      files: { "model.onnx": { sha256: sha256Hex(bytes), size_bytes: bytes.length } },
      limits: { call_timeout_s: 120, memory_mb: 2048 },
    },
  });
  assert.equal((await verifyRun(host.workspace, done.run_id)).status, "valid");
});

Deno.test("a folder brings its optional files along", async () => {
  await using host = await machine();
  await Deno.mkdir(join(host.folder, "net"));
  await Deno.writeFile(join(host.folder, "net/model.onnx"), gainModel(3));
  await Deno.writeTextFile(join(host.folder, "net/offset.json"), "0.5");
  const { directory } = await host.run({ model_id: "net" });
  assert.deepEqual(await latentsIn(directory), [3.5, 6.5, 9.5, 12.5]);
});

Deno.test("a model that exceeds the limits of its package fails its step with the limit's code", async () => {
  await using host = await machine();
  for (
    const [id, hostile, code] of [
      ["loop", endlessLoop(), "onnx_time_exceeded"],
      ["array", largeExpand(50e6), "onnx_memory_exceeded"],
    ] as const
  ) {
    await Deno.mkdir(join(host.folder, id));
    const model = hostileModel(hostile, { input: "x", output: "y", shape: ["n", 1] });
    await Deno.writeFile(join(host.folder, id, "model.onnx"), model);
    const limits = { call_timeout_s: code === "onnx_time_exceeded" ? 1 : 60, memory_mb: 128 };
    await Deno.writeTextFile(join(host.folder, id, "trained_artifact.yaml"), JSON.stringify({ runtime: { limits } }));
    const { status, summary } = await host.run({ model_id: id });
    assert.equal(status, "failed");
    assert.equal((summary.failure as JsonObject).code, code);
    const [{ execution_binding }] = summary.steps as JsonObject[];
    const { models } = (execution_binding as JsonObject).implementation_metadata as JsonObject;
    assert.deepEqual(((models as JsonObject).gain as JsonObject).limits, limits);
  }
});

Deno.test("the model is under the plan's digest, and a cached plan does not outlive it", async () => {
  await using host = await machine();
  const digest = async () => {
    const planned = await host.plan();
    return planned.status === "planned" ? [planned.plan.sha256, planned.cache.outcome] : [];
  };
  const [first, missed] = await digest();
  assert.equal(missed, "miss");
  assert.deepEqual(await digest(), [first, "hit"]);
  const path = join(host.folder, "gain.onnx"), seen = [first];
  for (const gain of [7, 8]) {
    await Deno.writeFile(path, gainModel(gain));
    // The same time for both, as if they were written in one tick of the file system's clock.
    await Deno.utime(path, 4e9, 4e9);
    const [next, outcome] = await digest();
    assert.ok(!seen.includes(next), `gain ${gain}`);
    assert.equal(outcome, "miss");
    seen.push(next);
  }
});

Deno.test("a model that changes between plan and dispatch fails its step", async () => {
  await using host = await machine();
  let swapped = false;
  const { status, summary } = await host.run({}, () => {
    if (!swapped) Deno.writeFileSync(join(host.folder, "gain.onnx"), gainModel(-4));
    swapped = true;
  });
  assert.equal(status, "failed");
  assert.equal((summary.failure as JsonObject).code, "artifact_hash_mismatch");
});

Deno.test("a model that is missing refuses the plan at its parameter, and readiness says what brings it", async () => {
  await using host = await machine();
  const refused = await host.plan({ model_id: "openai/clip-vit-base-patch32" });
  assert.equal(refused.status, "refused");
  const [{ code, path, step_id, hint }] = refused.diagnostics;
  assert.deepEqual([code, path, step_id], ["model_unavailable", "$.steps[0].params.model_id", "net"]);
  assert.match(hint!, /svc models fetch openai\/clip-vit-base-patch32/);
  const other = await host.plan({ expected_model_sha256: "0".repeat(64) });
  assert.deepEqual(other.diagnostics.map(({ code }) => code), ["artifact_hash_mismatch"]);

  const { steps } = compileRecipe(host.recipe({ model_id: "nowhere.onnx" }), { mode: "strict", registry }).effective!;
  const { ready, missing } = runReadiness(steps, { registry, readiness: host.readiness });
  assert.equal(ready, false);
  assert.deepEqual(missing.map(({ kind, id, fetch }) => [kind, id, fetch]), [["model", "nowhere.onnx", null]]);
});
