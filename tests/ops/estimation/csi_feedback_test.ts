/** The chain of CSI feedback, from channel to rate. */
import assert from "node:assert/strict";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { fromAngularDelay, toAngularDelay } from "../../../lib/numeric/channel/angular_delay.ts";
import { energy } from "../../../lib/numeric/linalg/complex.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import link from "../../../ops/channel/csi_feedback_link.ts";
import metrics from "../../../ops/metrics/csi_feedback.ts";
import csiFeedback from "../../../ops/estimation/csi_feedback.ts";
import precoder from "../../../ops/antenna/csi_mrt_precoder.ts";
import csiSource from "../../../ops/wireless/miso_ofdm_csi.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";
import { arrayInput } from "../inputs.ts";
import { FULL_SIZE } from "../../support/reduced_sizes.ts";

const [encoder, decoder] = csiFeedback;

const CSI = { wireless_backend: "numpy", sample_count: 200, seed: 1 };

async function drawn(params: JsonObject = {}) {
  return (await runOperation(csiSource, { params: { ...CSI, ...params } })).outputs.csi;
}

async function fedBack(csi: GivenInput, coder: JsonObject, linkParams: JsonObject = {}) {
  const { feedback_code } = (await runOperation(encoder, { inputs: { csi }, params: coder })).outputs;
  const { received_code } = (await runOperation(link, { inputs: { feedback_code }, params: linkParams })).outputs;
  const { reconstruction } = (await runOperation(decoder, { inputs: { received_code }, params: coder })).outputs;
  const { precoder: weights } = (await runOperation(precoder, { inputs: { reconstruction } })).outputs;
  const inputs = { true_csi: csi, reconstruction, precoder: weights };
  const found = (await runOperation(metrics, { inputs })).metrics;
  return Object.fromEntries(
    Object.entries(found).map(([id, value]) => [id.replace("csi_feedback.", ""), Number(value)]),
  );
}

const truncated = (dimension: number) => ({ runtime: "truncated_angular_delay", feedback_dimension: dimension });
const close = (found: number, expected: number, relative = 1e-5) =>
  assert.ok(Math.abs(found - expected) <= relative * Math.abs(expected), `${found} against ${expected}`);

Deno.test("the angular-delay transform is unitary, and puts a path where it belongs", () => {
  const h = Generator.seeded(3).complexNormal64(5 * 12, 1), a = toAngularDelay(h, 5, 12);
  close(energy(a), energy(h), 1e-12);
  fromAngularDelay(a, 5, 12).forEach((value, i) => assert.ok(Math.abs(value - h[i]) < 1e-12));
  // Delay 3 samples, spatial frequency 2 of 5.
  const path = new Float64Array(2 * 5 * 12);
  for (let m = 0; m < 5; m++) {
    for (let k = 0; k < 12; k++) {
      const angle = 2 * Math.PI * (2 * m / 5 - 3 * k / 12);
      path.set([Math.cos(angle), Math.sin(angle)], 2 * (m * 12 + k));
    }
  }
  const seen = toAngularDelay(path, 5, 12);
  for (let i = 0; i < 60; i++) {
    close(1 + Math.hypot(seen[2 * i], seen[2 * i + 1]), i === 3 * 5 + 2 ? 1 + Math.sqrt(60) : 1, 1e-9);
  }
});

Deno.test("identity feedback is perfect, and its rate that of the matched beam", async () => {
  const csi = await drawn(), found = await fedBack(csi, { runtime: "identity" });
  assert.equal(found.nmse, 0);
  assert.ok(!("nmse_db" in found));
  close(found.spectral_efficiency_retention, 1);
  close(found.phase_invariant_cosine, 1);
  assert.deepEqual([found.feedback_dimension, found.compression_factor], [512, 1]);
  const { data, shape: [rows, tx, count] } = csi.array(), values = data as Float32Array;
  let rate = 0;
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < count; k++) {
      let gain = 0;
      for (let m = 0; m < tx; m++) gain += energy(values.subarray(2 * ((row * tx + m) * count + k)).subarray(0, 2));
      rate += Math.log2(1 + gain / 0.1) / (rows * count);
    }
  }
  close(found.perfect_csit_spectral_efficiency_bps_hz, rate);
});

