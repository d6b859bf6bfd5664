/** Channels in motion against the closed forms of Jakes' and flat spectra, and the continuity of a stream. */
import assert from "node:assert/strict";
import mimoDetect from "../../../ops/demodulation/mimo_detect.ts";
import ofdmReceive from "../../../ops/demodulation/ofdm_receive.ts";
import digitalModulate from "../../../ops/modulation/digital_modulate.ts";
import ofdmWaveform from "../../../ops/modulation/ofdm_waveform.ts";
import channel from "../../../ops/wireless/channel.ts";
import mimoOfdmChannel from "../../../ops/wireless/mimo_ofdm_channel.ts";
import multipathWaveform from "../../../ops/wireless/multipath_waveform.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { maximumDopplerHz, movingTaps, ofdmSymbolInterval } from "../../../lib/numeric/channel/delay_profile.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { refuses, runOperation } from "../harness.ts";
import { payloadInput, someBits, symbolsInput } from "../inputs.ts";

const FLAT = { delays: Float64Array.of(0), powers: Float64Array.of(1), lineOfSight: false };
const MOVING = { channel: "ofdm_tdl", time_variation: "doppler", receiver_processing: "none", seed: 5 };
const T = ofdmSymbolInterval(15);

/** J0 by its integral (Abramowitz and Stegun, 9.1.18). */
function j0(x: number): number {
  const steps = 400;
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += Math.cos(x * Math.sin(Math.PI * (i + 0.5) / steps));
  return sum / steps;
}

async function gains(count: number, params: JsonObject): Promise<Float32Array> {
  const { rx_symbols } = (await runOperation(channel, {
    inputs: { symbols: symbolsInput(new Float32Array(2 * count).fill(Math.SQRT1_2)) },
    params: { ...MOVING, ...params },
  })).outputs;
  return rx_symbols.array("channel_gain").data as Float32Array;
}

Deno.test("taps of a flat spectrum have the correlation sin(x)/x, of Jakes' spectrum J0(x)", () => {
  const samples = 6, dopplerHz = 100, interval = 1e-3, realisations = 20_000;
  for (const spectrum of ["flat", "jakes"] as const) {
    const motion = { dopplerHz, interval, samples, spectrum, start: 0.25 };
    const g = movingTaps(FLAT, realisations, motion, Generator.seeded(23));
    for (let lag = 0; lag < samples; lag++) {
      let real = 0;
      for (let at = 0; at < g.length; at += 2 * samples) {
        real += (g[at] * g[at + 2 * lag] + g[at + 1] * g[at + 2 * lag + 1]) / realisations;
      }
      const x = 2 * Math.PI * dopplerHz * interval * lag;
      const expected = spectrum === "jakes" ? j0(x) : x === 0 ? 1 : Math.sin(x) / x;
      assert.ok(Math.abs(real - expected) < 0.02, `${spectrum} ${lag}: ${real} ${expected}`);
    }
  }
});

Deno.test("a flat fading envelope crosses its level as often, and stays below as long, as Rice's formulas say", async () => {
  const count = 60_000, mobility = 100, fd = maximumDopplerHz(mobility, 3.5);
  const flat = { ofdm_fft_size: 1, delay_spread_ns: float(0), mobility_kmh: float(mobility) };
  const h = await gains(count, flat), rms = Math.sqrt(h.reduce((sum, part) => sum + part * part, 0) / count);
  for (const rho of [0.3, 0.7, 1]) {
    let crossings = 0, below = 0;
    for (let i = 0; i < count; i++) {
      const low = Math.hypot(h[2 * i], h[2 * i + 1]) < rho * rms;
      if (low) below++;
      if (i > 0 && !low && Math.hypot(h[2 * i - 2], h[2 * i - 1]) < rho * rms) crossings++;
    }
    // N_R = sqrt(2π)·f_d·ρ·exp(-ρ²), mean duration (exp(ρ²) - 1)/(ρ·f_d·sqrt(2π)).
    const rate = Math.sqrt(2 * Math.PI) * fd * rho * Math.exp(-rho * rho);
    const duration = (Math.exp(rho * rho) - 1) / (rho * fd * Math.sqrt(2 * Math.PI));
    const found = [crossings / (count * T), below * T / crossings];
    assert.ok(Math.abs(found[0] / rate - 1) < 0.1, `rate at ${rho}: ${found[0]} ${rate}`);
    assert.ok(Math.abs(found[1] / duration - 1) < 0.1, `duration at ${rho}: ${found[1]} ${duration}`);
  }
});

