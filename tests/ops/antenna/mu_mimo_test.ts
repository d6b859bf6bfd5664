/** Multi-user precoders, their rates and the scheduler, against stored vectors and closed forms. */
import assert from "node:assert/strict";
import type { GivenInput } from "../../../lib/conformance/run_operation.ts";
import { type Float, float, type JsonObject } from "../../../lib/contract/value.ts";
import { matrixProduct } from "../../../lib/numeric/linalg/linear_algebra.ts";
import {
  blockDiagonalPrecoder,
  type Downlink,
  jainIndex,
  maximumRatioPrecoder,
  regularizedPrecoder,
  userRates,
  weightedMmsePrecoder,
  zeroForcingPrecoder,
} from "../../../lib/numeric/antenna/mu_mimo.ts";
import { dopplerCorrelation, maximumDopplerHz } from "../../../lib/numeric/channel/delay_profile.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { energy } from "../../../lib/numeric/linalg/complex.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { sum } from "../../../lib/numeric/scores/statistics.ts";
import metrics from "../../../ops/metrics/mu_mimo.ts";
import precoder from "../../../ops/antenna/mu_mimo_precoder.ts";
import scheduler from "../../../ops/resource/proportional_fair_scheduler.ts";
import scenario from "../../../ops/source/mu_mimo_scenario.ts";
import stored from "../../data/physical/mu_mimo.json" with { type: "json" };
import { downlink } from "../_fixtures/mu_mimo.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

interface StoredLink {
  users: number;
  rx_antennas?: number;
  tx_antennas: number;
  total_power: number;
  noise_variance: number;
  H: number[][];
}
const flat = (rows: number[][]) => Float64Array.from(rows.flat());
const linkOf = ({ users, rx_antennas, tx_antennas, total_power, noise_variance, H }: StoredLink): Downlink => ({
  h: flat(H),
  users,
  rx: rx_antennas ?? 1,
  tx: tx_antennas,
  noise: noise_variance,
  power: total_power,
});
const problemOf = ({ h, users, rx, tx, noise, power }: Downlink) =>
  arrayInput("ai_phy.mu_mimo_problem.numpy", "complex64", Float32Array.from(h), [1, users, rx, tx], {
    noise_variance: noise,
    total_power: power,
    example_count: 1,
  });
const sumRate = (link: Downlink, w: Float64Array, streams = link.users * link.rx) =>
  sum(userRates(link, w, streams).rates);
const near = (found: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what: string) => {
  assert.equal(found.length, expected.length, what);
  for (let i = 0; i < found.length; i++) {
    const bound = tolerance * (1 + Math.abs(expected[i]));
    assert.ok(Math.abs(found[i] - expected[i]) <= bound, `${what} ${i}: ${found[i]} for ${expected[i]}`);
  }
};
const randomLink = (users: number, tx: number, seed: number, rx = 1): Downlink => ({
  h: Generator.seeded(seed).complexNormal64(users * rx * tx, 1),
  users,
  rx,
  tx,
  noise: 0.1,
  power: 2,
});

async function scored(problem: GivenInput, params: JsonObject) {
  const { decision } = (await runOperation(precoder, { inputs: { problem }, params })).outputs;
  const run = await runOperation(metrics, { inputs: { decision, problem } });
  return { w: decision.array().data as Float32Array, metrics: run.metrics as Record<string, number> };
}

Deno.test("weights and sum rates are the stored ones for every mode", async () => {
  for (const [index, row] of stored.mu.entries()) {
    const link = linkOf(row), problem = problemOf(link);
    const mrt = await scored(problem, { mode: "mrt" });
    const zf = await scored(problem, { mode: "zf" });
    const rzf = await scored(problem, { mode: "rzf" });
    near(zf.w, flat(row.W_zf), 1e-4, `zf ${index}`);
    near(rzf.w, flat(row.W_rzf), 1e-4, `rzf ${index}`);
    const rates = [mrt, zf, rzf].map((one) => one.metrics["mu_mimo.sum_rate_bps_hz"]);
    near(rates, [row.sum_rate_mrt, row.sum_rate_zf, row.sum_rate_rzf], 1e-4, `rates ${index}`);
    near(userRates(link, regularizedPrecoder(link, row.rzf_alpha), link.users).rates, row.user_rates_rzf, 1e-4, "rzf");
    const wmmse = await scored(problem, { mode: "wmmse", wmmse_iterations: row.wmmse_iterations });
    const short = await scored(problem, { mode: "wmmse", wmmse_iterations: 10 });
    near([wmmse.metrics["mu_mimo.sum_rate_bps_hz"]], [row.sum_rate_wmmse], 5e-3, `wmmse ${index}`);
    near([short.metrics["mu_mimo.sum_rate_bps_hz"]], [row.sum_rate_wmmse_10], 5e-3, `wmmse of ten ${index}`);
  }
});

