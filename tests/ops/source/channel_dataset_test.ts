import assert from "node:assert/strict";
import channelDataset from "../../../ops/source/channel_dataset.ts";
import channel from "../../../ops/wireless/channel.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { gaussianTail } from "../../../lib/numeric/linalg/error_function.ts";
import { wilsonInterval } from "../../../lib/numeric/scores/statistics.ts";
import { someBits, symbolsInput } from "../inputs.ts";
import hdf5 from "../../data/hdf5/vectors.json" with { type: "json" };
import mat from "../../data/mat5/vectors.json" with { type: "json" };
import { bytesFrom } from "../../lib/artifact/_fuzz.ts";
import { deflated } from "../../lib/artifact/_deflated_zip.ts";
import { refuses, runOperation } from "../harness.ts";

const real = (shape: number[], values: number[]) => ndarray("float64", Float64Array.from(values), shape);
const complex = (shape: number[], values: number[]) => ndarray("complex128", Float64Array.from(values), shape);

async function read(arrays: Record<string, NdArray>, params: JsonObject = {}) {
  const bytes = writeNpz(arrays).slice(), files = { "c.npz": bytes };
  const given = { dataset_path: "c.npz", normalize: "none", ...params };
  const { outputs } = await runOperation(channelDataset, { params: given, files });
  return {
    state: outputs.state,
    h: outputs.state.array().data as Float32Array,
    shape: outputs.state.array().shape,
    bytes,
  };
}

/** H of one path set on subcarrier k of spacing hz, by the definition. */
function response(gains: [number, number][], delays: number[], k: number, hz: number): [number, number] {
  return gains.reduce(([real, imaginary], [a, b], path) => {
    const angle = -2 * Math.PI * k * hz * delays[path], c = Math.cos(angle), s = Math.sin(angle);
    return [real + a * c - b * s, imaginary + a * s + b * c];
  }, [0, 0]);
}

Deno.test("gains and delays give the frequency response of their definition, on subcarriers around the carrier", async () => {
  const gains: [number, number][] = [[1, 0], [0.3, -0.4]], delays = [0, 2.5e-6];
  const { h, shape } = await read({ a: complex([1, 2], gains.flat()), tau: real([1, 2], delays) }, {
    ofdm_fft_size: 5,
    num_ofdm_symbols: 2,
    subcarrier_spacing_khz: 30.0,
  });
  assert.deepEqual(shape, [1, 2, 5]);
  for (let at = 0; at < 10; at++) {
    const [real, imaginary] = response(gains, delays, at % 5 - 2, 30e3);
    assert.ok(Math.hypot(h[2 * at] - real, h[2 * at + 1] - imaginary) < 1e-6, String(at));
  }
});

Deno.test("a link of arrays with seven axes is taken by its indices, with common delays and with delays of each link", async () => {
  // 1 sample, 2 receivers of 2 antennas, 1 transmitter of 3, 2 paths, 2 OFDM symbols.
  const axes = [1, 2, 2, 1, 3, 2, 2], size = axes.reduce((product, length) => product * length, 1);
  const a = complex(axes, Array.from({ length: 2 * size }, (_, at) => Math.sin(at)));
  const chosen = { receiver: 1, receive_antenna: 0, transmit_antenna: 2 };
  const place = (path: number, symbol: number) => ((((1 * 2 + 0) * 1 + 0) * 3 + 2) * 2 + path) * 2 + symbol;
  const gain = (path: number, symbol: number): [number, number] => {
    const at = 2 * place(path, symbol);
    return [Math.sin(at), Math.sin(at + 1)];
  };
  const common = real([1, 2, 1, 2], [1e-6, 2e-6, 3e-6, 5e-6]);
  const own = real(axes.slice(0, 6), Array.from({ length: size / 2 }, (_, at) => 1e-7 * at));
  const ownAt = (path: number) => 1e-7 * ((((1 * 2 + 0) * 1 + 0) * 3 + 2) * 2 + path);
  for (const [tau, delays] of [[common, [3e-6, 5e-6]], [own, [ownAt(0), ownAt(1)]]] as const) {
    const { h, shape } = await read({ a, tau }, { ...chosen, ofdm_fft_size: 3 });
    assert.deepEqual(shape, [1, 2, 3]);
    for (let symbol = 0; symbol < 2; symbol++) {
      for (let k = 0; k < 3; k++) {
        const at = 2 * (symbol * 3 + k),
          [x, y] = response([gain(0, symbol), gain(1, symbol)], [...delays], k - 1, 15e3);
        assert.ok(Math.hypot(h[at] - x, h[at + 1] - y) < 1e-6);
      }
    }
  }
  await refuses("boundary_count_mismatch", () => read({ a, tau: common }, { transmit_antenna: 3 }));
});