Deno.test("the line of sight has the Doppler shift f_d·cos(π/4)", async () => {
  const h = await gains(2000, {
    ofdm_fft_size: 1,
    delay_spread_ns: float(0),
    tdl_model: "E",
    mobility_kmh: float(100),
  });
  const fd = maximumDopplerHz(100, 3.5), expected = fd * Math.SQRT1_2;
  let shift = 0, peak = 0;
  for (let hz = -fd; hz <= fd; hz++) {
    let real = 0, imaginary = 0;
    for (let i = 0; 2 * i < h.length; i++) {
      const cosine = Math.cos(2 * Math.PI * hz * i * T), sine = Math.sin(2 * Math.PI * hz * i * T);
      real += h[2 * i] * cosine + h[2 * i + 1] * sine;
      imaginary += h[2 * i + 1] * cosine - h[2 * i] * sine;
    }
    if (real ** 2 + imaginary ** 2 > peak) [peak, shift] = [real ** 2 + imaginary ** 2, hz];
  }
  assert.ok(Math.abs(shift - expected) < 2, `${shift} ${expected}`);
});

Deno.test("slots of one stream continue each other, whatever their steps draw, in every channel", async () => {
  for (
    const preset of [{}, { channel: "ofdm_cdl" }, { tdl_model: "TDLC300", doppler_spectrum: "flat" }] as JsonObject[]
  ) {
    const params = { ...preset, stream: "uplink", mobility_kmh: float(300), ofdm_fft_size: 4 };
    const whole = await gains(3 * 56, params);
    const last = await gains(56, { ...params, start_time_s: float(28 * T), seed: 77 });
    last.forEach((value, i) => assert.ok(Math.abs(value - whole[4 * 56 + i]) < 1e-6, `${i}`));
    const other = await gains(56, { ...params, stream: "downlink" });
    assert.ok(other.some((value, i) => Math.abs(value - whole[i]) > 0.1));
  }
  const bits = someBits(2 * 12 * 4 * 2 * 3),
    at = (params: JsonObject, from: number) =>
      mimo(bits.subarray(from * 192), { stream: "s", mobility_kmh: float(300), ...params });
  const [whole, last] = [await at({}, 0), await at({ start_time_s: float(8 * T), seed: 3 }, 2)];
  const [h, g] = [whole, last].map(({ state }) => state.array().data as Float32Array);
  assert.deepEqual([...whole.state.array().shape], [3, 4, 12, 2, 2]);
  g.forEach((value, i) => assert.ok(Math.abs(value - h[2 * g.length + i]) < 1e-6));
});

async function mimo(bits: Uint8Array, params: JsonObject) {
  const { symbols } = (await runOperation(digitalModulate, {
    inputs: { bits: payloadInput(bits) },
    params: { modulation: "qpsk" },
  })).outputs;
  return (await runOperation(mimoOfdmChannel, {
    inputs: { symbols },
    params: {
      ...{ ofdm_fft_size: 12, num_ofdm_symbols: 4, seed: 7, snr_db: float(90), time_variation: "doppler" },
      ...params,
    },
  })).outputs;
}