Deno.test("gains and rates of block diagonalisation are the stored ones, and no user hears another", async () => {
  for (const row of stored.bd) {
    const link = linkOf(row), { w, gains } = blockDiagonalPrecoder(link, "equal");
    near(gains.slice().sort().reverse(), row.stream_gains, 1e-4, "gains");
    assert.ok(sum(userRates(link, w, gains.length).interference) < 1e-20);
    assert.ok(Math.abs(energy(w) - link.power) < 1e-12);
    for (const [power, expected] of [["equal", row.sum_rate_equal], ["water_filling", row.sum_rate_water_filling]]) {
      const found = await scored(problemOf(link), {
        mode: "block_diagonalization",
        power: power as string,
      });
      near([found.metrics["mu_mimo.sum_rate_bps_hz"]], [expected as number], 1e-4, `${power}`);
    }
  }
});

Deno.test("zero forcing has the rates log2(1 + p·gain/N0), equal or water-filled", () => {
  const link = randomLink(3, 5, 4);
  const inverse = zeroForcingPrecoder(link, "equal"), product = matrixProduct(link.h, inverse, 3, 5, 3);
  let expected = 0;
  for (let k = 0; k < 3; k++) expected += Math.log2(1 + product[8 * k] ** 2 / link.noise);
  for (let i = 0; i < 9; i++) if (i % 4 !== 0) assert.ok(Math.hypot(product[2 * i], product[2 * i + 1]) < 1e-12);
  assert.ok(Math.abs(sumRate(link, inverse) - expected) < 1e-9);
  assert.ok(Math.abs(energy(inverse) - link.power) < 1e-12);
  const filled = zeroForcingPrecoder(link, "water_filling");
  assert.ok(sumRate(link, filled) > sumRate(link, inverse));
  assert.ok(Math.abs(energy(filled) - link.power) < 1e-12);
});

Deno.test("regularised zero forcing goes from zero forcing to maximum ratio with its regularisation", () => {
  const link = randomLink(3, 5, 8), unit = (w: Float64Array) => w.map((value) => value / Math.sqrt(energy(w)));
  const direction = (w: Float64Array, k: number) => {
    const own = new Float64Array(10);
    for (let m = 0; m < 5; m++) own.set(w.subarray(2 * (3 * m + k), 2 * (3 * m + k) + 2), 2 * m);
    return unit(own);
  };
  for (let k = 0; k < 3; k++) {
    const to = (alpha: number, mode: Float64Array) =>
      energy(direction(regularizedPrecoder(link, alpha), k).map((value, i) => value - direction(mode, k)[i]));
    assert.ok(to(1e-9, zeroForcingPrecoder(link, "equal")) < 1e-12);
    assert.ok(to(1e9, maximumRatioPrecoder(link)) < 1e-12);
    assert.ok(to(1, zeroForcingPrecoder(link, "equal")) > 1e-6);
  }
  assert.ok(Math.abs(energy(regularizedPrecoder(link, 0.3)) - link.power) < 1e-12);
});

Deno.test("weighted MMSE never lowers the weighted sum rate, and ends at one user's capacity", () => {
  const weights = [1, 2, 0.5, 1, 3, 1];
  const link = randomLink(6, 4, 11);
  let last = -Infinity;
  for (const iterations of [1, 2, 3, 5, 8, 13, 21, 34, 55, 89]) {
    const w = weightedMmsePrecoder(link, weights, iterations);
    const rate = userRates(link, w, 6).rates.reduce((total, one, k) => total + weights[k] * one, 0);
    assert.ok(rate >= last - 1e-9, `${iterations}: ${rate} after ${last}`);
    assert.ok(energy(w) <= link.power * (1 + 1e-12));
    last = rate;
  }
  // Half of the users are switched off, and their weights fade below the smallest number.
  const parallel = { ...link, h: Float64Array.from(link.h, (_, i) => link.h[i % 8] / (1 + Math.floor(i / 8))) };
  const served = userRates(parallel, weightedMmsePrecoder(parallel, new Float64Array(6).fill(1), 3000), 6).rates;
  assert.ok(served[0] > 5);
  assert.ok(sum(served.subarray(3)) < 1e-9, `${served}`);
  const alone = randomLink(1, 4, 12);
  const capacity = Math.log2(1 + alone.power * energy(alone.h) / alone.noise);
  assert.ok(Math.abs(sumRate(alone, weightedMmsePrecoder(alone, [1], 20)) - capacity) < 1e-9);
});

