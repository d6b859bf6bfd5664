/** The chain of satellite tracking, from passes to scores. */
import assert from "node:assert/strict";
import { recordedRate } from "../../../lib/contract/metric_metadata.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import {
  ANGULAR_SPEED,
  beamPosition,
  centralAngle,
  PASS_SECONDS,
  satelliteState,
} from "../../../lib/numeric/channel/leo_pass.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/leo_ntn_tracking.ts";
import adapter from "../../../ops/sensing/leo_ntn_tracking_adapter.ts";
import source from "../../../ops/source/leo_ntn_tracking_scenario.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { futureTruth, historyInput } from "../_fixtures/leo.ts";

const scenario = async (params: JsonObject = {}) =>
  (await runOperation(source, { params: { example_count: 400, seed: 1, ...params } })).outputs;

async function scores(params: JsonObject, mode: string): Promise<Record<string, number>> {
  const { problem, truth } = await scenario(params);
  const { decision } = (await runOperation(adapter, { inputs: { problem, truth }, params: { mode } })).outputs;
  return (await runOperation(metrics, { inputs: { decision, truth } })).metrics as Record<string, number>;
}

const decided = async (mode: string, problem = historyInput()) => [
  ...(await runOperation(adapter, { inputs: { problem }, params: { mode } })).outputs.decision.array()
    .data as Float64Array,
];

Deno.test("passes and looks are those of NumPy's stream in the order of the contract", async () => {
  const { problem, truth } = await scenario({ example_count: 2, history_length: 3, snr_db: float(20), seed: 9 });
  const generator = Generator.seeded(9), half = PASS_SECONDS / 2;
  const middles = generator.uniform(2 - half, half, 2), peaks = generator.uniform(30, 90, 2);
  const noise = generator.standardNormal(18), looks = problem.array().data as Float64Array;
  const psi = ANGULAR_SPEED * (1 * 0.5 - middles[1]), chi = centralAngle(peaks[1]), at = 3 * (3 + 1);
  const { doppler, elevationDeg } = satelliteState(psi, chi);
  assert.equal(looks[at], doppler + 0.1 * noise[at]);
  assert.equal(looks[at + 1], elevationDeg / 90 + 0.1 * 0.1 * noise[at + 1]);
  assert.equal(looks[at + 2], beamPosition(psi, 9) + 0.1 * noise[at + 2]);
  const future = ANGULAR_SPEED * (2 - middles[1]);
  assert.deepEqual([...truth.array().data as Float64Array].slice(2), [
    48000 * satelliteState(future, chi).doppler,
    beamPosition(future, 9),
  ]);
});

Deno.test("history and horizon lie inside the pass", async () => {
  const { problem, truth } = await scenario({ snr_db: float(300), prediction_horizon_s: float(400) });
  const beams = (problem.array().data as Float64Array).filter((_, i) => i % 3 === 2);
  const futures = (truth.array().data as Float64Array).filter((_, i) => i % 2 === 1);
  for (const beam of [...beams, ...futures]) assert.ok(beam >= -0.5 - 1e-9 && beam <= 8.5 + 1e-9, String(beam));
  // 402.5 of 509.6 s are watched: the first looks fill what is left.
  const width = 9 * (1 - 402.5 / PASS_SECONDS), first = beams.filter((_, i) => i % 6 === 0);
  assert.ok(Math.max(...first) < -0.5 + width + 1e-9 && Math.max(...first) > -0.5 + 0.95 * width);
});

Deno.test("a rule does on a straight line what its name says", async () => {
  // 1 s is two looks of 0.5 s ahead: 0.3 - 2·0.1, and the beam after 3 that moves by one a look.
  const [doppler, beam, secondDoppler, secondBeam] = await decided("linear_extrapolation");
  assert.ok(Math.abs(doppler - 100) < 1e-9);
  assert.equal(beam, 5);
  // Mean -7/30 and slope -0.15 a look, three looks from the middle; 4.4667 + 3·0.3 = 5.3667.
  assert.ok(Math.abs(secondDoppler - 1000 * (-7 / 30 - 3 * 0.15)) < 1e-9);
  assert.equal(secondBeam, 5);
  assert.deepEqual(await decided("hold_last"), [300, 3, -400, 5]);
  assert.deepEqual(await decided("linear_extrapolation", historyInput([[[0.25, 0.5, 7.6]]])), [250, 8]);
});

