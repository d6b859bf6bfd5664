/**
 * OFDM radar from echo to scores: stored echo and map (a double sum at the peak gave the same), closed forms of resolution, bounds
 * and false alarms, and refusals.
 */
import assert from "node:assert/strict";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { dbToLinear } from "../../../lib/numeric/link/decibel.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { cholesky, inverseLower, zeros } from "../../../lib/numeric/linalg/linear_algebra.ts";
import { addEchoes, cramerRao, resolutionCell, SPEED_OF_LIGHT } from "../../../lib/numeric/antenna/range_doppler.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import score from "../../../ops/metrics/range_doppler.ts";
import transform from "../../../ops/sensing/range_doppler_map.ts";
import source from "../../../ops/source/isac_echo_scenario.ts";
import stored from "../../data/physical/range_doppler.json" with { type: "json" };
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { echoInput } from "../_fixtures/isac.ts";

const near = (a: number, b: number, relative = 1e-4) =>
  assert.ok(Math.abs(a - b) <= relative * Math.abs(b), `${a} is not ${b}`);
const numbers = (metrics: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, Number(value)]));

const draw = async (params: JsonObject) => await runOperation(source, { params: { seed: 1, ...params } });
const mapOf = async (echo: GivenInput, params: JsonObject = {}) =>
  await runOperation(transform, { inputs: { echo }, params });
async function scoresOf(estimate: GivenInput, truth: GivenInput) {
  const { metrics, outputs } = await runOperation(score, { inputs: { estimate, truth } });
  return { metrics: numbers(metrics), report: outputs.report.json() };
}

/** Targets as rows [range, velocity, power] of one example. */
function targets(kind: "truth" | "estimate", rows: number[][], metadata: JsonObject = {}) {
  const places = Float64Array.from(rows.flatMap(([range, velocity]) => [range, velocity]));
  return {
    ...arrayInput(`isac.range_velocity_${kind}.numpy`, "float64", places, [1, rows.length, 2], {
      example_count: 1,
      ...metadata,
    }),
    companions: { power: ndarray("float64", Float64Array.from(rows, ([, , power]) => power), [1, rows.length]) },
  };
}

Deno.test("the stored echo has the stored map, peak and bounds", async () => {
  for (const row of stored.cases) {
    const { subcarriers, ofdm_symbols: symbols, noise_variance: noise, zero_pad_factor, targets: real } = row;
    const labels = Uint8Array.fromBase64(row.X_labels_b64), angle = (label: number) => Math.PI / 4 * (2 * label + 1);
    const reference = Float32Array.from(
      { length: 2 * labels.length },
      (_, i) => (i & 1 ? Math.sin : Math.cos)(angle(labels[i >> 1])),
    );
    const received = new Float32Array(Uint8Array.fromBase64(row.Y_complex64_b64).buffer);
    const echo = echoInput(received, [1, subcarriers, symbols], {
      subcarrier_spacing_hz: float(row.subcarrier_spacing_hz),
      symbol_duration_s: float(row.symbol_duration_s),
      carrier_frequency_hz: float(row.carrier_hz),
      noise_variance: float(noise),
    }, reference);
    const { map, estimate } = (await mapOf(echo, { zero_pad_factor, target_count: row.peaks.length })).outputs;
    const power = map.array().data as Float32Array, columns = zero_pad_factor * symbols;
    near(power.reduce((sum, one) => sum + one, 0), row.map_total);
    const found = estimate.array().data as Float64Array, strengths = estimate.array("power").data as Float64Array;
    row.peaks.forEach(([rangeBin, dopplerBin, range, velocity, strength], i) => {
      near(found[2 * i], range, 1e-9);
      near(found[2 * i + 1], velocity, 1e-9);
      near(strengths[i], strength);
      near(power[rangeBin * columns + dopplerBin], strength);
    });
    const truth = targets("truth", real.map((one) => [one.range_m, one.velocity_mps, one.amplitude ** 2]));
    const { report } = await scoresOf(estimate, truth);
    near(toNumber(report.crb_range_m as number), row.crb_range_m);
    near(toNumber(report.crb_velocity_mps as number), row.crb_velocity_mps);
  }
});

