/**
 * Channel states from a dataset of others: frequency responses, or the gains and delays of paths as ray tracers write them.
 *
 *     h            complex [sample, subcarrier], [sample, OFDM symbol, subcarrier], or [sample, OFDM symbol, subcarrier,
 *                  receive antenna, transmit antenna]
 *     HT           real [sample, 2048], of COST2100: Re + 0.5, then Im + 0.5, of gains [angle 32, delay 32]; one angle is taken
 *     a, tau       complex [sample, path] or [sample, path, OFDM symbol], and seconds, real [sample, path]
 *     a, tau       complex [sample, receiver, receive antenna, transmitter, transmit antenna, path, OFDM symbol], and real
 *                  [sample, receiver, transmitter, path], or of the same axes as a without OFDM symbols; one receiver and one
 *                  transmitter are taken
 *
 * H[k] = sum over paths of a_p exp(-j2π k Δf tau_p) on the subcarriers k = -floor(F/2) … of spacing Δf. Delays below zero
 * mark paths that do not exist. A sample is one grid of the state; one of a single OFDM symbol does not change over the
 * grid. normalize: mean_power scales all samples by one factor, so that the mean of |H|² is 1.
 *
 * mobility_kmh moves the receiver at the speed v along the azimuth heading_deg. OFDM symbol s of a grid, at s·T, then has the gains
 * a_p exp(j2πf_p s T) with f_p = (v f_c / c) sin θ_p cos(φ_p - heading): φ is phi_r, the azimuth of arrival in rad, and θ theta_r, the
 * zenith of arrival, π/2 without it, each of the axes of tau. T is 1/14 ms at 15 kHz. A file without angles, or whose samples change
 * with time already, is refused.
 *
 * Delay d of HT is d / (F Δf), and transmit_antenna the index of its angle.
 *
 * Shapes: state complex64 [sample, OFDM symbol, subcarrier] of one antenna at each end, for wireless.channel with
 * channel_state_mode: explicit. With antennas: all it is [sample, OFDM symbol, subcarrier, receive antenna, transmit antenna],
 * of one OFDM symbol where samples have one, for wireless.mimo_ofdm_channel. Data of an NPZ, HDF5 or MATLAB file, complex64, complex128, float32 or float64. MATLAB drops trailing axes of length 1,
 * which are put back.
 *
 * Source: 3GPP TR 38.901, 7.5 and 7.6 (gains and delays of paths); Wen, Shih and Jin, "Deep learning for massive MIMO CSI
 * feedback", IEEE Wireless Communications Letters 7(5), 2018 (HT).
 */
import { artifactKind, OFDM_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation, float, sha256Hex, SvcError, z } from "../api.ts";
import type { ArrayFile } from "../../lib/artifact/array_access.ts";
import { ofdmStateArtifact } from "../../lib/artifact/ofdm_state.ts";
import { frequencyResponse, maximumDopplerHz, ofdmSymbolInterval } from "../../lib/numeric/channel/delay_profile.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";

/** Gains of a state, 512 MiB as complex64. */
const MAX_GAINS = 2 ** 26;
/** Angles and delays of HT. */
const ANGLES = 32, DELAYS = 32;

const OF_LINK = { "x-svc-used-when": { antennas: ["one"] } };

const parameters = z.strictObject({
  dataset_path: z.string().min(1).describe("NPZ, HDF5 or MATLAB file, relative to the project"),
  dataset_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").describe("SHA-256 of the file"),
  first_sample: z.int().nonnegative().default(0).describe("first sample, from 0"),
  sample_count: z.int().nonnegative().default(0).describe("number of samples; 0: all to the end"),
  antennas: z.enum(["one", "all"]).default("one")
    .describe("one: a link, for wireless.channel; all: a matrix, for wireless.mimo_ofdm_channel"),
  receiver: z.int().nonnegative().default(0).describe("index of the receiver"),
  receive_antenna: z.int().nonnegative().default(0).meta(OF_LINK).describe("index of its antenna"),
  transmitter: z.int().nonnegative().default(0).describe("index of the transmitter"),
  transmit_antenna: z.int().nonnegative().default(0).meta(OF_LINK).describe("index of its antenna"),
  ofdm_fft_size: z.int().min(1).max(65536).default(16).describe("subcarriers of a grid, for gains and delays"),
  num_ofdm_symbols: z.int().min(1).max(65536).default(4)
    .describe("OFDM symbols of a grid, for samples of a single one"),
  subcarrier_spacing_khz: z.number().positive().default(15).describe("subcarrier spacing in kHz"),
  mobility_kmh: z.number().nonnegative().default(0).describe(
    "speed of the receiver in km/h; above 0 the file has phi_r",
  ),
  carrier_frequency_ghz: z.number().positive().default(3.5).describe("carrier frequency in GHz, for mobility_kmh"),
  heading_deg: z.number().min(-360).max(360).default(0).describe("azimuth of the motion in degrees, for mobility_kmh"),
  normalize: z.enum(["none", "mean_power"]).default("mean_power").describe("scale of the gains"),
  noise_variance: z.number().positive().default(0.1).describe("N0 of a resource element: that of the wired channel"),
  average_power_budget: z.number().positive().default(1).describe("mean transmit power of a resource element"),
});
type Parameters = z.output<typeof parameters>;

