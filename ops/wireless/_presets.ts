/**
 * The channel presets on complex symbols x, complex64 [n]. Reference power is 1, n ~ CN(0, N0):
 *
 *     awgn               y = x + n
 *     flat_rayleigh      y = (h·x + n) / h, h ~ CN(0, 1) per symbol or source item; without receiver h·x + n
 *     interference_awgn  y = x + Σ sqrt(P/I)·q_i + n, I unit-power QPSK streams, P = 10^(-interference_sir_db/10)
 *     mimo_flat          vectors of tx symbols through H, rx × tx, and zero forcing: _mimo.ts
 *     ofdm_tdl, ofdm_cdl, urban_micro  grids of subcarriers with one tap each: _ofdm.ts
 *
 * Draws in order: gains, then noise; or per interferer its QPSK labels, then noise. A complex array draws its whole real
 * part first. Sums are formed in binary64 and rounded once.
 *
 * Source: Tse and Viswanath, Fundamentals of Wireless Communication, 2005, ch. 2 and 3.
 */
import { dbToLinear } from "../../lib/numeric/link/decibel.ts";
import { complexNormal64Parallel, integersParallel } from "../../lib/numeric/parallel/draws.ts";
import { blockMemory } from "../../lib/numeric/array/shared_array.ts";
import { NoiseBlocks } from "../../lib/numeric/random/noise_blocks.ts";
import type { Generator } from "../../lib/numeric/random/random.ts";
import type { DataPlane } from "../_data_plane.ts";
import { mimoFlat } from "./_mimo.ts";
import { ofdm, ofdmBlocks } from "./_ofdm.ts";
import type { PresetSettings, Received } from "./_params.ts";

/** Sends symbols through a preset. */
export function transmit(
  symbols: Float32Array,
  settings: PresetSettings,
  generator: Generator,
  kernels: DataPlane,
): Received {
  const { channel } = settings;
  switch (channel) {
    case "awgn":
      return {
        symbols: kernels.addComplexNormal(generator, symbols, settings.noiseVariance, { threads: settings.threads }),
        noiseVariance: settings.noiseVariance,
      };
    case "flat_rayleigh":
      return flatRayleigh(symbols, settings, generator);
    case "interference_awgn":
      return interference(symbols, settings, generator);
    case "mimo_flat":
      return mimoFlat(symbols, settings, generator);
    case "ofdm_tdl":
    case "ofdm_cdl":
    case "urban_micro":
      return ofdm(symbols, channel, settings, generator);
  }
}

/** Presets whose symbols can be sent in blocks. */
export const BLOCK_PRESETS = ["awgn", "flat_rayleigh", "ofdm_tdl", "ofdm_cdl"] as const;
export type BlockPreset = typeof BLOCK_PRESETS[number];

/**
 * Sends `count` symbols in blocks, with the values of {@link transmit}.
 * @returns the symbols that belong together, and what sends the next ones, in memory that it uses again
 */
export function transmitBlocks(
  count: number,
  channel: BlockPreset,
  settings: PresetSettings,
  generator: Generator,
): { unit?: number; send: (symbols: Float32Array) => Received } {
  const { noiseVariance, fadingItems } = settings, memory = blockMemory(Float32Array);
  if (channel === "ofdm_tdl" || channel === "ofdm_cdl") return ofdmBlocks(count, channel, settings, generator);
  if (channel === "awgn") {
    const noise = new NoiseBlocks(generator, count, noiseVariance);
    return { send: (symbols) => ({ symbols: noise.add(symbols, memory(symbols.length)), noiseVariance }) };
  }
  const fading = fadingItems === undefined ? new NoiseBlocks(generator, count, 1) : undefined;
  const gains = fading ?? new RepeatedGains(generator.complexNormal64(fadingItems!.length, 1), fadingItems!);
  const noise = new NoiseBlocks(fading?.after() ?? generator, count, noiseVariance);
  const drawn = [blockMemory(Float64Array), blockMemory(Float64Array)], beside = blockMemory(Float32Array);
  return {
    send: (symbols) => {
      const [own, added] = drawn.map((memory) => memory(symbols.length));
      return fade(symbols, gains.next(own), noise.next(added), settings, [memory, beside]);
    },
  };
}

