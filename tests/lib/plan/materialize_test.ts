import assert from "node:assert/strict";
import { defineOperation } from "../../../lib/contract/define.ts";
import type { Operation, Runner } from "../../../lib/contract/operation.ts";
import { z } from "../../../lib/contract/zod.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { backendNamed } from "../../../lib/plan/backends.ts";
import { isRefusal, materialize } from "../../../lib/plan/materialize.ts";
import { TOYS } from "./toy.ts";

const toy = (id: string) => TOYS.find((operation) => operation.id === id)!;

function ask(
  operation: Operation,
  params: JsonObject,
  request: {
    runner?: Runner;
    backend?: string;
    implementation?: string;
    authored?: JsonObject;
    nativeKernels?: boolean;
  } = {},
) {
  return materialize(operation.contract, params, { runner: "benchmark_run", authored: {}, ...request });
}

function chosen(...args: Parameters<typeof ask>) {
  const outcome = ask(...args);
  assert.ok(!isRefusal(outcome), JSON.stringify(outcome));
  return outcome;
}

function refusedBy(...args: Parameters<typeof ask>) {
  const outcome = ask(...args);
  assert.ok(isRefusal(outcome), JSON.stringify(outcome));
  return outcome;
}

const AWGN = { channel: "awgn", wireless_backend: "auto", data_plane_backend: "auto" };

Deno.test("the declared order decides while nothing asks", () => {
  const choice = chosen(toy("toy.channel"), AWGN);
  assert.deepEqual([choice.entry.implementation, choice.candidate_index, choice.source, choice.requested_backend], [
    "numpy_any",
    0,
    "declared_order",
    null,
  ]);
  for (const automatic of ["auto", "", "automatic", "default"]) {
    assert.equal(chosen(toy("toy.channel"), { ...AWGN, wireless_backend: automatic }).source, "declared_order");
  }
});

Deno.test("the selector parameter beats the declared order, a flag beats both", () => {
  const phylib = { ...AWGN, wireless_backend: "phylib" };
  const byParameter = chosen(toy("toy.channel"), phylib);
  assert.deepEqual(
    [
      byParameter.entry.implementation,
      byParameter.source,
      byParameter.requested_parameter,
      byParameter.candidate_index,
    ],
    ["phylib_awgn", "selector_parameter", "wireless_backend", 3],
  );
  const byFlag = chosen(toy("toy.channel"), phylib, { backend: "numpy" });
  assert.deepEqual([byFlag.entry.implementation, byFlag.source, byFlag.requested_parameter], [
    "numpy_any",
    "flag",
    undefined,
  ]);
});

Deno.test("the most specific entry of a backend wins", () => {
  assert.equal(chosen(toy("toy.channel"), { ...AWGN, channel: "fading" }).entry.implementation, "numpy_fading");
});

Deno.test("a planned entry is not replaced by a more general one", () => {
  const refusal = refusedBy(toy("toy.channel"), { ...AWGN, channel: "tdl" });
  assert.equal(refusal.code, "materialization_unavailable");
  assert.match(refusal.message, /Comes with the physical layer/);
});

Deno.test("a flag that does not concern the operation leaves it alone", () => {
  const choice = chosen(toy("toy.relay"), {}, { backend: "phylib", implementation: "numpy_any" });
  assert.deepEqual([choice.entry.backend, choice.source, choice.requested_implementation], [
    "python",
    "declared_order",
    undefined,
  ]);
});

Deno.test("names of the portable implementation and aliases", () => {
  assert.equal(backendNamed("python_numpy", ["python"]), "python");
  assert.equal(backendNamed("python", ["cpp", "numpy"]), "numpy");
  assert.equal(backendNamed("ort"), "onnxruntime");
  assert.equal(backendNamed("ONNX"), "onnxruntime");
  assert.equal(backendNamed("c++"), "cpp");
  assert.equal(backendNamed("native"), "cpp");
  assert.equal(chosen(toy("toy.relay"), {}, { backend: "numpy" }).entry.backend, "python");
});

