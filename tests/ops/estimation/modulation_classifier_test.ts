/** The chain of modulation recognition, from frames to confusion matrices. */
import assert from "node:assert/strict";
import { recordedRate } from "../../../lib/contract/metric_metadata.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { cumulantScores, evmScores, likelihoodScores } from "../../../lib/numeric/link/modulation_recognition.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import metrics from "../../../ops/metrics/modulation_classification.ts";
import adapter from "../../../ops/estimation/modulation_classifier_adapter.ts";
import source from "../../../ops/source/modulation_frames.ts";
import observation from "../../../ops/wireless/modulation_awgn_observation.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";

const TURNED = { carrier_phase_min_rad: float(0), carrier_phase_max_rad: float(2 * Math.PI) };

async function accuracies(snrDb: number, modes: string[], frames: JsonObject, carrier: JsonObject = TURNED) {
  const sent = (await runOperation(source, { params: { seed: 1, ...frames } })).outputs;
  const params = { seed: 2, snr_db_min: float(snrDb), snr_db_max: float(snrDb), ...carrier };
  const received = (await runOperation(observation, { inputs: { frames: sent.frames }, params })).outputs;
  return await Promise.all(modes.map(async (mode) => {
    const { prediction } = (await runOperation(adapter, { inputs: received, params: { mode } })).outputs;
    const found = (await runOperation(metrics, { inputs: { prediction, truth: sent.labels } })).metrics;
    return Number(found["modulation_recognition.accuracy"]);
  }));
}

/** I0(x)·exp(-x), by the mean over equal phases. */
function scaledBessel(x: number): number {
  let sum = 0;
  for (let i = 0; i < 400; i++) sum += Math.exp(x * (Math.cos(2 * Math.PI * i / 400) - 1)) / 400;
  return sum;
}

Deno.test("on single symbols the likelihood classifier reaches the accuracy of Bayes' rule", async () => {
  // With an unknown phase only the modulus r tells: Rice densities, rings of power 1 (BPSK and QPSK) or 0.2, 1, 1.8 (16QAM).
  for (const snr of [6, 12]) {
    const n0 = 10 ** (-snr / 10);
    const ring = (r: number, a: number) => 2 * r / n0 * Math.exp(-((r - a) ** 2) / n0) * scaledBessel(2 * r * a / n0);
    let bound = 0;
    for (let r = 0.005; r < 4; r += 0.01) {
      const one = ring(r, 1), qam = 0.25 * ring(r, Math.sqrt(0.2)) + 0.5 * one + 0.25 * ring(r, Math.sqrt(1.8));
      bound += Math.max(one, qam) / 3 * 0.01;
    }
    const count = 6000;
    const [found] = await accuracies(snr, ["classical_likelihood"], { frame_count: count, symbols_per_frame: 1 });
    const { low, high } = wilsonInterval(Math.round(found * count), count, 0.999);
    assert.ok(low < bound && bound < high, `${found} against ${bound}`);
  }
});

Deno.test("no classifier beats the likelihood, accuracies rise with the SNR, and noise is guessed at", async () => {
  const modes = ["classical_likelihood", "classical_cumulant", "classical_evm"], last = [0, 0];
  for (const snr of FULL_SIZE ? [-12, -2, 4, 14] : [-2, 14]) {
    const found = await accuracies(snr, modes, { frame_count: 900, symbols_per_frame: 64 });
    // Standard deviation of an accuracy at most 1.7 %.
    for (const other of found.slice(1)) assert.ok(other <= found[0] + 0.04, `${snr} dB: ${found}`);
    for (const i of [0, 1]) {
      assert.ok(found[i] >= last[i] - 0.03, `${snr} dB: ${found} after ${last}`);
      last[i] = found[i];
    }
  }
  assert.ok(last[0] > 0.99 && last[1] > 0.9, String(last));
  const [blind] = await accuracies(-40, modes, { frame_count: 900, symbols_per_frame: 16 });
  assert.ok(Math.abs(blind - 1 / 3) < 0.06, String(blind));
});

Deno.test("frames without noise have the cumulants and the error vector of their constellation", () => {
  const bpsk = new Float32Array(400);
  // The pattern turns by a fixed phase: ±(0.6 + 0.8j).
  for (let n = 0; n < 200; n++) bpsk.set([0.6 * (1 - 2 * (n % 2)), 0.8 * (1 - 2 * (n % 2))], 2 * n);
  const close = (found: number, expected: number) => assert.ok(Math.abs(found - expected) < 1e-5, `${found}`);
  const [own, qpsk] = cumulantScores(bpsk, 0);
  close(own, 0);
  close(qpsk, -Math.SQRT2);
  close(evmScores(bpsk, 0)[0], 0);
  const scores = likelihoodScores(bpsk, 0.1);
  assert.ok(scores[0] > scores[1] && scores[0] > scores[2]);
});

