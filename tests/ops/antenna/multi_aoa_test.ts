/** Several directions of arrival, from scene to error. */
import assert from "node:assert/strict";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { directionCramerRao } from "../../../lib/numeric/antenna/direction_finding.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/aoa_estimation.ts";
import estimator from "../../../ops/antenna/multi_aoa_estimator.ts";
import sceneSource from "../../../ops/source/aoa_scene.ts";
import observation from "../../../ops/wireless/ula_array_observation.ts";
import { artifactOf, refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

async function sceneOf(params: JsonObject) {
  return (await runOperation(sceneSource, { params: { seed: 1, ...params } })).outputs.scene;
}

async function observed(sceneParams: JsonObject, params: JsonObject = {}) {
  return await runOperation(observation, {
    inputs: { scene: await sceneOf(sceneParams) },
    params: { seed: 2, snapshot_count: 100, ...params },
  });
}

async function estimated(problem: InputArtifact, params: JsonObject) {
  return (await runOperation(estimator, { inputs: { problem }, params })).outputs;
}

async function scored(estimate: InputArtifact, problem: InputArtifact) {
  const { metrics: found, outputs } = await runOperation(metrics, { inputs: { estimate, problem } });
  return { found: found as Record<string, number>, report: outputs.report.json() as JsonObject };
}

const dataOf = (artifact: InputArtifact, name?: string) => [...artifact.array(name).data as Float64Array];
const degrees = (...angles: number[]) => angles.map(float);

Deno.test("angles are drawn example by example until they are apart, and ascend", async () => {
  const scene = await sceneOf({ example_count: 40, source_count: 3, minimum_separation_deg: float(20) });
  const generator = Generator.seeded(1), expected: number[] = [];
  let draws = 0;
  while (expected.length < 120) {
    const angles = (generator.random(3) as Float64Array).map((u) => -60 + 120 * u).sort();
    draws++;
    if (angles[1] - angles[0] >= 20 && angles[2] - angles[1] >= 20) expected.push(...angles);
  }
  assert.ok(draws > 50, "some draws are too close");
  assert.deepEqual(dataOf(scene), expected);
  assert.deepEqual(scene.array().shape, [40, 3]);
  assert.equal(toNumber(scene.metadata.source_count as number), 3);
});

Deno.test("given angles ascend with their powers, and one source is as before", async () => {
  const scene = await sceneOf({
    example_count: 2,
    source_angles_deg: degrees(30, -10, 5),
    source_powers_db: degrees(-1, -2, -3),
  });
  assert.deepEqual(dataOf(scene), [-10, 5, 30, -10, 5, 30]);
  assert.deepEqual((scene.metadata.source_powers_db as number[]).map(toNumber), [-2, -3, -1]);
  const single = await sceneOf({ example_count: 4 }), explicit = await sceneOf({ example_count: 4, source_count: 1 });
  assert.deepEqual(single.array(), explicit.array());
  assert.deepEqual(single.metadata, explicit.metadata);
  assert.deepEqual(Object.keys(single.metadata).filter((key) => key.startsWith("source_")), []);
});

Deno.test("sources that do not fit are refused", async () => {
  const conflict = (params: JsonObject) => refuses("params_conflict", () => sceneOf(params));
  await conflict({ source_count: 2, angle_mode: "fixed" });
  await conflict({ source_count: 2, source_angles_deg: degrees(1, 2, 3) });
  await conflict({ source_count: 2, source_powers_db: degrees(0) });
  await conflict({ source_count: 14 });
  // They fit, but a random draw does not find the places.
  await conflict({ source_count: 12, minimum_separation_deg: float(10.9) });
});

Deno.test("snapshots are those of NumPy's stream: signals by source, correlated by their lower factor, then noise", async () => {
  const { outputs } = await observed(
    {
      example_count: 2,
      source_angles_deg: degrees(-20, 10),
      source_powers_db: degrees(0, 3),
      source_correlation: float(0.6),
    },
    { antenna_count: 3, snapshot_count: 4, snr_db: float(10) },
  );
  const generator = Generator.seeded(2), z = generator.complexNormal64(2 * 2 * 4, 1);
  const noise = generator.complexNormal64(2 * 3 * 4, 0.1), received = outputs.problem.array().data as Float32Array;
  // Example 1, antenna 2, snapshot 3.
  const level = Math.sqrt(10 ** 0.3),
    first = 2 * (1 * 8 + 3),
    second = 2 * (1 * 8 + 4 + 3),
    at = 2 * (1 * 12 + 2 * 4 + 3);
  const [a, b] = [-20, 10].map((angle) => steeringVector(angle, 3, 0.5));
  for (const part of [0, 1]) {
    const s = [z[first], z[first + 1]], t = [0, 1].map((i) => level * (0.6 * z[first + i] + 0.8 * z[second + i]));
    const times = (c: Float64Array, [real, imaginary]: number[]) =>
      part === 0 ? c[4] * real - c[5] * imaginary : c[4] * imaginary + c[5] * real;
    const expected = times(a, s) + times(b, t) + noise[at + part];
    assert.ok(Math.abs(received[at + part] - expected) < 1e-6);
  }
  assert.deepEqual(outputs.problem.array("angles").shape, [2, 2]);
  assert.deepEqual(outputs.problem.arrayNames, ["problem", "angles"]);
  assert.deepEqual(outputs.observation.arrayNames.length, 1);
  assert.ok(!("source_count" in outputs.observation.metadata), "an observation does not tell the sources");
});

Deno.test("at high Es/N0 MUSIC and root-MUSIC reach the bound, ESPRIT and Capon stay near it, Bartlett does not resolve", async () => {
  const { outputs, metrics: measured } = await observed({
    example_count: 200,
    angle_min_deg: float(-50),
    angle_max_deg: float(50),
    source_count: 2,
    minimum_separation_deg: float(8),
  }, { snr_db: float(15) });
  const bound = Number(measured["aoa.cramer_rao_rmse_deg"]), ratios: Record<string, number> = {};
  const rates: Record<string, number> = {};
  for (const mode of ["music", "root_music", "esprit", "capon", "bartlett"]) {
    const grid_step_deg = float(0.1);
    const { estimate } = await estimated(outputs.observation, { mode, source_count: 2, grid_step_deg });
    const { found, report } = await scored(estimate, outputs.problem);
    ratios[mode] = found["aoa.rmse_deg"] / bound;
    rates[mode] = found["aoa.resolution_rate"];
    assert.equal(found["aoa.order_accuracy"] > 0.97, true, "MDL finds two sources");
    assert.ok(Math.abs(toNumber(report["aoa.crb_deg"] as number) / bound - 1) < 1e-9);
    assert.equal((report.errors_deg as unknown[]).length, 400);
  }
  // The relative standard deviation of an RMSE over 400 squared errors is 1/sqrt(2·400) = 3.5 %.
  for (const mode of ["music", "root_music"]) assert.ok(Math.abs(ratios[mode] - 1) < 0.1, `${mode} ${ratios[mode]}`);
  assert.ok(ratios.esprit > 1.1 && ratios.esprit < 1.6, String(ratios.esprit));
  assert.ok(ratios.capon > 0.95 && ratios.capon < 2, String(ratios.capon));
  assert.ok(rates.bartlett < 0.95 && rates.music === 1, JSON.stringify(rates));
});

Deno.test("MDL finds the order at high Es/N0, AIC overestimates a share, and noise alone has the order 0", async () => {
  const scene = { example_count: 200, source_count: 3, minimum_separation_deg: float(15) };
  const { outputs } = await observed(scene, { snr_db: float(15) });
  const accuracy: Record<string, number> = {};
  for (const order_criterion of ["mdl", "aic"]) {
    const { estimate, report } = await estimated(outputs.problem, { mode: "root_music", order_criterion });
    accuracy[order_criterion] = (await scored(estimate, outputs.truth)).found["aoa.order_accuracy"];
    assert.deepEqual((report.json().orders as number[]).map(Number), dataOf(estimate, "order"));
    assert.ok(Math.max(...dataOf(estimate, "order")) <= estimate.array().shape[1]);
  }
  assert.ok(accuracy.mdl > 0.98, String(accuracy.mdl));
  assert.ok(accuracy.aic < accuracy.mdl && accuracy.aic > 0.7, String(accuracy.aic));
  const noise = Generator.seeded(4).complexNormal64(20 * 6 * 200, 1);
  const quiet = arrayInput("ai_phy.aoa_observation.numpy", "complex64", Float32Array.from(noise), [20, 6, 200], {
    element_spacing_wavelengths: float(0.5),
    noise_variance: float(1),
  });
  const { estimate } = await estimated(artifactOf("problem", quiet.kind, quiet), {});
  assert.ok(dataOf(estimate, "order").filter((order) => order === 0).length >= 19);
  assert.ok(dataOf(estimate, "source_count").every((count) => count >= 1));
});

Deno.test("coherent sources are found after spatial smoothing only", async () => {
  const { outputs } = await observed(
    { example_count: 40, source_angles_deg: degrees(-15, 15), source_correlation: float(1) },
    { snr_db: float(20) },
  );
  const rmse = async (params: JsonObject) => {
    const { estimate } = await estimated(outputs.problem, { mode: "root_music", source_count: 2, ...params });
    return (await scored(estimate, outputs.problem)).found["aoa.rmse_deg"];
  };
  const hidden = await rmse({});
  for (const forward_backward of [false, true]) {
    const found = await rmse({ spatial_smoothing_subarray: 6, forward_backward });
    assert.ok(found < 0.2 && hidden > 10 * found, `${found} against ${hidden}`);
  }
});

Deno.test("one source through the estimator of several meets the closed form", async () => {
  const { outputs } = await observed({ example_count: 800, angle_min_deg: float(5), angle_max_deg: float(5.0001) }, {
    snr_db: float(10),
  });
  const { estimate } = await estimated(outputs.problem, { mode: "esprit", source_count: 1 });
  assert.deepEqual(estimate.array().shape, [800, 1]);
  const { found } = await scored(estimate, outputs.problem);
  const bound = Math.sqrt(directionCramerRao(5, { antennas: 8, snapshots: 100, snr: 10, spacing: 0.5 }));
  // ESPRIT of one source: var/CRB = M(M+1)/(6(M-1)) for M = 8 at high Es/N0 (Rao and Hari, IEEE Trans. ASSP 37, 1989).
  assert.ok(
    Math.abs(found["aoa.rmse_deg"] / bound / Math.sqrt(72 / 42) - 1) < 0.1,
    String(found["aoa.rmse_deg"] / bound),
  );
  assert.ok(!("aoa.resolution_rate" in found), "one source has no separation");
});

Deno.test("the scores of several sources are those of their definitions", async () => {
  const problem = arrayInput("ai_phy.aoa_truth.numpy", "float64", Float64Array.of(-10, 10, 20, 40, 0, 5), [3, 2]);
  // Exchanged and close; one beyond half the separation; one left over, compared with the nearest.
  const angles = Float64Array.of(11, -12, 21, 29, 1, 1), counts = Int32Array.of(2, 2, 1);
  const companions = {
    source_count: ndarray("int32", counts, [3]),
    order: ndarray("int32", Int32Array.of(2, 3, 1), [3]),
  };
  const estimate = { ...arrayInput("ai_phy.aoa_estimate.numpy", "float64", angles, [3, 2]) };
  const { found, report } = await scoredWith(estimate, companions, problem);
  assert.deepEqual((report.errors_deg as number[]).map(toNumber), [-2, 1, 1, -11, 1, -4]);
  assert.ok(Math.abs(found["aoa.rmse_deg"] - Math.sqrt((4 + 1 + 1 + 121 + 1 + 16) / 6)) < 1e-12);
  assert.equal(found["aoa.resolution_rate"], 1 - 2 / 3);
  assert.equal(found["aoa.order_accuracy"], 1 - 2 / 3);
  assert.ok(!("aoa.crb_deg" in report), "the array of a bare truth is unknown");
  // Surplus estimates do not count.
  const wide = arrayInput("ai_phy.aoa_estimate.numpy", "float64", Float64Array.of(-10, 3, 10, 20, 40, 80, -1, 0, 5), [
    3,
    3,
  ]);
  assert.equal((await scoredWith(wide, {}, problem)).found["aoa.rmse_deg"], 0);
});

async function scoredWith(
  estimate: ReturnType<typeof arrayInput>,
  companions: Record<string, ReturnType<typeof ndarray>>,
  problem: ReturnType<typeof arrayInput>,
) {
  const result = await runOperation(metrics, { inputs: { estimate: { ...estimate, companions }, problem } });
  return { found: result.metrics as Record<string, number>, report: result.outputs.report.json() as JsonObject };
}

Deno.test("more sources than the array can tell apart, long subarrays and singular covariances are refused", async () => {
  const { problem } =
    (await observed({ example_count: 2, source_angles_deg: degrees(-20, 10) }, { antenna_count: 4 })).outputs;
  const conflict = (params: JsonObject) => refuses("params_conflict", () => estimated(problem, params));
  await conflict({ source_count: 4 });
  await conflict({ source_count: 3, spatial_smoothing_subarray: 3 });
  await conflict({ spatial_smoothing_subarray: 5 });
  await conflict({ spatial_smoothing_subarray: 1 });
  const { problem: short } =
    (await observed({ example_count: 2, source_angles_deg: degrees(-20, 10) }, { snapshot_count: 3 })).outputs;
  await refuses("params_conflict", () => estimated(short, { mode: "capon", source_count: 2 }));
  const { estimate } = await estimated(short, { mode: "capon", source_count: 2, diagonal_loading: float(0.1) });
  assert.ok(dataOf(estimate).every(Number.isFinite));
});

Deno.test("peaks that a spectrum lacks are counted in the report, without a value that is no number", async () => {
  const { problem } = (await observed({ example_count: 30, source_angles_deg: degrees(-2, 2) }, {
    antenna_count: 3,
    // The array is shorter than a wavelength, so that its beam has no side lobe.
    element_spacing_wavelengths: float(0.2),
    snr_db: float(-5),
  })).outputs;
  const { estimate, report } = await estimated(problem, { mode: "bartlett", source_count: 2 });
  assert.ok(toNumber(report.json().missing_peaks as number) > 0);
  assert.ok(dataOf(estimate).every(Number.isFinite));
});
