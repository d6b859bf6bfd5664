/**
 * ofdm_tdl, ofdm_cdl and urban_micro: symbols fill grids of F subcarriers and S OFDM symbols, subcarrier first, the
 * last grid zero-padded; the taps of a grid are constant, or move from one OFDM symbol to the next over all grids (ofdm_cdl:
 * by the Doppler shifts of the rays of its clusters). With s = 1 except for shadowing,
 *
 *     y = H_k·s·x + n        x̂ = y/(H_k·s)        variance N0/|H_k·s|²
 *
 * Without the receiver y leaves, with the gains H_k·s.
 *
 * urban_micro is TDL-C with the median delay spread of the street canyon without line of sight, 10^(-0.24·log10(1 + f)
 * - 6.83) s at f GHz, and log-normal shadowing of 7.82 dB, s = 10^(-7.82·z/20) per source item (or for all symbols
 * without declared items). Path loss, cyclic prefix and interference between symbols or carriers are not modelled.
 *
 * Draws: z ~ N(0, 1) per item (urban_micro), taps [grid, tap] or those of one realisation in motion, then noise [grid, OFDM
 * symbol, subcarrier].
 *
 * Source: TR 38.901, tables 7.5-6, 7.7.1 and 7.7.2.
 */
import {
  cdlProfile,
  type DelayProfile,
  frequencyResponse,
  movingTaps,
  type ProfileModel,
  staticTaps,
  tdlProfile,
} from "../../lib/numeric/channel/delay_profile.ts";
import { cdlResponse } from "../../lib/numeric/channel/mimo_channel.ts";
import { complexNormal64Parallel } from "../../lib/numeric/parallel/draws.ts";
import { resultArray } from "../../lib/numeric/array/shared_array.ts";
import { NoiseBlocks } from "../../lib/numeric/random/noise_blocks.ts";
import { type Generator } from "../../lib/numeric/random/random.ts";
import { realisationOf } from "./_motion.ts";
import type { OfdmSettings, PresetSettings, Received } from "./_params.ts";

type OfdmPreset = "ofdm_tdl" | "ofdm_cdl" | "urban_micro";

const SHADOWING_DB = 7.82;
const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;

function profileOf(preset: OfdmPreset, settings: OfdmSettings): DelayProfile {
  const { model, delaySpread, normalise, carrierFrequencyGhz } = settings;
  if (preset === "ofdm_tdl") return tdlProfile(model, { delaySpread, normalise });
  if (preset === "ofdm_cdl") return cdlProfile(model as ProfileModel, { delaySpread, normalise });
  return tdlProfile("C", { delaySpread: 10 ** (-0.24 * Math.log10(1 + carrierFrequencyGhz) - 6.83), normalise });
}

export function ofdm(
  symbols: Float32Array,
  preset: OfdmPreset,
  { noiseVariance, equalise, sourceItems, ofdm: settings, threads }: PresetSettings,
  generator: Generator,
): Received {
  const count = symbols.length / 2;
  const grids = Math.ceil(count / (settings.symbols * settings.subcarriers));
  const shadowing = preset === "urban_micro" ? itemGains(sourceItems ?? [count], count, generator) : undefined;
  const response = responses(preset, settings, grids, generator);
  // In motion each OFDM symbol has gains of its own.
  const blocks = settings.moving === null
    ? { grids, rows: settings.symbols, width: settings.subcarriers }
    : { grids: grids * settings.symbols, rows: 1, width: settings.subcarriers };
  if (!equalise) return faded(symbols, noiseVariance, { response, ...blocks, shadowing }, generator);
  const { rows, width } = blocks;
  const noise = complexNormal64Parallel(generator, blocks.grids * rows * width, noiseVariance, { threads });
  const gainOf = (i: number) => Math.floor(i / (rows * width)) * width + i % width;
  return oneTap(symbols, noise, noiseVariance, { response, gainOf, shadowing });
}

/**
 * The grids of a stream of `count` symbols whose taps do not move, some grids after another, with the values of {@link ofdm}.
 * @returns the symbols of a grid, and what sends the next ones
 */
export function ofdmBlocks(
  count: number,
  preset: "ofdm_tdl" | "ofdm_cdl",
  { noiseVariance, equalise, ofdm: settings }: PresetSettings,
  generator: Generator,
): { unit: number; send: (symbols: Float32Array) => Received } {
  const { symbols: rows, subcarriers: width, spacing } = settings, perGrid = rows * width;
  const profile = profileOf(preset, settings), lines = profile.delays.length, grids = Math.ceil(count / perGrid);
  const taps = staticTaps(profile, grids, generator),
    noise = new NoiseBlocks(generator, grids * perGrid, noiseVariance);
  let grid = 0;
  return {
    unit: perGrid,
    send(symbols) {
      const first = grid;
      grid += Math.ceil(symbols.length / 2 / perGrid);
      const own = taps.subarray(2 * first * lines, 2 * grid * lines);
      const response = frequencyResponse(own, profile, { count: width, spacing });
      const drawn = noise.next(new Float64Array(2 * (grid - first) * perGrid));
      const gainOf = (i: number) => Math.floor(i / perGrid) * width + i % width;
      if (equalise) return oneTap(symbols, drawn, noiseVariance, { response, gainOf });
      return fadedBlock(symbols, drawn, noiseVariance, { response, grids: grid - first, rows, width });
    },
  };
}

