/** The chain of joint sensing and communication, from scenario to scores. */
import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import metrics from "../../../ops/metrics/isac_ofdm.ts";
import adapter from "../../../ops/sensing/isac_ofdm_allocator_adapter.ts";
import source from "../../../ops/source/isac_ofdm_scenario.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { isacInput } from "../_fixtures/isac.ts";

async function scenario(params: JsonObject = {}) {
  return (await runOperation(source, { params: { seed: 1, ...params } })).outputs.problem;
}

async function scores(problem: GivenInput, mode: string): Promise<Record<string, number>> {
  const { decision } = (await runOperation(adapter, { inputs: { problem }, params: { mode } })).outputs;
  return (await runOperation(metrics, { inputs: { decision, problem } })).metrics as Record<string, number>;
}

Deno.test("the responses are those of NumPy's stream in the order of the contract", async () => {
  const problem = await scenario({ example_count: 2, subcarriers: 3, total_power: float(6), seed: 7 });
  const generator = Generator.seeded(7);
  assert.deepEqual(problem.array().data, Float32Array.from(generator.complexNormal64(6, 1)));
  assert.deepEqual(problem.array("sensing").data, Float32Array.from(generator.complexNormal64(6, 1)));
  assert.equal(Number(problem.metadata.noise_variance), 6 / 3 * 0.1);
});

Deno.test("snr_db is the mean SNR of a subcarrier under equal power", async () => {
  const problem = await scenario({ example_count: 2000, snr_db: float(7), total_power: float(5) });
  const found = await scores(problem, "equal_power");
  // 24 000 exponential gains: a relative standard deviation of 0.65 %; S sums 12 subcarriers.
  assert.ok(Math.abs(10 ** (found["isac.sensing_snr_db"] / 10) / (12 * 10 ** 0.7) - 1) < 0.03);
});

Deno.test("each allocator is the best at what it is for", async () => {
  const problem = await scenario();
  const [equal, water, scalarized] = await Promise.all(
    ["equal_power", "communications_water_filling", "scalarized_reference"].map((mode) => scores(problem, mode)),
  );
  for (const found of [equal, water, scalarized]) {
    assert.ok(found["isac.power_constraint_max_abs_error"] < 1e-12);
    assert.equal(found["task.score"], found["isac.scalarized_utility"]);
  }
  assert.ok(water["isac.communication_rate_bps_hz"] > equal["isac.communication_rate_bps_hz"]);
  assert.ok(water["isac.communication_rate_bps_hz"] > scalarized["isac.communication_rate_bps_hz"]);
  assert.ok(scalarized["isac.sensing_snr_db"] > water["isac.sensing_snr_db"]);
  assert.ok(scalarized["isac.scalarized_utility"] > water["isac.scalarized_utility"]);
  assert.ok(scalarized["isac.scalarized_utility"] > equal["isac.scalarized_utility"]);
  assert.ok(scalarized["isac.scalarized_utility"] <= 1);
});

Deno.test("a trained policy sees the features of the contract and spends the budget", async () => {
  let seen: Float32Array | undefined;
  const { decision } = (await runOperation(adapter, {
    inputs: { problem: isacInput([1, 0, 0, 2, 0, 0], [0, 0, 1, 1, 3, 0]) },
    params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
    model: ({ features }) => {
      seen = Float32Array.from(features.data as Float32Array);
      return { power: ndarray("float32", Float32Array.of(9, 8.5, -4), [1, 3]) };
    },
  })).outputs;
  assert.deepEqual(seen, Float32Array.of(10, 0, 0.4, 1, 40, 20, 0.4, 1, 0, 90, 0.4, 1));
  // The nearest point of the simplex of 3: 9 - 7.25, 8.5 - 7.25, 0.
  assert.deepEqual([...decision.array().data as Float64Array], [1.75, 1.25, 0]);
});

Deno.test("the scores are those of their definitions", async () => {
  const decision = arrayInput("isac.ofdm_power_allocation.numpy", "float64", Float64Array.of(1, 2, 0.5), [1, 3]);
  const problem = isacInput([1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 2, 0], { noise_variance: 0.5 });
  const found = (await runOperation(metrics, { inputs: { decision, problem } })).metrics;
  // a = (2, 0, 0), b = (0, 2, 8), P = 3: R_max = log2(7)/3, S_max = 24.
  const rate = Math.log2(3) / 3, echo = 2 * 2 + 8 * 0.5;
  const expected = {
    "isac.scalarized_utility": 0.6 * Math.log2(3) / Math.log2(7) + 0.4 * echo / 24,
    "isac.communication_rate_bps_hz": rate,
    "isac.sensing_snr_db": 10 * Math.log10(echo),
    "isac.power_constraint_max_abs_error": 0.5,
  };
  for (const [id, value] of Object.entries(expected)) assert.ok(Math.abs(Number(found[id]) - value) < 1e-12, id);
});

Deno.test("silence has an answer, and what makes no sense is refused", async () => {
  const silent = isacInput(Array(6).fill(0), Array(6).fill(0));
  for (const mode of ["equal_power", "communications_water_filling", "scalarized_reference"]) {
    const found = await scores(silent, mode);
    assert.ok(!("isac.sensing_snr_db" in found));
    assert.equal(found["isac.scalarized_utility"], 0);
  }
  const take = (problem: GivenInput) => () => runOperation(adapter, { inputs: { problem } });
  await refuses("boundary_value_invalid", take(isacInput(undefined, undefined, { sensing_weight: 1.5 })));
  await refuses("boundary_value_invalid", take(isacInput(undefined, undefined, { noise_variance: 0 })));
  await refuses(
    "boundary_shape_invalid",
    take({ ...isacInput(), companions: { sensing: isacInput(Array(6).fill(1), Array(6).fill(1)).array! } }),
  );
  const negative = arrayInput("isac.ofdm_power_allocation.numpy", "float64", Float64Array.of(4, -1, 0), [1, 3]);
  const problem = isacInput([1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 2, 0]);
  await refuses("boundary_value_invalid", () => runOperation(metrics, { inputs: { decision: negative, problem } }));
});