Deno.test("frequency responses are passed on, cut, normalised and pinned; paths of a negative delay do not exist", async () => {
  const h = complex([3, 2], [9, 9, 9, 9, 1, 0, 0, 2, 3, 0, 0, 0]);
  const cut = await read({ h }, { first_sample: 1, num_ofdm_symbols: 1 });
  assert.deepEqual([cut.shape, [...cut.h]], [[2, 1, 2], [1, 0, 0, 2, 3, 0, 0, 0]]);
  const scaled = await read({ h }, { normalize: "mean_power" });
  const power = scaled.h.reduce((sum, value) => sum + value * value, 0) / (scaled.h.length / 2);
  assert.ok(Math.abs(power - 1) < 1e-6);
  await read({ h }, { dataset_sha256: sha256Hex(cut.bytes) });
  await refuses("boundary_hash_mismatch", () => read({ h }, { dataset_sha256: "0".repeat(64) }));
  const { h: single } = await read({ a: complex([1, 2], [1, 0, 7, 0]), tau: real([1, 2], [0, -1]) }, {
    ofdm_fft_size: 2,
  });
  assert.deepEqual([...single.subarray(0, 4)], [1, 0, 1, 0]);
});

Deno.test("all antennas of a receiver and a transmitter give the matrices whose elements are the links", async () => {
  // 2 samples, 2 receivers of 2 antennas, 1 transmitter of 3, 2 paths, with and without 3 OFDM symbols.
  for (const own of [1, 3]) {
    const axes = [2, 2, 2, 1, 3, 2, own], size = axes.reduce((product, length) => product * length, 1);
    const a = complex(axes, Array.from({ length: 2 * size }, (_, at) => Math.sin(at)));
    const tau = real([2, 2, 1, 2], Array.from({ length: 8 }, (_, at) => at * 1e-6));
    const params = { receiver: 1, ofdm_fft_size: 3, num_ofdm_symbols: own };
    const { h, shape } = await read({ a, tau }, { ...params, antennas: "all" });
    assert.deepEqual(shape, [2, own, 3, 2, 3]);
    for (let r = 0; r < 2; r++) {
      for (let t = 0; t < 3; t++) {
        const { h: link } = await read({ a, tau }, { ...params, receive_antenna: r, transmit_antenna: t });
        for (let at = 0; at < link.length / 2; at++) {
          const from = 2 * ((at * 2 + r) * 3 + t);
          assert.deepEqual(h.slice(from, from + 2), link.slice(2 * at, 2 * at + 2));
        }
      }
    }
    // The same matrices as frequency responses, and their links.
    const given = { h: complex([2, own, 3, 2, 3], [...h]) };
    assert.deepEqual((await read(given, { antennas: "all" })).h, h);
    const { h: one } = await read(given, { num_ofdm_symbols: own, receive_antenna: 1, transmit_antenna: 2 });
    assert.deepEqual(one.slice(0, 2), h.slice(10, 12));
    const { h: scaled } = await read(given, { antennas: "all", normalize: "mean_power" });
    assert.ok(Math.abs(scaled.reduce((sum, value) => sum + value * value, 0) / (scaled.length / 2) - 1) < 1e-6);
    await refuses("boundary_count_mismatch", () => read(given, { transmit_antenna: 3 }));
  }
});

Deno.test("MATLAB files give the responses that NumPy computes: paths with a dropped axis, angles and delays of COST2100", async () => {
  const read = async (text: string, params: JsonObject) => {
    const given = { dataset_path: "c.mat", normalize: "none", num_ofdm_symbols: 1, ...params };
    const { outputs } = await runOperation(channelDataset, { params: given, files: { "c.mat": bytesFrom(text) } });
    return outputs.state.array();
  };
  const compare = ({ shape, data }: NdArray, expected: { shape: number[]; values: string }) => {
    assert.deepEqual(shape, [expected.shape[0], 1, expected.shape[1]]);
    const values = new Float64Array(bytesFrom(expected.values).buffer);
    values.forEach((value, at) => assert.ok(Math.abs(value - Number(data[at])) < 1e-5, String(at)));
  };
  compare(await read(mat.paths, { receive_antenna: 1, ofdm_fft_size: 8 }), mat.paths_response);
  compare(await read(mat.cost2100, { transmit_antenna: 5, ofdm_fft_size: 40 }), mat.cost2100_response);
  await refuses("params_conflict", () => read(mat.cost2100, { ofdm_fft_size: 31 }));
  await refuses("boundary_count_mismatch", () => read(mat.cost2100, { transmit_antenna: 32, ofdm_fft_size: 32 }));
  await refuses("artifact_archive_invalid", () => read(mat.level_4, {}));
});

