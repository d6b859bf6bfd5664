/** Adjacent channel leakage, out-of-band power and masks: tones of known powers, the spectral regrowth of a cubic amplifier, and refusals. */
import assert from "node:assert/strict";
import leakage from "../../../ops/metrics/adjacent_channel_leakage.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { ifft } from "../../../lib/numeric/linalg/fft.ts";
import { bandPower, powerSpectrum } from "../../../lib/numeric/link/spectrum.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";

const FFT = 32, OVERSAMPLING = 4, ACTIVE = 24;

/** A waveform of OFDM symbols without prefix. */
function waveform(samples: Float32Array, more: JsonObject = {}) {
  const metadata = {
    fft_size: FFT,
    cp_length: 0,
    oversampling: OVERSAMPLING,
    active_subcarriers: ACTIVE,
    ofdm_symbol_count: samples.length / (2 * FFT * OVERSAMPLING),
    symbol_count: samples.length / (2 * FFT * OVERSAMPLING) * ACTIVE,
    ...more,
  };
  return { waveform: { kind: "channel.waveform.complex_numpy", array: ndarray("complex64", samples), metadata } };
}
async function ratios(samples: Float32Array, params: JsonObject = {}) {
  const { outputs } = await runOperation(leakage, { inputs: waveform(samples), params });
  const { metrics } = outputs.report.json() as { metrics: Record<string, unknown> };
  return ["ofdm.aclr_db", "ofdm.aclr_lower_db", "ofdm.aclr_upper_db"].map((name) => Number(metrics[name]));
}

/** Tones at subcarriers, of amplitudes. */
function tones(parts: readonly (readonly [number, number])[], count = 16 * FFT * OVERSAMPLING): Float32Array {
  const samples = new Float32Array(2 * count);
  for (const [subcarrier, amplitude] of parts) {
    for (let n = 0; n < count; n++) {
      const angle = 2 * Math.PI * subcarrier * n / (FFT * OVERSAMPLING);
      samples[2 * n] += amplitude * Math.cos(angle);
      samples[2 * n + 1] += amplitude * Math.sin(angle);
    }
  }
  return samples;
}

Deno.test("tones have the ratios of their powers, by side and spacing", async () => {
  const [least, lower, upper] = await ratios(tones([[3, 1], [-30, 0.01], [35, 0.1]]));
  assert.ok(Math.abs(lower - 40) < 1e-3 && Math.abs(upper - 20) < 1e-3 && least === upper, `${lower} ${upper}`);
  const [, near] = await ratios(tones([[3, 1], [-25, 0.1], [35, 0.1]]), { spacing_subcarriers: 24 });
  assert.ok(Math.abs(near - 20) < 1e-3, `${near}`);
});

Deno.test("white samples have their power in the bins, and parts of bins count", () => {
  const noise = Float32Array.from(Generator.seeded(4).standardNormal(2 * 4096), (part) => part * Math.SQRT1_2);
  const power = powerSpectrum(noise, 64), total = power.reduce((sum, value) => sum + value);
  assert.ok(Math.abs(total - 1) < 0.1, `${total}`);
  assert.ok(Math.abs(bandPower(power, -32, 32) - total) < 1e-12);
  assert.ok(Math.abs(bandPower(power, 2.25, 3.25) - 0.25 * power[2] - 0.75 * power[3]) < 1e-15);
  assert.ok(Math.abs(bandPower(power, -0.75, 0.25) - 0.25 * power[63] - 0.75 * power[0]) < 1e-15);
});

Deno.test("the regrowth of Gaussian samples through a cubic amplifier is that of three convolved rectangles", async () => {
  // Price: y = x + c x|x|² is (1 + 2cP) x plus a distortion of the power 2c²P³, whose spectrum is that of x convolved three times.
  // A rectangle of width 1 three times has 2/3 in the middle, and (1 - δ)³/6 between 1/2 + δ and 3/2.
  const c = -0.1, spacing = ACTIVE + 2, side = (1 - 2 / ACTIVE) ** 3 / 6;
  const expected = 10 * Math.log10(((1 + 2 * c) ** 2 + 2 * c * c * 2 / 3) / (2 * c * c * side));
  const count = 512 * FFT * OVERSAMPLING, width = 512 * ACTIVE, found: number[] = [];
  for (let seed = 0; seed < 8; seed++) {
    const drawn = Generator.seeded(seed).standardNormal(2 * width), bins = new Float64Array(2 * count);
    const scale = count / Math.sqrt(2 * width);
    for (let i = 0; i < width; i++) {
      const bin = (i - 512 * (ACTIVE / 2 + 0.5) + count) % count;
      bins[2 * bin] = scale * drawn[2 * i];
      bins[2 * bin + 1] = scale * drawn[2 * i + 1];
    }
    const x = ifft(bins), y = new Float32Array(2 * count);
    for (let i = 0; i < y.length; i++) y[i] = x[i] * (1 + c * (x[i & ~1] ** 2 + x[i | 1] ** 2));
    found.push(...(await ratios(y, { spacing_subcarriers: spacing })).slice(1));
  }
  const mean = found.reduce((sum, value) => sum + value) / found.length;
  const error = Math.sqrt(
    found.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (found.length - 1) / found.length,
  );
  assert.ok(error < 0.1 && Math.abs(mean - expected) < 4 * error, `${mean} ${error} ${expected}`);
});

