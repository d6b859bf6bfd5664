/**
 * Channel estimates of an OFDM grid from noisy ones at pilots.
 *
 *     linear interpolation   real and imaginary part between neighbours, the nearest one outside
 *     LMMSE                  h = R_kp (R_pp + s I)^-1 h_LS, error 1 - Re diag(R_kp (R_pp + s I)^-1 R_pk); s is the noise
 *                            variance of h_LS, and R[a, b] = E h_a h_b* at unit mean power:
 *       exponential          1 / (1 + j 2π (a-b) Δf τ)                        profile e^{-t/τ}
 *       uniform              sinc((a-b) Δf T) e^{-jπ (a-b) Δf T}              profile constant on 0 … T
 *       tdl                  Σ P_l e^{-j 2π (a-b) Δf τ_l}                     taps of TR 38.901
 *     LMMSE over time        h_k(t) = c rᵀ (a R + s b I)^-1 g of the estimates g_i of subcarrier k by the filter w at the times t_i,
 *                            a = wᴴ R_pp w, b = |w|², c = a + s b the power of g, R_ij = ρ(t_i - t_j), r_i = ρ(t - t_i), ρ the
 *                            correlation in time; error 1 - c² rᵀ (a R + s b I)^-1 r, exact for R[a, b]·ρ and one w
 *
 * Sources: Edfors et al., "OFDM channel estimation by singular value decomposition", IEEE Trans. Commun. 46, 1998; Hoeher, Kaiser
 * and Robertson, "Two-dimensional pilot-symbol-aided channel estimation by Wiener filtering", ICASSP 1997.
 */
import type { DelayProfile } from "./delay_profile.ts";
import { respond, type TimeShares } from "./grid_kernel.ts";
import { cholesky, inverseLower, zeros } from "../linalg/linear_algebra.ts";

/** Correlation of the gains of two subcarriers at a distance (in subcarriers). */
export type Correlation = (distance: number) => readonly [real: number, imaginary: number];

export function exponentialCorrelation(delaySpread: number, spacing: number): Correlation {
  return (distance) => {
    const x = 2 * Math.PI * distance * spacing * delaySpread;
    return [1 / (1 + x * x), -x / (1 + x * x)];
  };
}

export function uniformCorrelation(maximumDelay: number, spacing: number): Correlation {
  return (distance) => {
    const x = Math.PI * distance * spacing * maximumDelay, size = x === 0 ? 1 : Math.sin(x) / x;
    return [size * Math.cos(x), -size * Math.sin(x)];
  };
}

export function profileCorrelation({ delays, powers }: DelayProfile, spacing: number): Correlation {
  const total = powers.reduce((sum, power) => sum + power, 0);
  return (distance) => {
    let real = 0, imaginary = 0;
    for (let l = 0; l < delays.length; l++) {
      const turn = -2 * Math.PI * distance * spacing * delays[l];
      real += powers[l] / total * Math.cos(turn);
      imaginary += powers[l] / total * Math.sin(turn);
    }
    return [real, imaginary];
  };
}

/** A linear filter from pilots to subcarriers. */
export interface PilotFilter {
  /** Interleaved, [pilot, subcarrier]. */
  readonly weights: Float64Array;
  /** Mean squared error of each subcarrier. */
  readonly error: Float64Array;
}

/** Smallest noise variance that keeps the correlation matrix of close pilots regular. */
const LEAST_NOISE = 1e-10;

/**
 * The LMMSE filter for all subcarriers.
 * @param positions of the pilots, in subcarriers; may lie between two
 * @param noise variance of an estimate at a pilot
 */
export function lmmseFilter(
  positions: ArrayLike<number>,
  subcarriers: number,
  correlation: Correlation,
  noise: number,
): PilotFilter {
  const count = positions.length, auto = zeros(count, count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      const [real, imaginary] = correlation(positions[i] - positions[j]), at = 2 * (i * count + j);
      auto[at] = real + (i === j ? Math.max(noise, LEAST_NOISE) : 0);
      auto[at + 1] = imaginary;
    }
  }
  const inverse = inverseLower(cholesky(auto, count), count);
  const weights = new Float64Array(2 * subcarriers * count), error = new Float64Array(subcarriers);
  const cross = zeros(1, count), whitened = zeros(1, count);
  for (let k = 0; k < subcarriers; k++) {
    for (let j = 0; j < count; j++) [cross[2 * j], cross[2 * j + 1]] = correlation(k - positions[j]);
    // v = L⁻¹ R_pk, error = 1 - |v|², weights = vᴴ L⁻¹
    error[k] = 1;
    for (let i = 0; i < count; i++) {
      let real = 0, imaginary = 0;
      for (let j = 0; j <= i; j++) {
        const at = 2 * (i * count + j), cr = cross[2 * j], ci = -cross[2 * j + 1];
        real += inverse[at] * cr - inverse[at + 1] * ci;
        imaginary += inverse[at] * ci + inverse[at + 1] * cr;
      }
      whitened[2 * i] = real;
      whitened[2 * i + 1] = imaginary;
      error[k] -= real * real + imaginary * imaginary;
    }
    error[k] = Math.max(error[k], 0);
    for (let i = 0; i < count; i++) {
      const vr = whitened[2 * i], vi = -whitened[2 * i + 1];
      for (let j = 0; j <= i; j++) {
        const at = 2 * (i * count + j), to = 2 * (j * subcarriers + k);
        weights[to] += vr * inverse[at] - vi * inverse[at + 1];
        weights[to + 1] += vr * inverse[at + 1] + vi * inverse[at];
      }
    }
  }
  return { weights, error };
}