Deno.test("truncation keeps the delays it sends: its error is the power of the others", async () => {
  // Six taps e^{-l} at whole samples: D delays keep the share Σ_{l<D} P_l of the power, on average.
  const powers = [0, 1, 2, 3, 4, 5].map((l) => Math.exp(-l)), total = powers.reduce((a, b) => a + b);
  const nmse: number[] = [], retention: number[] = [];
  for (const delays of FULL_SIZE ? [1, 2, 4, 6] : [2, 6]) {
    const found = await fedBack(
      await drawn({ sample_count: 1000, tx_correlation_coefficient: float(0) }),
      truncated(16 * delays),
    );
    const kept = powers.slice(0, delays).reduce((a, b) => a + b) / total;
    // With c = the share a row keeps: cosine sqrt(c), error 2 - 2·sqrt(c); E sqrt(c) is a little below sqrt(E c).
    assert.ok(
      found.phase_invariant_cosine <= Math.sqrt(kept) + 0.01 && found.phase_invariant_cosine > Math.sqrt(kept) - 0.03,
    );
    close(found.nmse, 2 - 2 * found.phase_invariant_cosine, delays === 6 ? Infinity : 1e-3);
    nmse.push(found.nmse);
    retention.push(found.spectral_efficiency_retention);
  }
  nmse.forEach((value, i) => assert.ok(i === 0 || value < nmse[i - 1]));
  retention.forEach((value, i) => assert.ok(i === 0 || value > retention[i - 1]));
  assert.ok(nmse.at(-1)! < 1e-9 && retention.at(-1)! > 0.99999);
});

Deno.test("more bits lose less, and the report says how many there were", async () => {
  const csi = await drawn(), losses: number[] = [];
  for (const bits of [1, 2, 4, 8]) {
    const found = await fedBack(csi, truncated(32), { mode: "uniform_quantized", bits_per_latent: bits });
    assert.deepEqual([found.feedback_bits_per_sample, found.quantization_clipped_fraction], [32 * bits, 0]);
    assert.ok(found.quantization_mse <= (2 / 2 ** bits) ** 2 / 4);
    losses.push(found.spectral_efficiency_loss_bps_hz);
  }
  losses.forEach((loss, i) => assert.ok(loss > 0 && (i === 0 || loss < losses[i - 1])));
});

Deno.test("silence is reported as silence, and precoded with equal weights", async () => {
  const shape = [1, 4, 2],
    csi = arrayInput("channel.miso_ofdm_csi.numpy", "complex64", new Float32Array(16), shape, {
      noise_variance: 0.1,
    });
  const found = await fedBack(csi, truncated(4));
  assert.ok(Object.values(found).every(Number.isFinite));
  assert.deepEqual([found.achieved_spectral_efficiency_bps_hz, found.nmse, found["task.score"]], [
    0,
    undefined,
    undefined,
  ]);
  const kind = "channel.miso_ofdm_csi_reconstruction.numpy";
  const reconstruction = arrayInput(kind, "complex64", new Float32Array(16), shape);
  const { precoder: w } = (await runOperation(precoder, { inputs: { reconstruction } })).outputs;
  assert.deepEqual([...w.array().data as Float32Array], Array.from({ length: 16 }, (_, i) => (1 - i % 2) / 2));
});

Deno.test("codes of another size, and coders in training, are refused", async () => {
  const csi = await drawn({ sample_count: 2 });
  await refuses("params_conflict", () => runOperation(encoder, { inputs: { csi }, params: truncated(5) }));
  await refuses("params_conflict", () => runOperation(encoder, { inputs: { csi }, params: truncated(514) }));
  await refuses("operation_failed", () => runOperation(encoder, { inputs: { csi } }));
  const { feedback_code } = (await runOperation(encoder, { inputs: { csi }, params: truncated(8) })).outputs;
  const decode = (params: JsonObject) => runOperation(decoder, { inputs: { received_code: feedback_code }, params });
  await refuses("boundary_shape_invalid", () => decode(truncated(10)));
  await refuses("boundary_shape_invalid", () => decode({ runtime: "identity" }));
  const bare = arrayInput("channel.csi_feedback_code.numpy", "float32", new Float32Array(8), [1, 8]);
  const lost = () => runOperation(decoder, { inputs: { received_code: bare }, params: truncated(8) });
  await refuses("input_metadata_missing", lost);
});