Deno.test("a channel outside of the samples, and too few samples, are refused; silence has no ratio", async () => {
  const run = (samples: Float32Array, params: JsonObject = {}) =>
    runOperation(leakage, { inputs: waveform(samples), params });
  await refuses("params_conflict", () => run(tones([[0, 1]]), { spacing_subcarriers: 60 }));
  await refuses("params_conflict", () => run(tones([[0, 1]], 3 * FFT * OVERSAMPLING)));
  const { outputs } = await run(new Float32Array(32 * FFT * OVERSAMPLING));
  assert.deepEqual(outputs.report.json().metrics, {});
});

Deno.test("out-of-band power is all power beside the channel, in the whole band of the samples", async () => {
  const samples = tones([[3, 1], [-30, 0.01], [35, 0.1], [50, 0.1]]);
  const { outputs } = await runOperation(leakage, { inputs: waveform(samples) });
  const found = Number((outputs.report.json().metrics as JsonObject)["ofdm.out_of_band_db"]);
  assert.ok(Math.abs(found - 10 * Math.log10(0.0201)) < 1e-3, `${found}`);
});

Deno.test("the margin to a mask is that of the worst bin of both sides, linear in dB between its points", async () => {
  // One tone has 1.5 bins of Hann's window: its bin has 2/3 of its power, and a bin of the mean density 1/(4 · 24) of the power in the channel.
  const peak = 10 * Math.log10(2 / 3 * 4 * ACTIVE), samples = tones([[3, 1], [-30.5, 0.01], [39.5, 0.1]]);
  const margin = async (mask: number[][]) => {
    const { outputs } = await runOperation(leakage, {
      inputs: waveform(samples),
      params: { mask: mask.map((point) => point.map(float)) },
    });
    const { metrics, items } = outputs.report.json() as { metrics: JsonObject; items: JsonObject[] };
    assert.deepEqual(items.map((item) => Number(item.offset_subcarriers)), mask.map(([offset]) => offset));
    return { margin: Number(metrics["ofdm.mask_margin_db"]), items };
  };
  // The channel is centred on -0.5: the tones lie 30 below and 40 above it.
  const cases: [number[][], number][] = [
    [[[20, 0], [50, 0]], 20 - peak],
    [[[20, -10], [50, 20]], 10 + 20 - peak],
    [[[28, 0], [32, 0]], 40 - peak],
    [[[40, 5]], 5 + 20 - peak],
  ];
  for (const [mask, expected] of cases) {
    const found = await margin(mask);
    assert.ok(Math.abs(found.margin - expected) < 1e-3, `${JSON.stringify(mask)}: ${found.margin} ${expected}`);
  }
  const [point] = (await margin([[30, -3]])).items;
  assert.ok(
    Math.abs(Number(point.lower_db) - peak + 40) < 1e-3 && Number(point.upper_db) < -100,
    JSON.stringify(point),
  );
});

Deno.test("more bins narrow the window; masks that fall back or leave the samples are refused", async () => {
  // A tone on the edge of the channel has half of its power outside of it, at any window.
  const samples = tones([[-12.5, 1]], 64 * FFT * OVERSAMPLING), inside = tones([[-11.5, 1]], 64 * FFT * OVERSAMPLING);
  const outside = async (given: Float32Array, bins?: number) => {
    const params: JsonObject = bins === undefined ? {} : { bins_per_subcarrier: bins };
    const { outputs } = await runOperation(leakage, { inputs: waveform(given), params });
    return Number((outputs.report.json().metrics as JsonObject)["ofdm.out_of_band_db"]);
  };
  for (const bins of [undefined, 8, 32]) assert.ok(Math.abs(await outside(samples, bins)) < 1e-3, String(bins));
  assert.ok(await outside(inside, 32) < -100);
  const run = (mask: number[][]) =>
    runOperation(leakage, { inputs: waveform(samples), params: { mask: mask.map((point) => point.map(float)) } });
  await refuses("params_conflict", () => run([[10, 0], [10, -3]]));
  await refuses("params_conflict", () => run([[-1, 0]]));
  await refuses("params_conflict", () => run([[64, 0]]));
});
