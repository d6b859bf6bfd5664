/** The chain of channel estimation, from realisation to score, against closed forms. */
import assert from "node:assert/strict";
import type { InputArtifact, Operation } from "../../../lib/contract/operation.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { mmseFilter } from "../../../lib/numeric/channel/channel_estimation.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { checkFractions } from "../../../lib/research/catalog.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/channel_estimation.ts";
import adapter from "../../../ops/estimation/channel_estimator_adapter.ts";
import leastSquares from "../../../ops/estimation/ls_channel_estimator.ts";
import aiPhy from "../../../ops/source/ai_phy.ts";
import observation from "../../../ops/wireless/pilot_observation.ts";
import { CHANNEL, pilotsInput } from "../_fixtures/channel_estimation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

const [realisation, pattern, joined] = aiPhy;

const WIDE = { tx_antennas: 2, subcarriers: 32 };

async function observed(snrDb: number, channelParams: JsonObject = {}, pilotParams: JsonObject = {}) {
  const { channel } = (await runOperation(realisation, { params: { example_count: 2000, seed: 1, ...channelParams } }))
    .outputs;
  const { pilots } = (await runOperation(pattern, { params: { seed: 2, ...pilotParams } })).outputs;
  return (await runOperation(observation, { inputs: { channel, pilots }, params: { seed: 3, snr_db: float(snrDb) } }))
    .outputs;
}

function observedMimo(snrDb: number, examples = 400, seed = 1) {
  const sizes = { scenario: "mimo_ofdm", example_count: examples, rx_antennas: 2, seed, ...WIDE };
  return observed(snrDb, sizes, { scenario: "comb", ...WIDE });
}

async function scored(
  problem: InputArtifact,
  truth: InputArtifact,
  operation: Operation = adapter,
  params: JsonObject = {},
) {
  const { estimate } = (await runOperation(operation, { inputs: { problem }, params })).outputs;
  const found = (await runOperation(metrics, { inputs: { estimate, problem: truth } })).metrics;
  return { estimate, found: Object.fromEntries(Object.entries(found).map(([id, value]) => [id, Number(value)])) };
}

function near(found: number, expected: number, relative: number, what: string) {
  assert.ok(Math.abs(found / expected - 1) < relative, `${what}: ${found} against ${expected}`);
}

Deno.test("on a flat channel the NMSE is N0 by least squares and N0/(1 + N0) by linear MMSE", async () => {
  for (const snr of [-5, 5, 15]) {
    const n0 = 10 ** (-snr / 10), { observation, truth } = await observed(snr, { scenario: "flat_siso" });
    // Sums of 2000 exponential variables have a relative deviation of 2.2 %; the NMSE is a ratio of two.
    const ls = await scored(observation, truth, leastSquares), mmse = await scored(observation, truth);
    near(ls.found["channel_estimation.nmse"], n0, 0.1, "LS");
    near(mmse.found["channel_estimation.nmse"], n0 / (1 + n0), 0.1, "LMMSE");
    near(Number(mmse.estimate.metadata.expected_mse), n0 / (1 + n0), 1e-12, "expected");
    assert.ok(!("mimo.channel_estimation.nmse" in ls.found));
  }
});

Deno.test("at the pilots the least-squares error is N0, and the linear MMSE error is that of its covariance", async () => {
  for (const snr of [0, 20]) {
    const n0 = 10 ** (-snr / 10), { observation, truth, pilot_ls, pilot_mask } = await observedMimo(snr);
    const sparse = pilot_ls.array().data as Float32Array, channel = truth.array().data as Float32Array;
    const mask = pilot_mask.array().data as Float32Array;
    let error = 0, count = 0;
    for (let at = 0; at < channel.length; at += 2) {
      const k = at / 2 % 32, t = Math.floor(at / 64) % 2;
      if (mask[t * 32 + k] === 0) {
        assert.equal(sparse[at], 0);
        continue;
      }
      error += (sparse[at] - channel[at]) ** 2 + (sparse[at + 1] - channel[at + 1]) ** 2;
      count++;
    }
    assert.equal(count, 400 * 2 * 2 * 8);
    // 12800 independent exponential variables: 0.9 %.
    near(error / count, n0, 0.04, "LS at pilots");
    const { estimate, found } = await scored(observation, truth);
    // Eight pilots on a full comb see every tap with the gain 8: error Σ_l P_l·N0/(8·P_l + N0), whatever the subcarrier.
    const powers = [0, 1, 2, 3].map((l) => Math.exp(-l)), total = powers.reduce((a, b) => a + b);
    const expected = powers.reduce((sum, p) => sum + p / total * n0 / (8 * p / total + n0), 0);
    near(Number(estimate.metadata.expected_mse), expected, 1e-9, "closed form");
    near(found["channel_estimation.mse"], expected, 0.06, "LMMSE");
  }
});

