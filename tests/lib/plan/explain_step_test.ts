import assert from "node:assert/strict";
import { PlanCache } from "../../../lib/plan/cache.ts";
import { explainStep, stepText } from "../../../lib/plan/explain_step.ts";
import { planRecipe } from "../../../lib/plan/planner.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { createRegistry } from "../../../ops/registry.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { LINK, recipeOf, toyRegistry, toySources } from "./toy.ts";

async function explained(raw: unknown, step: string, implementation?: string, registry = toyRegistry()) {
  const compilation = compileRecipe(raw, { mode: "strict", registry });
  const cache = new PlanCache();
  const planned = await planRecipe(compilation, { registry, implementationSources: toySources, cache, implementation });
  return explainStep(compilation, planned, registry, step);
}

const named = (rows: JsonObject[], name: string) => rows.find((row) => row.name === name || row.port === name)!;

Deno.test("a step says what goes in and out, and where every parameter comes from", async () => {
  const step = await explained(LINK, "data");
  assert.deepEqual([step.position, step.step_count, step.recipe], [1, 4, "toy"]);
  assert.deepEqual(step.operation, { id: "toy.bits", name: "Bits", status: "implemented" });
  assert.deepEqual(step.inputs, []);
  const count = named(step.params, "count");
  assert.deepEqual([count.value, count.source, count.default], [16, "authored", 8]);
  assert.equal(named(step.params, "seed").source, "derived seed");
  const kernels = named(step.params, "data_plane_backend");
  assert.deepEqual([kernels.value, kernels.source, kernels.choices], ["auto", "default", [
    "auto",
    "python_numpy",
    "cpp_native",
  ]]);
  assert.deepEqual(step.outputs, [{
    port: "bits",
    kind: "channel.payload_bits.numpy",
    consumers: ["relay.bits"],
    metadata: ["bit_count", "origin.id"],
  }]);
  assert.deepEqual(step.problems, []);
});

Deno.test("metadata that is passed on is promised too; an optional input that nothing feeds is shown", async () => {
  const step = await explained(LINK, "relay");
  assert.deepEqual(step.outputs[0].metadata, ["bit_count", "origin.id", "relayed"]);
  assert.deepEqual(
    step.inputs.map(({ port, from, from_operation, kind, optional }) => [port, from, from_operation, kind, optional]),
    [
      ["bits", "data.bits", "toy.bits", "channel.payload_bits.numpy", false],
      ["hint", null, null, null, true],
    ],
  );
});

Deno.test("an explicit choice of implementation and its reason are told", async () => {
  const { execution } = await explained(LINK, "modulator", "numpy_bpsk") as { execution: JsonObject };
  assert.deepEqual([execution.backend, execution.implementation, execution.reason], [
    "numpy",
    "numpy_bpsk",
    "--implementation numpy_bpsk",
  ]);
});

Deno.test("a recipe that cannot be planned is explained all the same, with the problems of the step", async () => {
  const broken = recipeOf([["data", "toy.bits"], ["relay", "toy.relay", { low: 2.5 }, { bits: "data.nothing" }]]);
  const step = await explained(broken, "relay");
  assert.equal(step.execution, null);
  assert.deepEqual(step.problems.map(({ code }) => code).sort(), ["output_unavailable", "params_conflict"]);
  assert.equal(step.inputs[0].kind, null);
  assert.match(stepText(step), /cannot be planned\n.*params_conflict|output_unavailable/);
});

Deno.test("an unknown step is refused with the nearest one", async () => {
  await assert.rejects(explained(LINK, "moduator"), { code: "not_found", hint: "Did you mean modulator?" });
});

Deno.test("the text has a line for every input, parameter and output, in columns", async () => {
  const text = stepText(await explained(LINK, "data"), { title: (title) => `*${title}*` });
  assert.match(text, /^\*data\* {2}toy\.bits {2}Bits\n {2}step 1 of 4 of toy\n/);
  assert.match(text, /\n\*Parameters\*\n {2}count {15}16 +authored \(default 8\)\n {2}seed {16}\d+ +derived seed/);
  assert.match(text, /\n {2}bits {2}-> relay\.bits {2}channel\.payload_bits\.numpy; promises bit_count, origin\.id\n/);
  assert.match(text, /\n\*Runs on\*\n {2}numpy\/default under benchmark_run, by declared order\n/);
});

Deno.test("a channel state says which values it has from the channel that it is wired to", async () => {
  const recipe = await Deno.readTextFile(new URL("../../recipes/explicit_ofdm.yaml", import.meta.url));
  const { value } = readRecipeText(recipe, { file: "explicit_ofdm.yaml" });
  const step = await explained(value, "channel_state", undefined, await createRegistry());
  const sources = ["tdl_model", "ofdm_fft_size", "num_ofdm_symbols", "subcarrier_spacing_khz"]
    .map((name) => [named(step.params, name).value, named(step.params, name).source]);
  assert.deepEqual(sources.slice(0, 3), [["C", "authored"], [12, "linked step"], [14, "linked step"]]);
  assert.equal(sources[3][1], "default");
});