Deno.test("a compressed HDF5 file of h5py gives its frequency responses", async () => {
  const params = { dataset_path: "c.h5", normalize: "none" }, files = { "c.h5": bytesFrom(hdf5.channel) };
  const { outputs } = await runOperation(channelDataset, { params, files });
  const { shape, data } = outputs.state.array();
  assert.deepEqual(shape, hdf5.h.shape);
  assert.deepEqual(data, Float32Array.from(new Float64Array(bytesFrom(hdf5.h.values).buffer)));
});

Deno.test("a moving receiver turns each path by the Doppler shift of its angle; waves from all directions give J0", async () => {
  const moving = { mobility_kmh: 108.0, carrier_frequency_ghz: 3.5, num_ofdm_symbols: 24, ofdm_fft_size: 1 };
  const most = 30 * 3.5e9 / 299792458, symbol = 1e-3 / 14;
  // One path from 60 degrees azimuth and 30 degrees zenith, seen by a receiver that moves towards 90 degrees.
  const angles = { phi_r: real([1, 1], [Math.PI / 3]), theta_r: real([1, 1], [Math.PI / 6]) };
  const one = { a: complex([1, 1], [0, 2]), tau: real([1, 1], [0]), ...angles };
  const line = await read(one, { ...moving, heading_deg: 90.0 });
  const shift = most * Math.sin(Math.PI / 6) * Math.cos(Math.PI / 3 - Math.PI / 2);
  assert.deepEqual(line.shape, [1, 24, 1]);
  for (let s = 0; s < 24; s++) {
    const angle = Math.PI / 2 + 2 * Math.PI * shift * s * symbol;
    assert.ok(Math.hypot(line.h[2 * s] - 2 * Math.cos(angle), line.h[2 * s + 1] - 2 * Math.sin(angle)) < 1e-5);
  }
  assert.ok(Math.abs(Number(line.state.metadata.maximum_doppler_hz) - most) < 1e-9);
  // 64 equal waves from equal angles: their mean is J0(2 pi f_d t), here by its power series.
  const j0 = (x: number) => {
    let sum = 1;
    for (let k = 1, term = 1; k < 60; k++) sum += term *= -((x / 2) ** 2) / k ** 2;
    return sum;
  };
  const ring = Array.from({ length: 64 }, (_, n) => 2 * Math.PI * n / 64);
  const all = { a: complex([1, 64], ring.flatMap(() => [1 / 64, 0])), tau: real([1, 64], ring.map(() => 0)) };
  const { h } = await read({ ...all, phi_r: real([1, 64], ring) }, { ...moving, heading_deg: 17.0 });
  for (let s = 0; s < 24; s++) {
    assert.ok(Math.hypot(h[2 * s] - j0(2 * Math.PI * most * s * symbol), h[2 * s + 1]) < 1e-6, String(s));
  }
});

Deno.test("a moving receiver turns all elements of a matrix by the shifts of the paths", async () => {
  const axes = [1, 1, 2, 1, 2, 2, 1], moving = { mobility_kmh: 90.0, num_ofdm_symbols: 3, ofdm_fft_size: 2 };
  const a = complex(axes, Array.from({ length: 16 }, (_, at) => Math.cos(at)));
  const arrays = { a, tau: real([1, 1, 1, 2], [0, 4e-6]), phi_r: real([1, 1, 1, 2], [0.3, 2]) };
  const { h, shape } = await read(arrays, { ...moving, antennas: "all" });
  assert.deepEqual(shape, [1, 3, 2, 2, 2]);
  const turn = (angle: number) => 2 * Math.PI * 25 * 3.5e9 / 299792458 * Math.cos(angle) * 1e-3 / 14;
  for (let at = 0; at < 24; at++) {
    const link = at % 4, k = Math.floor(at / 4) % 2 - 1, s = Math.floor(at / 8);
    const gains = [0.3, 2].map((angle, path): [number, number] => {
      const from = 2 * (2 * link + path), c = Math.cos(s * turn(angle)), d = Math.sin(s * turn(angle));
      return [Math.cos(from) * c - Math.cos(from + 1) * d, Math.cos(from) * d + Math.cos(from + 1) * c];
    });
    const [x, y] = response(gains, [0, 4e-6], k, 15e3);
    assert.ok(Math.hypot(h[2 * at] - x, h[2 * at + 1] - y) < 1e-5, String(at));
  }
});

