/** The chain of localisation, from geometry to error. */
import assert from "node:assert/strict";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/localization.ts";
import adapter from "../../../ops/sensing/localization_adapter.ts";
import localizer from "../../../ops/sensing/trilateration_localizer.ts";
import localizationFamily from "../../../ops/source/localization.ts";
import observation from "../../../ops/wireless/range_observation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { rangeInput } from "../_fixtures/localization.ts";

const [geometry, scenario] = localizationFamily;

const valuesOf = (input: InputArtifact, name?: string) => input.array(name).data as Float64Array;

async function observed(params: JsonObject = {}, geometryParams: JsonObject = {}) {
  const scene = (await runOperation(geometry, { params: { example_count: 400, seed: 1, ...geometryParams } })).outputs
    .scene;
  return await runOperation(observation, { inputs: { scene }, params: { seed: 2, ...params } });
}

async function rmse(problem: InputArtifact, operation = localizer, params: JsonObject = {}): Promise<number> {
  const { estimate } = (await runOperation(operation as typeof adapter, { inputs: { problem }, params })).outputs;
  return Number((await runOperation(metrics, { inputs: { estimate, problem } })).metrics["localization.rmse_m"]);
}

Deno.test("positions and ranges are those of NumPy's stream in the order of the contract", async () => {
  const { scene } = (await runOperation(geometry, { params: { example_count: 5, seed: 3 } })).outputs;
  const drawn = (Generator.seeded(3).random(10) as Float64Array).map((u) => 20 * u);
  assert.deepEqual(valuesOf(scene), drawn);
  const { problem, truth } = (await runOperation(observation, {
    inputs: { scene },
    params: { seed: 4, nlos_probability: float(0.5), snr_db: float(10) },
  })).outputs;
  const generator = Generator.seeded(4), blocked = generator.random(20) as Float64Array;
  const noise = generator.standardNormal(20) as Float64Array, sigma = Math.sqrt(0.05 ** 2 + 0.1);
  const corners = [0, 0, 20, 0, 20, 20, 0, 20];
  valuesOf(problem).forEach((range, i) => {
    const example = i >> 2, anchor = i & 3;
    const distance = Math.hypot(
      drawn[2 * example] - corners[2 * anchor],
      drawn[2 * example + 1] - corners[2 * anchor + 1],
    );
    assert.ok(Math.abs(range - (distance + (blocked[i] < 0.5 ? 1.5 : 0) + sigma * noise[i])) < 1e-12);
  });
  assert.deepEqual(valuesOf(truth), drawn);
  assert.deepEqual(Array.from(truth.array("blocked").data as Uint8Array), Array.from(blocked, (u) => u < 0.5 ? 1 : 0));
});

Deno.test("an observation says nothing of the truth", async () => {
  const { observation: seen, problem } = (await observed()).outputs;
  assert.deepEqual(seen.arrayNames, ["observation", "anchors"]);
  assert.deepEqual(problem.arrayNames, ["problem", "anchors", "positions"]);
});

Deno.test("maximum likelihood meets the Cramér-Rao bound at high SNR; the linear solution stays above", async () => {
  const { outputs, metrics: measured } = await observed(
    { snr_db: float(40), range_noise_floor_m: 0 },
    { example_count: 3000 },
  );
  const bound = Number(measured["localization.cramer_rao_rmse_m"]);
  const best = await rmse(outputs.problem),
    linear = await rmse(outputs.problem, adapter as never, {
      mode: "trilateration",
    });
  // The relative standard deviation of an RMSE over 3000 squared errors is about 1/sqrt(4·3000) = 0.9 %.
  assert.ok(Math.abs(best / bound - 1) < 0.04, `${best} against ${bound}`);
  assert.ok(linear / bound > 1.1 && linear / bound < 1.3, `${linear} against ${bound}`);
});

Deno.test("errors fall as the SNR rises, and blocked links cost", async () => {
  const errors: number[] = [];
  for (const snr of [0, 10, 20, 30]) errors.push(await rmse((await observed({ snr_db: float(snr) })).outputs.problem));
  errors.forEach((error, i) => assert.ok(i === 0 || error < errors[i - 1], String(errors)));
  const blocked = await rmse((await observed({ snr_db: float(30), nlos_probability: float(0.3) })).outputs.problem);
  assert.ok(blocked > 5 * errors[3]);
});

