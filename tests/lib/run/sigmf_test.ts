import assert from "node:assert/strict";
import { join } from "node:path";
import { run } from "../../../mod.ts";
import { decodeArtifact } from "../../../lib/artifact/codec.ts";
import { exportSigmf } from "../../../lib/run/sigmf.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { openWorkspace } from "../../../lib/run/workspace.ts";
import { step } from "../../support/step.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const RECIPE = {
  name: "signals",
  metadata: { seed: 5 },
  steps: [
    { id: "data", op: "source.random_bits", params: { bit_count: 400 } },
    step("modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qpsk" }),
    step("channel", "wireless.channel", { symbols: "modulator.symbols" }, { channel: "awgn", snr_db: 8.0 }),
  ],
};

Deno.test("the signals of a run are recordings, which a source reads bit for bit", async () => {
  const projectRoot = temporaryFolder();
  const { run_id, summary, directory } = await run(RECIPE, { projectRoot });
  const workspace = openWorkspace({ projectRoot }), out = join(projectRoot, "recordings");
  const { files } = exportSigmf(workspace, run_id, { out, licence: "CC0-1.0" });
  const names = ["channel.rx_symbols", "modulator.symbols"];
  assert.deepEqual(files, names.flatMap((name) => [`${name}.sigmf-data`, `${name}.sigmf-meta`]));
  const meta = JSON.parse(Deno.readTextFileSync(join(out, files[1])));
  assert.deepEqual([meta.global["core:datatype"], meta.global["core:license"]], ["cf32_le", "CC0-1.0"]);
  const again = await run({
    name: "again",
    metadata: { seed: 5 },
    steps: [{ id: "recording", op: "source.iq_recording", params: { recording_path: `recordings/${files[1]}` } }],
  }, { projectRoot });
  assert.equal(again.status, "completed", String(again.summary.error));
  const samples = (place: typeof again, step: string, port: string) => {
    const { kind, path } = place.summary.steps.find(({ id }) => id === step)!.outputs[port];
    return decodeArtifact(kind, Deno.readFileSync(join(place.directory, path))).array().data;
  };
  assert.deepEqual(
    samples(again, "recording", "waveform"),
    samples({ ...again, summary, directory }, "channel", "rx_symbols"),
  );
  assert.throws(() => exportSigmf(workspace, run_id, { out }), { code: "usage_invalid" });
  const bits = await run({ ...RECIPE, steps: RECIPE.steps.slice(0, 1) }, { projectRoot });
  assert.throws(() => exportSigmf(workspace, bits.run_id, { out: join(projectRoot, "none") }), {
    code: "signals_missing",
  });
});

/** The annotated frames of a recording, classified. */
const RECOGNITION = [
  step("observation", "wireless.modulation_recording_observation", {
    waveform: "recording.waveform",
    labels: "recording.labels",
  }, { samples_per_frame: 64, snr_db: 12.0 }),
  step("classifier", "model.modulation_classifier_adapter", { observation: "observation.observation" }, {
    mode: "classical_likelihood",
  }),
  step("scores", "metrics.modulation_classification", {
    prediction: "classifier.prediction",
    truth: "observation.labels",
  }),
];

Deno.test("frames are recordings with their modulations as annotations, which a classifier is scored by", async () => {
  const projectRoot = temporaryFolder();
  const frames = { frame_count: 30, symbols_per_frame: 64 };
  const { run_id } = await run({
    name: "frames",
    metadata: { seed: 5 },
    steps: [
      { id: "data", op: "source.modulation_frames", params: frames },
      step("air", "wireless.modulation_awgn_observation", { frames: "data.frames" }, {
        snr_db_min: 12.0,
        snr_db_max: 12.0,
      }),
    ],
  }, { projectRoot });
  const workspace = openWorkspace({ projectRoot }), out = join(projectRoot, "recordings");
  assert.equal(exportSigmf(workspace, run_id, { out }).files.length, 4);
  const meta = JSON.parse(Deno.readTextFileSync(join(out, "air.observation.sigmf-meta")));
  assert.equal(meta.annotations.length, 30);
  assert.deepEqual(
    new Set(meta.annotations.map((each: object) => Object.values(each)[2])),
    new Set(["bpsk", "qam16", "qpsk"]),
  );
  const source = (recording_path: string) => ({
    id: "recording",
    op: "source.iq_recording",
    params: { recording_path },
  });
  const scored = await run({
    name: "scored",
    metadata: { seed: 5 },
    steps: [source("recordings/air.observation.sigmf-meta"), ...RECOGNITION],
  }, { projectRoot });
  assert.equal(scored.status, "completed", String(scored.summary.error));
  const metrics = Object.assign({}, ...scored.summary.steps.map(({ metrics }) => metrics));
  assert.equal(Number(metrics["modulation_recognition.frame_count"]), 30);
  // At 12 dB, 64 symbols of these classes are not confused.
  assert.equal(Number(metrics["modulation_recognition.accuracy"]), 1);
  // A recording keeps its labels where it is exported again.
  const again = join(projectRoot, "again");
  exportSigmf(workspace, scored.run_id, { out: again });
  const second = JSON.parse(Deno.readTextFileSync(join(again, "recording.waveform.sigmf-meta")));
  assert.deepEqual(second.annotations, meta.annotations);
});

