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
import type { Generator } from "../../lib/numeric/random/random.ts";
import type { DataPlane } from "../_data_plane.ts";
import { mimoFlat } from "./_mimo.ts";
import { ofdm } from "./_ofdm.ts";
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

function flatRayleigh(symbols: Float32Array, settings: PresetSettings, generator: Generator): Received {
  const { noiseVariance, equalise, fadingItems } = settings;
  const count = symbols.length / 2;
  const drawn = complexNormal64Parallel(generator, fadingItems?.length ?? count, 1, settings);
  const gains = fadingItems === undefined ? drawn : repeatGains(drawn, fadingItems, count);
  const noise = complexNormal64Parallel(generator, count, noiseVariance, settings);
  const received = new Float32Array(symbols.length);
  const perSymbol = equalise ? new Float32Array(count) : undefined;
  for (let i = 0; i < symbols.length; i += 2) {
    const hr = gains[i], hi = gains[i + 1], nr = noise[i], ni = noise[i + 1], xr = symbols[i], xi = symbols[i + 1];
    if (perSymbol !== undefined) {
      // (h·x + n) / h = x + n·conj(h) / |h|²
      const power = hr * hr + hi * hi;
      received[i] = xr + (nr * hr + ni * hi) / power;
      received[i + 1] = xi + (ni * hr - nr * hi) / power;
      perSymbol[i >> 1] = noiseVariance / power;
    } else {
      received[i] = hr * xr - hi * xi + nr;
      received[i + 1] = hr * xi + hi * xr + ni;
    }
  }
  return {
    symbols: received,
    noiseVariance,
    ...(perSymbol === undefined ? { gains: Float32Array.from(gains) } : { effectiveVariance: perSymbol }),
  };
}

/** One gain per source item, repeated for its symbols. */
function repeatGains(drawn: Float64Array, items: readonly number[], count: number): Float64Array {
  const gains = new Float64Array(2 * count);
  let at = 0;
  items.forEach((length, item) => {
    for (const end = at + 2 * length; at < end; at += 2) {
      gains[at] = drawn[2 * item];
      gains[at + 1] = drawn[2 * item + 1];
    }
  });
  return gains;
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