/** As {@link faded}, with noise that is drawn. */
function fadedBlock(
  symbols: Float32Array,
  noise: Float64Array,
  noiseVariance: number,
  { response, grids, rows, width }: GridGains,
): Received {
  const received = new Float32Array(symbols.length), gains = new Float32Array(symbols.length);
  for (let grid = 0, at = 0; grid < grids; grid++) {
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < width && at < symbols.length; k++, at += 2) {
        const from = 2 * (grid * width + k), hr = response[from], hi = response[from + 1];
        const xr = symbols[at], xi = symbols[at + 1];
        received[at] = hr * xr - hi * xi + noise[at];
        received[at + 1] = hr * xi + hi * xr + noise[at + 1];
        gains[at] = hr;
        gains[at + 1] = hi;
      }
    }
  }
  return { symbols: received, noiseVariance, gains };
}

/** Gains of grids, interleaved [grid, subcarrier], in motion [grid, OFDM symbol, subcarrier]. */
function responses(preset: OfdmPreset, settings: OfdmSettings, grids: number, generator: Generator): Float64Array {
  const { moving, model, subcarriers, spacing, symbols } = settings, profile = profileOf(preset, settings);
  const grid = { count: subcarriers, spacing };
  if (moving === null) return frequencyResponse(staticTaps(profile, grids, generator), profile, grid);
  const draw = realisationOf(
    moving,
    generator,
    (motion, fading) =>
      preset === "ofdm_cdl"
        ? cdlResponse(model as ProfileModel, profile, { tx: 1, rx: 1 }, grid, fading, motion)
        : frequencyResponse(movingTaps(profile, 1, motion, fading), profile, grid),
  );
  const response = new Float64Array(2 * grids * symbols * subcarriers);
  for (let at = 0; at < grids; at++) response.set(draw(at * symbols, symbols), 2 * at * symbols * subcarriers);
  return response;
}

interface OneTap {
  /** Interleaved gains H. */
  response: ArrayLike<number>;
  /** The gain of symbol i. */
  gainOf: (i: number) => number;
  /** Additional real gain per symbol. */
  shadowing?: Float64Array;
}

/** Symbols times one gain each, plus noise, divided by the gain: x̂ = x + n·conj(h)/|h|². */
export function oneTap(
  symbols: Float32Array,
  noise: Float64Array,
  noiseVariance: number,
  { response, gainOf, shadowing }: OneTap,
): Received {
  const received = new Float32Array(symbols.length);
  const variance = new Float32Array(symbols.length / 2);
  for (let i = 0; i < variance.length; i++) {
    const from = 2 * gainOf(i), shadow = shadowing?.[i] ?? 1;
    const hr = shadow * response[from], hi = shadow * response[from + 1];
    const nr = noise[2 * i], ni = noise[2 * i + 1], power = hr * hr + hi * hi;
    if (power === 0) {
      // Zero gain: an erasure.
      variance[i] = LARGEST_FLOAT32;
      continue;
    }
    received[2 * i] = symbols[2 * i] + (nr * hr + ni * hi) / power;
    received[2 * i + 1] = symbols[2 * i + 1] + (ni * hr - nr * hi) / power;
    variance[i] = noiseVariance / power;
  }
  return { symbols: received, noiseVariance, effectiveVariance: variance };
}

/** Gains of grids: one a subcarrier, for all OFDM symbols of a grid. */
interface GridGains {
  /** Interleaved [grid, subcarrier]. */
  response: Float64Array;
  grids: number;
  rows: number;
  width: number;
  shadowing?: Float64Array;
}

/** Symbols times one gain each, plus noise, and the gains. Noise is added as it is drawn: all real parts, then all imaginary ones. */
function faded(
  symbols: Float32Array,
  noiseVariance: number,
  { response, grids, rows, width, shadowing }: GridGains,
  generator: Generator,
): Received {
  const perGrid = rows * width, count = symbols.length / 2;
  const received = resultArray<Float32Array>(Float32Array, symbols.length);
  const gains = resultArray<Float32Array>(Float32Array, symbols.length);
  generator.complexNormalBlocks(grids * perGrid, noiseVariance, (part, start, drawn) => {
    const end = Math.min(start + drawn.length, count);
    let k = start % width, base = width * Math.floor(start / perGrid), left = perGrid - start % perGrid;
    for (let i = start; i < end; i++) {
      const from = 2 * (base + k), shadow = shadowing === undefined ? 1 : shadowing[i];
      const hr = shadow * response[from],
        hi = shadow * response[from + 1],
        xr = symbols[2 * i],
        xi = symbols[2 * i + 1];
      const sent = part === 0 ? hr * xr - hi * xi : hr * xi + hi * xr;
      received[2 * i + part] = sent + drawn[i - start];
      gains[2 * i + part] = part === 0 ? hr : hi;
      if (++k === width) k = 0;
      if (--left === 0) {
        left = perGrid;
        base += width;
      }
    }
  });
  return { symbols: received, noiseVariance, gains };
}

function itemGains(items: readonly number[], count: number, generator: Generator): Float64Array {
  const drawn = generator.standardNormal(items.length);
  const gains = new Float64Array(count);
  let start = 0;
  items.forEach((length, item) => {
    gains.fill(10 ** (-SHADOWING_DB * drawn[item] / 20), start, start + length);
    start += length;
  });
  return gains;
}