Deno.test("users that decode jointly have the capacity of parallel channels, above every precoder", async () => {
  // Singular values 2 and 1 with N0 = 0.5 and P = 1: floors 1/8 and 1/2, level 13/16.
  const problem = problemOf({
    ...randomLink(2, 2, 1),
    h: Float64Array.of(2, 0, 0, 0, 0, 0, 1, 0),
    noise: 0.5,
    power: 1,
  });
  const capacity = Math.log2(13 / 2) + Math.log2(13 / 8);
  for (const mode of ["mrt", "zf", "rzf", "wmmse"]) {
    const { metrics: found } = await scored(problem, { mode });
    assert.ok(Math.abs(found["mu_mimo.joint_decoding_capacity_bps_hz"] - capacity) < 1e-12);
    // Orthogonal users: weighted MMSE reaches it.
    assert.ok(found["mu_mimo.sum_rate_bps_hz"] < capacity + 1e-6, mode);
    if (mode === "wmmse") assert.ok(found["mu_mimo.sum_rate_bps_hz"] > capacity - 1e-4);
  }
});

Deno.test("the rate of a user of rank two is log2 det(I + SSᴴR⁻¹) of two by two matrices", () => {
  const link = randomLink(2, 4, 21, 2), w = Generator.seeded(3).complexNormal64(16, 1);
  const { rates } = userRates(link, w, 4);
  const product = matrixProduct(link.h, w, 4, 4, 4);
  /** Covariance at user 0 of streams from `first` to `last`, plus noise: [a, d, re b, im b]. */
  const determinant = (first: number, last: number) => {
    let a = link.noise, d = link.noise, re = 0, im = 0;
    for (let s = first; s <= last; s++) {
      const [xr, xi, yr, yi] = [...product.subarray(2 * s, 2 * s + 2), ...product.subarray(8 + 2 * s, 10 + 2 * s)];
      a += xr * xr + xi * xi;
      d += yr * yr + yi * yi;
      re += xr * yr + xi * yi;
      im += xi * yr - xr * yi;
    }
    return a * d - re * re - im * im;
  };
  assert.ok(Math.abs(rates[0] - Math.log2(determinant(0, 3) / determinant(2, 3))) < 1e-9);
});

Deno.test("channels are those of NumPy's stream in the order of the contract", async () => {
  const params = { example_count: 2, users: 3, tx_antennas: 2, rx_antennas: 2, path_gain_spread_db: 6, seed: 5 };
  const found = (await runOperation(scenario, { params: { ...params, csi_error_variance: 0.2 } })).outputs.problem;
  const generator = Generator.seeded(5), h = generator.complexNormal64(24, 1), gains = generator.uniform(-3, 3, 3);
  const error = generator.complexNormal64(24, 0.2);
  const truth = h.map((value, i) => value * Math.sqrt(10 ** (gains[Math.floor(i / 8) % 3] / 10)));
  near(found.array("true_channel").data as Float32Array, truth, 1e-6, "true channel");
  near(found.array().data as Float32Array, truth.map((value, i) => value + error[i]), 1e-6, "known channel");
  const clustered = (await runOperation(scenario, {
    params: { example_count: 1, users: 2, tx_antennas: 3, channel_model: "clustered_ula", seed: 5 },
  })).outputs.problem;
  const other = Generator.seeded(5), hotspots = other.integers(0, 3, 2, "int64") as BigInt64Array;
  const spread = other.standardNormal(2) as Float64Array, b = other.complexNormal64(2, 1);
  const a = steeringVector([-40, 0, 35][Number(hotspots[1])] + 5 * spread[1], 3, 0.5);
  const own = (clustered.array().data as Float32Array).subarray(6);
  near(own.subarray(4), [b[2] * a[4] + b[3] * a[5], b[3] * a[4] - b[2] * a[5]], 1e-6, "steering");
});