export default defineOperation({
  id: "source.channel_dataset",
  name: "Channel dataset",
  description: "Reads channel states from frequency responses, or from gains and delays of paths",
  outputs: {
    state: artifactKind(OFDM_STATE, { grid_count: "count", num_ofdm_symbols: "count", ofdm_fft_size: "count" }),
  },
  params: parameters,
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  outputMetadataGuarantees: { state: { keys: ["noise_variance", "average_power_budget", "channel_dataset"] } },
  estimate: () => ({ state: null }),
  check({ dataset_path }) {
    if (/\.(npz|mat|h5|hdf5)$/i.test(dataset_path)) return [];
    return [{
      place: ["dataset_path"],
      message: `Cannot read ${dataset_path} as channels: it is no file of arrays`,
      hint: "Save the arrays with numpy.savez, h5py or scipy.io.savemat",
    }];
  },
  requires: ({ dataset_path }) => [{ kind: "file", id: dataset_path }],
  async run({ params, files }) {
    const { dataset_path: path } = params, bytes = await files.read(path), sha256 = sha256Hex(bytes);
    if (params.dataset_sha256 !== "" && params.dataset_sha256 !== sha256) {
      throw new SvcError("boundary_hash_mismatch", `Cannot use the channels ${path}: the file is not the pinned one`, {
        hint: `Its SHA-256 is ${sha256}`,
      });
    }
    const { openArrays } = await import("../../lib/artifact/array_file.ts");
    using file = await openArrays(bytes, path, ["h", "a", "tau", "HT", "phi_r", "theta_r"]);
    const isResponse = file.has("h"), isTruncated = !isResponse && file.has("HT");
    if (params.mobility_kmh > 0 && (isResponse || isTruncated)) {
      throw new SvcError("params_conflict", `Cannot move the receiver of ${path}: it holds no paths`, {
        hint: "Remove mobility_kmh, or give gains a, delays tau and angles phi_r of paths",
      });
    }
    const { grids, symbols, subcarriers, antennas, h } = isResponse
      ? responses(file, params)
      : pathResponses(isTruncated ? truncated(file, params) : file, params);
    const power = h.reduce((sum, value) => sum + value * value, 0) / (h.length / 2);
    if (params.normalize === "mean_power" && power === 0) {
      throw new SvcError("boundary_value_invalid", `Cannot normalise the channels ${path}: all gains are 0`, {
        hint: "Set normalize: none, or choose other samples",
      });
    }
    const scale = params.normalize === "mean_power" ? 1 / Math.sqrt(power) : 1;
    const { noise_variance: noiseVariance, average_power_budget: averagePowerBudget } = params;
    const gains = Float32Array.from(h, (value) => scale * value),
      wrong = gains.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0) {
      throw new SvcError("boundary_non_finite", `Cannot use the channels ${path}: gain ${wrong >> 1} is not finite`);
    }
    const state = { grids, symbols, subcarriers, antennas, h: gains };
    const { metadata, ...artifact } = ofdmStateArtifact({ ...state, noiseVariance, averagePowerBudget }, {
      subcarrier_spacing_khz: float(params.subcarrier_spacing_khz),
      ...params.mobility_kmh === 0 ? {} : {
        ofdm_symbol_interval_s: float(ofdmSymbolInterval(params.subcarrier_spacing_khz)),
        maximum_doppler_hz: float(maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz)),
      },
      channel_dataset: {
        path,
        sha256,
        form: isResponse ? "frequency_response" : isTruncated ? "angle_delay" : "paths",
        first_sample: params.first_sample,
        mean_power: float(power),
      },
    });
    const counts = { grid_count: grids, num_ofdm_symbols: symbols, ofdm_fft_size: subcarriers };
    return {
      outputs: { state: { ...artifact, metadata: { ...metadata, ...counts } } },
      metrics: { "channel.noise_variance": noiseVariance },
    };
  },
});

