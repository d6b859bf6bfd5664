/** Beam patterns against the closed forms of uniform linear arrays. */
import assert from "node:assert/strict";
import { type JsonObject, toNumber } from "../../../lib/contract/value.ts";
import { patternGain } from "../../../lib/numeric/antenna/beam_pattern.ts";
import { steeringVector } from "../../../lib/numeric/antenna/array_response.ts";
import beampattern from "../../../ops/antenna/beampattern.ts";
import precoder from "../../../ops/antenna/mu_mimo_precoder.ts";
import muMimoScenario from "../../../ops/source/mu_mimo_scenario.ts";
import { beamPattern } from "../../../ui/charts/beam.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";

const near = (a: number, b: number, within: number) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

const decisionOf = (...beams: ArrayLike<number>[]) =>
  arrayInput(
    "ai_phy.beamforming_decision.numpy",
    "complex64",
    Float32Array.from(beams.flatMap((beam) => [...Array.from(beam)])),
    [beams.length, beams[0].length / 2],
  );
const steered = (degrees: number, antennas: number) =>
  steeringVector(degrees, antennas, 0.5).map((value) => value / Math.sqrt(antennas));

async function measured(beams: ArrayLike<number>[], params: JsonObject = {}) {
  const { metrics, outputs } = await runOperation(beampattern, { inputs: { decision: decisionOf(...beams) }, params });
  const of = (name: string) => metrics[`beampattern.${name}`] as number | undefined;
  return {
    peak: of("peak_deg"),
    width: of("half_power_width_deg"),
    sidelobe: of("peak_sidelobe_db"),
    pattern: outputs.pattern,
    report: outputs.report.json() as JsonObject,
  };
}

/** 0.886·λ/(N·d) in degrees for half a wavelength. */
const textbookWidth = (antennas: number) => 0.886 * 2 / antennas * 180 / Math.PI;

Deno.test("equal weights have the half-power width 0.886 λ/(N d) and a first sidelobe that tends to -13.26 dB", async () => {
  for (const [antennas, tolerance] of [[8, 0.01], [16, 0.003], [64, 0.001], [256, 0.0005]]) {
    const { width, peak } = await measured([steered(0, antennas)]);
    near(peak!, 0, 1e-5);
    near(width! / textbookWidth(antennas), 1, tolerance);
  }
  near((await measured([steered(0, 256)])).sidelobe!, -13.26, 0.005);
  // N sin x: the largest of |sin(Nx)/(N sin x)|² outside the main lobe, for eight antennas.
  let most = 0;
  for (let x = Math.PI / 8; x <= Math.PI / 2; x += 1e-5) {
    most = Math.max(most, (Math.sin(8 * x) / Math.sin(x) / 8) ** 2);
  }
  near((await measured([steered(0, 8)])).sidelobe!, 10 * Math.log10(most), 1e-5);
});

Deno.test("a steered beam has its peak where it is steered to, and is wider by 1/cos θ", async () => {
  for (const degrees of [-50.3, -7.77, 35]) {
    const { peak, width, sidelobe } = await measured([steered(degrees, 64)]);
    near(peak!, degrees, 1e-4);
    near(width! / textbookWidth(64), 1 / Math.cos(degrees * Math.PI / 180), 0.01);
    near(sidelobe!, -13.25, 0.02);
  }
});

Deno.test("the metrics do not depend on the grid; the pattern is the one that the page draws", async () => {
  const w = steered(20, 8), fine = await measured([w]), coarse = await measured([w], { grid_step_deg: 30 });
  assert.deepEqual([coarse.peak, coarse.width, coarse.sidelobe], [fine.peak, fine.width, fine.sidelobe]);
  assert.deepEqual(coarse.pattern.array().shape, [1, 7]);
  assert.deepEqual([...coarse.pattern.array("angles_deg").data as Float64Array], [-90, -60, -30, 0, 30, 60, 90]);
  const found = fine.pattern.array().data as Float64Array;
  beamPattern(Float64Array.from(w, Math.fround), 0.5).forEach((value, i) => near(found[i], value, 1e-5));
  near(Math.max(...found), 8, 1e-5);
});

