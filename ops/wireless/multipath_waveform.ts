/**
 * Multipath channel on samples: linear convolution with sample-spaced paths (zero before the first sample, cut to the length of the
 * input), a timing offset, a carrier frequency offset e^{j2π·cfo·n/(F·Q)} from the first sample on, and noise. Paths are given, or drawn from a tapped delay line or clusters with delays rounded to samples,
 * floor(τ·f_s + 0.5); equal delays add. In motion the gain of a drawn path changes from sample to sample, h_l(n) at the time
 * start_time_s + n/f_s of the faded waveform, before its timing offset. Interference between symbols and carriers arises from the samples.
 *
 * The state holds the response of the paths on the active subcarriers, in motion that of their means over the useful part of each
 * OFDM symbol, complex64 [grid, OFDM symbol, subcarrier], with the noise
 * variance N0 = 10^(-snr_db/10) of an element of unit mean energy. With Q-fold oversampling a sample has the noise variance
 * Q·N0, since the receiver keeps 1/Q of the bandwidth. Draws: taps [tap], or the rays of clusters (not for given paths; in motion one
 * realisation), then noise [n].
 *
 * Source: Goldsmith, Wireless Communications, 2005, ch. 3 and 12.
 */
import { OFDM_STATE } from "../../lib/contract/kinds.ts";
import {
  defineOperation,
  float,
  type JsonObject,
  type ParameterProblem,
  seedParameter,
  shownIn,
  usedWhen,
  z,
} from "../api.ts";
import { declareUnit } from "../../lib/artifact/statistical_unit.ts";
import { ofdmStateMetadata } from "../../lib/artifact/ofdm_state.ts";
import { companionsOf, metadataNumber } from "../../lib/artifact/values.ts";
import { dbToLinear, linearToDb } from "../../lib/numeric/link/decibel.ts";
import {
  cdlProfile,
  type Motion,
  movingTaps,
  type ProfileModel,
  staticTaps,
  TDL_MODELS,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { cdlTaps } from "../../lib/numeric/channel/mimo_channel.ts";
import { elementCount, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { convolve, firstActive, type Path, pathResponse } from "../../lib/numeric/link/ofdm_waveform.ts";
import { energy } from "../../lib/numeric/link/front_end.ts";
import { NoiseBlocks } from "../../lib/numeric/random/noise_blocks.ts";
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import { alteredInBlocks } from "../_altered_blocks.ts";
import { numpyWithTwin } from "../_backends.ts";
import { sizeOfInput } from "../_same_shape.ts";
import { LEAST_WAVEFORM_BYTES, readWaveform, WAVEFORM, waveformLayout } from "../_waveform.ts";
import {
  IN_MOTION,
  isMoving,
  MOTION_PARAMS,
  movingOf,
  OF_DELAY_SPREAD,
  profileProblems,
  realisationOf,
} from "./_motion.ts";
import { COMMON_PARAMS } from "./_params.ts";

const LONGEST_DELAY = 100_000;

const PARAMS = z.strictObject({
  taps: z.array(z.array(z.number().min(-1e5).max(1e5)).min(3).max(3)).default([])
    .describe("paths as [delay in samples, real part, imaginary part]; empty draws channel_model"),
  channel_model: z.enum(["tdl", "cdl"]).default("tdl")
    .describe("drawn paths: a tapped delay line, or clusters of rays between two antennas"),
  tdl_model: z.enum(TDL_MODELS).default("A")
    .describe("profile of TR 38.901, 7.7.2 for tdl and 7.7.1 for cdl, or of TS 38.101-4 with its own delays, or HST"),
  delay_spread_ns: z.number().nonnegative().default(100).describe("rms delay spread in ns").meta(OF_DELAY_SPREAD),
  sample_rate_mhz: z.number().positive().default(15.36)
    .describe("samples per microsecond, oversampling included, in MHz"),
  carrier_frequency_ghz: COMMON_PARAMS.carrier_frequency_ghz.meta(IN_MOTION),
  mobility_kmh: z.number().nonnegative().optional().describe("speed of the receiver in km/h; default 3 in motion")
    .meta(usedWhen({ time_variation: "doppler" })),
  ...MOTION_PARAMS,
  doppler_spectrum: MOTION_PARAMS.doppler_spectrum
    .meta(usedWhen({ channel_model: "tdl", tdl_model: TDL_MODELS.filter((model) => model !== "HST") })),
  carrier_frequency_offset_subcarriers: z.number().min(-1e4).max(1e4).default(0)
    .describe("carrier frequency offset, a fraction of the subcarrier spacing"),
  timing_offset_samples: z.int().min(-LONGEST_DELAY).max(LONGEST_DELAY).default(0)
    .describe("samples by which the waveform arrives late"),
  snr_db: z.number().default(30).describe(
    "Es/N0 in dB per occupied resource element at unit mean symbol energy, with any oversampling",
  ).meta(shownIn("dB")),
  seed: seedParameter(),
});
type Params = z.output<typeof PARAMS>;

export default defineOperation({
  id: "wireless.multipath_waveform",
  name: "Multipath channel on samples",
  description: "Sends a waveform through paths, a timing and a carrier frequency offset, and noise",
  inputs: { waveform: [WAVEFORM] },
  outputs: { waveform: WAVEFORM, state: OFDM_STATE },
  params: PARAMS,
  ...numpyWithTwin("full", "Linear in the samples"),
  outputMetadataGuarantees: {
    waveform: { from: "waveform", keys: ["noise_variance"] },
    state: { keys: ["noise_variance", "average_power_budget"] },
  },
  check(params) {
    const problems: ParameterProblem[] = [];
    if (!params.taps.every(([delay]) => Number.isInteger(delay) && delay >= 0)) {
      problems.push({
        code: "params_invalid",
        place: ["taps"],
        message: "Cannot delay a path by a part of a sample or a negative number",
        hint: "Write delays as whole numbers from 0 on",
      });
    }
    if (isMoving(params) && params.taps.length > 0) {
      problems.push({
        place: ["time_variation"],
        message: "Cannot move given paths: their gains are constants",
        hint: "Remove taps, which draws paths of channel_model, or time_variation",
      });
    }
    if (params.taps.length === 0) problems.push(...profileProblems(params, params.channel_model === "cdl"));
    return problems;
  },
  estimate: (_params, { waveform }) => ({ waveform: sizeOfInput(waveform, "complex64"), state: waveform.bytes }),
  streaming: {
    least: LEAST_WAVEFORM_BYTES,
    companions: ["grid"],
    // An early waveform needs the samples after a block.
    allows: ({ timing_offset_samples }) => timing_offset_samples >= 0,
    open({ inputs: { waveform }, params, generator }) {
      const { metadata, length } = waveform, layout = waveformLayout(metadata, length);
      const { samplesPerRow, active } = layout, { longest, fade } = pathsAlong(layout, params, generator);
      const { sampleNoise, forms, state, metrics } = linkOf(metadata, layout, params);
      const noise = new NoiseBlocks(generator, length, sampleNoise);
      const sent = delayLine(longest), arrived = delayLine(params.timing_offset_samples);
      let first = 0, sum = 0, responseOf: Faded["response"];
      const stream = alteredInBlocks("waveform", waveform, {
        unit: samplesPerRow,
        metadata: forms.waveform,
        alter(samples) {
          const { faded, response } = fade(sent(samples), longest), from = first;
          responseOf = response;
          first += samples.length / 2;
          sum = energy(samples, sum);
          const drawn = noise.next(new Float64Array(samples.length));
          return received(arrived(faded), drawn, params, layout, { first: from, shift: 0 });
        },
      });
      return stream && {
        ...stream,
        arrays: {
          ...stream.arrays,
          state: { dtype: "complex64", length: elementCount(state), shape: state, metadata: forms.state },
        },
        next(blocks, count) {
          const made = stream.next!(blocks, count), rows = blocks.waveform.data.length / 2 / samplesPerRow;
          return { ...made, state: responses(responseOf, rows, active) };
        },
        end: () => ({ metrics: metrics(sum) }),
      };
    },
  },
  run({ inputs, params, generator, threads }) {
    const { samples, layout } = readWaveform(inputs.waveform), { active, rows } = layout;
    const { faded, response } = pathsAlong(layout, params, generator).fade(samples, 0);
    const { sampleNoise, forms, state, metrics } = linkOf(inputs.waveform.metadata, layout, params);
    const drawn = complexNormal64Parallel(generator, samples.length / 2, sampleNoise, { threads });
    const out = received(faded, drawn, params, layout, { first: 0, shift: -params.timing_offset_samples });
    return {
      outputs: {
        waveform: {
          array: ndarray("complex64", out),
          companions: companionsOf(inputs.waveform),
          metadata: forms.waveform,
        },
        state: { array: ndarray("complex64", responses(response, rows, active), state), metadata: forms.state },
      },
      metrics: metrics(energy(samples)),
    };
  },
});

/** The received samples from number `first` on. @param place of the first one: `shift` in the faded samples */
function received(
  faded: Float64Array,
  drawn: Float64Array,
  { carrier_frequency_offset_subcarriers: offset }: Params,
  { fftSize, oversampling }: Layout,
  { first, shift }: { first: number; shift: number },
): Float32Array {
  const out = new Float32Array(drawn.length);
  for (let i = 0; 2 * i < out.length; i++) {
    const from = 2 * (i + shift), turn = 2 * Math.PI * offset * (first + i) / (fftSize * oversampling);
    const xr = faded[from] ?? 0, xi = faded[from + 1] ?? 0, cosine = Math.cos(turn), sine = Math.sin(turn);
    out[2 * i] = xr * cosine - xi * sine + drawn[2 * i];
    out[2 * i + 1] = xr * sine + xi * cosine + drawn[2 * i + 1];
  }
  return out;
}

/** The noise of a sample, metadata of the outputs, the shape of the state, and the metrics for samples of an energy. */
function linkOf(metadata: JsonObject, layout: Layout, params: Params) {
  const { fftSize, cpLength, oversampling, active, rows, symbolCount, samplesPerRow } = layout;
  const noise = dbToLinear(-params.snr_db), sampleNoise = noise * oversampling;
  const wanted = metadataNumber(metadata, "symbols_per_grid") ?? rows, symbols = rows % wanted === 0 ? wanted : rows;
  // Drawn gains are those of the whole waveform; given ones and the tap of HST do not fade.
  const whole = { size: symbolCount, total: symbolCount };
  const fadingBlock = (declared: JsonObject) =>
    params.taps.length > 0 || params.tdl_model === "HST" ? {} : declareUnit(declared, "fading_block", whole);
  const state = { grids: symbols === 0 ? 0 : rows / symbols, symbols, subcarriers: active };
  return {
    sampleNoise,
    state: [state.grids, symbols, active],
    forms: {
      waveform: {
        ...metadata,
        fft_size: fftSize,
        cp_length: cpLength,
        oversampling,
        active_subcarriers: active,
        ofdm_symbol_count: rows,
        symbol_count: symbolCount,
        noise_variance: float(sampleNoise),
        ...fadingBlock(metadata),
      },
      state: ofdmStateMetadata({ ...state, noiseVariance: noise, averagePowerBudget: 1 }, fadingBlock({})),
    },
    metrics(sum: number) {
      const count = rows * samplesPerRow;
      return {
        "channel.noise_variance": noise,
        "channel.snr_db": params.snr_db,
        ...(count === 0 ? {} : { "channel.sample_snr_db": linearToDb(sum / count / sampleNoise) }),
      };
    },
  };
}

/** The profile of drawn paths, and their gains, interleaved [sample, path]; one sample without a motion. */
function drawnPaths({ channel_model, tdl_model: model, delay_spread_ns }: Params) {
  const scaled = { delaySpread: delay_spread_ns * 1e-9, normalise: true };
  if (channel_model === "cdl") {
    const own = model as ProfileModel, profile = cdlProfile(own, scaled);
    const gainsOf = (generator: Generator, motion?: Motion) =>
      cdlTaps(own, profile, { tx: 1, rx: 1 }, generator, motion);
    return { profile, gainsOf };
  }
  const profile = tdlProfile(model, scaled);
  const gainsOf = (generator: Generator, motion?: Motion) =>
    motion === undefined ? staticTaps(profile, 1, generator) : movingTaps(profile, 1, motion, generator);
  return { profile, gainsOf };
}

/** Given paths, or drawn ones; equal delays add. */
function pathsOf(params: Params, generator: Generator): Path[] {
  if (params.taps.length > 0) return params.taps.map(([delay, real, imaginary]) => [delay, real, imaginary]);
  const { profile, gainsOf } = drawnPaths(params),
    gains = gainsOf(generator),
    byDelay = new Map<number, [number, number]>();
  profile.delays.forEach((delay, tap) => {
    const at = Math.floor(delay * params.sample_rate_mhz * 1e6 + 0.5), [real, imaginary] = byDelay.get(at) ?? [0, 0];
    byDelay.set(at, [real + gains[2 * tap], imaginary + gains[2 * tap + 1]]);
  });
  return [...byDelay].map(([delay, [real, imaginary]]) => [delay, real, imaginary]);
}

type Layout = ReturnType<typeof readWaveform>["layout"];

/** Faded samples, interleaved, and the response of their paths for each of their OFDM symbols. */
interface Faded {
  faded: Float64Array;
  response(row: number): Float64Array;
}

/** The paths of a waveform. */
interface Paths {
  /** The largest delay in samples. */
  longest: number;
  /** Fades the samples of the next OFDM symbols. @param before samples before them, as many as `longest` except at the start */
  fade(samples: Float32Array | Float64Array, before: number): Faded;
}

const pathsAlong = (layout: Layout, params: Params, generator: Generator): Paths =>
  isMoving(params) ? movingPaths(layout, params, generator) : staticPaths(layout, pathsOf(params, generator));

/** Puts the last samples of the blocks before, zeros at first, in front of those of the next block. */
function delayLine(count: number): (samples: Float32Array | Float64Array) => Float64Array {
  let waiting = new Float64Array(2 * count);
  return (samples) => {
    const all = new Float64Array(waiting.length + samples.length);
    all.set(waiting);
    all.set(samples, waiting.length);
    waiting = all.slice(samples.length);
    return all;
  };
}

/** The gains of OFDM symbols. */
function responses(response: Faded["response"], rows: number, active: number): Float32Array {
  const h = new Float32Array(2 * rows * active);
  for (let row = 0; row < rows; row++) h.set(response(row), 2 * row * active);
  return h;
}

const gridOf = ({ fftSize: size, oversampling, active: count }: Layout) => ({
  size,
  oversampling,
  first: firstActive(size, count),
  count,
});

function staticPaths(layout: Layout, paths: Path[]): Paths {
  const response = pathResponse(paths, gridOf(layout));
  return {
    longest: paths.reduce((most, [delay]) => Math.max(most, delay), 0),
    fade: (samples, before) => ({ faded: convolve(samples, paths).subarray(2 * before), response: () => response }),
  };
}

/** Samples whose gains are drawn at once: a few hundred kilobytes. */
const BLOCK = 1024;

function movingPaths(layout: Layout, params: Params, generator: Generator): Paths {
  const { profile, gainsOf } = drawnPaths(params);
  const rate = params.sample_rate_mhz * 1e6, moving = movingOf(params, 1 / rate)!;
  const draw = realisationOf(moving, generator, (motion, fading) => gainsOf(fading, motion));
  const delays = Array.from(profile.delays, (delay) => Math.floor(delay * rate + 0.5)), taps = delays.length;
  const { cpLength, oversampling, rows, samplesPerRow: length } = layout, total = rows * length;
  const prefix = cpLength * oversampling, useful = length - prefix;
  let gains: Float64Array = new Float64Array(0), done = 0;
  return {
    longest: Math.max(...delays),
    fade(samples, before) {
      const count = samples.length / 2 - before, faded = new Float64Array(2 * count);
      const means = new Float64Array(2 * count / length * taps);
      for (let i = 0; i < count; i++, done++) {
        const row = Math.floor(i / length), counted = i % length >= prefix, own = done % BLOCK;
        if (own === 0) gains = draw(done, Math.min(BLOCK, total - done));
        let real = 0, imaginary = 0;
        for (let tap = 0; tap < taps; tap++) {
          const hr = gains[2 * (own * taps + tap)], hi = gains[2 * (own * taps + tap) + 1];
          if (counted) {
            means[2 * (row * taps + tap)] += hr / useful;
            means[2 * (row * taps + tap) + 1] += hi / useful;
          }
          const from = 2 * (before + i - delays[tap]);
          if (from < 0) continue;
          real += hr * samples[from] - hi * samples[from + 1];
          imaginary += hr * samples[from + 1] + hi * samples[from];
        }
        faded[2 * i] = real;
        faded[2 * i + 1] = imaginary;
      }
      const pathsOfRow = (row: number) =>
        delays.map((delay, tap): Path => [delay, means[2 * (row * taps + tap)], means[2 * (row * taps + tap) + 1]]);
      return { faded, response: (row) => pathResponse(pathsOfRow(row), gridOf(layout)) };
    },
  };
}