function flatRayleigh(symbols: Float32Array, settings: PresetSettings, generator: Generator): Received {
  const { noiseVariance, fadingItems } = settings, count = symbols.length / 2;
  const drawn = complexNormal64Parallel(generator, fadingItems?.length ?? count, 1, settings);
  const gains = fadingItems === undefined
    ? drawn
    : new RepeatedGains(drawn, fadingItems).next(new Float64Array(symbols.length));
  return fade(symbols, gains, complexNormal64Parallel(generator, count, noiseVariance, settings), settings);
}

/** Symbols times one gain each, plus noise, and divided by the gain with the receiver. */
function fade(
  symbols: Float32Array,
  gains: Float64Array,
  noise: Float64Array,
  { noiseVariance, equalise }: PresetSettings,
  [outOf, besideOf] = Array.from({ length: 2 }, () => (length: number) => new Float32Array(length)),
): Received {
  const received = outOf(symbols.length), beside = besideOf(equalise ? symbols.length / 2 : symbols.length);
  for (let i = 0; i < symbols.length; i += 2) {
    const hr = gains[i], hi = gains[i + 1], nr = noise[i], ni = noise[i + 1], xr = symbols[i], xi = symbols[i + 1];
    if (equalise) {
      // (h·x + n) / h = x + n·conj(h) / |h|²
      const power = hr * hr + hi * hi;
      received[i] = xr + (nr * hr + ni * hi) / power;
      received[i + 1] = xi + (ni * hr - nr * hi) / power;
      beside[i >> 1] = noiseVariance / power;
    } else {
      received[i] = hr * xr - hi * xi + nr;
      received[i + 1] = hr * xi + hi * xr + ni;
      beside[i] = hr;
      beside[i + 1] = hi;
    }
  }
  return { symbols: received, noiseVariance, ...(equalise ? { effectiveVariance: beside } : { gains: beside }) };
}

/** One gain per source item, repeated for its symbols. */
class RepeatedGains {
  readonly #drawn: Float64Array;
  readonly #items: readonly number[];
  #item = 0;
  /** Symbols of the item that have their gain. */
  #used = 0;

  constructor(drawn: Float64Array, items: readonly number[]) {
    this.#drawn = drawn;
    this.#items = items;
  }

  /** The next gains, interleaved. */
  next(out: Float64Array): Float64Array {
    for (let at = 0; at < out.length; at += 2) {
      for (; this.#used === this.#items[this.#item]; this.#used = 0) this.#item++;
      this.#used++;
      out[at] = this.#drawn[2 * this.#item];
      out[at + 1] = this.#drawn[2 * this.#item + 1];
    }
    return out;
  }
}

function interference(symbols: Float32Array, settings: PresetSettings, generator: Generator): Received {
  const { interferers, noiseVariance } = settings, count = symbols.length / 2;
  const power = interferers === 0 ? 0 : dbToLinear(-settings.interferenceSirDb);
  // A unit-power QPSK point is (±1 ± j) / sqrt(2).
  const amplitude = Math.sqrt(power / Math.max(interferers, 1) / 2);
  const sum = Float64Array.from(symbols);
  for (let stream = 0; stream < interferers; stream++) {
    const drawn = integersParallel(generator, 0, 4, count, "int64", settings);
    // Labels are small, so the low word of each little-endian integer is its value.
    const labels = new Int32Array(drawn.buffer, drawn.byteOffset, 2 * count);
    for (let i = 0; i < count; i++) {
      // Label l has the bits l >> 1 and l & 1; bit 0 is positive.
      const label = labels[2 * i];
      sum[2 * i] += amplitude * (1 - (label & 2));
      sum[2 * i + 1] += amplitude * (1 - 2 * (label & 1));
    }
  }
  const noise = complexNormal64Parallel(generator, count, noiseVariance, settings);
  const received = new Float32Array(symbols.length);
  for (let i = 0; i < received.length; i++) received[i] = sum[i] + noise[i];
  return { symbols: received, noiseVariance: noiseVariance + power };
}
