/** Channels in motion against the closed forms of Jakes' and flat spectra and of a train, and the continuity of a stream. */
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

Deno.test("samples behind clusters have the gains of clusters over OFDM, at rest as in motion", async () => {
  // Fourteen samples last as long as an OFDM symbol of the grid; the middle of the useful part is sample 7.5.
  const size = 12, rows = 40, rate = 196e3, clusters = { delay_spread_ns: float(0), seed: 5 };
  const sent = await runOperation(ofdmWaveform, {
    inputs: { symbols: symbolsInput(size * rows) },
    params: { fft_size: size, cp_length: 2 },
  });
  const stateOf = async (params: JsonObject) =>
    (await runOperation(multipathWaveform, {
      inputs: { waveform: sent.outputs.waveform },
      params: { ...clusters, channel_model: "cdl", sample_rate_mhz: float(rate / 1e6), ...params },
    })).outputs.state.array().data as Float32Array;
  const moving = { ...MOVING, ...clusters, tdl_model: "C", mobility_kmh: float(30), stream: "clusters" };
  const { channel: _preset, receiver_processing: _processing, ...motion } = moving;
  const found = await stateOf(motion);
  const expected = await gains(rows, {
    ...moving,
    channel: "ofdm_cdl",
    ofdm_fft_size: 1,
    start_time_s: float(7.5 / rate),
  });
  let moved = 0;
  for (let row = 0; row < rows; row++) {
    for (const part of [0, 1]) {
      assert.ok(Math.abs(found[2 * row * size + part] - expected[2 * row + part]) < 1e-3, `${row}`);
      moved = Math.max(moved, Math.abs(expected[2 * row + part] - expected[part]));
    }
  }
  assert.ok(moved > 0.1);
  const one = {
    time_variation: "static",
    channel_model: "cdl",
    tx_antennas: 1,
    rx_antennas: 1,
    ofdm_fft_size: 1,
    ...clusters,
  };
  const { state } = await mimo(new Uint8Array(4), { ...one, tdl_model: "E" });
  const still = await stateOf({ tdl_model: "E" });
  for (const part of [0, 1]) assert.ok(Math.abs(still[part] - (state.array().data as Float32Array)[part]) < 1e-6);
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

const TRAIN = {
  time_variation: "doppler",
  tdl_model: "HST",
  mobility_kmh: float(300),
  carrier_frequency_ghz: float(2.7),
};

/** Doppler shift of a train in Hz by the cosine of TS 38.101-4, B.3.1, part by part. */
function trainShift(t: number, { site = 700, track = 150 } = {}): number {
  const v = 300 / 3.6, fd = maximumDopplerHz(300, 2.7), turn = t % (2 * site / v);
  const cosine = turn <= site / v
    ? (site / 2 - v * turn) / Math.sqrt(track ** 2 + (site / 2 - v * turn) ** 2)
    : (-1.5 * site + v * turn) / Math.sqrt(track ** 2 + (-1.5 * site + v * turn) ** 2);
  return fd * cosine;
}

/** The phases of gains of modulus 1 against the integral of the shift from the first time on, by Simpson's rule. */
function followsTrain(h: Float32Array, start: number, interval: number, geometry = {}): void {
  let phase = Math.atan2(h[1], h[0]);
  for (let i = 0; 2 * i < h.length; i++) {
    assert.ok(Math.abs(Math.hypot(h[2 * i], h[2 * i + 1]) - 1) < 1e-6);
    const off = Math.hypot(h[2 * i] - Math.cos(phase), h[2 * i + 1] - Math.sin(phase));
    assert.ok(off < 2e-3, `${i}: ${off}`);
    const at = start + i * interval, [a, b, c] = [0, 0.5, 1].map((part) => trainShift(at + part * interval, geometry));
    phase += 2 * Math.PI * interval * (a + 4 * b + c) / 6;
  }
}

Deno.test("the tap of a train turns by its Doppler shift, in every channel, past the site and back", async () => {
  const flat = { ...TRAIN, ofdm_fft_size: 1, num_ofdm_symbols: 7 };
  // Past the first site at 4.2 s, at the turn after 8.4 s, past the second site at 12.6 s, and in a later period.
  for (const start of [0, 4.1, 8.35, 12.5, 16.75, 1680]) {
    followsTrain(await gains(4000, { ...flat, start_time_s: float(start) }), start, T);
  }
  const geometry = { hst_site_distance_m: float(300), hst_track_distance_m: float(2) };
  followsTrain(await gains(4000, { ...flat, ...geometry, start_time_s: float(1.7) }), 1.7, T, { site: 300, track: 2 });
  const { state } = await mimo(new Uint8Array(2 * 4000), {
    ...{ ...flat, tx_antennas: 1, rx_antennas: 2, start_time_s: float(4.1), num_ofdm_symbols: 10 },
  });
  const h = state.array().data as Float32Array;
  followsTrain(h.filter((_, i) => i % 4 < 2), 4.1, T);
  followsTrain(h.filter((_, i) => i % 4 >= 2), 4.1, T);
});

Deno.test("samples behind a train have its phase, in one run as in slots of one stream", async () => {
  const size = 16, rows = 300, rate = 240e3;
  const symbols = new Float32Array(2 * size * rows).fill(Math.SQRT1_2);
  const sent = await runOperation(ofdmWaveform, {
    inputs: { symbols: symbolsInput(symbols) },
    params: { fft_size: size },
  });
  const through = async (params: JsonObject, waveform = sent.outputs.waveform) =>
    (await runOperation(multipathWaveform, {
      inputs: { waveform },
      params: { ...TRAIN, stream: "train", snr_db: float(200), sample_rate_mhz: float(rate / 1e6), ...params },
    })).outputs.waveform.array().data as Float32Array;
  const x = sent.outputs.waveform.array().data as Float32Array;
  // Gains y/x at samples with power; the interval between OFDM symbols is that of their first samples.
  const length = x.length / 2 / rows;
  const ratio = (y: Float32Array, from: number) =>
    Float32Array.from({ length: 2 * (rows - from) }, (_, i) => {
      const at = 2 * (length * ((i >> 1) + from)), power = x[at] ** 2 + x[at + 1] ** 2;
      return i % 2 === 0
        ? (y[at] * x[at] + y[at + 1] * x[at + 1]) / power
        : (y[at + 1] * x[at] - y[at] * x[at + 1]) / power;
    });
  const start = 4.15, whole = await through({ start_time_s: float(start) });
  followsTrain(ratio(whole, 0), start, length / rate);
  const later = await through({ start_time_s: float(start + 100 * length / rate), seed: 8 });
  for (let i = 0; i < 2 * length; i++) {
    const n = i + 200 * length;
    assert.ok(Math.abs(later[i] - whole[n]) < 1e-5, `${i}`);
  }
});

Deno.test("a train needs a motion and one layer", async () => {
  const inputs = { symbols: symbolsInput(8) };
  const still = { channel: "ofdm_tdl", tdl_model: "HST" };
  await refuses("params_conflict", () => runOperation(channel, { inputs, params: still }));
  const two = { ...TRAIN, tx_antennas: 2, ofdm_fft_size: 2, num_ofdm_symbols: 2 };
  await refuses("params_conflict", () => runOperation(mimoOfdmChannel, { inputs, params: two }));
});