/**
 * Estimates of all subcarriers by a filter.
 * @param values interleaved, [row, pilot]
 * @returns interleaved, [row, subcarrier]
 */
export const applyFilter = ({ weights, error }: PilotFilter, values: Float64Array): Float64Array =>
  respond(values, weights, weights.length / (2 * error.length), error.length);

/** A filter of each subcarrier from the OFDM symbols with pilots to all of them. */
export interface TimeFilter {
  /** [subcarrier, OFDM symbol with pilots, OFDM symbol] */
  readonly weights: Float64Array;
  /** Mean squared error, [OFDM symbol, subcarrier]. */
  readonly error: Float64Array;
}

/**
 * The LMMSE filter over time of estimates by a filter over frequency.
 * @param times of the OFDM symbols with pilots
 * @param correlation of a gain at a distance in OFDM symbols
 * @param noise variance of an estimate at a pilot
 */
export function timeFilter(
  { weights, error: before }: PilotFilter,
  times: ArrayLike<number>,
  symbols: number,
  correlation: (distance: number) => number,
  noise: number,
): TimeFilter {
  const subcarriers = before.length, size = times.length * symbols, variance = Math.max(noise, LEAST_NOISE);
  const out = new Float64Array(subcarriers * size), error = new Float64Array(symbols * subcarriers);
  for (let k = 0; k < subcarriers; k++) {
    let strength = 0;
    for (let at = 2 * k; at < weights.length; at += 2 * subcarriers) {
      strength += weights[at] ** 2 + weights[at + 1] ** 2;
    }
    const power = 1 - before[k], wanted = power - variance * strength;
    if (!(wanted > 0)) {
      error.forEach((_, i) => i % subcarriers === k && (error[i] = 1));
      continue;
    }
    const filter = lmmseFilter(times, symbols, (distance) => [correlation(distance), 0], variance * strength / wanted);
    for (let i = 0; i < size; i++) out[k * size + i] = power / wanted * filter.weights[2 * i];
    filter.error.forEach((left, symbol) =>
      error[symbol * subcarriers + k] = Math.max(1 - power ** 2 / wanted * (1 - left), 0)
    );
  }
  return { weights: out, error };
}

/** Gains of all OFDM symbols, interleaved [OFDM symbol, subcarrier]. @param rows of the OFDM symbols with pilots, likewise */
export function applyTimeFilter({ weights, error }: TimeFilter, rows: Float64Array, subcarriers: number): Float64Array {
  const symbols = error.length / subcarriers, times = rows.length / (2 * subcarriers);
  const out = new Float64Array(2 * error.length);
  for (let k = 0, at = 0; k < subcarriers; k++) {
    for (let time = 0; time < times; time++) {
      const from = 2 * (time * subcarriers + k);
      for (let symbol = 0; symbol < symbols; symbol++, at++) {
        const to = 2 * (symbol * subcarriers + k);
        out[to] += weights[at] * rows[from];
        out[to + 1] += weights[at] * rows[from + 1];
      }
    }
  }
  return out;
}

/**
 * The rows between which whole places lie: (1 - share)·row[first] + share·row[second]; the nearest row outside.
 * @param places of the rows, ascending
 */
export function rowShares(
  places: ArrayLike<number>,
  count: number,
  { nearest = false }: { nearest?: boolean } = {},
): TimeShares {
  const pairs = new Int32Array(2 * count), shares = new Float64Array(count), last = places.length - 1;
  for (let k = 0, i = 0; k < count; k++) {
    while (i < last && places[i + 1] <= k) i++;
    const next = Math.min(i + 1, last);
    const share = next === i || k <= places[i] ? 0 : (k - places[i]) / (places[next] - places[i]);
    pairs[2 * k] = i;
    pairs[2 * k + 1] = next;
    shares[k] = nearest ? share > 0.5 ? 1 : 0 : share;
  }
  return { pairs, shares };
}

/** Values at given places, interleaved, linearly interpolated to all whole places; the nearest value outside. */
export function interpolate(places: ArrayLike<number>, values: Float64Array, count: number): Float64Array {
  const { pairs, shares } = rowShares(places, count), out = new Float64Array(2 * count);
  for (let k = 0; k < count; k++) {
    const share = shares[k], a = 2 * pairs[2 * k], b = 2 * pairs[2 * k + 1];
    out[2 * k] = (1 - share) * values[a] + share * values[b];
    out[2 * k + 1] = (1 - share) * values[a + 1] + share * values[b + 1];
  }
  return out;
}