Deno.test("draws come from NumPy's stream in the order of the contract", async () => {
  const [F, M, T] = [3, 4, 2], params = { subcarriers: F, ofdm_symbols: M, target_count: T, example_count: 2, seed: 7 };
  const { outputs: { echo, truth }, metrics } = await draw({
    ...params,
    target_power_spread_db: float(6),
    snr_db: float(3),
  });
  const generator = Generator.seeded(7), noise = dbToLinear(-3), T_SYMBOL = 1.0703125 / 120e3;
  assert.equal(metrics["channel.noise_variance"], noise);
  const y = echo.array().data as Float32Array, x = echo.array("reference").data as Float32Array;
  for (let example = 0; example < 2; example++) {
    const ranges = generator.uniform(5, 150, T), velocities = generator.uniform(-50, 50, T);
    const phases = generator.uniform(0, 2 * Math.PI, T), db = generator.uniform(-6, 0, T);
    const labels = generator.integers(0, 4, F * M), n = generator.complexNormal64(F * M, noise);
    const real = truth.array().data.subarray(2 * T * example) as Float64Array;
    const power = truth.array("power").data.subarray(T * example) as Float64Array;
    for (let t = 0; t < T; t++) {
      assert.deepEqual([real[2 * t], real[2 * t + 1]], [ranges[t], velocities[t]]);
      near(power[t], dbToLinear(db[t] - Math.max(...db)), 1e-12);
    }
    for (let k = 0; k < F; k++) {
      for (let m = 0; m < M; m++) {
        const at = k * M + m, sent = Math.PI / 4 * (2 * Number(labels[at]) + 1);
        const expected = [n[2 * at], n[2 * at + 1]];
        for (let t = 0; t < T; t++) {
          const turn = sent + phases[t] - 2 * Math.PI * k * 120e3 * 2 * ranges[t] / SPEED_OF_LIGHT +
            2 * Math.PI * m * T_SYMBOL * 2 * velocities[t] * 28e9 / SPEED_OF_LIGHT;
          expected[0] += Math.sqrt(power[t]) * Math.cos(turn);
          expected[1] += Math.sqrt(power[t]) * Math.sin(turn);
        }
        const own = 2 * (example * F * M + at);
        assert.ok(Math.abs(x[own] - Math.cos(sent)) + Math.abs(x[own + 1] - Math.sin(sent)) < 1e-6);
        assert.ok(Math.abs(y[own] - expected[0]) + Math.abs(y[own + 1] - expected[1]) < 1e-5, `${k} ${m}`);
      }
    }
  }
});

Deno.test("targets a cell and a half apart are two peaks, half a cell apart one", async () => {
  const frame = { subcarriers: 32, symbols: 16, spacingHz: 120e3, symbolSeconds: 1.0703125 / 120e3, carrierHz: 28e9 };
  const cell = resolutionCell(frame);
  near(cell.range, SPEED_OF_LIGHT / (2 * 32 * 120e3), 1e-12);
  near(cell.velocity, SPEED_OF_LIGHT / (2 * 28e9 * 16 * frame.symbolSeconds), 1e-12);
  /** Depth of the map between two equal targets in quadrature, on one axis. */
  const dip = async (cells: number) => {
    const y = new Float32Array(2 * 32 * 16);
    for (let k = 0; k < 32; k++) {
      for (let m = 0; m < 16; m++) {
        for (const [place, phase] of [[8, 0], [8 + cells, Math.PI / 2]]) {
          const turn = phase - 2 * Math.PI * k * place / 32;
          y[2 * (k * 16 + m)] += Math.cos(turn);
          y[2 * (k * 16 + m) + 1] += Math.sin(turn);
        }
      }
    }
    const { map } = (await mapOf(echoInput(y, [1, 32, 16]), { zero_pad_factor: 8 })).outputs;
    const power = map.array().data as Float32Array, rest = 64;
    const at = (place: number) => power[Math.round(8 * place) * 128 + rest];
    return at(8 + cells / 2) / Math.max(at(8), at(8 + cells));
  };
  assert.ok(await dip(1.5) < 0.9);
  assert.ok(await dip(0.5) > 1);
  // A target on a bin: F·M, or the product of the sums of both windows, (N - 1)/2 each, squared over F·M.
  for (const [window, expected] of [["rectangular", 512], ["hann", (31 / 2 * 15 / 2) ** 2 / 512]] as const) {
    const { map } = (await mapOf(echoInput(new Float32Array(1024).map((_, i) => 1 - i % 2), [1, 32, 16]), { window }))
      .outputs;
    near((map.array().data as Float32Array)[32], expected);
  }
});

