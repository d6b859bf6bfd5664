/** The recipes of power allocation: what knowing the channel is worth, and what old knowledge of it costs. */
import assert from "node:assert/strict";
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { ROOT_PATH } from "../support/paths.ts";
import { sharedSession } from "../support/session.ts";

const RECIPES = new URL("../../recipes/", import.meta.url);
const { session } = sharedSession({ projectRoot: ROOT_PATH });

/** Runs one variant and hands over its metrics. */
async function variant(path: string, budget: string): Promise<(id: string) => number> {
  const text = await Deno.readTextFile(new URL(path, RECIPES)), { recipes } = await session();
  const { rows } = await recipes.runMatrix(text, { points: [`power_budget=${budget}`] });
  assert.deepEqual(rows.map(({ status }) => status), ["completed"]);
  const metrics: JsonObject = Object.assign({}, ...Object.values(rows[0].metrics));
  return (id) => {
    const value = metrics[id];
    assert.ok(isNumber(value), `${id} was not measured`);
    return toNumber(value);
  };
}

Deno.test("water-filling is its own oracle, and carries more than equal power over the same channels", async () => {
  const [equal, water] = await Promise.all([
    variant("recipe_starters/resource_equal_power_baseline.yaml", "0.5"),
    variant("resource_water_filling_baseline.yaml", "0.5"),
  ]);
  const efficiency = "resource.theoretical_shannon_spectral_efficiency_bps_hz";
  const oracle = "resource.water_filling_oracle_spectral_efficiency_bps_hz";
  assert.equal(equal(oracle), water(oracle));
  assert.ok(Math.abs(water(efficiency) - water(oracle)) < 1e-12);
  assert.ok(water("resource.water_filling_kkt_normalized_residual") <= 1e-9);
  assert.ok(water(efficiency) > 1.02 * equal(efficiency));
  for (const metric of [equal, water]) {
    assert.ok(metric("resource.power_constraint.max_relative_error") <= 1e-9);
    // Each modulation is used where its error rate is small.
    assert.ok(metric("channel.payload.error_count") > 0 && metric("channel.payload.ber") < 2e-3);
  }
  const goodput = "channel.achieved_payload_goodput_bits_per_resource_element";
  assert.ok(water(goodput) > equal(goodput));
});

Deno.test("short packets over delayed knowledge: more power, fewer predicted losses, none of it optimal", async () => {
  const path = "recipe_starters/resource_delayed_csi_finite_blocklength.yaml";
  const [low, high] = await Promise.all([variant(path, "0.4"), variant(path, "1.4")]);
  assert.ok(high("resource.finite_blocklength.predicted_bler") < low("resource.finite_blocklength.predicted_bler"));
  for (const metric of [low, high]) {
    const failures = metric("resource.finite_blocklength.predicted_bler");
    const goodput = metric("resource.finite_blocklength.expected_goodput_bps_hz");
    assert.ok(Math.abs(goodput - 2 * (1 - failures)) < 1e-12);
    assert.equal(metric("resource.csi.feedback_delay_ofdm_symbols"), 5);
    // Five OFDM symbols of 1 ms / 14.
    assert.ok(Math.abs(metric("resource.csi.feedback_delay_seconds") - 5e-3 / 14) < 1e-15);
    const correlation = metric("resource.csi.observed_actual_complex_correlation");
    assert.ok(correlation > 0.5 && correlation < 0.99);
    assert.ok(metric("task.score") > 0.9 && metric("task.score") < 0.999);
  }
});

Deno.test("transport blocks over allocated power: whole blocks are delivered, the others are zeros", async () => {
  const text = await Deno.readTextFile(new URL("nr_ldpc_ofdm_delivery.yaml", import.meta.url));
  const { status, summary } = await (await session()).recipes.run(text);
  assert.equal(status, "completed");
  const metrics: JsonObject = Object.assign({}, ...(summary.steps as JsonObject[]).map((step) => step.metrics));
  const count = (id: string) => Number(metrics[`channel.nr_ldpc_ofdm.${id}`]);
  assert.equal(count("transport_block_count"), 9);
  assert.ok(count("crc_failure_count") > 0 && count("delivered_block_count") > 0);
  assert.equal(count("delivered_payload_bit_count"), 1000 * count("delivered_block_count"));
  // 9 blocks of 2064 coded bits: 1000 becomes 1032 bits, the next legal size.
  assert.equal(count("occupied_data_resource_element_count"), 9288);
  // Half of the bits of a lost block are ones.
  const errors = Number(metrics["channel.payload.error_count"]);
  assert.ok(Math.abs(errors / (1000 * count("crc_failure_count")) - 0.5) < 0.05);
});

Deno.test("a missing state is told once, at its port, by planner and lint", async () => {
  const recipe = `
name: stateless
metadata: {research: {task: {id: bit_transport}}}
steps:
  - {id: data, op: source.random_bits}
  - {id: modulator, op: modulation.digital_modulate, inputs: {bits: data.bits}}
  - id: tx_power
    op: model.symbol_power_allocator
    params: {policy: water_filling}
    inputs: {symbols: modulator.symbols}
`;
  const { recipes } = await session();
  const found = [...(await recipes.plan(recipe)).diagnostics, ...(await recipes.lint(recipe)).issues]
    .filter(({ severity }) => severity === "error");
  const wanted = ["csi_power_policy_state_missing", "$.steps[2].inputs.channel_state"];
  assert.deepEqual(found.map(({ code, path }) => [code, path]), [wanted, wanted]);
});
