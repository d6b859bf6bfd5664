/** A recipe with a trained artifact, from its text to its bundle. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { diagnostic } from "../../../lib/contract/error.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createCancellation } from "../../../lib/execute/cancellation.ts";
import { decodeArtifact } from "../../../lib/artifact/codec.ts";
import { PlanCache } from "../../../lib/plan/cache.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import type { Readiness } from "../../../lib/plan/types.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import type { ArtifactBinding, ResolvedArtifact } from "../../../lib/training/resolve.ts";
import type { TrainedManifest } from "../../../lib/training/types.ts";
import { runRecipe } from "../../../lib/run/run.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { verifyRun } from "../../../lib/run/verify.ts";
import { hostileModel, nestedLoops } from "../../support/hostile_graphs.ts";
import { onnxModel } from "../../support/onnx_writer.ts";
import { step } from "../../support/step.ts";

const registry = await createRegistry();
const PACKAGE = "c".repeat(64);

/** bit_llr = gain · rx_symbols_ri, which decides as the exact demapper does for a positive gain. */
function receiverModel(gain: number): Uint8Array {
  return onnxModel({
    nodes: [{ op: "Mul", inputs: ["rx_symbols_ri", "gain"], outputs: ["bit_llr"] }],
    inputs: [{ name: "rx_symbols_ri", shape: ["n", 2] }],
    outputs: [{ name: "bit_llr", shape: ["n", 2] }],
    initializers: [{ name: "gain", data: Float32Array.of(gain), shape: [1] }],
  });
}

function recipe(params: JsonObject): JsonObject {
  return {
    name: "trained",
    metadata: { seed: 5 },
    steps: [
      { id: "data", op: "source.random_bits", params: { bit_count: 4000 } },
      step("modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qpsk" }),
      step("wireless_channel", "wireless.channel", { symbols: "modulator.symbols" }, { snr_db: 7.5 }),
      step(
        "demodulator",
        "demodulation.neural_receiver_adapter",
        { rx_symbols: "wireless_channel.rx_symbols" },
        params,
      ),
      step("evaluation", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }),
    ],
  };
}

const LEARNED = { mode: "learned_artifact", artifact_package_sha256: PACKAGE, artifact_manifest_path: "model" };