interface Responses {
  grids: number;
  symbols: number;
  subcarriers: number;
  /** Receive and transmit antennas of matrices; left out for a link. */
  antennas?: [number, number];
  /** Interleaved [grid, symbol, subcarrier], of a matrix [grid, symbol, subcarrier, receive antenna, transmit antenna]. */
  h: Float64Array;
}

/** Type and shape of an array, which are checked before its values are read. */
type Form = ReturnType<ArrayFile["form"]>;
type Arrays = Pick<ArrayFile, "has" | "form" | "array">;

function refuse(name: string, { dtype, shape }: Form, form: string): never {
  const found = `${dtype} [${shape.join(", ")}]`;
  throw new SvcError("boundary_shape_invalid", `Cannot use the array ${name} of ${found} as channels`, {
    hint: `Expected: ${form}`,
  });
}

/** The pairs of antennas that are read, of `rx` and `tx`. */
function linksOf({ antennas, receive_antenna: r, transmit_antenna: t }: Parameters, rx: number, tx: number) {
  if (antennas === "all") return Array.from({ length: rx * tx }, (_, at) => [Math.floor(at / tx), at % tx]);
  if (r < rx && t < tx) return [[r, t]];
  throw new SvcError("boundary_count_mismatch", `Cannot take the antennas ${r}, ${t} of ${rx} x ${tx}`, {
    hint: "Indices are receive antenna and transmit antenna, from 0",
  });
}

/** Samples of the window, and the gains of a state, whose number is checked before they are made. */
function emptyState(
  params: Parameters,
  { total, own, subcarriers, rx, tx }: { total: number; own: number; subcarriers: number; rx: number; tx: number },
) {
  const { first_sample: first, sample_count, antennas } = params, isMatrix = antennas === "all";
  const grids = sample_count === 0 ? total - first : sample_count;
  const symbols = own === 1 && !isMatrix ? params.num_ofdm_symbols : own, links = linksOf(params, rx, tx);
  if (grids <= 0 || first + grids > total) {
    throw new SvcError("boundary_count_mismatch", `Cannot take ${grids} samples from sample ${first} of ${total}`);
  }
  const count = grids * symbols * subcarriers * links.length;
  if (count > MAX_GAINS) {
    throw new SvcError("artifact_limit_exceeded", `Cannot make a state of ${count} gains`, {
      hint: `The limit is ${MAX_GAINS}: set sample_count`,
    });
  }
  const size: [number, number] | undefined = isMatrix ? [rx, tx] : undefined;
  return { grids, symbols, subcarriers, antennas: size, links, h: new Float64Array(2 * count) };
}

/** Real and imaginary part of an element. */
function reader({ dtype, data }: NdArray): (index: number) => [number, number] {
  const values = data as Float64Array;
  return dtype.startsWith("complex") ? (at) => [values[2 * at], values[2 * at + 1]] : (at) => [values[at], 0];
}
const isComplex = ({ dtype }: Form) => dtype.startsWith("complex");
const isReal = ({ dtype }: Form) => dtype === "float32" || dtype === "float64";

function responses(file: Arrays, params: Parameters): Responses {
  const found = file.form("h"), { shape } = found, [total] = shape;
  if (!isComplex(found) || ![2, 3, 5].includes(shape.length) || shape.includes(0)) {
    return refuse(
      "h",
      found,
      "complex [sample, subcarrier], [sample, OFDM symbol, subcarrier], or the latter with antennas",
    );
  }
  const [rx, tx] = shape.length === 5 ? shape.slice(3) : [1, 1];
  const own = shape.length === 2 ? 1 : shape[1], subcarriers = shape.length === 2 ? shape[1] : shape[2];
  const state = emptyState(params, { total, own, subcarriers, rx, tx }), read = reader(file.array("h"));
  for (let grid = 0, at = 0; grid < state.grids; grid++) {
    for (let symbol = 0; symbol < state.symbols; symbol++) {
      const row = ((params.first_sample + grid) * own + (own === 1 ? 0 : symbol)) * subcarriers;
      for (let k = 0; k < subcarriers; k++) {
        for (const [r, t] of state.links) {
          state.h.set(read(((row + k) * rx + r) * tx + t), at);
          at += 2;
        }
      }
    }
  }
  return state;
}

