/** Channels for CSI feedback: the form of the published files, and the geometry of the drawn ones. */
import assert from "node:assert/strict";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { openArrays } from "../../../lib/artifact/array_file.ts";
import cost2100 from "../../data/cost2100/vectors.json" with { type: "json" };
import mat from "../../data/mat5/vectors.json" with { type: "json" };
import cdl from "../../../lib/numeric/data/cdl_models.json" with { type: "json" };
import { cdlProfile } from "../../../lib/numeric/channel/delay_profile.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import csiFeedback from "../../../ops/estimation/csi_feedback.ts";
import nrCodebookCsi from "../../../ops/estimation/nr_codebook_csi.ts";
import precoder from "../../../ops/antenna/csi_mrt_precoder.ts";
import link from "../../../ops/channel/csi_feedback_link.ts";
import metrics from "../../../ops/metrics/csi_feedback.ts";
import csiDataset from "../../../ops/source/csi_dataset.ts";
import { needs } from "../../support/needs.ts";
import { pythonWith } from "../../support/python.ts";
import { refuses, runOperation } from "../harness.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const near = (found: number, expected: number, tolerance: number, what = "") =>
  assert.ok(Math.abs(found - expected) < tolerance, `${what} ${found} is not ${expected}`);

async function drawn(params: JsonObject, files: Record<string, Uint8Array> = {}) {
  const { outputs, metrics } = await runOperation(csiDataset, { params, files });
  const h = outputs.csi.array(), g = outputs.channel_state.array();
  return {
    outputs,
    metrics,
    h: h.data as Float32Array,
    shape: h.shape,
    g: g.data as Float32Array,
    stateShape: g.shape,
  };
}

/** Mean of h_a·h_b* over samples and subcarriers, over the mean power. */
function correlation(h: Float32Array, [rows, tx, width]: readonly number[], a: number, b: number): [number, number] {
  let real = 0, imaginary = 0, power = 0;
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < width; k++) {
      const i = 2 * ((row * tx + a) * width + k), j = 2 * ((row * tx + b) * width + k);
      real += h[i] * h[j] + h[i + 1] * h[j + 1];
      imaginary += h[i + 1] * h[j] - h[i] * h[j + 1];
      power += (h[i] ** 2 + h[i + 1] ** 2 + h[j] ** 2 + h[j + 1] ** 2) / 2;
    }
  }
  return [real / power, imaginary / power];
}

/** A file of one coefficient: angle q, delay n, value 0.3 - 0.2j, of A angles and D delays. */
function oneCoefficient(samples: number, A: number, D: number, q: number, n: number): Uint8Array {
  const data = new Float32Array(samples * 2 * A * D).fill(0.5);
  for (let row = 0; row < samples; row++) {
    data[row * 2 * A * D + q * D + n] += 0.3;
    data[row * 2 * A * D + A * D + q * D + n] -= 0.2;
  }
  return writeNpz({ HT: ndarray("float32", data, [samples, 2 * A * D]) }).slice();
}

/** Of table 7.5-3 in TR 38.901. */
const OFFSETS = [0.0447, 0.1413, 0.2492, 0.3715, 0.5129, 0.6797, 0.8844, 1.1481, 1.5195, 2.1551].flatMap((
  one,
) => [one, -one]);

const FILE = { origin: "file", dataset_path: "h.npz", normalize: "none", tx_antennas: 4, ofdm_fft_size: 5 };

Deno.test("a coefficient of HT is a plane wave over antennas and subcarriers, 0.5 is its zero", async () => {
  const bytes = oneCoefficient(3, 4, 3, 1, 2);
  const { h, shape, g, stateShape } = await drawn({
    ...FILE,
    sample_count: 2,
    first_sample: 1,
    file_transform_size: 9,
    dataset_sha256: sha256Hex(bytes),
  }, { "h.npz": bytes });
  assert.deepEqual([shape, stateShape], [[2, 4, 5], [2, 5, 1, 4]]);
  for (let m = 0; m < 4; m++) {
    for (let k = 0; k < 5; k++) {
      const turn = 2 * Math.PI * (m / 4 - 2 * k / 9), c = Math.cos(turn), s = Math.sin(turn), at = 2 * (m * 5 + k);
      near(h[at], (0.3 * c + 0.2 * s) / 2, 1e-6);
      near(h[at + 1], (0.3 * s - 0.2 * c) / 2, 1e-6);
      // The state has the conjugate over √4.
      near(g[2 * (k * 4 + m)], h[at] / 2, 1e-7);
      near(g[2 * (k * 4 + m) + 1], -h[at + 1] / 2, 1e-7);
    }
  }
});

