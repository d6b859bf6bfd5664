/** The chain of beamforming, from channels to rates. */
import assert from "node:assert/strict";
import type { InputArtifact, Operation } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { beamGain, dftCodebook, maximumRatio, sweepCodebook } from "../../../lib/numeric/antenna/beamforming.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/beamforming.ts";
import adapter from "../../../ops/antenna/beamforming_adapter.ts";
import mrt from "../../../ops/antenna/mrt_beamformer.ts";
import scenario from "../../../ops/source/beamforming_scenario.ts";
import { beamProblem } from "../_fixtures/allocation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

const channelsOf = async (params: JsonObject = {}) =>
  (await runOperation(scenario, { params: { example_count: 2000, seed: 5, ...params } })).outputs.problem;

async function scored(problem: InputArtifact, operation: Operation = mrt, params: JsonObject = {}) {
  const { decision } = (await runOperation(operation, { inputs: { problem }, params })).outputs;
  return (await runOperation(metrics, { inputs: { decision, problem } })).metrics as Record<string, number>;
}

Deno.test("channels are those of NumPy's stream in the order of the contract", async () => {
  const plain = await channelsOf({ example_count: 3, tx_antennas: 2 });
  assert.deepEqual(plain.array().data, Float32Array.from(Generator.seeded(5).complexNormal64(6, 1)));
  const clustered = await channelsOf({ example_count: 2, tx_antennas: 3, channel_model: "clustered_ula" });
  const generator = Generator.seeded(5), hotspots = generator.integers(0, 3, 2, "int64") as BigInt64Array;
  const spread = generator.standardNormal(2) as Float64Array, gains = generator.complexNormal64(2, 1);
  const a = steeringVector([-40, 0, 35][Number(hotspots[1])] + 5 * spread[1], 3, 0.5);
  const found = clustered.array().data as Float32Array;
  assert.equal(found[10], Math.fround(gains[2] * a[4] - gains[3] * a[5]));
});

Deno.test("maximum ratio over i.i.d. channels has an array gain of M and the rate of its gamma law", async () => {
  const found = await scored(await channelsOf());
  // ‖h‖² is gamma of shape 8: mean 8, variance 8; 2000 of them give the mean to 8 ± 3·0.063.
  assert.ok(Math.abs(found["beamforming.array_gain_db"] - 10 * Math.log10(8)) < 1e-6);
  assert.ok(Math.abs(found["beamforming.normalized_gain"] - 1) < 1e-6);
  let expected = 0;
  const step = 1e-3;
  for (let x = step / 2; x < 60; x += step) expected += Math.log2(1 + 10 * x) * x ** 7 * Math.exp(-x) / 5040 * step;
  assert.ok(Math.abs(found["beamforming.spectral_efficiency_bps_hz"] - expected) < 0.04, `${expected}`);
});

Deno.test("a codebook loses against maximum ratio, less where channels are clustered", async () => {
  const sweep = (problem: InputArtifact) => scored(problem, adapter);
  const scattered = await sweep(await channelsOf());
  const clustered = await sweep(await channelsOf({ channel_model: "clustered_ula" }));
  // The largest of eight equal shares of an isotropic vector: H_8/8 on average.
  const harmonic = [1, 2, 3, 4, 5, 6, 7, 8].reduce((sum, k) => sum + 1 / k, 0) / 8;
  assert.ok(Math.abs(scattered["beamforming.normalized_gain"] - harmonic) < 0.01, `${scattered["task.score"]}`);
  assert.ok(clustered["beamforming.normalized_gain"] > 0.7);
  assert.ok(clustered["beamforming.normalized_gain"] < 1);
});

Deno.test("the codebook is orthonormal; equal gains go to the lowest index", () => {
  for (const antennas of [1, 2, 5, 8]) {
    const codebook = dftCodebook(antennas);
    codebook.forEach((a, i) =>
      codebook.forEach((b, j) => assert.ok(Math.abs(beamGain(a, b) - (i === j ? 1 : 0)) < 1e-12))
    );
  }
  const codebook = dftCodebook(4), single = Float64Array.of(1, 0, 0, 0, 0, 0, 0, 0);
  assert.equal(sweepCodebook(single, codebook), codebook[0]);
  assert.equal(sweepCodebook(codebook[2].map((value) => 3 * value), codebook), codebook[2]);
});

Deno.test("a channel of zeros gets equal weights, and does not count", async () => {
  const silence = new Float64Array(8);
  assert.deepEqual([...maximumRatio(silence)], [0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0]);
  for (const params of [{ mode: "mrt" }, {}] as JsonObject[]) {
    const problem = beamProblem(new Float32Array(16));
    const { decision } = (await runOperation(adapter, { inputs: { problem }, params })).outputs;
    assert.deepEqual([...decision.array().data as Float32Array].slice(0, 4), [0.5, 0, 0.5, 0]);
    const { metrics: found } = await runOperation(metrics, { inputs: { decision, problem } });
    assert.deepEqual(found, { "beamforming.spectral_efficiency_bps_hz": 0 });
  }
});

Deno.test("one antenna has one beam, and wrong shapes are refused", async () => {
  const found = await scored(await channelsOf({ tx_antennas: 1 }), adapter);
  assert.ok(Math.abs(found["beamforming.array_gain_db"]) < 1e-6);
  const decision = arrayInput("ai_phy.beamforming_decision.numpy", "complex64", new Float32Array(8), [1, 4]);
  await refuses(
    "boundary_shape_invalid",
    () => runOperation(metrics, { inputs: { decision, problem: beamProblem() } }),
  );
  const { metadata: _, ...bare } = beamProblem();
  await refuses("input_metadata_missing", () => runOperation(mrt, { inputs: { problem: { ...bare, metadata: {} } } }));
  assert.ok(
    Math.abs((await scored(await channelsOf({ snr_db: float(-300) })))["beamforming.spectral_efficiency_bps_hz"]) <
      1e-20,
  );
});