Deno.test("slots of users in motion are correlated by J0, and a clustered user keeps its direction", async () => {
  const motion = { time_variation: "doppler", mobility_kmh: float(30), slot_interval_ms: float(2) };
  const rho = dopplerCorrelation("jakes", maximumDopplerHz(30, 3.5), 2e-3);
  const params = { example_count: 2, users: 64, tx_antennas: 64, seed: 5, ...motion };
  const h = (await runOperation(scenario, { params })).outputs.problem.array().data as Float32Array;
  let [real, imaginary, power] = [0, 0, 0];
  for (let i = 0; i < h.length / 2; i += 2) {
    const [a, b, c, d] = [h[i], h[i + 1], h[i + h.length / 2], h[i + h.length / 2 + 1]];
    real += a * c + b * d;
    imaginary += a * d - b * c;
    power += (a * a + b * b + c * c + d * d) / 2;
  }
  // 4096 links: a standard error of about 0.01.
  assert.ok(Math.abs(real / power - rho) < 0.05 && Math.abs(imaginary / power) < 0.05, `${real / power} ${rho}`);
  const clustered = await runOperation(scenario, {
    params: { ...params, users: 3, tx_antennas: 2, channel_model: "clustered_ula" },
  });
  const g = clustered.outputs.problem.array().data as Float32Array;
  for (let user = 0; user < 3; user++) {
    const phases = [0, 1].map((slot) => {
      const [a, b, c, d] = g.subarray(4 * (3 * slot + user), 4 * (3 * slot + user + 1));
      return Math.atan2(a * d - b * c, a * c + b * d);
    });
    assert.ok(Math.abs(Math.sin((phases[0] - phases[1]) / 2)) < 1e-4, String(phases));
  }
});

Deno.test("proportional fairness gains from users in motion, and nothing over users at rest", async () => {
  const gain = async (mobility_kmh: number) => {
    const motion = { time_variation: "doppler", mobility_kmh: float(mobility_kmh) };
    const params = { example_count: 600, users: 8, tx_antennas: 1, snr_db: float(0), seed: 11, ...motion };
    const { problem } = (await runOperation(scenario, { params })).outputs;
    const rate = async (policy: string) =>
      Number(
        (await runOperation(scheduler, { inputs: { rates: problem }, params: { policy, window: float(50) } }))
          .metrics["schedule.sum_rate_bps_hz"],
      );
    return await rate("proportional_fair") / await rate("round_robin");
  };
  const [resting, moving] = [await gain(0), await gain(60)];
  assert.ok(Math.abs(resting - 1) < 0.03 && moving > 1.4, `${resting} ${moving}`);
});

Deno.test("an error of the known channel costs zero forcing its rate at high SNR", async () => {
  const problem = async (csi_error_variance: number) =>
    (await runOperation(scenario, { params: { example_count: 50, snr_db: 30, csi_error_variance, seed: 2 } })).outputs
      .problem;
  const exact = (await scored(await problem(0), { mode: "zf" })).metrics;
  const wrong = (await scored(await problem(0.1), { mode: "zf" })).metrics;
  assert.ok(exact["mu_mimo.mean_interference_to_signal_db"] < -100);
  assert.ok(wrong["mu_mimo.mean_interference_to_signal_db"] > -20);
  assert.ok(wrong["mu_mimo.sum_rate_bps_hz"] < exact["mu_mimo.sum_rate_bps_hz"] / 2);
});

Deno.test("proportional fair slots, throughput and averages are the stored ones", async () => {
  for (const row of stored.pf) {
    const slots = row.rates.length, users = row.rates[0].length;
    const rates = arrayInput("ai_phy.mu_mimo_rates.numpy", "float64", flat(row.rates), [slots, users], {
      slot_count: slots,
      user_count: users,
    });
    const { outputs, metrics: found } = await runOperation(scheduler, {
      inputs: { rates },
      params: { window: row.window, initial_average: row.initial_average },
    });
    assert.deepEqual(Array.from(outputs.decision.array().data as Int32Array), row.selected);
    const report = outputs.report.json() as Record<string, (number | Float)[]>;
    near(report.user_rates_bps_hz.map(Number), row.throughput, 1e-9, "throughput");
    near(report.final_average_bps_hz.map(Number), row.final_average, 1e-9, "average");
    near([found["schedule.jain_fairness"] as number], [row.jain], 1e-9, "fairness");
  }
});