Deno.test("the bounds are those of the Fisher information of range, velocity, power and phase", () => {
  const frame = { subcarriers: 64, symbols: 32, spacingHz: 120e3, symbolSeconds: 1.0703125 / 120e3, carrierHz: 28e9 };
  const target = { range: 61, velocity: -17, power: 0.7, phase: 2.1 }, noise = 0.4, count = 64 * 32;
  const reference = Float64Array.from({ length: 2 * count }, (_, i) => (1 - i % 2) * (i % 6 === 0 ? -1 : 1));
  const echo = (changed: Partial<typeof target>) => {
    const out = new Float64Array(2 * count);
    addEchoes(frame, [{ ...target, ...changed }], reference, out);
    return out;
  };
  const slopes = (["range", "velocity", "power", "phase"] as const).map((name) => {
    const step = 1e-4, [above, below] = [step, -step].map((by) => echo({ [name]: target[name] + by }));
    return above.map((value, i) => (value - below[i]) / (2 * step));
  });
  // J = 2/N0·Re DᴴD; L⁻¹ of its Cholesky factor gives diag J⁻¹.
  const information = zeros(4, 4);
  slopes.forEach((a, i) =>
    slopes.forEach((b, j) =>
      information[2 * (4 * i + j)] = 2 / noise * a.reduce((sum, value, at) => sum + value * b[at], 0)
    )
  );
  const inverse = inverseLower(cholesky(information, 4), 4), bound = cramerRao(frame, target.power / noise);
  const variance = (k: number) => [0, 1, 2, 3].reduce((sum, row) => sum + inverse[2 * (4 * row + k)] ** 2, 0);
  near(bound.range, variance(0), 1e-5);
  near(bound.velocity, variance(1), 1e-5);
});

Deno.test("refined estimates meet the Cramér-Rao bound, and leave it where noise exceeds the peak", async () => {
  const run = async (snr_db: number, params: JsonObject = {}, example_count = 200) => {
    const { outputs: { echo, truth }, metrics } = await draw({
      subcarriers: 32,
      ofdm_symbols: 32,
      range_min_m: float(50),
      example_count,
      snr_db: float(snr_db),
    });
    const { estimate } = (await mapOf(echo, { refine: true, ...params })).outputs;
    const { metrics: found, report } = await scoresOf(estimate, truth);
    near(toNumber(report.crb_range_m as number), Number(metrics["isac.cramer_rao_range_rmse_m"]), 1e-9);
    near(toNumber(report.crb_velocity_mps as number), Number(metrics["isac.cramer_rao_velocity_rmse_mps"]), 1e-9);
    return {
      rate: found["isac.detection_rate"],
      ratios: [
        found["isac.range_rmse_m"] / toNumber(report.crb_range_m as number),
        found["isac.velocity_rmse_mps"] / toNumber(report.crb_velocity_mps as number),
      ],
    };
  };
  const high = await run(0, {}, 2000);
  assert.equal(high.rate, 1);
  // The mean square of n errors has a relative deviation of sqrt(2/n), the RMSE one of 1.6 %; four of them, and 3 % more for the
  // parabola, which is not the vertex of the spectrum.
  for (const ratio of high.ratios) assert.ok(ratio > 0.937 && ratio < 1.093, `${high.ratios}`);
  for (const ratio of (await run(20, { refine: false })).ratios) {
    assert.ok(ratio > 5, "bins are coarser than the bound");
  }
  const low = await run(-20);
  assert.ok(low.rate < 0.9 && low.ratios.every((ratio) => ratio > 3), `${low.rate} ${low.ratios}`);
});

