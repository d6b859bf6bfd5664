/**
 * Power-delay profiles of TR 38.901 and channels drawn from them. A realisation has taps h_l = sqrt(P_l)·g_l at delays
 * τ_l; on subcarrier k of F, spaced Δf,
 *
 *     H_k = Σ_l h_l·exp(-j2π(k - floor(F/2))·Δf·τ_l).
 *
 * Static taps have g_l ~ CN(0, 1); a line-of-sight tap keeps only the phase of its g. Taps that vary in time are sums of
 * N = 20 sinusoids of equal power whose angles of arrival are uniform in N equal sectors (u_n, v_n uniform in [0, 1)):
 *
 *     g_l(t) = sqrt(1/N)·Σ_n exp(j(2π·f_d·t·cos α_n + φ_n)),  α_n = 2π(n + u_n)/N,  φ_n = 2π·v_n,
 *
 * so that E[g(t)·g*(0)] = J0(2π·f_d·t) exactly; a line-of-sight tap is the sinusoid n = 0 alone, with α_0 = π/4. A flat
 * spectrum has cos α_n = 2(n + u_n)/N - 1, so that the correlation is sin(2π·f_d·t)/(2π·f_d·t). A finite sum is not quite normal:
 * the gain |h|² of taps of powers P_l, of sum 1, has E|h|⁴ = 2 - ΣP_l²/N in place of 2, and the correlation J0² - ΣP_l²/N.
 *
 * HST, the single tap of a high-speed train, does not fade. The train passes sites D_s apart at a track distance D_min. With
 * x = v·t mod 2D_s and the distance u = D_s/2 - x for x <= D_s, else u = x - 3D_s/2, the shift is
 *
 *     f_s(t) = f_d·u / sqrt(D_min² + u²),
 *
 * and the phase is its integral, the change of the path in wavelengths v/f_d, forward up to D_s and back from there on.
 *
 * Source: TR 38.901, 7.7.1 and 7.7.2; Jakes, Microwave Mobile Communications, 1974; Zheng and Xiao, "Improved models
 * for the generation of multiple uncorrelated Rayleigh fading waveforms", IEEE Commun. Lett. 6, 2002; TS 38.101-4, B.2.1.1 and B.3.1; TS 38.104, G.3.
 */
import cdl from "../data/cdl_models.json" with { type: "json" };
import tdl from "../data/tdl_models.json" with { type: "json" };
import { dbToLinear } from "../link/decibel.ts";
import type { Generator } from "../random/random.ts";
import { respond } from "./grid_kernel.ts";

export const PROFILE_MODELS = ["A", "B", "C", "D", "E"] as const;
export type ProfileModel = typeof PROFILE_MODELS[number];
/** Those, and the profiles of the requirements in TS 38.101-4, whose delays are not scaled; HST has one tap and must move. */
export const TDL_MODELS = [...PROFILE_MODELS, "TDLA30", "TDLB100", "TDLC300", "HST"] as const;
export type TdlModel = typeof TDL_MODELS[number];
export const DOPPLER_SPECTRA = ["jakes", "flat"] as const;

const SINUSOIDS = 20;
const LINE_OF_SIGHT_ANGLE = Math.PI / 4;

/** Delays and powers of the taps of a channel. */
export interface DelayProfile {
  /** Seconds. */
  readonly delays: Float64Array;
  /** Mean powers, linear. */
  readonly powers: Float64Array;
  /** Whether the first tap is a line of sight, constant in modulus. */
  readonly lineOfSight: boolean;
}

interface ProfileOptions {
  /** Root-mean-square delay spread to which the table is scaled, seconds. */
  delaySpread: number;
  /** Scales the powers to the sum 1, in the mean over the ensemble; otherwise the table's own sum. */
  normalise: boolean;
}

interface Table {
  line_of_sight: boolean;
  /** Of a profile that is not scaled. */
  delay_spread_ns?: number;
  delays: number[];
  powers_db: number[];
}