Deno.test("policies: the largest rate, the users in turn, fairness by the exponent", async () => {
  const run = async (params: JsonObject) => {
    const values = Float64Array.from({ length: 30 }, (_, i) => [4, 1, 2][i % 3]);
    const rates = arrayInput("ai_phy.mu_mimo_rates.numpy", "float64", values, [10, 3], {
      slot_count: 10,
      user_count: 3,
    });
    const { outputs } = await runOperation(scheduler, { inputs: { rates }, params });
    return Array.from(outputs.decision.array().data as Int32Array);
  };
  assert.deepEqual(await run({ policy: "max_rate" }), new Array(10).fill(0));
  assert.deepEqual(await run({ fairness_exponent: 0 }), new Array(10).fill(0));
  assert.deepEqual(await run({ policy: "round_robin" }), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
  // Constant rates get equal time, whatever they are.
  const fair = await run({ window: 1000 });
  assert.deepEqual([0, 1, 2].map((user) => fair.filter((one) => one === user).length).sort(), [3, 3, 4]);
});

Deno.test("reports of slots before choose the users, and what was sent by them is lost where the channel carries less", async () => {
  const rates = arrayInput("ai_phy.mu_mimo_rates.numpy", "float64", Float64Array.of(4, 1, 1, 3, 6, 2, 5, 8), [4, 2], {
    slot_count: 4,
    user_count: 2,
  });
  const run = async (params: JsonObject) => {
    const { outputs, metrics } = await runOperation(scheduler, {
      inputs: { rates },
      params: { policy: "max_rate", ...params },
    });
    const report = outputs.report.json() as Record<string, (number | Float)[]>;
    return {
      chosen: Array.from(outputs.decision.array().data as Int32Array),
      rates: report.user_rates_bps_hz.map(Number),
      sum: Number(metrics["schedule.sum_rate_bps_hz"]),
    };
  };
  const none = { chosen: [0, 1, 0, 1], rates: [10 / 4, 11 / 4], sum: 21 / 4 };
  assert.deepEqual(await run({}), none);
  assert.deepEqual(await run({ report_delay_slots: 0, transmitted_rate: "report" }), none);
  // Slot 0 has no report; slots 1 to 3 serve users 0, 1, 0, whose channels carry 1, 2 and 5 of the 4, 3 and 6 that were reported.
  const late = { report_delay_slots: 1 };
  assert.deepEqual(await run(late), { chosen: [-1, 0, 1, 0], rates: [2, 2 / 3], sum: 2 + 2 / 3 });
  assert.deepEqual(await run({ ...late, transmitted_rate: "report" }), {
    chosen: [-1, 0, 1, 0],
    rates: [0, 0],
    sum: 0,
  });
  // Slots 2 and 3 serve users 0 and 1, whose channels carry 6 and 8 of the 4 and 3 that were reported.
  assert.deepEqual((await run({ report_delay_slots: 2, transmitted_rate: "report" })).rates, [2, 1.5]);
  // A rate of 4 = log2(1 + 15) becomes log2(1 + 15/15) = 1, which the channel of slot 1 carries; 3 = log2(1 + 7) and 6 become less than 2 and 5.
  const lowered = await run({ ...late, transmitted_rate: "report", report_backoff_db: float(10 * Math.log10(15)) });
  near(lowered.rates, [(1 + Math.log2(1 + 63 / 15)) / 3, Math.log2(1 + 7 / 15) / 3], 1e-12, "lowered");
  await refuses("params_conflict", () => run({ report_delay_slots: 4 }));
});

Deno.test("late reports cost nothing at rest, and at speed the beam and the zeros of the precoder", async () => {
  const found = async (mobility_kmh: number, scene: JsonObject, params: JsonObject) => {
    const { problem } = (await runOperation(scenario, {
      params: {
        example_count: 300,
        users: 4,
        tx_antennas: 4,
        snr_db: float(20),
        time_variation: "doppler",
        mobility_kmh: float(mobility_kmh),
        seed: 5,
        ...scene,
      },
    })).outputs;
    const { metrics } = await runOperation(scheduler, {
      inputs: { rates: problem },
      params: { policy: "round_robin", ...params },
    });
    return Number(metrics["schedule.sum_rate_bps_hz"]);
  };
  for (const [scene, params] of [[{}, { group_size: 4 }], [{ rx_antennas: 2 }, {}]] as [JsonObject, JsonObject][]) {
    const late = { ...params, report_delay_slots: 4 };
    const [resting, restingLate] = [await found(0, scene, params), await found(0, scene, late)];
    assert.ok(Math.abs(resting - restingLate) < 1e-6 * resting, `${resting} ${restingLate}`);
    const [moving, movingLate] = [await found(30, scene, params), await found(30, scene, late)];
    assert.ok(movingLate < 0.9 * moving, `${moving} ${movingLate}`);
    assert.ok(await found(30, scene, { ...late, transmitted_rate: "report" }) < movingLate);
  }
});

Deno.test("groups hold nearly orthogonal users served by zero forcing", async () => {
  // Users 0 and 1 are parallel, user 2 is orthogonal to both.
  const h = Float32Array.of(2, 0, 0, 0, 1.5, 0, 0, 0, 0, 0, 1, 0);
  const rates = arrayInput("ai_phy.mu_mimo_problem.numpy", "complex64", h, [1, 3, 1, 2], {
    noise_variance: 0.5,
    total_power: 1,
    example_count: 1,
  });
  const { outputs, metrics: found } = await runOperation(scheduler, { inputs: { rates }, params: { group_size: 2 } });
  assert.deepEqual(Array.from(outputs.decision.array().data as Int32Array), [0, 2]);
  const expected = Math.log2(1 + 0.5 * 4 / 0.5) + Math.log2(1 + 0.5 / 0.5);
  assert.ok(Math.abs(found["schedule.sum_rate_bps_hz"] as number - expected) < 1e-9);
  const single = await runOperation(scheduler, { inputs: { rates }, params: {} });
  assert.ok(Math.abs(single.metrics["schedule.sum_rate_bps_hz"] as number - Math.log2(1 + 4 / 0.5)) < 1e-9);
  const parallel = { ...rates, array: ndarray("complex64", h.slice(0, 8), [1, 2, 1, 2]) };
  const alone = await runOperation(scheduler, { inputs: { rates: parallel }, params: { group_size: 2 } });
  assert.deepEqual(Array.from(alone.outputs.decision.array().data as Int32Array), [0, -1]);
});

Deno.test("equal shares have Jain index 1, one of n has 1/n, none has no index", () => {
  assert.equal(jainIndex([2, 2, 2]), 1);
  assert.equal(jainIndex([0, 3, 0, 0]), 0.25);
  assert.equal(jainIndex([0, 0]), undefined);
});

Deno.test("sizes that do not fit are refused with their code", async () => {
  const precode = (problem: ReturnType<typeof downlink>, params: JsonObject) =>
    runOperation(precoder, { inputs: { problem }, params });
  await refuses("params_conflict", () => precode(downlink(2), { mode: "zf" }));
  await refuses("params_conflict", () => precode(downlink(2), { mode: "wmmse" }));
  await refuses("params_conflict", () => precode(downlink(4), { mode: "block_diagonalization" }));
  await refuses("params_conflict", () => precode(downlink(), { mode: "wmmse", user_weights: [1] }));
  const narrow = problemOf(randomLink(3, 2, 1)) as ReturnType<typeof downlink>;
  await refuses("params_conflict", () => precode(narrow, { mode: "zf" }));
  const rates = arrayInput("ai_phy.mu_mimo_rates.numpy", "float64", Float64Array.of(1, 2), [1, 2], {
    slot_count: 1,
    user_count: 2,
  });
  await refuses("params_conflict", () => runOperation(scheduler, { inputs: { rates }, params: { group_size: 2 } }));
  await refuses(
    "params_conflict",
    () => runOperation(scheduler, { inputs: { rates: downlink(2) }, params: { group_size: 2 } }),
  );
  await refuses(
    "params_conflict",
    () => runOperation(scheduler, { inputs: { rates: downlink() }, params: { group_size: 3 } }),
  );
  const negative = { ...rates, array: ndarray("float64", Float64Array.of(1, -2), [1, 2]) };
  await refuses("boundary_value_invalid", () => runOperation(scheduler, { inputs: { rates: negative } }));
  const decision = arrayInput("ai_phy.mu_mimo_precoder.numpy", "complex64", new Float32Array(108), [3, 6, 3], {
    noise_variance: 0.1,
    total_power: 2,
    example_count: 3,
    precoder: "mrt",
  });
  await refuses("shape_mismatch", () => runOperation(metrics, { inputs: { decision, problem: downlink() } }));
});