Deno.test("errors of the rules are what noise and motion predict", async () => {
  const params = { example_count: 4000, snr_db: float(15) }, sigma = 10 ** -0.75 * 48000;
  const hold = await scores(params, "hold_last"), line = await scores(params, "linear_extrapolation");
  // Doppler moves by less than 1 % of the maximum in a second: what is left is the noise of one look, relative sd 1.1 %.
  assert.ok(Math.abs(hold["ntn.doppler_rmse_hz"] / sigma - 1) < 0.05);
  // A line through six looks, 4.5 steps from their middle: variance σ²·(1/6 + 4.5²/17.5).
  assert.ok(Math.abs(line["ntn.doppler_rmse_hz"] / (sigma * Math.sqrt(1 / 6 + 4.5 ** 2 / 17.5)) - 1) < 0.05);
});

Deno.test("without noise the line foretells better than the last look, and the truth best", async () => {
  const params = { snr_db: float(120), prediction_horizon_s: float(5) };
  const [hold, line, oracle] = await Promise.all(
    ["hold_last", "linear_extrapolation", "oracle_future"].map((mode) => scores(params, mode)),
  );
  assert.ok(line["ntn.doppler_mae_hz"] < hold["ntn.doppler_mae_hz"] / 5);
  assert.ok(line["ntn.beam_handover_accuracy"] > hold["ntn.beam_handover_accuracy"]);
  assert.equal(oracle["ntn.doppler_rmse_hz"], 0);
  assert.equal(oracle["ntn.beam_handover_accuracy"], 1);
  assert.equal(oracle["ntn.beam_outage_rate"], 0);
  // Handovers within the horizon come at any time of it.
  assert.ok(oracle["ntn.handover_lead_time_mean_s"] > 1 && oracle["ntn.handover_lead_time_mean_s"] < 4);
});

Deno.test("the scores are those of their definitions", async () => {
  const truth = futureTruth([[100, 5.2, 0.7], [-600, 5.6, 0], [0, 2.5, 0.3], [0, 8.4, 0.5]]);
  const decision = arrayInput(
    "ntn.future_state_decision.numpy",
    "float64",
    Float64Array.of(90, 5.4, -640, 4, 0, 3, 0, 40),
    [4, 2],
  );
  const scored = await runOperation(metrics, { inputs: { decision, truth } });
  const rate = recordedRate(scored.metadata ?? {}, "ntn.beam_outage_rate")!;
  assert.deepEqual([rate.events, rate.trials, rate.unit], [1, 4, "source_item"]);
  const named = recordedRate(scored.metadata ?? {}, "ntn.beam_handover_accuracy")!;
  assert.deepEqual([named.events, named.trials, named.complement], [1, 4, true]);
  assert.deepEqual(scored.metrics, {
    "ntn.doppler_mae_hz": 50 / 4,
    "ntn.doppler_rmse_hz": Math.sqrt((100 + 1600) / 4),
    "ntn.doppler_rmse_hz.squared_sum": 1700,
    "ntn.doppler_rmse_hz.count": 4n,
    "ntn.beam_handover_accuracy": 3 / 4,
    "ntn.beam_outage_rate": 1 / 4,
    "ntn.handover_lead_time_mean_s": 1.5 / 3,
    "task.score": 3 / 4,
  });
  const none = futureTruth([[0, 2, 0]]);
  const still = arrayInput("ntn.future_state_decision.numpy", "float64", Float64Array.of(0, 2), [1, 2]);
  const found = (await runOperation(metrics, { inputs: { decision: still, truth: none } })).metrics;
  assert.ok(!("ntn.handover_lead_time_mean_s" in found));
});

Deno.test("the truth is for the oracle: it needs it, and no other mode reads it", async () => {
  await refuses(
    "input_missing",
    () => runOperation(adapter, { inputs: { problem: historyInput() }, params: { mode: "oracle_future" } }),
  );
  let seen: string[] = [];
  const learned = (model: (rows: number) => number[]) =>
    runOperation(adapter, {
      inputs: { problem: historyInput(), truth: futureTruth() },
      params: { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) },
      model: (feeds) => {
        seen = Object.keys(feeds);
        const shape = model(feeds.track_features.shape[0]);
        return { decision: ndarray("float32", new Float32Array(shape[0] * shape[1]), shape) };
      },
    });
  await learned((rows) => [rows, 2]);
  assert.deepEqual(seen, ["track_features"]);
  await refuses("artifact_output_invalid", () => learned((rows) => [rows, 3]));
});

Deno.test("a watch longer than the pass is refused", async () => {
  await refuses("params_conflict", () => scenario({ prediction_horizon_s: float(508) }));
  await refuses("params_conflict", () => scenario({ history_length: 2000 }));
});