Deno.test("HF_all has the same channels as HT over the same transform", async () => {
  const A = 4, D = 3, K = 5, N = 9, files = { "h.npz": oneCoefficient(1, A, D, 2, 1) };
  const fromDelays = await drawn({ ...FILE, sample_count: 1, file_transform_size: N }, files);
  const frequency = new Float32Array(2 * A * K);
  for (let k = 0; k < K; k++) {
    const turn = -2 * Math.PI * k / N;
    frequency[2 * (2 * K + k)] = 0.3 * Math.cos(turn) + 0.2 * Math.sin(turn);
    frequency[2 * (2 * K + k) + 1] = 0.3 * Math.sin(turn) - 0.2 * Math.cos(turn);
  }
  const bytes = writeNpz({ HF_all: ndarray("complex64", frequency, [1, A * K]) }).slice();
  const direct = await drawn({ ...FILE, sample_count: 1 }, { "h.npz": bytes });
  direct.h.forEach((value, i) => near(value, fromDelays.h[i], 1e-6));
});

Deno.test("a MATLAB file that SciPy wrote has the channels of the same array as NPZ", async () => {
  const bytes = Uint8Array.from(atob(mat.cost2100), (character) => character.charCodeAt(0));
  using file = await openArrays(bytes, "h.mat", []);
  const array = file.array("HT"), [samples] = array.shape;
  const given = { origin: "file", tx_antennas: 32, ofdm_fft_size: 125, normalize: "none", sample_count: samples };
  const matlab = await drawn({ ...given, dataset_path: "h.mat" }, { "h.mat": bytes });
  const npz = await drawn({ ...given, dataset_path: "h.npz" }, { "h.npz": writeNpz({ HT: array }).slice() });
  assert.deepEqual(matlab.shape, [samples, 32, 125]);
  assert.deepEqual(matlab.h, npz.h);
  assert.ok(matlab.h.some((value) => value !== 0));
});

Deno.test("a COST2100 file of MATLAB 7.3 has the channels of the same array as NPZ", async () => {
  const bytes = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const HT = ndarray("float64", Float64Array.from(bytes(cost2100.sixteenths), (value) => value / 16), [2, 2048]);
  const given = { origin: "file", tx_antennas: 32, ofdm_fft_size: 125, normalize: "none", sample_count: 2 };
  const name = "DATA_Htestin.mat", files = { [name]: bytes(cost2100.version_7_3), "h.npz": writeNpz({ HT }).slice() };
  const matlab = await drawn({ ...given, dataset_path: name }, files);
  const npz = await drawn({ ...given, dataset_path: "h.npz" }, files);
  assert.deepEqual(matlab.h, npz.h);
  assert.ok(matlab.h.some((value) => Math.abs(value) > 0.1));
});

const python = await pythonWith("numpy", "scipy.io");
Deno.test({
  name: "COST2100 files that SciPy writes have the channels of NumPy's transforms",
  ...needs("a Python with SciPy", python),
  async fn() {
    const folder = temporaryFolder();
    const script = new URL("../../data/cost2100/make_vectors.py", import.meta.url).pathname;
    const { stdout, success } = await new Deno.Command(python!, { args: [script, "scipy", folder] }).output();
    assert.ok(success);
    const numpy = new Float32Array(stdout.slice().buffer), samples = numpy.length / (2 * 32 * 125);
    assert.ok(numpy.some((value) => Math.abs(value) > 0.1));
    const given = { origin: "file", tx_antennas: 32, ofdm_fft_size: 125, normalize: "none", sample_count: samples };
    for (const name of ["DATA_Htestin.mat", "compressed.mat"]) {
      const bytes = await Deno.readFile(`${folder}/${name}`);
      const { h, shape } = await drawn({ ...given, dataset_path: name }, { [name]: bytes });
      assert.deepEqual(shape, [samples, 32, 125]);
      h.forEach((value, i) => near(value, numpy[i], 1e-6, `${name}, value ${i}`));
    }
  },
});

Deno.test("files of another form, size, digest or range are refused", async () => {
  const bytes = oneCoefficient(2, 4, 3, 0, 0), given = { ...FILE, sample_count: 1, file_transform_size: 9 };
  const refused = (code: string, params: JsonObject, content = bytes) =>
    refuses(code, () => drawn({ ...given, ...params }, { "h.npz": content }));
  await refused("boundary_hash_mismatch", { dataset_sha256: "0".repeat(64) });
  await refused("boundary_count_mismatch", { sample_count: 3 });
  await refused("boundary_shape_invalid", { tx_antennas: 5 });
  await refused("boundary_shape_invalid", { file_transform_size: 5, ofdm_fft_size: 5, tx_antennas: 2 });
  const wrong = ndarray("int32", new Int32Array(24), [1, 24]),
    broken = ndarray("float32", new Float32Array(24).fill(NaN), [1, 24]);
  await refused("boundary_shape_invalid", {}, writeNpz({ HT: wrong }).slice());
  await refused("boundary_non_finite", {}, writeNpz({ HT: broken }).slice());
  await refused("artifact_array_missing", {}, writeNpz({ other: wrong }).slice());
});

