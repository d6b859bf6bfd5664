/** What a trained phase tracker sees, and what is done with its answer. */
import assert from "node:assert/strict";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import tracker from "../../../ops/demodulation/phase_tracking_receiver_adapter.ts";
import modulate from "../../../ops/modulation/qpsk_pilot_modulate.ts";
import impair from "../../../ops/wireless/carrier_phase_impairment.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits } from "../inputs.ts";

const LEARNED = { mode: "learned_artifact", artifact_package_sha256: "0".repeat(64) };
const FRAMES = { preamble_symbols: 4, pilot_spacing_data_symbols: 4 };
const FEATURES = 11;

/** Frames of 16, 8 and 16 data symbols behind a turning carrier, without noise. */
async function received(impairment: Record<string, number> = {}) {
  const bits = payloadInput(someBits(80), { source_item_counts: [32, 16, 32], noise_variance: 0.01 });
  const sent = await runOperation(modulate, { inputs: { bits }, params: FRAMES });
  const { symbols, pilot_context } = sent.outputs;
  const turned = await runOperation(impair, {
    inputs: { rx_symbols: { ...symbols, kind: "channel.rx_symbols.complex_numpy" } },
    params: impairment as never,
    seed: 3,
  });
  return { sent: symbols, rx_symbols: turned.outputs.rx_symbols, truth: turned.outputs.phase_truth, pilot_context };
}

const still = { cfo_min_cycles_per_symbol: 0.001, cfo_max_cycles_per_symbol: 0.001, phase_noise_increment_std_rad: 0 };

Deno.test("features are those of the contract, frames of one length together and in order", async () => {
  const { sent, rx_symbols, truth, pilot_context } = await received(still);
  const calls: NdArray[] = [];
  await runOperation(tracker, {
    inputs: { rx_symbols, pilot_context },
    params: LEARNED,
    model: ({ receiver_features_v3: features }) => {
      calls.push(features);
      const [packets, length] = features.shape;
      return { residual_phase_rad: ndarray("float32", new Float32Array(packets * length), [packets, length]) };
    },
  });
  // 16 data symbols have 4 + 4 pilots, 8 have 4 + 2.
  assert.deepEqual(calls.map(({ shape }) => shape), [[2, 24, FEATURES], [1, 14, FEATURES]]);
  const x = sent.array().data as Float32Array, y = rx_symbols.array().data as Float32Array;
  const phases = truth.array().data as Float64Array, positions = [...pilot_context.array().data as Int32Array];
  for (const [packet, start] of [[0, 0], [1, 38]]) {
    for (let k = 0; k < 24; k++) {
      const at = start + k, row = packet * 24 + k;
      const [re, im, zRe, zIm, pilot, pRe, pIm, cos, sin, place, noise] = Array.from(
        (calls[0].data as Float32Array).subarray(row * FEATURES, (row + 1) * FEATURES),
      );
      const close = (found: number, wanted: number, what: string) =>
        assert.ok(Math.abs(found - wanted) < 1e-5, `${what} of symbol ${at}: ${found}, not ${wanted}`);
      assert.deepEqual([re, im], [y[2 * at], y[2 * at + 1]]);
      const isPilot = positions.includes(at);
      assert.equal(pilot, isPilot ? 1 : 0);
      close(pRe, isPilot ? x[2 * at] : 0, "pilot");
      close(pIm, isPilot ? x[2 * at + 1] : 0, "pilot");
      // Phases that rise evenly are what lies between pilots, and a frame ends with one.
      close(cos, Math.cos(phases[at]), "cosine");
      close(sin, Math.sin(phases[at]), "sine");
      close(zRe, x[2 * at], "turned back");
      close(zIm, x[2 * at + 1], "turned back");
      close(place, k / 23, "place");
      close(noise, -2, "log10 N0");
    }
  }
});

Deno.test("the answer is added to the interpolated phase", async () => {
  const { rx_symbols, pilot_context, truth } = await received();
  const residual = (value: number) =>
    runOperation(tracker, {
      inputs: { rx_symbols, pilot_context, phase_truth: truth },
      params: LEARNED,
      model: ({ receiver_features_v3: { shape: [packets, length] } }) => ({
        residual_phase_rad: ndarray("float32", new Float32Array(packets * length).fill(value), [packets, length]),
      }),
    });
  const plain = await runOperation(tracker, {
    inputs: { rx_symbols, pilot_context },
    params: { mode: "pilot_interpolation" },
  });
  const none = await residual(0), some = await residual(0.25);
  assert.deepEqual(none.outputs.llr.array(), plain.outputs.llr.array());
  const before = plain.outputs.diagnostics.array().data as Float64Array;
  (some.outputs.diagnostics.array().data as Float64Array).forEach((phase, k) =>
    assert.ok(Math.abs(phase - before[k] - 0.25) < 1e-12)
  );
  assert.equal(some.outputs.llr.metadata.phase_tracking_mode, "learned_artifact");
});

Deno.test("a trained tracker is pinned by its digest", async () => {
  const { rx_symbols, pilot_context } = await received();
  await refuses("params_conflict", () =>
    runOperation(tracker, {
      inputs: { rx_symbols, pilot_context },
      params: { ...LEARNED, artifact_package_sha256: "" },
      model: () => ({}),
    }));
});
