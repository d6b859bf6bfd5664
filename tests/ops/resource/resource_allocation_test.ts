/** The chain of resource allocation, from channels to rates. */
import assert from "node:assert/strict";
import type { InputArtifact, Operation } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/resource_allocation.ts";
import equal from "../../../ops/resource/equal_power_allocator.ts";
import softmax from "../../../ops/resource/resource_allocation_adapter.ts";
import oracle from "../../../ops/resource/water_filling_power_allocator.ts";
import scenario from "../../../ops/source/resource_allocation_scenario.ts";
import { resourceProblem } from "../_fixtures/allocation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

const problemOf = async (params: JsonObject = {}) =>
  (await runOperation(scenario, { params: { snapshot_count: 200, seed: 6, ...params } })).outputs.problem;

async function decide(problem: InputArtifact, operation: Operation, params: JsonObject = {}) {
  const { decision } = (await runOperation(operation, { inputs: { problem }, params })).outputs;
  const { metrics: found } = await runOperation(metrics, { inputs: { decision, problem } });
  return { power: decision.array().data as Float64Array, found: found as Record<string, number> };
}

Deno.test("taps are those of NumPy's stream, of unit mean power, and SNR is that of a subcarrier under equal power", async () => {
  const one = await problemOf({ snapshot_count: 1, subcarrier_count: 2, channel_tap_count: 2 });
  const drawn = Generator.seeded(6).complexNormal64(2, 1), total = 1 + Math.exp(-1);
  const [p, q] = [Math.sqrt(1 / total), Math.sqrt(Math.exp(-1) / total)];
  const h = one.array().data as Float32Array;
  assert.ok(Math.abs(h[0] - (p * drawn[0] + q * drawn[2])) < 1e-6);
  assert.ok(Math.abs(h[2] - (p * drawn[0] - q * drawn[2])) < 1e-6);
  const many = await problemOf({ snapshot_count: 4000, total_power: float(3), snr_db: float(7) });
  const values = many.array().data as Float32Array;
  const power = values.reduce((sum, value) => sum + value * value, 0) / (values.length / 2);
  assert.ok(Math.abs(power - 1) < 0.05);
  assert.ok(Math.abs(Number(many.metadata.noise_variance) - 3 / 16 * 10 ** -0.7) < 1e-12);
});

Deno.test("every allocator spends the budget; water-filling meets its conditions and nobody beats it", async () => {
  for (const snr of [-5, 5, 20]) {
    const problem = await problemOf({ snr_db: float(snr), total_power: float(2) });
    const best = await decide(problem, oracle);
    assert.ok(best.found["resource.water_filling_kkt_normalized_residual"] < 1e-9);
    assert.ok(Math.abs(best.found["task.score"] - 1) < 1e-12);
    for (const [operation, params] of [[equal, {}], [softmax, {}], [softmax, { temperature: float(0.05) }]] as const) {
      const { power, found } = await decide(problem, operation as Operation, params);
      assert.ok(found["resource.power_constraint.max_relative_error"] < 1e-9);
      assert.ok(power.every((p) => p >= 0));
      assert.ok(found["task.score"] < 1 && found["resource.water_filling_optimality_gap_bps_hz"] > 0);
    }
  }
});

Deno.test("at high SNR equal power is all but optimal, at low SNR it is far off", async () => {
  const high = await decide(await problemOf({ snr_db: float(40) }), equal);
  const low = await decide(await problemOf({ snr_db: float(-15) }), equal);
  assert.ok(high.found["task.score"] > 0.99 && low.found["task.score"] < 0.6, `${low.found["task.score"]}`);
});

Deno.test("a hot softmax is equal power, a cold one feeds the strongest subcarrier", async () => {
  const problem = await problemOf({ snapshot_count: 5 });
  const hot = await decide(problem, softmax, { temperature: float(1e9) }), even = await decide(problem, equal);
  hot.power.forEach((p, i) => assert.ok(Math.abs(p - even.power[i]) < 1e-9));
  const cold = await decide(problem, softmax, { temperature: float(1e-9) });
  assert.ok(Math.abs(cold.found["resource.active_resource_element_fraction"] - 1 / 16) < 1e-12);
});

Deno.test("channels without gain share the power evenly; negative powers and missing metadata are refused", async () => {
  const silent = resourceProblem(new Float32Array(16));
  const { decision } = (await runOperation(oracle, { inputs: { problem: silent } })).outputs;
  assert.deepEqual([...decision.array().data as Float64Array], new Array(8).fill(0.25));
  const { metrics: found } = await runOperation(metrics, { inputs: { decision, problem: silent } });
  assert.ok(Object.values(found).every((value) => Number.isFinite(Number(value))));
  assert.ok(!("task.score" in found));
  const negative = arrayInput(
    "ai_phy.resource_allocation_decision.numpy",
    "float64",
    Float64Array.of(-1, 3, 0, 0, 0, 0, 0, 0),
    [1, 8],
  );
  await refuses(
    "boundary_value_invalid",
    () => runOperation(metrics, { inputs: { decision: negative, problem: silent } }),
  );
  await refuses(
    "input_metadata_missing",
    () => runOperation(oracle, { inputs: { problem: { ...silent, metadata: { noise_variance: 0.1 } } } }),
  );
});