Deno.test("the mean pattern over sin θ is the transmitted power, summed over streams", () => {
  const beams = [Float64Array.of(0.3, -0.1, 0.5, 0.2, -0.4, 0.6), Float64Array.of(0.1, 0.9, 0, -0.2, 0.3, 0)];
  const power = beams.flatMap((w) => [...w]).reduce((sum, value) => sum + value * value, 0), steps = 1000;
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += patternGain(beams, 0.5, -1 + 2 * (i + 0.5) / steps);
  near(sum / steps, power, 1e-9);
});

Deno.test("the pattern of a precoder is the sum over its streams, with their powers", async () => {
  const antennas = 8, strong = steered(-20, antennas), weak = steered(40, antennas).map((value) => value / 2);
  const interleaved = Float32Array.from({ length: 4 * antennas }, (_, i) => {
    const m = Math.floor(i / 4), beam = i % 4 < 2 ? strong : weak;
    return beam[2 * m + i % 2];
  });
  const decision = arrayInput("ai_phy.mu_mimo_precoder.numpy", "complex64", interleaved, [1, antennas, 2]);
  const { outputs, metrics } = await runOperation(beampattern, { inputs: { decision } });
  const sum = outputs.pattern.array().data as Float64Array;
  const [first, second] = [strong, weak].map((w) => beamPattern(w, 0.5));
  first.forEach((value, i) => near(sum[i], value + second[i] / 4, 1e-5));
  near(metrics["beampattern.peak_deg"] as number, -20, 0.5);
});

Deno.test("a precoder for one clustered user sends its power towards it", async () => {
  const params = { users: 1, tx_antennas: 16, channel_model: "clustered_ula", example_count: 20, seed: 3 };
  const { problem } = (await runOperation(muMimoScenario, { params })).outputs;
  const { decision } = (await runOperation(precoder, { inputs: { problem }, params: { mode: "mrt" } })).outputs;
  const { report } = (await runOperation(beampattern, { inputs: { decision } })).outputs;
  const h = problem.array().data as Float32Array;
  ((report.json() as JsonObject).peak_deg as number[]).forEach((peak, example) => {
    // h = b·a(θ)ᴴ turns by -π·sin θ from antenna to antenna.
    const [r0, i0, r1, i1] = h.subarray(32 * example);
    const turn = Math.atan2(i1 * r0 - r1 * i0, r1 * r0 + i1 * i0);
    near(toNumber(peak), Math.asin(-turn / Math.PI) * 180 / Math.PI, 1e-3);
  });
});

Deno.test("binomial weights have no sidelobe, endfire has a grating lobe and no width, one antenna has no beam", async () => {
  const binomial = await measured([[1, 0, 2, 0, 1, 0].map((value) => value / Math.sqrt(6))]);
  assert.equal(binomial.sidelobe, undefined);
  // cos⁴(πu/2) is 1/2 at u = ±0.36405.
  near(binomial.width!, 2 * Math.asin(2 / Math.PI * Math.acos(0.5 ** 0.25)) * 180 / Math.PI, 1e-5);
  const endfire = await measured([steered(90, 8)]);
  near(endfire.sidelobe!, 0, 1e-6);
  near(Math.abs(endfire.peak!), 90, 0.01);
  assert.equal(endfire.width, undefined);
  const single = await measured([[0, 1]]), silent = await measured([[0, 0, 0, 0]]);
  for (const found of [single, silent]) {
    assert.deepEqual([found.peak, found.width, found.sidelobe], [undefined, undefined, undefined]);
  }
});

Deno.test("metrics are means over the examples that have them; the report lists every one", async () => {
  const { peak, report } = await measured([steered(10, 4), [0, 0, 0, 0, 0, 0, 0, 0], steered(30, 4)]);
  near(peak!, 20, 1e-4);
  assert.deepEqual((report.peak_deg as unknown[]).map((value) => value === null), [false, true, false]);
});

Deno.test("weights of another rank or type are refused", async () => {
  const kind = "ai_phy.beamforming_decision.numpy";
  const run = (decision: ReturnType<typeof arrayInput>) => () => runOperation(beampattern, { inputs: { decision } });
  await refuses("boundary_rank_invalid", run(arrayInput(kind, "complex64", new Float32Array(8), [4])));
  await refuses("boundary_dtype_invalid", run(arrayInput(kind, "float64", new Float64Array(8), [2, 4])));
});