function scaledProfile(table: Table, { delaySpread, normalise }: ProfileOptions): DelayProfile {
  const powers = Float64Array.from(table.powers_db, dbToLinear);
  const total = normalise ? powers.reduce((sum, power) => sum + power, 0) : 1;
  const spread = table.delay_spread_ns === undefined ? delaySpread : table.delay_spread_ns * 1e-9;
  return {
    delays: Float64Array.from(table.delays, (delay) => delay * spread),
    powers: powers.map((power) => power / total),
    lineOfSight: table.line_of_sight,
  };
}

/**
 * The tapped delay line TDL-A … TDL-E, or a profile of TS 38.101-4 with its own delay spread.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { frequencyResponse, staticTaps, tdlProfile } from "./delay_profile.ts";
 * import { Generator } from "../random/random.ts";
 *
 * const profile = tdlProfile("C", { delaySpread: 300e-9, normalise: true });
 * const taps = staticTaps(profile, 10, Generator.seeded(23));
 * const h = frequencyResponse(taps, profile, { count: 64, spacing: 15e3 });
 * assert.equal(h.length, 2 * 10 * 64);
 * ```
 */
export function tdlProfile(model: TdlModel, options: ProfileOptions): DelayProfile {
  return scaledProfile(tdl.models[model], options);
}

/**
 * Delays and powers of the clusters of CDL-A … CDL-E.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { cdlProfile } from "./delay_profile.ts";
 *
 * const { powers, lineOfSight } = cdlProfile("D", { delaySpread: 100e-9, normalise: true });
 * assert.ok(lineOfSight && powers[0] === Math.max(...powers));
 * ```
 */
export function cdlProfile(model: ProfileModel, options: ProfileOptions): DelayProfile {
  return scaledProfile(cdl.models[model], options);
}

/** Profile e^{-l} of `count` taps one sample apart, of sum 1. @param sampleTime seconds */
export function exponentialProfile(count: number, sampleTime: number): DelayProfile {
  const powers = Float64Array.from({ length: count }, (_, tap) => Math.exp(-tap));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return {
    delays: Float64Array.from({ length: count }, (_, tap) => tap * sampleTime),
    powers: powers.map((power) => power / total),
    lineOfSight: false,
  };
}

/**
 * Static taps, drawn as one complex array [realisation, tap] of variance 1.
 * @returns interleaved complex128 [realisation, tap]
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { staticTaps, tdlProfile } from "./delay_profile.ts";
 * import { Generator } from "../random/random.ts";
 *
 * const profile = tdlProfile("A", { delaySpread: 100e-9, normalise: true });
 * const taps = staticTaps(profile, 1000, Generator.seeded(23));
 * const gain = taps.reduce((sum, part) => sum + part ** 2, 0) / 1000;
 * assert.ok(Math.abs(gain - 1) < 0.05);
 * ```
 */
export function staticTaps(profile: DelayProfile, realisations: number, generator: Generator): Float64Array {
  const { powers, lineOfSight } = profile, count = powers.length;
  const taps = generator.complexNormal64(realisations * count, 1);
  for (let at = 0, tap = 0; at < taps.length; at += 2, tap = (tap + 1) % count) {
    const modulus = lineOfSight && tap === 0 ? Math.hypot(taps[at], taps[at + 1]) : 1;
    const scale = Math.sqrt(powers[tap]) / modulus;
    taps[at] *= scale;
    taps[at + 1] *= scale;
  }
  return taps;
}

/**
 * Correlation E[g(t)·g*(0)] of a tap that moves: J0(x) = (1/π)·∫ cos(x·sin θ) dθ over 0 … π for Jakes' spectrum, sin(x)/x for a
 * flat one, x = 2π·f_d·t. The mean over equal steps of θ converges faster than any power once it has more than x of them.
 */
export function dopplerCorrelation(spectrum: typeof DOPPLER_SPECTRA[number], dopplerHz: number, time: number): number {
  const x = 2 * Math.PI * dopplerHz * Math.abs(time);
  if (spectrum === "flat") return x === 0 ? 1 : Math.sin(x) / x;
  const steps = 32 + Math.ceil(x);
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += Math.cos(x * Math.sin(Math.PI * (i + 0.5) / steps));
  return sum / steps;
}

