import assert from "node:assert/strict";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { choicesOf, isSelector } from "../../../ui/form/choices.ts";

const SCHEMA = { enum: ["interface", "callable", "artifact"], type: "string" };
const MADE: JsonObject[] = [
  { backend: "onnx", runner: "benchmark_run", status: "implemented", parameter_bindings: { runtime: "artifact" } },
  {
    backend: "x",
    runner: "benchmark_run",
    status: "planned",
    notes: "In adapters",
    parameter_bindings: { runtime: "callable" },
  },
  {
    backend: "torch",
    runner: "differentiable_export",
    status: "planned",
    notes: "Later",
    parameter_bindings: { runtime: "interface" },
  },
];

Deno.test("a value that nothing runs is refused with the reason", () => {
  const [made, callable, artifact] = choicesOf("runtime", SCHEMA, MADE);
  assert.equal(made.reason, "Later");
  assert.equal(callable.reason, "In adapters");
  assert.deepEqual(artifact, { value: "artifact", line: "runs in onnx", reason: null });
});

Deno.test("values that share an implementation can all be had", () => {
  const made: JsonObject[] = [{ backend: "numpy", runner: "benchmark_run", status: "implemented" }, MADE[2]];
  assert.deepEqual(choicesOf("runtime", SCHEMA, made).map(({ reason }) => reason), [null, null, null]);
});

Deno.test("a selector is an enumeration that chooses a method", () => {
  assert.ok(isSelector("mode", SCHEMA));
  assert.ok(isSelector("kind", { ...SCHEMA, "x-svc-materialization-selector": true }));
  assert.ok(!isSelector("mode", { type: "string" }));
  assert.ok(!isSelector("modulation", SCHEMA));
});
