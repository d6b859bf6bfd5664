/**
 * Channels from an antenna array to one receive antenna for CSI feedback, drawn from CDL clusters or read from a dataset of others:
 *
 *     cdl    lib/numeric/channel/mimo_channel.ts; all azimuths of departure of a sample are turned by one angle, uniform in
 *            ±azimuth_range_deg. Two polarisations: the first half of the antennas at +45°, the second at -45°; not for cdl_model D, E
 *     file   HT, real [sample, 2·A·D] (or its axes apart): a = value - 0.5 in the angular-delay domain, all real parts, then all
 *            imaginary ones, angle slowest; h_mk = 1/√A · Σ_q Σ_n a_qn · exp(j2πqm/A) · exp(-j2πkn/N) for k < K, with N =
 *            file_transform_size and K = ofdm_fft_size. Or HF_all, complex [sample, A·K], angle slowest: h over the angles alone
 *
 * delay_count keeps the coefficients of that many smallest delays of the angular-delay domain of K subcarriers
 * (lib/numeric/channel/angular_delay.ts) and sets the others to 0; csi_feedback.kept_power_fraction is the share of the power. 0 keeps
 * all. HT is truncated already, to D of N delays.
 *
 * Shapes: csi complex64 [sample, tx, subcarrier], received is y = hᴴw·x + n; channel_state complex64 [sample, subcarrier, 1, tx] of the same
 * channels, their conjugates over √A, for the codebooks. Draws per sample: the angle if its range is not 0, then the clusters.
 *
 * Sources: Wen, Shih and Jin, "Deep learning for massive MIMO CSI feedback", IEEE Wireless Commun. Lett. 7, 2018, sections II and IV,
 * and its published data, MATLAB files of Level 5; TR 38.901 V17, 7.5 and 7.7.1.
 */
import type { ArrayFile } from "../../lib/artifact/array_access.ts";
import { fromAngularDelay, toAngularDelay } from "../../lib/numeric/channel/angular_delay.ts";
import { cdlProfile, PROFILE_MODELS } from "../../lib/numeric/channel/delay_profile.ts";
import { cdlResponse, polarisedResponse } from "../../lib/numeric/channel/mimo_channel.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { energy, meanPower } from "../../lib/numeric/linalg/complex.ts";
import { ifft } from "../../lib/numeric/linalg/fft.ts";
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { MISO_CSI } from "../_csi_feedback.ts";
import { MIMO_STATE } from "../_ofdm_grid.ts";
import {
  defineOperation,
  float,
  type ParameterProblem,
  seedParameter,
  sha256Hex,
  shownIn,
  SvcError,
  z,
} from "../api.ts";

/** Gains, 512 MiB as complex64. */
const MAX_GAINS = 2 ** 26;
const OF_CDL = { "x-svc-used-when": { origin: "cdl" } }, OF_FILE = { "x-svc-used-when": { origin: "file" } };

