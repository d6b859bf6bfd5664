import assert from "node:assert/strict";
import type { MaterializationRow, OperationStatus, Runner } from "../../../lib/contract/operation.ts";
import { choicesOf, isSelector } from "../../../ui/form/choices.ts";

const SCHEMA = { enum: ["interface", "callable", "artifact"], type: "string" };
const row = (runner: Runner, backend: string, status: OperationStatus, runtime?: string): MaterializationRow => ({
  runner,
  backend,
  implementation: "default",
  status,
  ...(runtime === undefined ? {} : { parameter_bindings: { runtime } }),
});
const MADE = [
  row("benchmark_run", "onnx", "implemented", "artifact"),
  row("benchmark_run", "x", "planned", "callable"),
  row("differentiable_export", "torch", "planned", "interface"),
];
const REASONS = { runtime: { interface: "Later", callable: "In adapters" } };

Deno.test("a value that cannot be chosen has its reason", () => {
  const choices = choicesOf("runtime", SCHEMA, { materializations: MADE, unavailable_values: REASONS });
  assert.deepEqual(choices, [
    { value: "interface", line: "", reason: "Later" },
    { value: "callable", line: "", reason: "In adapters" },
    { value: "artifact", line: "runs in onnx", reason: null },
  ]);
});

Deno.test("values that can all be chosen are explained where they select a method", () => {
  const contract = { materializations: [row("benchmark_run", "numpy", "implemented"), MADE[2]] };
  assert.deepEqual(choicesOf("runtime", SCHEMA, contract)!.map(({ reason }) => reason), [null, null, null]);
  assert.equal(choicesOf("kind", SCHEMA, contract), undefined);
  const [, callable] = choicesOf("kind", SCHEMA, { ...contract, unavailable_values: { kind: { callable: "Never" } } })!;
  assert.equal(callable.reason, "Never");
});

Deno.test("a selector is an enumeration that chooses a method", () => {
  assert.ok(isSelector("mode", SCHEMA));
  assert.ok(isSelector("kind", { ...SCHEMA, "x-svc-materialization-selector": true }));
  assert.ok(!isSelector("mode", { type: "string" }));
  assert.ok(!isSelector("modulation", SCHEMA));
});