Deno.test("matrices in motion are correlated in time by J0, and every detector returns the bits without noise", async () => {
  const bits = someBits(1000);
  for (const setup of [{}, { channel_model: "cdl" }, { channel_model: "iid", precoding: "svd" }] as JsonObject[]) {
    const { rx_grid, state } = await mimo(bits, setup);
    for (const detector of ["zf", "mmse", "mmse_sic", "ml", "kbest"]) {
      const found = await runOperation(mimoDetect, { inputs: { rx_grid, channel: state }, params: { detector } });
      assert.deepEqual([...found.outputs.bits.array().data as Uint8Array], [...bits], detector);
    }
  }
  const { state } = await mimo(new Uint8Array(2 * 4 * 40_000), {
    ...{ channel_model: "iid", ofdm_fft_size: 1, tx_antennas: 4, rx_antennas: 4, mobility_kmh: float(120) },
  });
  const h = state.array().data as Float32Array, size = 32, lag = 5, rows = h.length / size;
  let real = 0, power = 0;
  for (let at = 0; at < (rows - lag) * size; at++) real += h[at] * h[at + lag * size] / (rows - lag);
  for (let at = 0; at < h.length; at++) power += h[at] ** 2 / rows;
  const expected = j0(2 * Math.PI * maximumDopplerHz(120, 3.5) * lag * T);
  assert.ok(Math.abs(real / power - expected) < 0.03, `${real / power} ${expected}`);
});

Deno.test("the interference between carriers of a moving waveform is that of Jakes' spectrum", async () => {
  const size = 32, rows = 3000, spacing = 15e3, rate = size * spacing, mobility = 1000;
  const symbols = symbolsInput(Float32Array.from(Generator.seeded(9).complexNormal64(size * rows, 1)));
  const sent = await runOperation(ofdmWaveform, { inputs: { symbols }, params: { fft_size: size, cp_length: 8 } });
  const { waveform, state } = (await runOperation(multipathWaveform, {
    inputs: { waveform: sent.outputs.waveform },
    params: {
      ...{ snr_db: float(200), seed: 1, time_variation: "doppler", mobility_kmh: float(mobility) },
      ...{ delay_spread_ns: float(0), sample_rate_mhz: float(rate / 1e6) },
    },
  })).outputs;
  const { rx_symbols } = (await runOperation(ofdmReceive, { inputs: { waveform, state }, params: {} })).outputs;
  const y = rx_symbols.array().data as Float32Array, h = state.array().data as Float32Array;
  const x = symbols.array!.data as Float32Array;
  let interference = 0, wanted = 0;
  for (let i = 0; i < y.length; i += 2) {
    interference += (y[i] - h[i] * x[i] + h[i + 1] * x[i + 1]) ** 2 +
      (y[i + 1] - h[i] * x[i + 1] - h[i + 1] * x[i]) ** 2;
    wanted += h[i] ** 2 + h[i + 1] ** 2;
  }
  // E|mean of h over N samples|² = Σ J0(2π·f_d·(n - m)/f_s)/N²; the other carriers have the rest of the unit power.
  let mean = 0;
  for (let n = -size + 1; n < size; n++) {
    mean += (size - Math.abs(n)) / size ** 2 * j0(2 * Math.PI * maximumDopplerHz(mobility, 3.5) * n / rate);
  }
  const found = interference / wanted, expected = (1 - mean) / mean;
  assert.ok(Math.abs(found / expected - 1) < 0.08, `${found} ${expected}`);
});

Deno.test("a motion without a grid, of given paths or of an explicit state is refused", async () => {
  const inputs = { symbols: symbolsInput(8) };
  await refuses("params_conflict", () => runOperation(channel, { inputs, params: { ...MOVING, channel: "awgn" } }));
  const cdl = { ...MOVING, channel: "ofdm_cdl", tdl_model: "TDLA30" };
  await refuses("params_conflict", () => runOperation(channel, { inputs, params: cdl }));
  const sent = await runOperation(ofdmWaveform, { inputs: { symbols: symbolsInput(32) }, params: { fft_size: 16 } });
  await refuses("params_conflict", () =>
    runOperation(multipathWaveform, {
      inputs: { waveform: sent.outputs.waveform },
      params: { time_variation: "doppler", taps: [[float(0), float(1), float(0)]] },
    }));
});