Deno.test("antennas of a received grid are the channels of a recording", async () => {
  const projectRoot = temporaryFolder();
  const { run_id, summary, directory } = await run({
    ...RECIPE,
    steps: [...RECIPE.steps.slice(0, 2), {
      id: "air",
      op: "wireless.mimo_ofdm_channel",
      params: { snr_db: 20.0, rx_antennas: 3, tx_antennas: 2, layers: 2 },
      inputs: { symbols: "modulator.symbols" },
    }],
  }, { projectRoot });
  const out = join(projectRoot, "recordings");
  exportSigmf(openWorkspace({ projectRoot }), run_id, { out });
  const { kind, path } = summary.steps[2].outputs.rx_grid;
  const grid = decodeArtifact(kind, Deno.readFileSync(join(directory, path))).array();
  const read = await run({
    name: "antenna",
    metadata: { seed: 5 },
    steps: [{
      id: "recording",
      op: "source.iq_recording",
      params: { recording_path: "recordings/air.rx_grid.sigmf-meta", channel: 2 },
    }],
  }, { projectRoot });
  const waveform = read.summary.steps[0].outputs.waveform;
  const samples = decodeArtifact(waveform.kind, Deno.readFileSync(join(read.directory, waveform.path))).array().data;
  const values = grid.data as Float32Array, rx = grid.shape.at(-1)!;
  assert.equal(rx, 3);
  assert.deepEqual(samples, values.filter((_, at) => (at >> 1) % rx === 2));
});

/** Pilots in OFDM symbols, and the receiver of their waveform. */
const PILOTS = [
  { id: "data", op: "source.random_bits", params: { bit_count: 3000 } },
  step("modulator", "modulation.digital_modulate", { bits: "data.bits" }, { modulation: "qam16" }),
  step("pilots", "modulation.ofdm_pilot_insert", { symbols: "modulator.symbols" }, {
    subcarriers: 72,
    dmrs_symbols: [2n, 11n],
  }),
];
const LAYOUT = { fft_size: 128, active_subcarriers: 72, oversampling: 2 };
const receiverOf = (waveform: string): JsonObject[] => [
  { id: "receiver", op: "demodulation.ofdm_receive", inputs: { waveform } },
  step("estimator", "model.ofdm_channel_estimator", {
    rx_symbols: "receiver.rx_symbols",
    pilot_context: "pilots.pilot_context",
  }, { method: "least_squares" }),
  {
    id: "equalizer",
    op: "demodulation.ofdm_equalize",
    inputs: {
      rx_symbols: "receiver.rx_symbols",
      estimate: "estimator.estimate",
      pilot_context: "pilots.pilot_context",
    },
  },
  step("demodulator", "demodulation.digital_demodulate", { rx_symbols: "equalizer.rx_symbols" }, {
    modulation: "qam16",
  }),
  step("scores", "metrics.bit_error_rate", { reference: "data.bits", candidate: "demodulator.bits" }),
];

Deno.test("an OFDM waveform is a recording, whose receiver finds the bits that it finds without a file", async () => {
  const projectRoot = Deno.makeTempDirSync(), metadata = { seed: 5, seed_namespace: "sent" };
  const perform = async (name: string, steps: JsonObject[]) => {
    const done = await run({ name, metadata, steps: [...PILOTS, ...steps] }, { projectRoot });
    assert.equal(done.status, "completed", String(done.summary.error));
    const { path, kind } = done.summary.steps.find(({ id }) => id === "demodulator")!.outputs.bits;
    const metrics = Object.assign({}, ...done.summary.steps.map(({ metrics }) => metrics));
    const bits = decodeArtifact(kind, Deno.readFileSync(join(done.directory, path))).array().data;
    return { run_id: done.run_id, bits, ber: Number(metrics["channel.ber"]) };
  };
  try {
    const sent = await perform("sent", [
      { id: "ofdm", op: "modulation.ofdm_waveform", params: LAYOUT, inputs: { symbols: "pilots.symbols" } },
      step("multipath", "wireless.multipath_waveform", { waveform: "ofdm.waveform" }, {
        snr_db: 14.0,
        sample_rate_mhz: 3.84,
      }),
      ...receiverOf("multipath.waveform"),
    ]);
    exportSigmf(openWorkspace({ projectRoot }), sent.run_id, { out: join(projectRoot, "recordings") });
    const recorded = await perform("recorded", [
      step("recording", "source.iq_recording", {}, { recording_path: "recordings/multipath.waveform.sigmf-meta" }),
      step("observation", "wireless.ofdm_recording_observation", { waveform: "recording.waveform" }, {
        ...LAYOUT,
        noise_variance: 2 * 10 ** -1.4,
      }),
      ...receiverOf("observation.waveform"),
    ]);
    assert.ok(sent.ber > 0 && sent.ber < 0.3, String(sent.ber));
    assert.deepEqual(recorded.bits, sent.bits);
    assert.equal(recorded.ber, sent.ber);
  } finally {
    Deno.removeSync(projectRoot, { recursive: true });
  }
});