Deno.test("linear MMSE beats least squares, and errors fall and rates rise with the SNR", async () => {
  const rows: number[][] = [];
  for (const snr of [-5, 5, 15, 25]) {
    const { observation, truth } = await observedMimo(snr, 100);
    const ls = (await scored(observation, truth, leastSquares)).found, mmse = (await scored(observation, truth)).found;
    assert.ok(mmse["channel_estimation.nmse"] < ls["channel_estimation.nmse"]);
    const rate = "mimo.channel_estimation.zf_spectral_efficiency_bps_hz";
    // In strong noise, which zero forcing is not made for, its rates hardly tell the estimates apart.
    assert.ok(snr < 0 || mmse[rate] > ls[rate]);
    assert.ok(mmse["mimo.channel_estimation.zf_rate_retention"] < 1);
    assert.equal(mmse["pilot.density"], 0.25);
    near(mmse["task.score"], 1 / (1 + mmse["channel_estimation.nmse"]), 1e-12, "score");
    rows.push([mmse["channel_estimation.nmse"], -mmse[rate], -mmse["channel_estimation.complex_correlation"]]);
  }
  rows.forEach((row, i) => row.forEach((value, j) => assert.ok(i === 0 || value < rows[i - 1][j])));
});

Deno.test("in strong noise zero forcing with an estimate may have more rate than with the true channel", async () => {
  // A smoothed estimate of an ill-conditioned channel amplifies less noise: the ratio of the rates is no fraction.
  const ratios: number[] = [];
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const { observation, truth } = await observedMimo(-10, 1, seed);
    ratios.push((await scored(observation, truth)).found["mimo.channel_estimation.zf_rate_retention"]);
  }
  assert.ok(Math.max(...ratios) > 1, String(ratios));
  checkFractions({ "mimo.channel_estimation.zf_rate_retention": float(Math.max(...ratios)) });
});

Deno.test("a prior of fewer taps than the channel has leaves an error that no SNR removes", async () => {
  const { observation, truth } = await observedMimo(60, 50);
  const { found } = await scored(observation, truth, adapter, { lmmse_assumed_tap_count: 2 });
  assert.ok(found["channel_estimation.nmse"] > 0.05);
  assert.ok((await scored(observation, truth)).found["channel_estimation.nmse"] < 1e-5);
});

Deno.test("pilots, taps and noise are those of NumPy's stream in the order of the contract", async () => {
  const params = { seed: 5, example_count: 2, rx_antennas: 2, tx_antennas: 2, subcarriers: 6, snr_db: float(10) };
  const { problem } = (await runOperation(joined, { params: { scenario: "mimo_ofdm_pilot", ...params } })).outputs;
  const generator = Generator.seeded(5), labels = generator.integers(0, 4, 12);
  const taps = generator.complexNormal64(2 * 2 * 2 * 4, 1), noise = generator.complexNormal64(24, 0.1);
  const pilots = problem.array("pilots").data as Float32Array;
  // Antenna 1, subcarrier 5 = 1 + 4; its neighbour is silent.
  const label = Number(labels[1 * 6 + 5]), part = Math.fround(Math.SQRT1_2);
  assert.deepEqual([...pilots.subarray(22, 24)], [part * (1 - 2 * (label >> 1)), part * (1 - 2 * (label & 1))]);
  assert.deepEqual([...pilots.subarray(20, 22)], [0, 0]);
  // Example 1, receive antenna 0, transmit antenna 1 at subcarrier 5: angles -2π·5·l/6.
  const total = [0, 1, 2, 3].reduce((sum, l) => sum + Math.exp(-l), 0);
  let real = 0, imaginary = 0;
  for (let l = 0; l < 4; l++) {
    const scale = Math.sqrt(Math.exp(-l) / total),
      at = 2 * ((1 * 4 + 0 * 2 + 1) * 4 + l),
      angle = -2 * Math.PI * 5 * l / 6;
    real += scale * (taps[at] * Math.cos(angle) - taps[at + 1] * Math.sin(angle));
    imaginary += scale * (taps[at] * Math.sin(angle) + taps[at + 1] * Math.cos(angle));
  }
  const h = 2 * ((1 * 4 + 1) * 6 + 5), channel = problem.array("channel").data as Float32Array;
  assert.ok(Math.hypot(channel[h] - real, channel[h + 1] - imaginary) < 1e-6);
  const y = 2 * (1 * 2 * 6 + 5), received = problem.array().data as Float32Array;
  const expected = channel[h] * pilots[22] - channel[h + 1] * pilots[23] + noise[y];
  assert.ok(Math.abs(received[y] - expected) < 1e-6);
});