/** Samples of a channel in motion. */
export interface Motion {
  /** Largest Doppler shift f_d, Hz. */
  dopplerHz: number;
  /** Seconds from one sample to the next. */
  interval: number;
  samples: number;
  /** Time of the first sample in seconds; default 0. */
  start?: number;
  /** Default jakes: waves from all directions. */
  spectrum?: typeof DOPPLER_SPECTRA[number];
  /** Geometry of the single tap of a train; replaces the constant shift of a line of sight. */
  passing?: Passing;
}

/** A train that passes sites along a track. */
export interface Passing {
  /** Metres per second. */
  speed: number;
  /** Twice the distance to the first site along the track at t = 0, D_s, metres. */
  siteDistance: number;
  /** Distance of the sites from the track, D_min, metres. */
  trackDistance: number;
}

/** Phase in radians of the single tap of a train at a time, 0 at t = 0. */
function passingPhase({ speed, siteDistance, trackDistance }: Passing, dopplerHz: number, time: number): number {
  if (speed === 0) return 0;
  const way = speed * time % (2 * siteDistance), forward = way <= siteDistance;
  const along = forward ? siteDistance / 2 - way : way - 1.5 * siteDistance;
  const nearer = Math.hypot(trackDistance, siteDistance / 2) - Math.hypot(trackDistance, along);
  return 2 * Math.PI * dopplerHz / speed * (forward ? nearer : -nearer);
}

/**
 * Taps that vary in time. Draws random() for the angles, [realisation, tap, 20], then as many for the phases.
 * @returns interleaved complex128 [realisation, sample, tap]
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { movingTaps } from "./delay_profile.ts";
 * import { Generator } from "../random/random.ts";
 *
 * const flat = { delays: Float64Array.of(0), powers: Float64Array.of(1), lineOfSight: false };
 * const g = movingTaps(flat, 5000, { dopplerHz: 100, interval: 1e-3, samples: 2 }, Generator.seeded(23));
 * let correlation = 0;
 * for (let i = 0; i < g.length; i += 4) correlation += (g[i] * g[i + 2] + g[i + 1] * g[i + 3]) / 5000;
 * // J0(2π · 100 Hz · 1 ms)
 * assert.ok(Math.abs(correlation - 0.9037) < 0.02);
 * ```
 */
export function movingTaps(
  profile: DelayProfile,
  realisations: number,
  { dopplerHz, interval, samples, start = 0, spectrum = "jakes", passing }: Motion,
  generator: Generator,
): Float64Array {
  const { powers, lineOfSight } = profile, count = powers.length;
  const sectors = generator.random(realisations * count * SINUSOIDS);
  const phases = generator.random(realisations * count * SINUSOIDS);
  const taps = new Float64Array(2 * realisations * samples * count);
  for (let realisation = 0; realisation < realisations; realisation++) {
    for (let tap = 0; tap < count; tap++) {
      const specular = lineOfSight && tap === 0;
      const waves = specular ? 1 : SINUSOIDS;
      const amplitude = Math.sqrt(powers[tap] / waves);
      for (let n = 0; n < waves; n++) {
        const at = (realisation * count + tap) * SINUSOIDS + n;
        if (specular && passing) {
          for (let sample = 0; sample < samples; sample++) {
            const phase = 2 * Math.PI * phases[at] + passingPhase(passing, dopplerHz, start + sample * interval);
            const into = 2 * ((realisation * samples + sample) * count + tap);
            taps[into] = amplitude * Math.cos(phase);
            taps[into + 1] = amplitude * Math.sin(phase);
          }
          continue;
        }
        const part = (n + sectors[at]) / SINUSOIDS;
        const speed = specular
          ? Math.cos(LINE_OF_SIGHT_ANGLE)
          : spectrum === "flat"
          ? 2 * part - 1
          : Math.cos(2 * Math.PI * (n + sectors[at]) / SINUSOIDS);
        const step = samples > 1 ? 2 * Math.PI * dopplerHz * interval * speed : 0;
        const turnReal = step === 0 ? 1 : Math.cos(step), turnImaginary = step === 0 ? 0 : Math.sin(step);
        const phase = 2 * Math.PI * phases[at] + 2 * Math.PI * dopplerHz * start * speed;
        let real = amplitude * Math.cos(phase), imaginary = amplitude * Math.sin(phase);
        for (let sample = 0; sample < samples; sample++) {
          const into = 2 * ((realisation * samples + sample) * count + tap);
          taps[into] += real;
          taps[into + 1] += imaginary;
          // A rotation costs a fraction of a sine and cosine of every phase, and a few last bits.
          const turned = real * turnReal - imaginary * turnImaginary;
          imaginary = real * turnImaginary + imaginary * turnReal;
          real = turned;
        }
      }
    }
  }
  return taps;
}