Deno.test("frames, carrier and noise are those of NumPy's stream in the order of the contract", async () => {
  const sent = (await runOperation(source, { params: { frame_count: 8, symbols_per_frame: 3, seed: 23 } })).outputs;
  // default_rng(23).permutation(8) = 2 3 6 5 7 0 1 4
  assert.deepEqual([...sent.labels.array().data as BigInt64Array].map(Number), [2, 0, 0, 2, 1, 0, 1, 1]);
  const generator = Generator.seeded(23);
  generator.permutation(8);
  const [first] = generator.integers(0, 16, 3), bits = [3, 2, 1, 0].map((b) => Number(first) >> b & 1);
  const part = (sign: number, size: number) => Math.fround((1 - 2 * sign) * (2 - (1 - 2 * size)) / Math.sqrt(10));
  const frames = sent.frames.array().data as Float32Array;
  assert.deepEqual([...frames.subarray(0, 2)], [part(bits[0], bits[2]), part(bits[1], bits[3])]);
  const params = { seed: 4, snr_db_min: float(0), snr_db_max: float(10), ...TURNED };
  const received = (await runOperation(observation, { inputs: { frames: sent.frames }, params })).outputs.observation;
  const noise = Generator.seeded(4), snr = noise.random(8), phase = noise.random(8);
  noise.random(8);
  const field = noise.complexNormal64(24, 1), at = 2 * (1 * 3 + 2), angle = 2 * Math.PI * phase[1];
  assert.deepEqual([...received.array("snr_db").data as Float64Array], [...snr].map((u) => 10 * u));
  const expected = frames[at] * Math.cos(angle) - frames[at + 1] * Math.sin(angle) +
    Math.sqrt(10 ** -snr[1]) * field[at];
  assert.ok(Math.abs((received.array().data as Float32Array)[at] - expected) < 1e-6);
});

Deno.test("the scores are those of their definitions, in all and by SNR", async () => {
  const kind = (name: string) => `ai_phy.modulation_${name}.numpy`,
    of = (labels: bigint[]) => BigInt64Array.from(labels);
  const snr = { array: Float64Array.of(0.5, 1.9, 2, 7) };
  const { prediction, truth } = {
    prediction: arrayInput(kind("predictions"), "int64", of([0n, 1n, 1n, 1n]), [4]),
    truth: arrayInput(kind("labels"), "int64", of([0n, 0n, 1n, 1n]), [4]),
  };
  const companions = { snr_db: { dtype: "float64" as const, shape: [4], data: snr.array } };
  const found = await runOperation(metrics, { inputs: { prediction: { ...prediction, companions }, truth } });
  assert.deepEqual(found.metrics, {
    "modulation_recognition.accuracy": 0.75,
    "modulation_recognition.balanced_accuracy": 0.75,
    "modulation_recognition.macro_f1": (2 / 3 + 4 / 5) / 2,
    "modulation_recognition.frame_count": 4n,
    "task.accuracy": 0.75,
    "task.score": 0.75,
  });
  const rate = recordedRate(found.metadata, "modulation_recognition.accuracy")!;
  assert.deepEqual([rate.events, rate.trials, rate.unit, rate.complement], [1, 4, "source_item", true]);
  const report = found.outputs.report.json(), bins = report.snr_bins as JsonObject[];
  assert.deepEqual(report.class_names, ["bpsk", "qpsk", "qam16"]);
  assert.equal(JSON.stringify(bins.map((bin) => Number(bin.snr_low_db))), "[0,2,6]");
  assert.deepEqual([...found.outputs.confusion_matrix.array().data as BigInt64Array], [
    1n,
    1n,
    0n,
    0n,
    2n,
    0n,
    0n,
    0n,
    0n,
  ]);
});

Deno.test("silence has an answer, and nonsense is refused", async () => {
  for (const scores of [cumulantScores, likelihoodScores, evmScores]) {
    for (const n0 of [0, 1]) assert.ok(scores(new Float32Array(8), n0).every(Number.isFinite));
  }
  const { frames } = (await runOperation(source, { params: { frame_count: 3 } })).outputs;
  const params = { snr_db_min: float(9), snr_db_max: float(8) };
  await refuses("params_conflict", () => runOperation(observation, { inputs: { frames }, params }));
  const alone = arrayInput("ai_phy.modulation_iq_frames.numpy", "complex64", new Float32Array(8), [2, 2]);
  await assert.rejects(() => runOperation(adapter, { inputs: { observation: alone } }));
});

Deno.test("five classes up to 256QAM: the likelihood tells them apart, and other classes are refused", async () => {
  const classes = ["bpsk", "qpsk", "qam16", "qam64", "qam256"];
  const frames = { frame_count: 100, symbols_per_frame: 256, classes };
  const sent = (await runOperation(source, { params: { seed: 1, ...frames } })).outputs;
  const params = { seed: 2, snr_db_min: float(25), snr_db_max: float(25) };
  const inputs = { frames: sent.frames };
  const received = (await runOperation(observation, { inputs, params })).outputs;
  const run = async (mode: string, chosen: string[]) => {
    const { prediction } =
      (await runOperation(adapter, { inputs: received, params: { mode, classes: chosen } })).outputs;
    const found = await runOperation(metrics, { inputs: { prediction, truth: sent.labels } });
    return Number(found.metrics["modulation_recognition.accuracy"]);
  };
  assert.ok(await run("classical_likelihood", classes) > 0.9);
  const { prediction } = (await runOperation(adapter, { inputs: received, params: { classes: classes.slice(0, 2) } }))
    .outputs;
  await refuses("params_conflict", () => runOperation(metrics, { inputs: { prediction, truth: sent.labels } }));
});