const PARAMS = z.strictObject({
  origin: z.enum(["cdl", "file"]).default("cdl").describe("cdl draws channels, file reads them"),
  sample_count: z.int().min(1).max(1_000_000).default(64).describe("channels"),
  tx_antennas: z.int().min(1).max(64).default(16).describe("antennas of the array, A"),
  ofdm_fft_size: z.int().min(1).max(4096).default(32).describe("subcarriers, K; 125 for the published files"),
  delay_count: z.int().min(0).max(4096).default(0).describe("delays that are kept; 0: all"),
  normalize: z.enum(["none", "mean_power", "sample"]).default("mean_power")
    .describe("scale to mean power 1 over all channels, or of each one"),
  downlink_snr_db: z.number().min(-100).max(100).default(10).meta(shownIn("dB"))
    .describe("Es/N0 in dB of the downlink at one antenna"),
  cdl_model: z.enum(PROFILE_MODELS).default("C").meta(OF_CDL).describe("profile of TR 38.901, 7.7.1"),
  delay_spread_ns: z.number().min(0).max(1e5).default(100).meta(OF_CDL).describe("rms delay spread in ns"),
  subcarrier_spacing_khz: z.number().positive().max(1e5).default(360).meta(OF_CDL)
    .describe("subcarrier spacing in kHz; 360 is a resource block of 30 kHz"),
  polarisations: z.int().min(1).max(2).default(2).meta(OF_CDL).describe("polarisations of the antennas"),
  azimuth_range_deg: z.number().min(0).max(180).default(0).meta(OF_CDL)
    .describe("largest turn of the azimuths of departure in degrees; 0: those of the profile"),
  dataset_path: z.string().default("").meta(OF_FILE).describe(
    "NPZ, MATLAB or HDF5 file with HT or HF_all, relative to the project",
  ),
  dataset_sha256: z.string().regex(/^([0-9a-f]{64})?$/).default("").meta(OF_FILE).describe("SHA-256 of the file"),
  first_sample: z.int().nonnegative().default(0).meta(OF_FILE).describe("first sample, from 0"),
  file_transform_size: z.int().min(1).max(65536).default(257).meta(OF_FILE)
    .describe("subcarriers of the transform behind HT, N"),
  seed: seedParameter(undefined, { origin: "cdl" }),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "source.csi_dataset",
  name: "CSI dataset",
  description: "Draws channels of an antenna array from CDL clusters, or reads those of the CsiNet family",
  outputs: { csi: MISO_CSI, channel_state: MIMO_STATE },
  params: PARAMS,
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  estimate: ({ sample_count: samples, tx_antennas: tx, ofdm_fft_size: width }) => ({
    csi: [["complex64", samples, tx, width]],
    channel_state: [["complex64", samples, width, 1, tx]],
  }),
  check: problems,
  requires: ({ origin, dataset_path }) =>
    origin === "file" && dataset_path !== "" ? [{ kind: "file", id: dataset_path }] : [],
  async run({ params, generator, files }) {
    const { sample_count: samples, tx_antennas: tx, ofdm_fft_size: width } = params, size = 2 * tx * width;
    const { h, facts } = params.origin === "file"
      ? await readFile(await files.read(params.dataset_path), params)
      : { h: drawn(params, generator), facts: { cdl_model: params.cdl_model } };
    const total = energy(h);
    if (params.delay_count > 0) truncate(h, params);
    const kept = energy(h), wrong = h.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0) {
      throw new SvcError("boundary_non_finite", `Cannot use the channels: gain ${wrong >> 1} is not finite`);
    }
    if (params.normalize !== "none") normalise(h, params.normalize === "sample" ? size : h.length);
    const noise = dbToLinear(-params.downlink_snr_db), state = new Float32Array(h.length), scale = 1 / Math.sqrt(tx);
    for (let row = 0; row < samples; row++) {
      for (let t = 0; t < tx; t++) {
        for (let k = 0; k < width; k++) {
          const from = 2 * ((row * tx + t) * width + k), to = 2 * ((row * width + k) * tx + t);
          state[to] = scale * h[from];
          state[to + 1] = -scale * h[from + 1];
        }
      }
    }
    const metadata = { noise_variance: float(noise), csi_dataset: { origin: params.origin, ...facts } };
    return {
      outputs: {
        csi: {
          array: ndarray("complex64", Float32Array.from(h), [samples, tx, width]),
          metadata: { ...metadata, sample_count: samples, tx_antennas: tx, ofdm_fft_size: width },
        },
        channel_state: {
          array: ndarray("complex64", state, [samples, width, 1, tx]),
          metadata: { ...metadata, layers: tx, rx_antennas: 1 },
        },
      },
      metrics: {
        "channel.noise_variance": noise,
        ...(total > 0 ? { "csi_feedback.kept_power_fraction": kept / total } : {}),
      },
    };
  },
});

function problems(params: Params): ParameterProblem[] {
  const found: ParameterProblem[] = [], { tx_antennas: tx, ofdm_fft_size: width, sample_count: samples } = params;
  if (samples * tx * width > MAX_GAINS) {
    const message = `Cannot hold ${samples} channels of ${tx} x ${width} gains: the limit is ${MAX_GAINS}`;
    found.push({ place: ["sample_count"], message });
  }
  if (params.delay_count > width) {
    found.push({ place: ["delay_count"], message: `Cannot keep ${params.delay_count} of ${width} delays` });
  }
  if (params.origin === "file") {
    if (!/\.(npz|mat|h5|hdf5)$/i.test(params.dataset_path)) {
      const message = `Cannot read ${params.dataset_path || "an empty path"} as channels: it is no file of arrays`;
      found.push({ place: ["dataset_path"], message, hint: "Save HT or HF_all with numpy.savez or scipy.io.savemat" });
    }
    if (width > params.file_transform_size) {
      const message = `Cannot take ${width} of ${params.file_transform_size} subcarriers`;
      found.push({ place: ["ofdm_fft_size"], message, hint: "Set 125 of 257 for the published files" });
    }
  } else if (params.polarisations === 2 && (tx % 2 !== 0 || params.cdl_model === "D" || params.cdl_model === "E")) {
    const message = `Cannot draw ${tx} antennas of two polarisations from CDL-${params.cdl_model}`;
    found.push({ place: ["polarisations"], message, hint: "Take an even number of antennas, and CDL-A, B or C" });
  }
  return found;
}

/** Channels [sample, tx, subcarrier] of mean power 1. */
function drawn(params: Params, generator: Generator): Float64Array {
  const { sample_count: samples, tx_antennas: tx, ofdm_fft_size: count, cdl_model: model, azimuth_range_deg: range } =
    params;
  const profile = cdlProfile(model, { delaySpread: params.delay_spread_ns * 1e-9, normalise: true });
  const subcarriers = { count, spacing: params.subcarrier_spacing_khz * 1e3 },
    h = new Float64Array(2 * samples * tx * count);
  for (let row = 0; row < samples; row++) {
    const turned = range === 0 ? 0 : generator.uniform(-range, range, 1)[0];
    const response = params.polarisations === 2
      ? polarisedResponse(model, profile, tx / 2, subcarriers, generator, turned)
      : cdlResponse(model, profile, { tx, rx: 1 }, subcarriers, generator, undefined, turned);
    h.set(response, 2 * row * tx * count);
  }
  return h;
}