Deno.test("polarisations are correlated by the cross-polarisation ratio, antennas of one by the clusters", async () => {
  const params = { sample_count: 1500, tx_antennas: 4, ofdm_fft_size: 2, cdl_model: "C", normalize: "none", seed: 5 };
  const { h, shape } = await drawn(params);
  near(h.reduce((sum, value) => sum + value ** 2, 0) / (h.length / 2), 1, 0.05, "power");
  // CDL-C has 7 dB: (1 - 1/κ)/(1 + 1/κ) = 0.667.
  const ratio = 10 ** -0.7, [same, quadrature] = correlation(h, shape, 0, 2);
  near(same, (1 - ratio) / (1 + ratio), 0.04, "polarisations");
  near(quadrature, 0, 0.04);
  // Neighbours: Σ P_c·e^{-jπ sin(zenith) sin(azimuth)} over the rays; with azimuths from all directions Σ P_c·J0(π sin(zenith)).
  const table = cdl.models.C, { powers } = cdlProfile("C", { delaySpread: 1e-7, normalise: true });
  const fixed = [0, 0], degree = Math.PI / 180;
  let everywhere = 0;
  powers.forEach((power, c) => {
    for (const offset of OFFSETS) {
      const place = Math.PI *
        Math.sin((table.departure_zenith_deg[c] + table.departure_zenith_spread_deg * offset) * degree);
      const azimuth = (table.departure_azimuth_deg[c] + table.departure_azimuth_spread_deg * offset) * degree;
      fixed[0] += power / 20 * Math.cos(place * Math.sin(azimuth));
      fixed[1] -= power / 20 * Math.sin(place * Math.sin(azimuth));
      for (let i = 0; i < 64; i++) everywhere += power / 20 / 64 * Math.cos(place * Math.sin(2 * Math.PI * i / 64));
    }
  });
  correlation(h, shape, 0, 1).forEach((part, i) => near(part, fixed[i], 0.04, "neighbours"));
  const turned = await drawn({ ...params, azimuth_range_deg: 180 }), [all, none] = correlation(turned.h, shape, 0, 1);
  near(all, everywhere, 0.04, "turned");
  near(none, 0, 0.06, "turned");
});

Deno.test("a truncation keeps the given delays, and states the share of the power", async () => {
  const params = { sample_count: 50, tx_antennas: 4, ofdm_fft_size: 16, normalize: "none", seed: 3 };
  const whole = await drawn(params), all = await drawn({ ...params, delay_count: 16 });
  assert.equal(whole.metrics["csi_feedback.kept_power_fraction"], 1);
  all.h.forEach((value, i) => near(value, whole.h[i], 1e-6));
  const some = await drawn({ ...params, delay_count: 6 }),
    again = (values: Float32Array) => values.reduce((sum, value) => sum + value ** 2, 0);
  near(again(some.h) / again(whole.h), Number(some.metrics["csi_feedback.kept_power_fraction"]), 1e-6);
  assert.ok(again(some.h) < 0.999 * again(whole.h));
  const each = await drawn({ ...params, normalize: "sample" });
  for (let row = 0; row < 50; row++) near(again(each.h.subarray(row * 128, (row + 1) * 128)) / 64, 1, 1e-5);
});

Deno.test("codebook and report of the same channels have one perfect rate, one cosine of 1 and comparable bits", async () => {
  const { outputs } = await drawn({ sample_count: 20, tx_antennas: 8, ofdm_fft_size: 8, seed: 7 });
  const fed = async (coder: JsonObject) => {
    const [encoder, decoder] = csiFeedback, inputs = { csi: outputs.csi };
    const { feedback_code } = (await runOperation(encoder, { inputs, params: coder })).outputs;
    const sent = { mode: "uniform_quantized", bits_per_latent: 3 };
    const { received_code } =
      (await runOperation(link, { inputs: { feedback_code }, params: coder.runtime === "identity" ? {} : sent }))
        .outputs;
    const { reconstruction } = (await runOperation(decoder, { inputs: { received_code }, params: coder })).outputs;
    const { precoder: weights } = (await runOperation(precoder, { inputs: { reconstruction } })).outputs;
    return (await runOperation(metrics, { inputs: { true_csi: outputs.csi, reconstruction, precoder: weights } }))
      .metrics;
  };
  const report = await fed({ runtime: "truncated_angular_delay", feedback_dimension: 16 });
  const codebook = (await runOperation(nrCodebookCsi, {
    inputs: { channel_state: outputs.channel_state },
    params: { n1: 4, max_rank: 1, subband_subcarriers: 2 },
  })).metrics;
  const perfect = "csi_feedback.perfect_csit_spectral_efficiency_bps_hz";
  near(Number(codebook["csi.perfect_spectral_efficiency_bps_hz"]), Number(report[perfect]), 1e-4);
  assert.equal(report["csi.precoder_bits"], 48);
  // i11 of 16 beams, i2 of 4 subbands; the CQI has 4 more.
  assert.equal(codebook["csi.precoder_bits"], 4 + 4 * 2);
  assert.equal(codebook["csi.report_bits"], 4 + 4 * 2 + 4);
  const own = await fed({ runtime: "identity" });
  near(Number(own["csi.cosine_similarity"]), 1, 1e-6);
  near(Number(own["csi.sgcs"]), 1, 1e-6);
  assert.ok(!("csi.precoder_bits" in own));
  assert.ok(Number(report["csi.sgcs"]) < Number(report["csi.cosine_similarity"]) && Number(report["csi.sgcs"]) < 0.99);
});
