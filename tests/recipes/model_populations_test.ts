/**
 * What the slot models were trained on is what the operations give: every training script stores a few examples of its generator
 * (training/population.json), and the operations, seeded alike, give the same numbers.
 */
import assert from "node:assert/strict";
import { float, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import aoaScene from "../../ops/source/aoa_scene.ts";
import aiPhy from "../../ops/source/ai_phy.ts";
import localization from "../../ops/source/localization.ts";
import modulationFrames from "../../ops/source/modulation_frames.ts";
import isacChannels from "../../ops/source/isac_ofdm_scenario.ts";
import nearField from "../../ops/source/near_field_xl_mimo_scenario.ts";
import passes from "../../ops/source/leo_ntn_tracking_scenario.ts";
import arrayObservation from "../../ops/wireless/ula_array_observation.ts";
import channelState from "../../ops/wireless/ofdm_channel_state.ts";
import delayedCsi from "../../ops/wireless/ofdm_delayed_csi.ts";
import modulationObservation from "../../ops/wireless/modulation_awgn_observation.ts";
import pilotObservation from "../../ops/wireless/pilot_observation.ts";
import rangeObservation from "../../ops/wireless/range_observation.ts";
import { runOperation } from "../ops/harness.ts";
import { symbolsInput } from "../ops/inputs.ts";

const [geometry] = localization;

const [channelRealization, pilotPattern] = aiPhy;

const MODELS = new URL("../../recipes/models/", import.meta.url);

// deno-lint-ignore no-explicit-any
const population = async (model: string): Promise<any> =>
  JSON.parse(await Deno.readTextFile(new URL(`${model}/training/population.json`, MODELS)));

const data = (artifact: InputArtifact) => [...artifact.array().data as Float64Array];
const same = (actual: readonly number[], expected: readonly number[], within = 0) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) =>
    assert.ok(Math.abs(value - expected[i]) <= within, `${i}: ${value} is not ${expected[i]}`)
  );
};

Deno.test("leo-pass-tracker-v1 learned from the passes of source.leo_ntn_tracking_scenario", async () => {
  const { seed, snr_db, prediction_horizon_s, looks, future } = await population("leo-pass-tracker-v1");
  const params = { example_count: 3, snr_db: float(snr_db), prediction_horizon_s: float(prediction_horizon_s), seed };
  const { problem, truth } = (await runOperation(passes, { params })).outputs;
  // Cosines and their like differ in the last digits from library to library.
  same(data(problem), looks, 1e-13);
  same(data(truth).map((value, i) => i % 2 === 0 ? value / 48000 : value), future, 1e-13);
});

Deno.test("near-field-estimator-v1 learned from the snapshots of source.near_field_xl_mimo_scenario", async () => {
  const { seed, snr_db, received, truth } = await population("near-field-estimator-v1");
  const params = { example_count: 3, snr_db: float(snr_db), seed };
  const { problem, truth: positions } = (await runOperation(nearField, { params })).outputs;
  // Numbers of up to 4 in float32; phases of 1000 radians have fewer digits.
  same(data(problem), received, 1e-6);
  same(data(positions), truth, 1e-13);
});

Deno.test("isac-power-policy-v1 learned from the gains of source.isac_ofdm_scenario", async () => {
  const { seed, subcarriers, snr_db, sensing_weight, features } = await population("isac-power-policy-v1");
  const params = { example_count: 2, subcarriers, snr_db: float(snr_db), sensing_weight: float(sensing_weight), seed };
  const { problem } = (await runOperation(isacChannels, { params })).outputs;
  const noise = toNumber(problem.metadata.noise_variance as number);
  const gains = (h: readonly number[]) =>
    Array.from({ length: h.length / 2 }, (_, k) => (h[2 * k] ** 2 + h[2 * k + 1] ** 2) / noise);
  const [received, echoed] = [problem.array(), problem.array("sensing")].map((h) => gains([...h.data as Float32Array]));
  // The operation rounds the responses to float32, the script the features.
  received.forEach((gain, k) => {
    same([gain / features[4 * k], echoed[k] / features[4 * k + 1]], [1, 1], 1e-6);
    same([sensing_weight, 1 / subcarriers], features.slice(4 * k + 2, 4 * k + 4), 1e-7);
  });
});