function pathResponses(file: Arrays, params: Parameters): Responses {
  let a = file.form("a"), tau = file.form("tau");
  if (/\.mat$/i.test(params.dataset_path) && a.shape.length > 3 && a.shape.length < 7) {
    a = { ...a, shape: [...a.shape, 1, 1, 1].slice(0, 7) };
    const axes = tau.shape.length <= 4 ? 4 : 6;
    tau = { ...tau, shape: [...tau.shape, 1, 1].slice(0, axes) };
  }
  const short = a.shape.length <= 3;
  const wide = a.shape.length === 7,
    form = "a [sample, path(, OFDM symbol)] and tau [sample, path], or a with seven axes";
  if (!isComplex(a) || (!wide && !short) || a.shape.length < 2 || a.shape.includes(0)) return refuse("a", a, form);
  const [total] = a.shape, paths = wide ? a.shape[5] : a.shape[1], own = wide ? a.shape[6] : a.shape[2] ?? 1;
  const [receivers, rx, transmitters, tx] = wide ? a.shape.slice(1, 5) : [1, 1, 1, 1],
    { receiver, transmitter } = params;
  if (receiver >= receivers || transmitter >= transmitters) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot take receiver ${receiver} and transmitter ${transmitter} of ${receivers} and ${transmitters}`,
    );
  }
  const common = [total, receivers, transmitters, paths], ofEach = a.shape.slice(0, 6);
  const isCommon = wide && tau.shape.join() === common.join();
  const fits = isCommon || tau.shape.join() === (wide ? ofEach : [total, paths]).join();
  if (!isReal(tau) || !fits) return refuse("tau", tau, form);
  const cycles = shiftsOf(file, params, { shape: tau.shape, own });
  const rows = cycles === null ? own : params.num_ofdm_symbols;
  const state = emptyState(params, { total, own: rows, subcarriers: params.ofdm_fft_size, rx, tx });
  const { grids, symbols, links, h } = state, read = reader(file.array("a"));
  const seconds = file.array("tau").data as Float64Array, wrong = seconds.findIndex((delay) => !Number.isFinite(delay));
  if (wrong >= 0) throw new SvcError("boundary_non_finite", `Cannot use the array tau: delay ${wrong} is not finite`);
  const spacing = 1e3 * params.subcarrier_spacing_khz, width = params.ofdm_fft_size;
  for (let grid = 0; grid < grids; grid++) {
    const sample = params.first_sample + grid;
    for (const [index, [r, t]] of links.entries()) {
      const link = (((sample * receivers + receiver) * rx + r) * transmitters + transmitter) * tx + t;
      const delaysAt = isCommon ? (sample * receivers + receiver) * transmitters + transmitter : link;
      const delays = seconds.slice(delaysAt * paths, (delaysAt + 1) * paths), taps = new Float64Array(2 * rows * paths);
      for (let path = 0; path < paths; path++) {
        for (let symbol = 0; symbol < rows && delays[path] >= 0; symbol++) {
          const [real, imaginary] = read((link * paths + path) * own + (own === 1 ? 0 : symbol));
          const angle = cycles === null ? 0 : 2 * Math.PI * symbol * cycles(delaysAt * paths + path);
          const cosine = Math.cos(angle), sine = Math.sin(angle);
          taps.set([real * cosine - imaginary * sine, real * sine + imaginary * cosine], 2 * (symbol * paths + path));
        }
      }
      const known = {
        delays: Float64Array.from(delays, (delay) => Math.max(0, delay)),
        powers: new Float64Array(paths),
        lineOfSight: false,
      };
      const response = frequencyResponse(taps, known, { count: width, spacing });
      for (let symbol = 0; symbol < symbols; symbol++) {
        for (let k = 0; k < width; k++) {
          const from = 2 * ((rows === 1 ? 0 : symbol) * width + k);
          h.set(
            response.subarray(from, from + 2),
            2 * (((grid * symbols + symbol) * width + k) * links.length + index),
          );
        }
      }
    }
  }
  return state;
}

/** Doppler shift of a path in cycles an OFDM symbol, by its place in tau; null for a receiver that stands. */
function shiftsOf(
  file: Arrays,
  params: Parameters,
  { shape, own }: { shape: readonly number[]; own: number },
): ((place: number) => number) | null {
  if (params.mobility_kmh === 0) return null;
  const attempt = `Cannot move the receiver of ${params.dataset_path}`;
  if (own > 1) {
    throw new SvcError("params_conflict", `${attempt}: its samples have ${own} OFDM symbols of their own`, {
      hint: "Remove mobility_kmh",
    });
  }
  if (!file.has("phi_r")) {
    throw new SvcError("artifact_array_missing", `${attempt}: it has no azimuths of arrival phi_r`, {
      hint: "Add phi_r in rad, of the axes of tau, or remove mobility_kmh",
    });
  }
  const gains = params.num_ofdm_symbols * shape.at(-1)!;
  if (gains > MAX_GAINS) {
    throw new SvcError("artifact_limit_exceeded", `${attempt}: its paths have ${gains} gains over a grid`, {
      hint: `The limit is ${MAX_GAINS}: lower num_ofdm_symbols`,
    });
  }
  const anglesOf = (name: string) => {
    const found = file.form(name), axes = shape.join(", ");
    // MATLAB drops trailing axes of length 1.
    if (!isReal(found) || [...found.shape, ...shape.slice(found.shape.length).map(() => 1)].join(", ") !== axes) {
      refuse(name, found, `real [${axes}], as tau`);
    }
    const radians = file.array(name).data as Float64Array,
      wrong = radians.findIndex((angle) => !Number.isFinite(angle));
    if (wrong < 0) return radians;
    throw new SvcError("boundary_non_finite", `Cannot use the array ${name}: angle ${wrong} is not finite`);
  };
  const azimuths = anglesOf("phi_r"), zeniths = file.has("theta_r") ? anglesOf("theta_r") : null;
  const most = maximumDopplerHz(params.mobility_kmh, params.carrier_frequency_ghz) *
    ofdmSymbolInterval(params.subcarrier_spacing_khz);
  const heading = params.heading_deg * Math.PI / 180;
  return (place) => most * Math.sin(zeniths?.[place] ?? Math.PI / 2) * Math.cos(azimuths[place] - heading);
}

/** Gains and delays of HT, as arrays of one receiver with an antenna and a transmitter of 32 angles. */
function truncated(file: Arrays, { ofdm_fft_size, subcarrier_spacing_khz }: Parameters): Arrays {
  const form = file.form("HT"), [total] = form.shape, gains = ANGLES * DELAYS;
  if (!isReal(form) || form.shape.length !== 2 || form.shape[1] !== 2 * gains || total === 0) {
    return refuse("HT", form, `real [sample, ${2 * gains}]`);
  }
  if (ofdm_fft_size < DELAYS) {
    throw new SvcError("params_conflict", `Cannot use ${DELAYS} delays on ${ofdm_fft_size} subcarriers`, {
      hint: `Set ofdm_fft_size to ${DELAYS} or more`,
    });
  }
  const step = 1 / (ofdm_fft_size * 1e3 * subcarrier_spacing_khz);
  const shapes = { a: [total, 1, 1, 1, ANGLES, DELAYS, 1], tau: [total, 1, 1, DELAYS] };
  const make = {
    a() {
      const values = file.array("HT").data as Float64Array, data = new Float32Array(total * 2 * gains);
      for (let sample = 0; sample < total; sample++) {
        for (let at = 0; at < gains; at++) {
          const from = sample * 2 * gains + at;
          data.set([values[from] - 0.5, values[from + gains] - 0.5], 2 * (sample * gains + at));
        }
      }
      return ndarray("complex64", data, shapes.a);
    },
    tau: () =>
      ndarray("float64", Float64Array.from({ length: total * DELAYS }, (_, at) => step * (at % DELAYS)), shapes.tau),
  };
  return {
    has: (name) => Object.hasOwn(shapes, name),
    form: (name) => ({ dtype: name === "a" ? "complex64" : "float64", shape: shapes[name as keyof typeof shapes] }),
    array: (name) => make[name as keyof typeof make](),
  };
}
