import assert from "node:assert/strict";
import { readRecipeText } from "../../../lib/recipe/read.ts";
import { compileRecipe } from "../../../lib/recipe/compile.ts";
import { inspectRecipe } from "../../../lib/training/inspect_recipe.ts";
import { readTrainingPlan, scenarioSha256 } from "../../../lib/training/training_plan.ts";
import { twinsMissing } from "../../../lib/training/gradient_routes.ts";
import { sha256Json } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { createRegistry } from "../../../ops/registry.ts";

const registry = await createRegistry();
function effective(file: string, change: (text: string) => string = (text) => text) {
  const text = change(Deno.readTextFileSync(new URL(`../../../recipes/${file}`, import.meta.url)));
  return compileRecipe(readRecipeText(text, { file }).value, { mode: "strict", registry, captureJob: true }).effective!;
}
const inspect = (file: string, plan: JsonObject = {}) =>
  inspectRecipe(effective(file), readTrainingPlan(plan), registry);

const RECEIVER = "neural_receiver_qpsk_iq_learned.yaml";
const JSCC = "recipe_starters/deepjscc_awgn.yaml";

Deno.test("only portable replacement makes a block selectable, and the others say why they are not", () => {
  const { boundaries, selected_steps } = inspect(RECEIVER);
  assert.deepEqual(selected_steps, ["demodulator"]);
  for (const { step_id, selectable, reason, portable_replacement } of boundaries) {
    assert.equal(selectable, step_id === "demodulator");
    assert.equal(selectable, portable_replacement);
    assert.equal(reason === null, selectable);
  }
  // A gradient alone opens nothing: the channel passes gradients and stays what it is.
  const channel = boundaries.find(({ step_id }) => step_id === "wireless_channel")!;
  assert.deepEqual([channel.differentiability.gradient, channel.selectable], ["full", false]);
});

Deno.test("the frozen support decides about gradients", () => {
  const receiver = inspect(RECEIVER);
  assert.equal(receiver.status, "partial_gradient_possible");
  assert.deepEqual(receiver.recommendations.map(({ id }) => id), [
    "differentiable_export",
    "receiver_only",
    "dataset_capture",
    "benchmark_run",
  ]);
  // Steps without a gradient in their contract pass one where they have a twin.
  assert.deepEqual(receiver.routes.map(({ loss_step, blocked_by }) => [loss_step, blocked_by]), [
    ["evaluation", ["evaluation"]],
    ["coded_ber", []],
  ]);

  // With a loss of the trainer's own the evaluation need not pass gradients.
  const jscc = inspect(JSCC, { objective: "image.mse" });
  assert.equal(jscc.status, "full_gradient_possible");
  assert.equal(jscc.recommendations[0].id, "differentiable_export");
  assert.deepEqual(jscc.routes[0].support.map(({ step_id }) => step_id), [
    "tx_power",
    "tx_symbol_boundary",
    "wireless_channel",
    "rx_symbol_boundary",
  ]);
  assert.equal(inspect(JSCC).status, "full_gradient_possible");
  assert.equal(inspect("bit_transport_awgn.yaml").status, "not_trainable");
});

Deno.test("parameters that a twin does not cover block a route, with a warning", () => {
  const link = (params: JsonObject) =>
    compileRecipe({
      name: "interfered",
      metadata: { seed: 23 },
      steps: [
        { id: "data", op: "source.random_bits", params: { bit_count: 4096 } },
        { id: "sender", op: "modulation.learned_constellation", inputs: { bits: "data.bits" } },
        {
          id: "channel",
          op: "wireless.channel",
          params: { channel: "interference_awgn", interferers: 1, ...params },
          inputs: { symbols: "sender.symbols" },
        },
        { id: "receiver", op: "demodulation.digital_demodulate", inputs: { rx_symbols: "channel.rx_symbols" } },
        { id: "ber", op: "metrics.bit_error_rate", inputs: { reference: "data.bits", candidate: "receiver.bits" } },
      ],
    }, { mode: "strict", registry }).effective!;
  const routes = (params: JsonObject) => inspectRecipe(link(params), readTrainingPlan({}), registry).routes;
  assert.deepEqual(routes({}).map(({ blocked_by }) => blocked_by), [[]]);
  const blocked = routes({ wireless_backend: "numpy" });
  assert.deepEqual(blocked.map(({ blocked_by }) => blocked_by), [["channel"]]);
  assert.deepEqual(twinsMissing(blocked).map(({ code, message }) => [code, message]), [
    ["export_twin_missing", "Cannot train through channel: it has no PyTorch twin with wireless_backend=numpy"],
  ]);
  assert.deepEqual(twinsMissing(routes({})), []);
});

Deno.test("taps are what blocks read and evaluations compare with, where no block under training has touched it", () => {
  assert.deepEqual(inspect(RECEIVER).suggested_taps.map(({ from, purpose }) => [from, purpose]), [
    ["receiver_frontend.rx_symbols", "input"],
    ["payload_bit_boundary.bits", "reference"],
    ["tx_bit_boundary.bits", "reference"],
  ]);
  // The decoder's input comes through the encoder, which is trained too.
  assert.deepEqual(inspect(JSCC).suggested_taps.map(({ from }) => from), ["source.images"]);
});

Deno.test("a plan that names what cannot be is refused with every problem", () => {
  assert.throws(
    () => inspect(RECEIVER, { selected_steps: ["modulator", "demodulato"], loss_steps: ["data"] }),
    (error: { code: string; diagnostics: { path: string; message: string; hint: string }[] }) => {
      assert.equal(error.code, "training_plan_invalid");
      assert.deepEqual(error.diagnostics.map(({ path }) => path), [
        "$.selected_steps[0]",
        "$.selected_steps[1]",
        "$.loss_steps[0]",
      ]);
      assert.equal(error.diagnostics[0].hint, "It can be demodulator");
      assert.equal(error.diagnostics[1].hint, "Did you mean demodulator?");
      return true;
    },
  );
  assert.throws(() => inspect(JSCC, { selected_steps: ["sender"] }), { hint: "Select receiver too" });
  assert.throws(() => readTrainingPlan({ framework: "torsh", selected_steps: [1], kind: "x" }), /3 problems/);
});

Deno.test("plan and scenario are told apart by identities of their own", () => {
  const before = inspect(RECEIVER), after = inspect(RECEIVER, { objective: "bce", mine: { kept: 1 } });
  assert.equal(before.scenario_sha256, after.scenario_sha256);
  assert.notEqual(before.training_plan_sha256, after.training_plan_sha256);
  assert.deepEqual(after.training_plan.mine, { kept: 1 });
  assert.equal(sha256Json(readTrainingPlan({})), before.training_plan_sha256);

  const scenario = scenarioSha256(effective(RECEIVER));
  const changed = (change: (text: string) => string) => scenarioSha256(effective(RECEIVER, change));
  assert.equal(changed((text) => text.replace("training_performed: true", "training_performed: false")), scenario);
  assert.equal(changed((text) => text + "dataset_capture: {samples: 3}\n"), scenario);
  assert.notEqual(changed((text) => text.replace("batch_size: 64", "batch_size: 32")), scenario);
});