Deno.test("a motion without angles, with angles of other axes, or over samples that move already is refused", async () => {
  const arrays = { a: complex([1, 2], [1, 0, 1, 0]), tau: real([1, 2], [0, 1e-6]) }, moving = { mobility_kmh: 3.0 };
  await refuses("artifact_array_missing", () => read(arrays, moving));
  await refuses("boundary_shape_invalid", () => read({ ...arrays, phi_r: real([1, 1], [0]) }, moving));
  await refuses("boundary_shape_invalid", () => read({ ...arrays, phi_r: real([1], [0]) }, moving));
  await refuses("boundary_non_finite", () => read({ ...arrays, phi_r: real([1, 2], [0, NaN]) }, moving));
  const moved = { ...arrays, a: complex([1, 2, 2], [1, 0, 1, 0, 1, 0, 1, 0]), phi_r: real([1, 2], [0, 1]) };
  await refuses("params_conflict", () => read(moved, moving));
  await refuses("params_conflict", () => read({ h: complex([1, 1], [1, 0]) }, moving));
  const many = { a: complex([1, 2048], Array(4096).fill(1)), tau: real([1, 2048], Array(2048).fill(0)) };
  const long = { ...moving, num_ofdm_symbols: 65536, ofdm_fft_size: 1 };
  await refuses("artifact_limit_exceeded", () => read({ ...many, phi_r: real([1, 2048], Array(2048).fill(0)) }, long));
});

Deno.test("QPSK over a dataset's channel has the error rate of its subcarriers", async () => {
  // Two paths: each subcarrier has its own gain; zero forcing gives Q(sqrt(snr |H|^2)) on it.
  const grids = 2500, gains = Array.from({ length: grids }, () => [1, 0, 0.6, 0]).flat();
  const { state, h } = await read({
    a: complex([grids, 2], gains),
    tau: real([grids, 2], Array.from({ length: grids }, () => [0, 1.7e-5]).flat()),
  }, { ofdm_fft_size: 8, num_ofdm_symbols: 4, normalize: "mean_power", noise_variance: 0.25 });
  const bits = someBits(2 * grids * 32), sent = Float32Array.from(bits, (bit) => (1 - 2 * bit) * Math.SQRT1_2);
  const { outputs } = await runOperation(channel, {
    inputs: {
      symbols: symbolsInput(sent),
      channel_state: { kind: state.kind, array: state.array(), metadata: state.metadata },
    },
    params: {
      channel: "ofdm_tdl",
      channel_state_mode: "explicit",
      snr_db: 10 * Math.log10(4),
      ofdm_fft_size: 8,
      seed: 5,
    },
  });
  const received = outputs.rx_symbols.array().data as Float32Array;
  const errors = received.reduce((sum, value, at) => sum + Number((value < 0) !== (bits[at] === 1)), 0);
  let theory = 0;
  for (let k = 0; k < 8; k++) theory += gaussianTail(Math.sqrt((h[2 * k] ** 2 + h[2 * k + 1] ** 2) / 0.25)) / 8;
  const { low, high } = wilsonInterval(errors, bits.length);
  assert.ok(errors >= 100 && low <= theory && theory <= high, `${theory} is not within ${low} … ${high}`);
});

Deno.test("arrays of other forms, windows beyond the end, and giants are refused", async () => {
  const shape = (arrays: Record<string, NdArray>) => refuses("boundary_shape_invalid", () => read(arrays));
  await shape({ h: real([1, 2], [1, 2]) });
  await shape({ h: complex([2], [1, 0, 1, 0]) });
  await shape({ h: complex([0, 2], []) });
  await shape({ a: complex([1, 2], [1, 0, 1, 0]), tau: real([2, 1], [0, 0]) });
  await shape({ a: complex([1, 1, 1, 2], [1, 0, 1, 0]), tau: real([1, 2], [0, 0]) });
  await shape({ a: complex([1, 1], [1, 0]), tau: complex([1, 1], [0, 0]) });
  await refuses("artifact_array_missing", () => read({ x: real([1], [1]) }));
  const h = complex([1, 2], [1, 0, 1, 0]);
  await refuses("boundary_count_mismatch", () => read({ h }, { sample_count: 2 }));
  await refuses("boundary_count_mismatch", () => read({ h }, { first_sample: 1 }));
  await refuses(
    "artifact_limit_exceeded",
    () =>
      read({ a: complex([1, 1], [1, 0]), tau: real([1, 1], [0]) }, { ofdm_fft_size: 65536, num_ofdm_symbols: 65536 }),
  );
  await refuses("boundary_non_finite", () => read({ h: complex([1, 2], [1, NaN, 1, 0]) }));
  await refuses("boundary_non_finite", () => read({ h: complex([1, 1], [1e300, 0]) }));
  const bomb = { "c.npz": deflated(new Uint8Array(2 ** 21), 2 ** 30 + 1, new Uint8Array(0)) };
  await refuses(
    "artifact_limit_exceeded",
    () => runOperation(channelDataset, { params: { dataset_path: "c.npz" }, files: bomb }),
  );
  const path = complex([1, 1], [1, 0]);
  for (const delay of [NaN, Infinity, -Infinity]) {
    await refuses("boundary_non_finite", () => read({ a: path, tau: real([1, 1], [delay]) }));
  }
  await refuses("boundary_value_invalid", () => read({ h: complex([1, 1], [0, 0]) }, { normalize: "mean_power" }));
});