export interface Subcarriers {
  /** Number of subcarriers, F. */
  count: number;
  /** Hz between neighbours, Δf. */
  spacing: number;
  /** Index of the first one; default -floor(F/2), which centres the carrier. */
  first?: number;
}

/**
 * Frequency responses of rows of taps, Σ_l h_l·exp(-j2π·k·Δf·τ_l) on subcarriers k = first … first + F - 1.
 * @param taps interleaved complex128 [row, tap]
 * @returns interleaved complex128 [row, F]
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { frequencyResponse } from "./delay_profile.ts";
 *
 * const echo = { delays: Float64Array.of(0, 1e-6), powers: Float64Array.of(0.5, 0.5), lineOfSight: false };
 * const h = frequencyResponse(Float64Array.of(1, 0, 1, 0), echo, { count: 2, spacing: 500e3, first: 0 });
 * // The echo adds up at the carrier and cancels half a period further.
 * assert.deepEqual([Math.hypot(h[0], h[1]), Math.round(Math.hypot(h[2], h[3]))], [2, 0]);
 * ```
 */
export function frequencyResponse(
  taps: Float64Array,
  { delays }: DelayProfile,
  { count: subcarriers, spacing, first = -Math.floor(subcarriers / 2) }: Subcarriers,
): Float64Array<ArrayBuffer> {
  return respond(taps, rotationsOf(delays, { count: subcarriers, spacing, first }), delays.length, subcarriers);
}

/** The last rotations: the grids of a stream share them. */
let latest: { delays: Float64Array; count: number; spacing: number; first: number; turns: Float64Array } | undefined;

/** exp(-j2π·k·Δf·τ_l), interleaved [tap, subcarrier]. */
function rotationsOf(delays: Float64Array, { count, spacing, first }: Required<Subcarriers>): Float64Array {
  const same = latest?.count === count && latest.spacing === spacing && latest.first === first &&
    latest.delays.length === delays.length && latest.delays.every((delay, l) => delay === delays[l]);
  if (same) return latest!.turns;
  const turns = new Float64Array(2 * delays.length * count);
  for (let l = 0, at = 0; l < delays.length; l++) {
    for (let k = 0; k < count; k++, at += 2) {
      const angle = -2 * Math.PI * (k + first) * spacing * delays[l];
      turns[at] = Math.cos(angle);
      turns[at + 1] = Math.sin(angle);
    }
  }
  latest = { delays: delays.slice(), count, spacing, first, turns };
  return turns;
}

const SPEED_OF_LIGHT_M_PER_S = 299_792_458;

/** Largest Doppler shift, Hz. */
export function maximumDopplerHz(mobilityKmh: number, carrierFrequencyGhz: number): number {
  return mobilityKmh / 3.6 * carrierFrequencyGhz * 1e9 / SPEED_OF_LIGHT_M_PER_S;
}

/** Seconds from one OFDM symbol to the next: 14 symbols a slot, a slot of 1 ms at 15 kHz. */
export function ofdmSymbolInterval(subcarrierSpacingKhz: number): number {
  return 1e-3 / 14 * (15 / subcarrierSpacingKhz);
}