Deno.test("the CFAR detector crosses its threshold at the stated rate in noise, and finds targets above it", async () => {
  const shape = [40, 32, 32], noise = Float32Array.from(Generator.seeded(11).complexNormal64(40 * 1024, 2.5));
  for (const probability of [1e-2, 1e-3]) {
    const { metrics } = await mapOf(echoInput(noise, shape, { noise_variance: float(2.5) }), {
      detector: "ca_cfar",
      zero_pad_factor: 1,
      guard_cells: 1,
      false_alarm_probability: float(probability),
    });
    const trials = 40 * 1024, crossings = Math.round(Number(metrics["isac.cfar_crossing_rate"]) * trials);
    const { low, high } = wilsonInterval(crossings, trials, 0.999);
    assert.ok(low <= probability && probability <= high, `${crossings} of ${trials} at ${probability}`);
  }
  const { outputs: { echo, truth } } = await draw({ subcarriers: 64, ofdm_symbols: 64, example_count: 8 });
  const params = { detector: "ca_cfar", target_count: 3, guard_cells: 8, refine: true, window: "hann" };
  const { estimate } = (await mapOf(echo, { ...params, false_alarm_probability: float(1e-9) })).outputs;
  const found = await scoresOf(estimate, truth);
  assert.equal(found.metrics["isac.detection_rate"], 1);
  assert.equal(found.report.estimate_count, 8, "nothing besides the targets");
  // Silence has no detections, and no errors.
  const silent = (await mapOf(echoInput(new Float32Array(2 * 1024), [1, 32, 32]), {
    detector: "ca_cfar",
    zero_pad_factor: 2,
  })).outputs.estimate;
  assert.deepEqual([...silent.array("power").data as Float64Array], [0]);
  const none = await scoresOf(silent, targets("truth", [[10, 1, 1]]));
  assert.deepEqual(none.metrics, { "isac.detection_rate": 0 });
});

Deno.test("estimates are assigned to targets in any order, and scored by their definitions", async () => {
  const frame = {
    subcarrier_count: 100,
    ofdm_symbol_count: 50,
    subcarrier_spacing_hz: float(SPEED_OF_LIGHT / 2 / 100),
    symbol_duration_s: float(SPEED_OF_LIGHT / 2 / 28e9 / 50),
    carrier_frequency_hz: float(28e9),
    noise_variance: float(0.5),
  };
  // Cells of 1 m and 1 m/s.
  const truth = targets("truth", [[10, 5, 1], [20, -5, 0.5], [40, 0, 0.25]]);
  const estimate = targets("estimate", [[43, 0, 9], [20.5, -5, 8], [10, 4.5, 7], [0, 0, 0]], frame);
  const { metrics, report } = await scoresOf(estimate, truth);
  near(metrics["isac.range_rmse_m"], Math.sqrt((0.5 ** 2 + 3 ** 2) / 3), 1e-12);
  near(metrics["isac.velocity_rmse_mps"], Math.sqrt(0.25 / 3), 1e-12);
  near(metrics["isac.detection_rate"], 2 / 3, 1e-12);
  const { "isac.detection_rate": counts } = report.metric_metadata as Record<string, JsonObject>;
  assert.deepEqual([Number(counts.events), Number(counts.trials), counts.complement], [1, 3, true]);
  assert.equal(report.estimate_count, 3);
  const elements = 2 * 100 * 50 / 0.5, mean = (1 + 2 + 4) / 3;
  near(toNumber(report.crb_range_m as number), Math.sqrt(mean * 12 / elements / (2 * Math.PI / 100) ** 2 / 9999), 1e-9);
  // Without a frame there are no cells: errors alone.
  const plain = await scoresOf(targets("estimate", [[12, 5, 1]]), targets("truth", [[10, 5, 1]]));
  assert.deepEqual(plain.metrics, {
    "isac.range_rmse_m": 2,
    "isac.range_rmse_m.squared_sum": 4,
    "isac.range_rmse_m.count": 1,
    "isac.velocity_rmse_mps": 0,
    "isac.velocity_rmse_mps.squared_sum": 0,
    "isac.velocity_rmse_mps.count": 1,
  });
});

Deno.test("contradictions are refused", async () => {
  await refuses("params_conflict", () => draw({ range_min_m: float(9), range_max_m: float(8) }));
  await refuses("params_invalid", () => draw({ subcarrier_spacing_khz: float(0) }));
  const echo = echoInput(new Float32Array(2 * 64).fill(1), [1, 8, 8]);
  await refuses("params_conflict", () => mapOf(echo, { detector: "ca_cfar", guard_cells: 8 }));
  await refuses("params_conflict", () => mapOf(echo, { target_count: 9, guard_cells: 8, zero_pad_factor: 2 }));
  await refuses("params_invalid", () => mapOf(echo, { detector: "ca_cfar", false_alarm_probability: float(1) }));
  const dark = echoInput(new Float32Array(2 * 64).fill(1), [1, 8, 8], {}, new Float32Array(2 * 64));
  await refuses("boundary_value_invalid", () => mapOf(dark));
  const { metadata: { noise_variance: _, ...others }, ...rest } = echo;
  await refuses("input_metadata_missing", () => mapOf({ ...rest, metadata: others }));
});
