import assert from "node:assert/strict";
import { diagnostic } from "../../../lib/contract/error.ts";
import { runReadiness } from "../../../lib/plan/run_readiness.ts";
import { createRegistry } from "../../../ops/registry.ts";
import { toyRegistry } from "./toy.ts";

Deno.test("a recipe that asks for the native extension is ready where it is, once for all its steps", () => {
  const steps = ["one", "two"].map((id) => ({
    id,
    op: "toy.modulate",
    params: { modulation: "qpsk", data_plane_backend: "cpp_native" },
    inputs: {},
  }));
  const readiness = (there: boolean) => ({
    missing: () =>
      there ? null : { reason: "the native extension is not built", hint: null, fetch: "deno task build:native" },
  });
  const registry = toyRegistry();
  assert.deepEqual(runReadiness(steps, { registry, readiness: readiness(false) }), {
    ready: false,
    missing: [{
      kind: "native",
      id: "cpp_native",
      reason: "the native extension is not built",
      fetch: "deno task build:native",
    }],
  });
  assert.deepEqual(runReadiness(steps, { registry, readiness: readiness(true) }), { ready: true, missing: [] });
  const portable = steps.map((step) => ({ ...step, params: { ...step.params, data_plane_backend: "auto" } }));
  assert.deepEqual(runReadiness(portable, { registry, readiness: readiness(false) }), { ready: true, missing: [] });
});

Deno.test("the variants of a sweep have their common steps looked up once", async () => {
  const registry = await createRegistry(), op = "demodulation.neural_receiver_adapter";
  const { binding_params } = registry.get(op).operation.contract.trained_artifact_abi!;
  const step = (path: string) => ({
    id: "receiver",
    op,
    params: { ...binding_params, artifact_manifest_path: path },
    inputs: {},
  });
  const asked: string[] = [];
  const readiness = {
    missing: () => null,
    trainedArtifact: ({ manifestPath }: { manifestPath: string }) => {
      asked.push(manifestPath);
      return [diagnostic("artifact_manifest_missing", [], `Cannot find ${manifestPath}`)];
    },
  };
  const { missing } = runReadiness([step("a"), step("b"), step("a")], { registry, readiness });
  assert.deepEqual(asked.sort(), ["a", "b"]);
  assert.deepEqual(missing.map(({ id }) => id).sort(), ["a", "b"]);
});
