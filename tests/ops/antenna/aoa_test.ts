/** The chain of angle of arrival, from scene to error. */
import assert from "node:assert/strict";
import type { InputArtifact, Operation } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/aoa_estimation.ts";
import adapter from "../../../ops/antenna/aoa_estimator_adapter.ts";
import music from "../../../ops/antenna/music_aoa_estimator.ts";
import sceneSource from "../../../ops/source/aoa_scene.ts";
import observation from "../../../ops/wireless/ula_array_observation.ts";
import { snapshotsInput } from "../_fixtures/aoa.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

async function observed(params: JsonObject = {}, sceneParams: JsonObject = {}) {
  const { scene } =
    (await runOperation(sceneSource, { params: { example_count: 300, seed: 1, ...sceneParams } })).outputs;
  return await runOperation(observation, { inputs: { scene }, params: { seed: 2, ...params } });
}

async function rmse(problem: InputArtifact, operation: Operation = music, params: JsonObject = {}): Promise<number> {
  const { estimate } = (await runOperation(operation, { inputs: { problem }, params })).outputs;
  return Number((await runOperation(metrics, { inputs: { estimate, problem } })).metrics["aoa.rmse_deg"]);
}

Deno.test("angles and snapshots are those of NumPy's stream in the order of the contract", async () => {
  const { scene } = (await runOperation(sceneSource, { params: { example_count: 2, seed: 3 } })).outputs;
  const angles = (Generator.seeded(3).random(2) as Float64Array).map((u) => -60 + 120 * u);
  assert.deepEqual(scene.array().data, angles);
  const { problem, truth } = (await runOperation(observation, {
    inputs: { scene },
    params: { seed: 4, antenna_count: 3, snapshot_count: 2, snr_db: float(10) },
  })).outputs;
  const generator = Generator.seeded(4), signal = generator.complexNormal64(4, 1);
  const noise = generator.complexNormal64(12, 0.1), received = problem.array().data as Float32Array;
  // Example 1, antenna 2, snapshot 1.
  const a = steeringVector(angles[1], 3, 0.5), at = 2 * (1 * 6 + 2 * 2 + 1), s = 2 * (1 * 2 + 1);
  assert.equal(received[at], Math.fround(a[4] * signal[s] - a[5] * signal[s + 1] + noise[at]));
  assert.equal(received[at + 1], Math.fround(a[4] * signal[s + 1] + a[5] * signal[s] + noise[at + 1]));
  assert.deepEqual(truth.array().data, angles);
  assert.deepEqual(problem.arrayNames, ["problem", "angles"]);
});

Deno.test("MUSIC and Bartlett meet the Cramér-Rao bound for one source at high SNR", async () => {
  const { outputs, metrics: measured } = await observed({ snr_db: float(20) }, { example_count: 1200 });
  const bound = Number(measured["aoa.cramer_rao_rmse_deg"]);
  for (const [operation, params] of [[music, {}], [adapter, { mode: "music" }], [adapter, {}]] as const) {
    const error = await rmse(outputs.problem, operation as Operation, params as JsonObject);
    // The relative standard deviation of an RMSE over 1200 squared errors is 1/sqrt(2·1200) = 2 %.
    assert.ok(Math.abs(error / bound - 1) < 0.07, `${error} against ${bound}`);
  }
});

Deno.test("errors fall as SNR, antennas and snapshots grow", async () => {
  const errors: number[] = [];
  for (const snr of [-10, 0, 10, 20]) errors.push(await rmse((await observed({ snr_db: float(snr) })).outputs.problem));
  errors.forEach((error, i) => assert.ok(i === 0 || error < errors[i - 1], String(errors)));
  const base = await rmse((await observed({ snr_db: float(10) })).outputs.problem);
  assert.ok(await rmse((await observed({ snr_db: float(10), antenna_count: 16 })).outputs.problem) < base / 2);
  assert.ok(await rmse((await observed({ snr_db: float(10), snapshot_count: 256 })).outputs.problem) < base / 1.5);
});

Deno.test("one antenna, one snapshot and silence have an answer", async () => {
  const lone = await observed({ antenna_count: 1 }, { example_count: 4 });
  assert.ok(!("aoa.cramer_rao_rmse_deg" in lone.metrics));
  const { estimate } = (await runOperation(music, { inputs: { problem: lone.outputs.problem } })).outputs;
  assert.deepEqual([...estimate.array().data as Float64Array], [0, 0, 0, 0]);
  const once = (await observed({ snapshot_count: 1, snr_db: float(30) }, { example_count: 50 })).outputs.problem;
  assert.ok(await rmse(once) < 3);
  const silent = snapshotsInput("problem");
  const quiet = arrayInput(
    silent.kind,
    "complex64",
    new Float32Array(silent.array!.data.length),
    [3, 4, 5],
    silent.metadata,
  );
  const found =
    (await runOperation(adapter, { inputs: { problem: quiet }, params: { mode: "music" } })).outputs.estimate;
  assert.deepEqual([...found.array().data as Float64Array], [0, 0, 0]);
});

Deno.test("the scores are those of their definitions", async () => {
  const truth = arrayInput("ai_phy.aoa_truth.numpy", "float64", new Float64Array(4), [4]);
  const estimate = arrayInput("ai_phy.aoa_estimate.numpy", "float64", Float64Array.of(1, -2, 3, 0), [4]);
  const { metrics: found } = await runOperation(metrics, { inputs: { estimate, problem: truth } });
  assert.deepEqual(found, {
    "aoa.rmse_deg": Math.sqrt(14 / 4),
    "aoa.rmse_deg.squared_sum": 14,
    "aoa.rmse_deg.count": 4n,
    "aoa.mae_deg": 1.5,
    "aoa.median_error_deg": 1.5,
    "aoa.p90_error_deg": 2 + 0.7,
    "task.score": 1 / (1 + Math.sqrt(14 / 4)),
  });
});

Deno.test("limits in the wrong order and arrays of other shapes are refused", async () => {
  await refuses(
    "params_conflict",
    () => runOperation(sceneSource, { params: { angle_min_deg: float(10), angle_max_deg: float(-10) } }),
  );
  const flat = arrayInput("ai_phy.aoa_observation.numpy", "complex64", new Float32Array(8), [2, 2], {
    element_spacing_wavelengths: 0.5,
  });
  await refuses("boundary_rank_invalid", () => runOperation(music, { inputs: { problem: flat } }));
});