Deno.test("causal-power-policy-v1 learned from the reports and channels of wireless.ofdm_delayed_csi", async () => {
  const { seeds, speed_kmh, accuracy_db, delay_spread_ns, subcarriers, reports, later } = await population(
    "causal-power-policy-v1",
  );
  const trajectory = {
    tdl_model: "C",
    delay_spread_ns: float(delay_spread_ns),
    mobility_kmh: float(speed_kmh),
    ofdm_fft_size: subcarriers,
    num_ofdm_symbols: 32,
    seed: seeds[0],
  };
  // Two grids.
  const symbols = symbolsInput(new Float32Array(2 * 2 * 32 * subcarriers));
  const { state } = (await runOperation(channelState, { inputs: { symbols }, params: trajectory })).outputs;
  const params = {
    csi_history_length: 4,
    feedback_delay_ofdm_symbols: 5,
    csi_estimation_snr_db: float(accuracy_db),
    seed: seeds[1],
  };
  const { transmitter_csi, actual_state } = (await runOperation(delayedCsi, { inputs: { state }, params })).outputs;
  same(data(transmitter_csi), reports, 1e-6);
  // The script scores every third of 24 OFDM symbols.
  const row = 2 * subcarriers;
  const scored = data(actual_state).filter((_, i) => Math.floor(i / row) % 3 === 0);
  same(scored, later, 1e-6);
});

Deno.test("nlos-range-localizer-v1 learned from the ranges of wireless.range_observation", async () => {
  const { seeds, anchor_count, snr_db, nlos_probability, nlos_bias_m, positions, ranges } = await population(
    "nlos-range-localizer-v1",
  );
  const { scene } =
    (await runOperation(geometry, { params: { example_count: 4, anchor_count, seed: seeds[0] } })).outputs;
  const params = { snr_db: float(snr_db), nlos_probability, nlos_bias_m, seed: seeds[1] };
  const { observation } = (await runOperation(rangeObservation, { inputs: { scene }, params })).outputs;
  same(data(scene), positions);
  same(data(observation), ranges, 1e-12);
});

Deno.test("modulation-classifier-v1 learned from the frames of wireless.modulation_awgn_observation", async () => {
  const { seeds, symbols_per_frame, snr_db, frequency_offset, labels, iq } = await population(
    "modulation-classifier-v1",
  );
  const framed = await runOperation(modulationFrames, {
    params: { frame_count: 4, symbols_per_frame, seed: seeds[0] },
  });
  const params = {
    snr_db_min: float(snr_db[0]),
    snr_db_max: float(snr_db[1]),
    carrier_phase_min_rad: -Math.PI,
    carrier_phase_max_rad: Math.PI,
    frequency_offset_min_cycles_per_symbol: -frequency_offset,
    frequency_offset_max_cycles_per_symbol: frequency_offset,
    seed: seeds[1],
  };
  const observed = await runOperation(modulationObservation, { inputs: { frames: framed.outputs.frames }, params });
  assert.deepEqual(data(framed.outputs.labels).map(Number), labels);
  same(data(observed.outputs.observation), iq, 1e-6);
});

Deno.test("pilot-channel-estimator-v1 learned from the channels and pilots of wireless.pilot_observation", async () => {
  const { seeds, snr_db, taps, tdl } = await population("pilot-channel-estimator-v1");
  const sizes = { rx_antennas: 2, tx_antennas: 2, subcarriers: 64 };
  const cases: [JsonObject, typeof taps][] = [
    [{ scenario: "mimo_ofdm", channel_tap_count: 3 }, taps],
    [{ scenario: "mimo_ofdm_3gpp_tdl", tdl_model: "B", delay_spread_ns: float(200) }, tdl],
  ];
  const comb = { scenario: "comb", tx_antennas: 2, subcarriers: 64, pilot_spacing: 4, seed: seeds[1] };
  const { pilots } = (await runOperation(pilotPattern, { params: comb })).outputs;
  for (const [drawn, stored] of cases) {
    const source = { params: { example_count: 1, seed: seeds[0], ...sizes, ...drawn } };
    const { channel } = (await runOperation(channelRealization, source)).outputs;
    const params = { snr_db: float(snr_db), seed: seeds[2] };
    const { pilot_ls } = (await runOperation(pilotObservation, { inputs: { channel, pilots }, params })).outputs;
    same(data(channel), stored.channel, 1e-6);
    // Stored at the pilots alone: [rx, tx, pilot], antenna t on the subcarriers t, t + 4, ...
    const own = data(pilot_ls).filter((_, i) => Math.floor(i / 2) % 4 === Math.floor(i / 128) % 2);
    same(own, stored.pilot_ls, 1e-5);
  }
});

Deno.test("ula-aoa-estimator-v1 learned from the snapshots of wireless.ula_array_observation", async () => {
  const { seeds, snapshots, snr_db, angles, received } = await population("ula-aoa-estimator-v1");
  const { scene } = (await runOperation(aoaScene, { params: { example_count: 2, seed: seeds[0] } })).outputs;
  const params = { snapshot_count: snapshots, snr_db: float(snr_db), seed: seeds[1] };
  const { observation } = (await runOperation(arrayObservation, { inputs: { scene }, params })).outputs;
  same(data(scene), angles, 1e-13);
  same(data(observation), received, 1e-6);
});