Deno.test("joined and separate operations give the same kind of problem", async () => {
  const { problem } =
    (await runOperation(joined, { params: { example_count: 3000, seed: 7, snr_db: float(0) } })).outputs;
  assert.deepEqual(problem.arrayNames, ["problem", "channel", "pilots"]);
  const { found } = await scored(problem, problem, leastSquares);
  near(found["channel_estimation.nmse"], 1, 0.1, "LS at 0 dB");
  const apart = await observed(0);
  assert.deepEqual(apart.observation.arrayNames, ["observation", "pilots"]);
});

Deno.test("a trained estimator gets the features of the ABI and no truth", async () => {
  const seen: string[] = [];
  const { outputs } = await runOperation(adapter, {
    inputs: { problem: pilotsInput("problem") },
    params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
    model(feeds) {
      seen.push(...Object.entries(feeds).map(([name, { shape }]) => `${name} ${shape}`).sort());
      const truth = JSON.stringify([...CHANNEL.subarray(0, 8)]);
      for (const { data } of Object.values(feeds)) {
        assert.ok(!JSON.stringify([...data as Float32Array]).includes(truth.slice(1, -1)));
      }
      return { h_hat_ri: ndarray("float32", new Float32Array(128).fill(0.5), [2, 2, 2, 8, 2]) };
    },
  });
  assert.deepEqual(seen, [
    "ls_estimate_ri 2,2,2,8,2",
    "noise_variance 2,1",
    "pilot_ls_ri 2,2,2,8,2",
    "pilot_mask 2,2,8",
  ]);
  assert.deepEqual(outputs.estimate.array().shape, [2, 2, 2, 8]);
});

Deno.test("nothing becomes NaN: silence, perfection and almost no noise have an answer", async () => {
  const shape = [1, 1, 1, 2], kind = "ai_phy.channel_estimate.numpy";
  const score = async (estimate: number[], channel: number[]) =>
    (await runOperation(metrics, {
      inputs: {
        estimate: arrayInput(kind, "complex64", Float32Array.from(estimate), shape),
        problem: arrayInput("ai_phy.channel_estimation_truth.numpy", "complex64", Float32Array.from(channel), shape, {
          noise_variance: 0.5,
        }),
      },
    })).metrics;
  assert.deepEqual(await score([0, 0, 0, 0], [0, 0, 0, 0]), {
    "channel_estimation.mse": 0,
    "channel_estimation.complex_correlation": 0,
    "mimo.channel_estimation.zf_spectral_efficiency_bps_hz": 0,
    "mimo.channel_estimation.perfect_csi_zf_spectral_efficiency_bps_hz": 0,
  });
  const perfect = await score([1, 0, 0, 1], [1, 0, 0, 1]);
  // One antenna at |h|² = 1 and N0 = 0.5.
  near(Number(perfect["mimo.channel_estimation.zf_spectral_efficiency_bps_hz"]), Math.log2(3), 1e-12, "rate");
  assert.deepEqual([perfect["channel_estimation.nmse"], perfect["channel_estimation.nmse_db"]], [0, undefined]);
  const silent = await score([0, 0, 0, 0], [1, 0, 0, 1]);
  assert.deepEqual([silent["channel_estimation.nmse"], silent["mimo.channel_estimation.zf_rate_retention"]], [1, 0]);
  for (const taps of [1, 4, 64]) {
    const { weights, errors } = mmseFilter([0, 4, 8, 12], { subcarriers: 16, taps }, 0);
    assert.ok(weights.every(Number.isFinite) && errors.every((error) => error > -1e-9 && error < 1));
  }
});

Deno.test("antennas that cannot be told apart are refused", async () => {
  await refuses("params_conflict", () => runOperation(pattern, { params: { tx_antennas: 2, subcarriers: 4 } }));
  const crowded = { scenario: "comb", tx_antennas: 5, subcarriers: 16 };
  await refuses("params_conflict", () => runOperation(pattern, { params: crowded }));
  const narrow = { scenario: "comb", tx_antennas: 3, subcarriers: 2 };
  await refuses("params_conflict", () => runOperation(pattern, { params: narrow }));
  await refuses(
    "params_conflict",
    () => runOperation(realisation, { params: { scenario: "flat_siso", tx_antennas: 2 } }),
  );
  await refuses("params_conflict", () => runOperation(joined, { params: { tx_antennas: 2, subcarriers: 4 } }));
  const ones = Float32Array.from({ length: 2 * 2 * 8 }, (_, i) => 1 - i % 2);
  const same = { ...pilotsInput("observation"), companions: { pilots: ndarray("complex64", ones, [2, 8]) } };
  await refuses("boundary_value_invalid", () => runOperation(leastSquares, { inputs: { problem: same } }));
  const { pilots } = (await runOperation(pattern, { params: { subcarriers: 3 } })).outputs;
  const { channel } = (await runOperation(realisation, { params: { subcarriers: 4 } })).outputs;
  await refuses("boundary_shape_invalid", () => runOperation(observation, { inputs: { channel, pilots } }));
});