Deno.test("the robust mode withstands blocked links, and costs little where all are free", async () => {
  const at = async (share: number) => {
    const params = { snr_db: float(20), nlos_probability: float(share), nlos_bias_m: float(3) };
    const { problem } = (await observed(params, { anchor_count: 8 })).outputs;
    return [await rmse(problem), await rmse(problem, adapter, { mode: "robust_trilateration" })];
  };
  const [likelihood, robust] = await at(0.15), [free, robustFree] = await at(0);
  assert.ok(robust < likelihood / 3, `${robust} against ${likelihood}`);
  assert.ok(robustFree < 1.15 * free, `${robustFree} against ${free}`);
});

Deno.test("estimates are cut to the square", async () => {
  const { problem } = (await observed({ snr_db: float(-20) })).outputs;
  const { estimate } = (await runOperation(localizer, { inputs: { problem } })).outputs;
  assert.ok(valuesOf(estimate).every((value) => value >= 0 && value <= 20));
  assert.ok(valuesOf(estimate).some((value) => value === 0 || value === 20));
});

Deno.test("the scores are those of their definitions", async () => {
  const truth = arrayInput("ai_phy.localization_truth.numpy", "float64", new Float64Array(8), [4, 2]);
  const estimate = arrayInput(
    "ai_phy.localization_estimate.numpy",
    "float64",
    Float64Array.of(3, 4, 0, 0, 0, 1, 2, 0),
    [4, 2],
  );
  const { metrics: found } = await runOperation(metrics, { inputs: { estimate, problem: truth } });
  const root = Math.sqrt((25 + 0 + 1 + 4) / 4);
  assert.deepEqual(found, {
    "localization.rmse_m": root,
    "localization.rmse_m.squared_sum": 30,
    "localization.rmse_m.count": 4n,
    "localization.mae_m": 2,
    "localization.p90_error_m": 2 + (3 * 0.9 - 2) * 3,
    "task.score": 1 / (1 + root),
  });
});

Deno.test("too few anchors and anchors on a line are coded errors, save for the regularised mode", async () => {
  const two = (await observed({}, { anchor_count: 2, example_count: 3 })).outputs.problem;
  await refuses("operation_failed", () => runOperation(localizer, { inputs: { problem: two } }));
  const trilateration = { mode: "trilateration" };
  await refuses("operation_failed", () => runOperation(adapter, { inputs: { problem: two }, params: trilateration }));
  assert.ok(Number.isFinite(await rmse(two, adapter as never)));
  const line = rangeInput("problem");
  const flat = {
    ...line,
    companions: {
      ...line.companions,
      anchors: ndarray(
        "float64",
        Float64Array.from({ length: 24 }, (_, i) => i >> 1 & 3),
        [3, 4, 2],
      ),
    },
  };
  await refuses("operation_failed", () => runOperation(localizer, { inputs: { problem: flat } }));
  assert.ok((await runOperation(adapter, { inputs: { problem: flat } })).outputs.estimate);
});

Deno.test("targets outside, wrong shapes and values that are not finite are refused", async () => {
  await refuses(
    "params_conflict",
    () => runOperation(geometry, { params: { position_mode: "fixed", target_x_m: float(21) } }),
  );
  const problem = rangeInput("problem");
  const torn = {
    ...problem,
    companions: { ...problem.companions, anchors: ndarray("float64", new Float64Array(8), [1, 4, 2]) },
  };
  await refuses("boundary_shape_invalid", () => runOperation(localizer, { inputs: { problem: torn } }));
  const single = arrayInput(problem.kind, "float32", new Float32Array(12), [3, 4], problem.metadata);
  await refuses(
    "boundary_dtype_invalid",
    () => runOperation(localizer, { inputs: { problem: { ...single, companions: problem.companions } } }),
  );
  const broken = arrayInput(problem.kind, "float64", new Float64Array(12).fill(NaN), [3, 4], problem.metadata);
  await refuses(
    "boundary_non_finite",
    () => runOperation(localizer, { inputs: { problem: { ...broken, companions: problem.companions } } }),
  );
});

Deno.test("the scenario in one step is the two steps with their draws joined", async () => {
  const { problem } =
    (await runOperation(scenario, { params: { example_count: 6, seed: 9, snr_db: float(15) } })).outputs;
  const generator = Generator.seeded(9);
  const positions = (generator.random(12) as Float64Array).map((u) => 20 * u);
  assert.deepEqual(valuesOf(problem, "positions"), positions);
  const noise = generator.standardNormal(24) as Float64Array, sigma = Math.sqrt(0.25 ** 2 + 10 ** -1.5);
  const first = Math.hypot(positions[0], positions[1]) + sigma * noise[0];
  assert.ok(Math.abs(valuesOf(problem)[0] - first) < 1e-12);
});
