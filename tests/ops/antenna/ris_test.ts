/** Reflecting surfaces: draws, the N² law, the loss of quantised phases, alternating optimisation. */
import assert from "node:assert/strict";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import { float, type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { alternatePhases, effectiveChannel, quantisedPhase } from "../../../lib/numeric/antenna/reflecting_surface.ts";
import { energy } from "../../../lib/numeric/linalg/complex.ts";
import metrics from "../../../ops/metrics/ris.ts";
import optimizer from "../../../ops/antenna/ris_phase_optimizer.ts";
import scenario from "../../../ops/source/ris_scenario.ts";
import { risProblem } from "../_fixtures/ris.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

const near = (a: number, b: number, within: number) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

const problemOf = async (params: JsonObject = {}) =>
  (await runOperation(scenario, { params: { example_count: 200, seed: 5, ...params } })).outputs.problem;
const phasesOf = async (problem: InputArtifact, params: JsonObject = {}) =>
  (await runOperation(optimizer, { inputs: { problem }, params: { seed: 7, ...params } })).outputs.decision;
/** Mean of ‖h‖². */
async function powerOf(problem: InputArtifact, params: JsonObject = {}) {
  const decision = await phasesOf(problem, params);
  const { outputs } = await runOperation(metrics, { inputs: { decision, problem } });
  return 10 ** (toNumber((outputs.report.json() as JsonObject).channel_power_db as number) / 10);
}
const NO_DIRECT = { direct_gain_db: float(-200) };

Deno.test("channels are those of NumPy's stream in the order of the contract", async () => {
  const problem = await problemOf({ example_count: 2, elements: 3, tx_antennas: 2, cascade_gain_db: float(-6) });
  const g = Generator.seeded(5), direct = g.complexNormal64(4, 0.1), reflected = g.complexNormal64(6, 1);
  const incident = g.complexNormal64(12, 1), power = 10 ** (-6 / 20);
  assert.deepEqual(problem.array().data, Float32Array.from(direct));
  const toReceiver = steeringVector(30, 3, 0.5), fromTransmitter = steeringVector(-20, 3, 0.5);
  const rician = (a: number, scattered: number) =>
    Math.fround(Math.sqrt(power * 10 / 11) * a + Math.sqrt(power / 11) * scattered);
  // Example 1, element 2, antenna 1.
  near((problem.array("h_r").data as Float32Array)[11], rician(toReceiver[5], reflected[11]), 1e-6);
  near((problem.array("g").data as Float32Array)[22], rician(fromTransmitter[4], incident[22]), 1e-6);
});

Deno.test("aligned phases add all paths: |h| = |h_d| + Σ |h_r g|, the largest value there is", async () => {
  const problem = await problemOf({ example_count: 20, elements: 16 });
  const magnitudes = (data: Float32Array) =>
    Float64Array.from({ length: data.length / 2 }, (_, i) => Math.hypot(data[2 * i], data[2 * i + 1]));
  const [direct, reflected, incident] = [undefined, "h_r", "g"].map((name) =>
    magnitudes(problem.array(name).data as Float32Array)
  );
  let sum = 0;
  direct.forEach((own, example) => {
    let size = own;
    for (let n = 16 * example; n < 16 * (example + 1); n++) size += reflected[n] * incident[n];
    sum += size * size;
  });
  near(await powerOf(problem) / (sum / 20), 1, 1e-9);
});

Deno.test("the power grows as N² with aligned phases, and as N with random ones", async () => {
  // Without scattering each path has the power 1.
  const fixed = { ...NO_DIRECT, k_factor_db: float(200), example_count: 1 };
  for (const elements of [1, 16, 256]) {
    near(await powerOf(await problemOf({ ...fixed, elements })) / elements ** 2, 1, 1e-6);
  }
  for (const elements of [16, 256]) {
    // |Σ e^{jθ}|² of N random phases is exponential with mean N for large N: 2000 of them give it to 3 standard deviations.
    const power = await powerOf(await problemOf({ ...fixed, elements, example_count: 2000 }), { mode: "random" });
    near(power / elements, 1, 3 / Math.sqrt(2000));
  }
});

Deno.test("phases of b bits lose sinc²(2^-b) of the power of a large surface", async () => {
  const problem = await problemOf({ ...NO_DIRECT, elements: 2000, k_factor_db: float(-200), example_count: 40 });
  const most = await powerOf(problem);
  for (const bits of [1, 2, 3, 8]) {
    const x = Math.PI / 2 ** bits, expected = (Math.sin(x) / x) ** 2;
    // Standard deviation of the amplitude of a realisation: at most 1/sqrt(2000); forty of them, three deviations of power.
    near(await powerOf(problem, { phase_bits: bits }) / most, expected, 3 * 2 / Math.sqrt(2000 * 40));
  }
});

Deno.test("phases go to the nearest level, upwards from the middle, and stay below 2π", () => {
  const quarter = Math.PI / 2;
  assert.equal(quantisedPhase(0.99 * quarter / 2, 2), 0);
  assert.equal(quantisedPhase(quarter / 2, 2), quarter);
  assert.equal(quantisedPhase(1.6 * quarter, 2), 2 * quarter);
  assert.equal(quantisedPhase(3.6 * quarter, 2), 0);
  assert.equal(quantisedPhase(quarter, 1), Math.PI);
});

Deno.test("alternating equals the closed form for one antenna, and never falls for several", async () => {
  const one = await problemOf({ example_count: 5 });
  const [closed, alternating] = [await phasesOf(one), await phasesOf(one, { mode: "alternating" })];
  const expected = closed.array().data as Float64Array;
  (alternating.array().data as Float64Array).forEach((phase, i) => {
    near(Math.abs(Math.sin((phase - expected[i]) / 2)), 0, 1e-6);
    assert.ok(phase >= 0 && phase < 2 * Math.PI);
  });
  const g = Generator.seeded(3);
  const channel = {
    direct: g.complexNormal64(4, 1),
    reflected: g.complexNormal64(8, 1),
    incident: g.complexNormal64(32, 1),
  };
  let before = energy(channel.direct);
  for (let iterations = 1; iterations <= 30; iterations++) {
    const gain = energy(effectiveChannel(channel, alternatePhases(channel, iterations)));
    assert.ok(gain >= before * (1 - 1e-12), `iteration ${iterations}: ${gain} after ${before}`);
    before = gain;
  }
  // No single phase can be improved.
  const phases = alternatePhases(channel, 1000), best = energy(effectiveChannel(channel, phases));
  for (let n = 0; n < phases.length; n++) {
    for (const change of [-0.1, 0.1]) {
      const other = phases.with(n, phases[n] + change);
      assert.ok(energy(effectiveChannel(channel, other)) <= best * (1 + 1e-9));
    }
  }
});

Deno.test("gain and rate are those of the definition; without a direct path there is no gain", async () => {
  // h_d = 1, one element with h_r·g = 2j: aligned |h| = 3, N0 = 0.1.
  const problem = (direct: number) => ({
    ...arrayInput("ris.channel.numpy", "complex64", Float32Array.of(direct, 0), [1, 1], { noise_variance: 0.1 }),
    companions: {
      h_r: arrayInput("x", "complex64", Float32Array.of(0, 1), [1, 1]).array,
      g: arrayInput("x", "complex64", Float32Array.of(2, 0), [1, 1, 1]).array,
    },
  });
  const scored = async (direct: number) => {
    const decision = (await runOperation(optimizer, { inputs: { problem: problem(direct) } })).outputs.decision;
    return (await runOperation(metrics, { inputs: { decision, problem: problem(direct) } })).metrics;
  };
  const found = await scored(1) as Record<string, number>;
  near(found["ris.gain_db"], 10 * Math.log10(9), 1e-9);
  near(found["ris.spectral_efficiency_bps_hz"], Math.log2(91), 1e-9);
  assert.deepEqual(Object.keys(await scored(0)), ["ris.spectral_efficiency_bps_hz"]);
});

Deno.test("several antennas have no closed form; wrong shapes and values are refused", async () => {
  await refuses("params_conflict", () => runOperation(optimizer, { inputs: { problem: risProblem(2) } }));
  const decision = arrayInput("ris.phases.numpy", "float64", new Float64Array(12), [3, 4]);
  await refuses("boundary_shape_invalid", () => runOperation(metrics, { inputs: { decision, problem: risProblem() } }));
  for (const phase_bits of [-1, 9]) {
    await refuses(
      "params_invalid",
      () => runOperation(optimizer, { inputs: { problem: risProblem() }, params: { phase_bits } }),
    );
  }
});