async function readFile(bytes: Uint8Array, params: Params) {
  const { dataset_path: path } = params, sha256 = sha256Hex(bytes);
  if (params.dataset_sha256 !== "" && params.dataset_sha256 !== sha256) {
    throw new SvcError("boundary_hash_mismatch", `Cannot use the channels ${path}: the file is not the pinned one`, {
      hint: `Its SHA-256 is ${sha256}`,
    });
  }
  const { openArrays } = await import("../../lib/artifact/array_file.ts");
  using file = await openArrays(bytes, path, ["HT", "HF_all"]);
  const { h, array } = read(file, params);
  return { h, facts: { path, sha256, array, first_sample: params.first_sample } };
}

function read(file: ArrayFile, params: Params) {
  const { first_sample: first, sample_count: samples, tx_antennas: tx, ofdm_fft_size: width } = params;
  const name = file.has("HT") ? "HT" : "HF_all", array = file.array(name);
  const rows = array.shape[0] ?? 0,
    row = rows === 0 ? 0 : array.shape.reduce((product, length) => product * length, 1) / rows;
  const isDelays = name === "HT",
    fits = isDelays ? isReal(array) && row % (2 * tx) === 0 : isComplex(array) && row === tx * width;
  const delays = row / (2 * tx);
  if (row === 0 || !fits || (isDelays && delays > params.file_transform_size)) {
    const found = `${array.dtype} [${array.shape.join(", ")}]`;
    throw new SvcError(
      "boundary_shape_invalid",
      `Cannot use the array ${name} of ${found} as channels of ${tx} antennas`,
      {
        hint: "Expected: HT, real [sample, 2 x antenna x delay], or HF_all, complex [sample, antenna x subcarrier]",
      },
    );
  }
  if (first + samples > rows) {
    throw new SvcError("boundary_count_mismatch", `Cannot take ${samples} samples from sample ${first} of ${rows}`);
  }
  const h = new Float64Array(2 * samples * tx * width), data = array.data as Float64Array;
  for (let sample = 0; sample < samples; sample++) {
    const from = (first + sample) * row, to = 2 * sample * tx * width;
    // [angle, subcarrier]
    const angular = new Float64Array(2 * tx * width);
    if (isDelays) {
      for (let angle = 0; angle < tx; angle++) {
        for (let n = 0; n < delays; n++) {
          const at = from + angle * delays + n, real = data[at] - 0.5, imaginary = data[at + tx * delays] - 0.5;
          for (let k = 0; k < width; k++) {
            const turn = -2 * Math.PI * (k * n % params.file_transform_size) / params.file_transform_size;
            const c = Math.cos(turn), s = Math.sin(turn), into = 2 * (angle * width + k);
            angular[into] += real * c - imaginary * s;
            angular[into + 1] += real * s + imaginary * c;
          }
        }
      }
    } else angular.set(data.subarray(2 * from, 2 * (from + row)));
    const column = new Float64Array(2 * tx);
    for (let k = 0; k < width; k++) {
      for (let q = 0; q < tx; q++) column.set(angular.subarray(2 * (q * width + k), 2 * (q * width + k) + 2), 2 * q);
      // ifft divides by A, the transform here by √A.
      ifft(column.slice()).forEach((value, i) => {
        h[to + 2 * ((i >> 1) * width + k) + i % 2] = value * Math.sqrt(tx);
      });
    }
  }
  return { h, array: name };
}

const isComplex = ({ dtype }: NdArray) => dtype === "complex64" || dtype === "complex128";
const isReal = ({ dtype }: NdArray) => dtype === "float32" || dtype === "float64";

/** Keeps the smallest delays of each channel. */
function truncate(h: Float64Array, { tx_antennas: tx, ofdm_fft_size: width, delay_count: delays }: Params): void {
  for (let at = 0; at < h.length; at += 2 * tx * width) {
    const a = toAngularDelay(h.subarray(at, at + 2 * tx * width), tx, width);
    h.set(fromAngularDelay(a.fill(0, 2 * tx * delays), tx, width), at);
  }
}

/** Scales blocks to mean power 1. @throws SvcError for a block of zeros */
function normalise(h: Float64Array, block: number): void {
  for (let at = 0; at < h.length; at += block) {
    const part = h.subarray(at, at + block), power = meanPower(part);
    if (power === 0) {
      throw new SvcError("boundary_value_invalid", "Cannot normalise channels: all gains are 0", {
        hint: "Set normalize: none",
      });
    }
    for (let i = 0; i < part.length; i++) part[i] /= Math.sqrt(power);
  }
}