/** A machine with one artifact, whose model lies in a file; `asked` keeps what it was asked for. */
async function machine(model: Uint8Array, more: JsonObject = {}) {
  const folder = await Deno.makeTempDir({ prefix: "svc-learned-" });
  const path = join(folder, "receiver.onnx");
  await Deno.writeFile(path, model);
  const asked: ArtifactBinding[] = [];
  const readiness: Readiness = {
    missing: () => null,
    trainedArtifact(binding) {
      asked.push(binding);
      if (binding.packageSha256 !== PACKAGE) {
        const place = [...binding.place!, "artifact_package_sha256"];
        return [diagnostic("artifact_package_mismatch", place, "Cannot use the package: its digest differs")];
      }
      const sha256 = sha256Hex(Deno.readFileSync(path));
      const manifest = { application: { mode: "single_binding" } } as Partial<TrainedManifest> as TrainedManifest;
      return {
        record: { package_sha256: PACKAGE, component_sha256: sha256, ...more },
        component: { path, sha256 },
        manifest,
      } as Partial<ResolvedArtifact> as ResolvedArtifact;
    },
  };
  const workspace = openWorkspace({ projectRoot: folder });
  return {
    path,
    asked,
    readiness,
    workspace,
    run: (params: JsonObject, onEvent?: () => void) =>
      runRecipe({
        raw: recipe(params),
        registry,
        workspace,
        readiness,
        cancellation: createCancellation(),
        planCache: new PlanCache(),
        onEvent,
      }),
    plan: (params: JsonObject, planCache = new PlanCache()) =>
      planRecipe(compileRecipe(recipe(params), { mode: "strict", registry }), {
        registry,
        readiness,
        cache: planCache,
      }),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const bitsIn = async (directory: string) =>
  decodeArtifact(
    "channel.demod_bits.numpy",
    await Deno.readFile(join(directory, "artifacts/demodulator/bits.npz")),
  ).array();

Deno.test("a learned step runs its artifact, and the bundle says which", async () => {
  await using host = await machine(receiverModel(4));
  const learned = await host.run(LEARNED);
  assert.equal(learned.status, "completed", JSON.stringify(learned.summary.error));
  const exact = await host.run({ mode: "reference_qpsk" });
  assert.deepEqual(await bitsIn(learned.directory), await bitsIn(exact.directory));
  const steps = (learned.summary.steps ?? []) as JsonObject[];
  const binding = steps.find(({ id }) => id === "demodulator")!.execution_binding as JsonObject;
  assert.equal(binding.backend, "onnxruntime");
  const metadata = binding.implementation_metadata as JsonObject;
  const component_sha256 = sha256Hex(await Deno.readFile(host.path));
  assert.deepEqual(metadata.trained_artifact, { package_sha256: PACKAGE, component_sha256 });
  assert.equal((await verifyRun(host.workspace, learned.run_id)).status, "valid");
  // Once to plan, once to dispatch; a step in another mode asks for nothing.
  assert.deepEqual(host.asked.map(({ entrypoint, manifestPath }) => [entrypoint, manifestPath]), [
    ["neural_receiver", "model"],
    ["neural_receiver", "model"],
  ]);
});

Deno.test("an artifact that exceeds a limit of the plan fails its step with the limit's code", async () => {
  const limits = { call_timeout_s: 1, memory_mb: 128 };
  const model = hostileModel(nestedLoops(2), { input: "rx_symbols_ri", output: "bit_llr", shape: ["n", 2] });
  await using host = await machine(model, { limits });
  const { status, summary } = await host.run(LEARNED);
  assert.equal(status, "failed");
  assert.equal((summary.failure as JsonObject).code, "onnx_time_exceeded");
  assert.equal((summary.failure as JsonObject).step_id, "demodulator");
});

Deno.test("the artifact is under the plan's digest, and a cached plan does not outlive it", async () => {
  await using host = await machine(receiverModel(4));
  const cache = new PlanCache();
  const digest = async () => {
    const planned = await host.plan(LEARNED, cache);
    assert.equal(planned.status, "planned");
    return planned.status === "planned" ? [planned.plan.sha256, planned.cache.outcome] : [];
  };
  const [first, missed] = await digest();
  assert.equal(missed, "miss");
  assert.deepEqual(await digest(), [first, "hit"]);
  await Deno.writeFile(host.path, receiverModel(5));
  const [second, outcome] = await digest();
  assert.notEqual(second, first);
  assert.equal(outcome, "miss");
});

Deno.test("what is wrong with an artifact refuses the plan, at its step", async () => {
  await using host = await machine(receiverModel(4));
  const refused = await host.plan({ ...LEARNED, artifact_package_sha256: "d".repeat(64) });
  assert.equal(refused.status, "refused");
  const [{ code, path, step_id }] = refused.diagnostics;
  assert.deepEqual([code, path, step_id], [
    "artifact_package_mismatch",
    "$.steps[3].params.artifact_package_sha256",
    "demodulator",
  ]);
  const unpinned = await host.plan({ mode: "learned_artifact" });
  assert.deepEqual(unpinned.diagnostics.map(({ code, path }) => [code, path]), [
    ["params_conflict", "$.steps[3].params.artifact_package_sha256"],
  ]);
});

Deno.test("an artifact that changes between plan and dispatch fails its step", async () => {
  await using host = await machine(receiverModel(4));
  let swapped = false;
  const { status, summary } = await host.run(LEARNED, () => {
    if (!swapped) Deno.writeFileSync(host.path, receiverModel(-4));
    swapped = true;
  });
  assert.equal(status, "failed");
  const { step_id, code } = summary.failure as JsonObject;
  assert.deepEqual([step_id, code], ["demodulator", "artifact_package_mismatch"]);
});

Deno.test("a model that gives something else than the ABI says fails its step", async () => {
  await using host = await machine(receiverModel(Infinity));
  const { status, summary } = await host.run(LEARNED);
  assert.equal(status, "failed");
  assert.equal((summary.failure as JsonObject).code, "artifact_output_invalid");
});
