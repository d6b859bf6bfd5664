/** The chain of near-field focusing, from scenario to scores. */
import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { sphericalWave, wavelengthOf } from "../../../lib/numeric/antenna/near_field.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/near_field_focusing.ts";
import adapter from "../../../ops/antenna/near_field_estimator_adapter.ts";
import source from "../../../ops/source/near_field_xl_mimo_scenario.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { nearFieldInput, nearFieldTruth } from "../_fixtures/near_field.ts";

const scenario = async (params: JsonObject = {}) =>
  (await runOperation(source, { params: { example_count: 40, seed: 1, ...params } })).outputs;

async function scores(params: JsonObject, mode: string): Promise<Record<string, number>> {
  const { problem, truth } = await scenario(params);
  const { estimate } = (await runOperation(adapter, { inputs: { problem, truth }, params: { mode } })).outputs;
  return (await runOperation(metrics, { inputs: { estimate, problem, truth } })).metrics as Record<string, number>;
}

Deno.test("sources and snapshots are those of NumPy's stream in the order of the contract", async () => {
  const { problem, truth } = await scenario({ example_count: 3, antennas: 4, snr_db: float(10), seed: 5 });
  const generator = Generator.seeded(5), angles = generator.uniform(-55, 55, 3), ranges = generator.uniform(0.5, 5, 3);
  const noise = generator.complexNormal64(12, 0.1);
  assert.deepEqual([...truth.array().data as Float64Array], [0, 1, 2].flatMap((i) => [ranges[i], angles[i]]));
  const h = sphericalWave({ antennas: 4, wavelength: wavelengthOf(28) }, { range: ranges[2], angle: angles[2] });
  const received = problem.array().data as Float32Array;
  h.forEach((part, i) => assert.equal(received[16 + i], Math.fround(noise[16 + i] + part)));
});

Deno.test("the truth focuses fully, the polar codebook nearly, plane waves least", async () => {
  const oracle = await scores({}, "oracle_focus"), polar = await scores({}, "polar_codebook");
  const plane = await scores({}, "far_field_steering");
  assert.equal(oracle["near_field.range_rmse_m"], 0);
  assert.equal(oracle["near_field.angle_rmse_deg"], 0);
  assert.ok(Math.abs(oracle["near_field.normalized_focusing_gain"] - 1) < 1e-12);
  assert.ok(polar["near_field.normalized_focusing_gain"] > 0.98);
  assert.ok(plane["near_field.normalized_focusing_gain"] < polar["near_field.normalized_focusing_gain"]);
  assert.ok(polar["near_field.range_rmse_m"] < plane["near_field.range_rmse_m"]);
  assert.ok(polar["near_field.angle_rmse_deg"] < plane["near_field.angle_rmse_deg"]);
});

Deno.test("without noise the codebook errs by its own steps alone", async () => {
  const found = await scores({ snr_db: float(80), range_max_m: float(1) }, "polar_codebook");
  // Half a step of 0.25°, and of 1/r: (1/0.5 - 1/1)/39/2 per metre, at most 1.3 cm at 1 m; both errors trade a little.
  assert.ok(found["near_field.angle_rmse_deg"] < 0.125, String(found["near_field.angle_rmse_deg"]));
  assert.ok(found["near_field.range_rmse_m"] < 0.03, String(found["near_field.range_rmse_m"]));
});

Deno.test("far away a plane wave finds the angle as well, and the range is lost", async () => {
  const far = { range_min_m: float(200), range_max_m: float(400), snr_db: float(20) };
  const plane = await scores(far, "far_field_steering"), polar = await scores(far, "polar_codebook");
  const [p, q] = [plane, polar].map((found) => found["near_field.angle_rmse_deg"]);
  assert.ok(Math.abs(p - q) < 0.02, `${p} ${q}`);
  assert.ok(p < 0.125 && plane["near_field.normalized_focusing_gain"] > 0.995);
});

Deno.test("errors fall as the SNR grows, and range is easier to tell near the array", async () => {
  const at = async (params: JsonObject) => (await scores(params, "polar_codebook"))["near_field.range_rmse_m"];
  const [poor, fair, good] = [
    await at({ snr_db: float(-5) }),
    await at({ snr_db: float(10) }),
    await at({ snr_db: float(30) }),
  ];
  assert.ok(poor > fair && fair > good, `${poor} ${fair} ${good}`);
  assert.ok(await at({ range_max_m: float(1) }) < await at({ range_min_m: float(4) }) / 3);
});

Deno.test("the truth is for the oracle: it needs it, and no other mode reads it", async () => {
  await refuses(
    "input_missing",
    () => runOperation(adapter, { inputs: { problem: nearFieldInput() }, params: { mode: "oracle_focus" } }),
  );
  const broken = arrayInput("near_field.range_angle_truth.numpy", "float64", Float64Array.of(NaN, 1), [1, 2]);
  for (const mode of ["far_field_steering", "polar_codebook"]) {
    const wired = await runOperation(adapter, {
      inputs: { problem: nearFieldInput(), truth: broken },
      params: { mode },
    });
    const plain = await runOperation(adapter, { inputs: { problem: nearFieldInput() }, params: { mode } });
    assert.deepEqual(wired.bytes.estimate, plain.bytes.estimate);
  }
  let seen: string[] = [];
  await runOperation(adapter, {
    inputs: { problem: nearFieldInput(), truth: nearFieldTruth() },
    params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
    model: (feeds) => {
      seen = Object.keys(feeds);
      return { range_angle: ndarray("float32", Float32Array.of(1, 2, 3, 4), [2, 2]) };
    },
  });
  assert.deepEqual(seen, ["array_ri"]);
});

Deno.test("the scores are those of their definitions", async () => {
  const estimate = arrayInput("near_field.range_angle_estimate.numpy", "float64", Float64Array.of(0.8, -12, 2, 16), [
    2,
    2,
  ]);
  const inputs = { problem: nearFieldInput(), truth: nearFieldTruth(), estimate };
  const found = (await runOperation(metrics, { inputs })).metrics;
  assert.ok(Math.abs(Number(found["near_field.range_rmse_m"]) - 0.3 / Math.SQRT2) < 1e-12);
  assert.ok(Math.abs(Number(found["near_field.angle_rmse_deg"]) - 4 / Math.SQRT2) < 1e-12);
  assert.equal(found["task.score"], found["near_field.normalized_focusing_gain"]);
});

Deno.test("silence, one antenna and one place have an answer; limits in the wrong order are refused", async () => {
  const silent = (await runOperation(adapter, { inputs: { problem: nearFieldInput({}, 0) } })).outputs.estimate;
  assert.deepEqual([...silent.array().data as Float64Array], [0.5, -20, 0.5, -20]);
  const lone = await scores({ antennas: 1 }, "polar_codebook");
  assert.ok(Math.abs(lone["near_field.normalized_focusing_gain"] - 1) < 1e-9);
  const point = { range_min_m: float(2), range_max_m: float(2), angle_min_deg: float(5), angle_max_deg: float(5) };
  assert.equal((await scores(point, "polar_codebook"))["near_field.range_rmse_m"], 0);
  await refuses("params_conflict", () => scenario({ range_min_m: float(9) }));
  await refuses("params_conflict", () => scenario({ angle_min_deg: float(60) }));
  await refuses(
    "boundary_value_invalid",
    () => runOperation(adapter, { inputs: { problem: nearFieldInput({ range_min_m: 0 }) } }),
  );
});