Deno.test("the native extension runs where it is asked for, however it is asked for", () => {
  const qpsk = { modulation: "qpsk", data_plane_backend: "auto" };
  for (const backend of ["cpp", "c++", "native", "cpp_native"]) {
    const choice = chosen(toy("toy.modulate"), qpsk, { backend });
    assert.deepEqual([choice.entry.implementation, choice.source, choice.requested_backend], [
      "cpp_qpsk",
      "flag",
      backend,
    ]);
  }
  const byParameter = chosen(toy("toy.modulate"), { ...qpsk, data_plane_backend: "cpp_native" });
  assert.deepEqual(
    [byParameter.entry.implementation, byParameter.source, byParameter.requested_parameter, byParameter.subordinates],
    ["cpp_qpsk", "selector_parameter", "data_plane_backend", {}],
  );
  const byName = chosen(toy("toy.modulate"), qpsk, { implementation: "cpp_qpsk" });
  assert.deepEqual([byName.entry.backend, byName.source], ["cpp", "flag"]);
});

Deno.test("the declared order never arrives at the native extension", () => {
  const eager = defineOperation({
    id: "toy.eager",
    name: "Eager",
    outputs: {},
    params: z.strictObject({ data_plane_backend: z.enum(["auto", "python_numpy", "cpp_native"]).default("auto") }),
    backends: { benchmark_run: ["cpp", "numpy"], dataset_capture: ["cpp"] },
    threadSafe: true,
    run: () => ({ outputs: {} }),
  });
  for (const automatic of ["auto", "", "automatic", "default"]) {
    assert.equal(chosen(eager, { data_plane_backend: automatic }).entry.backend, "numpy");
  }
  const refusal = refusedBy(eager, { data_plane_backend: "auto" }, { runner: "dataset_capture" });
  assert.equal(refusal.code, "materialization_unavailable");
  assert.match(refusal.message, /on cpp: the native extension runs only on request$/);
});

Deno.test("the native extension is never replaced where it has nothing", () => {
  const bpsk = refusedBy(toy("toy.modulate"), { modulation: "bpsk", data_plane_backend: "cpp_native" });
  assert.deepEqual([bpsk.code, bpsk.hint, bpsk.place], [
    "materialization_unavailable",
    "Nearest is cpp_qpsk: set modulation=qpsk",
    ["params", "data_plane_backend"],
  ]);
  const none = refusedBy(toy("toy.bits"), { data_plane_backend: "cpp_native" });
  assert.deepEqual([none.code, none.hint, none.place], [
    "materialization_unavailable",
    "Set data_plane_backend to auto or python_numpy",
    ["params", "data_plane_backend"],
  ]);
  assert.match(none.message, /data_plane_backend=cpp_native: The native extension has no kernels for this operation$/);
  const sometimes = refusedBy(SOMETIMES, { data_plane_backend: "cpp_native" });
  assert.deepEqual([sometimes.hint, sometimes.place], [
    "Set data_plane_backend to python_numpy",
    ["params", "data_plane_backend"],
  ]);
  assert.match(sometimes.message, /the native extension has no kernels for it$/);
});

/** Has native kernels for some parameters. */
const SOMETIMES = defineOperation({
  id: "toy.sometimes",
  name: "Sometimes",
  outputs: {},
  params: z.strictObject({ data_plane_backend: z.enum(["auto", "cpp_native"]).default("auto") }),
  nativeKernels: () => false,
  threadSafe: true,
  run: () => ({ outputs: {} }),
});

Deno.test("data_plane_backend selects the entry only where cpp is declared", () => {
  const ruling = chosen(toy("toy.modulate"), { modulation: "qpsk", data_plane_backend: "python_numpy" });
  assert.deepEqual([ruling.entry.implementation, ruling.requested_parameter, ruling.subordinates], [
    "numpy_qpsk",
    "data_plane_backend",
    {},
  ]);
  const subordinate = chosen(toy("toy.bits"), { data_plane_backend: "auto" });
  assert.equal(subordinate.source, "declared_order");
  assert.deepEqual(subordinate.subordinates, {
    data_plane_backend: { requested: "auto", resolved: "python_numpy" },
  });
  const native = chosen(SOMETIMES, { data_plane_backend: "cpp_native" }, { nativeKernels: true });
  assert.deepEqual([native.entry.backend, native.subordinates], ["python", {
    data_plane_backend: { requested: "cpp_native", resolved: "cpp_native" },
  }]);
});

Deno.test("what exists only under another runner is said so", () => {
  const refusal = refusedBy(toy("toy.learned"), { runtime: "training_interface", model: "" });
  assert.match(refusal.message, /with runtime=training_interface: Stands for exported training code/);
  assert.equal(refusal.hint, "Set runtime to identity or checkpoint");
  assert.deepEqual(refusal.place, ["params", "runtime"]);
  const backend = refusedBy(toy("toy.channel"), AWGN, { backend: "torch" });
  assert.match(backend.message, /under benchmark_run: torch exists only under differentiable_export$/);
  assert.equal(backend.hint, "Under benchmark_run it runs on numpy, phylib");
  const runnerless = refusedBy(toy("toy.modulate"), { modulation: "qpsk" }, { runner: "differentiable_export" });
  assert.match(runnerless.message, /under differentiable_export: it declares no entry/);
});

Deno.test("torch is a target of export, and nothing executes it", () => {
  const refusal = refusedBy(toy("toy.learned"), { runtime: "checkpoint", model: "" });
  assert.equal(refusal.code, "materialization_unavailable");
  assert.match(refusal.message, /on torch: torch is a target of exported training code/);
  const exported = chosen(toy("toy.learned"), { runtime: "training_interface" }, { runner: "differentiable_export" });
  assert.equal(exported.entry.implementation, "endpoint");
});

Deno.test("a unique explicit entry sets its parameters, but never those the author wrote", () => {
  const params = { ...AWGN, channel: "fading" };
  const choice = chosen(toy("toy.channel"), params, { backend: "phylib" });
  assert.deepEqual(choice.overrides, { channel: "awgn" });
  const refusal = refusedBy(toy("toy.channel"), params, { backend: "phylib", authored: { channel: "fading" } });
  assert.deepEqual(refusal.place, ["params", "channel"]);
  // Two entries on numpy: the backend alone does not say which, so nothing is set.
  assert.deepEqual(chosen(toy("toy.modulate"), { modulation: "qpsk" }, { backend: "numpy" }).overrides, {});
  const other = refusedBy(toy("toy.modulate"), { modulation: "qam16" }, { backend: "numpy" });
  assert.equal(other.code, "materialization_unavailable");
  assert.match(other.message, /on numpy with modulation=qam16$/);
});

Deno.test("bindings compare with the type of numbers", () => {
  const operation = defineOperation({
    id: "toy.typed",
    name: "Typed",
    outputs: {},
    params: z.strictObject({ rate: z.number().default(1) }),
    materializations: [{ runner: "benchmark_run", backend: "python", parameter_bindings: { rate: float(1) } }],
    threadSafe: true,
    run: () => ({ outputs: {} }),
  });
  assert.equal(chosen(operation, { rate: float(1) }).entry.implementation, "default");
  assert.equal(refusedBy(operation, { rate: 1 }).code, "materialization_unavailable");
});

Deno.test("an annotated selector maps its values", () => {
  const operation = defineOperation({
    id: "toy.annotated",
    name: "Annotated",
    outputs: {},
    params: z.strictObject({
      engine: z.enum(["any", "fast", "exact"]).default("any").meta({
        "x-svc-materialization-selector": {
          target: "backend",
          mapping: { fast: "onnxruntime", exact: "numpy" },
          automatic_values: ["any"],
        },
      }),
    }),
    backends: { benchmark_run: ["numpy", "onnxruntime"] },
    threadSafe: true,
    run: () => ({ outputs: {} }),
  });
  const entry = (engine: string) => chosen(operation, { engine }).entry.backend;
  assert.deepEqual([entry("any"), entry("fast"), entry("exact")], ["numpy", "onnxruntime", "numpy"]);
});

Deno.test("a parameter named backend selects only when it names backends", () => {
  const operation = defineOperation({
    id: "toy.embedding",
    name: "Embedding",
    outputs: {},
    params: z.strictObject({ backend: z.enum(["local_semantic", "transformers"]).default("local_semantic") }),
    threadSafe: true,
    run: () => ({ outputs: {} }),
  });
  assert.equal(chosen(operation, { backend: "transformers" }).source, "declared_order");
});

Deno.test("a backend the operation does not have is unsupported, with those it has", () => {
  const operation = defineOperation({
    id: "toy.pilot",
    name: "Pilot",
    outputs: {},
    params: z.strictObject({ wireless_backend: z.enum(["auto", "numpy", "phylib"]).default("auto") }),
    backends: { benchmark_run: ["numpy"] },
    threadSafe: true,
    run: () => ({ outputs: {} }),
  });
  const refusal = refusedBy(operation, { wireless_backend: "phylib" });
  assert.equal(refusal.code, "backend_unsupported");
  assert.equal(refusal.hint, "Known: numpy");
});
