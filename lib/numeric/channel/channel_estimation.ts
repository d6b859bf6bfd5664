/**
 * Channel estimation from pilots on a grid of subcarriers. Transmit antenna t sends the pilots x_t on its own
 * subcarriers p; a receive antenna receives y_p = h_p·x_p + n_p there, n ~ CN(0, N0):
 *
 *     least squares   h_LS = y/x at the pilots, an error of variance N0/|x|²; between them real and imaginary part are
 *                     interpolated linearly; outside, the nearest pilot counts
 *     linear MMSE     ĥ = R_kp·(R_pp + N0·I)⁻¹·h_LS, with the error covariance R_kk - R_kp·(R_pp + N0·I)⁻¹·R_pk
 *
 * R belongs to L taps one sample apart of powers P_l ∝ e^{-l}, of sum 1: with A_kl = sqrt(P_l)·exp(-j2πkl/F) it is AAᴴ. So the
 * MMSE estimate is A·g for the taps g that minimise ‖h_LS - A_p·g‖² + N0·‖g‖², a ridge regression; solved by QR it stays accurate
 * where R_pp + N0·I is close to singular.
 *
 * Sources: van de Beek et al., "On channel estimation in OFDM systems", VTC 1995; Kay, Fundamentals of Statistical Signal
 * Processing: Estimation Theory, 1993, sections 11.5 and 15.8.
 */
import { exponentialProfile } from "./delay_profile.ts";
import { type ComplexMatrix, matrixProduct, zeros } from "../linalg/linear_algebra.ts";
import { leastSquares } from "../linalg/qr.ts";

/** Lower limit of the noise variance. */
const LEAST_NOISE_VARIANCE = 1e-12;

type Values = Float32Array | Float64Array;

/** Subcarriers on which each antenna sends a pilot, ascending. @param pilots [tx, subcarrier], interleaved; 0 is no pilot */
export function pilotPositions(pilots: Values, tx: number, subcarriers: number): number[][] {
  return Array.from({ length: tx }, (_, t) => {
    const row = t * subcarriers;
    return Array.from({ length: subcarriers }, (_, k) => k)
      .filter((k) => pilots[2 * (row + k)] !== 0 || pilots[2 * (row + k) + 1] !== 0);
  });
}

/**
 * y/x at the pilots, 0 elsewhere.
 * @param received [row, subcarrier], one row per example and receive antenna
 * @param pilots [tx, subcarrier]
 * @returns [row, tx, subcarrier]
 */
export function pilotLeastSquares(
  received: Values,
  pilots: Values,
  positions: readonly (readonly number[])[],
  subcarriers: number,
): Float64Array<ArrayBuffer> {
  const tx = positions.length, rows = received.length / (2 * subcarriers);
  const sparse = new Float64Array(2 * rows * tx * subcarriers);
  for (let row = 0; row < rows; row++) {
    positions.forEach((own, t) => {
      for (const k of own) {
        const y = 2 * (row * subcarriers + k), x = 2 * (t * subcarriers + k);
        const xr = pilots[x], xi = pilots[x + 1], power = xr * xr + xi * xi;
        const into = 2 * ((row * tx + t) * subcarriers + k);
        sparse[into] = (received[y] * xr + received[y + 1] * xi) / power;
        sparse[into + 1] = (received[y + 1] * xr - received[y] * xi) / power;
      }
    });
  }
  return sparse;
}

/** Fills the gaps between pilots linearly. @param sparse [row, tx, subcarrier], known at the positions */
export function interpolatePilots(
  sparse: Values,
  positions: readonly (readonly number[])[],
  subcarriers: number,
): Float64Array<ArrayBuffer> {
  const full = new Float64Array(sparse.length), tx = positions.length;
  for (let at = 0, row = 0; at < full.length; at += 2 * subcarriers, row++) {
    const own = positions[row % tx];
    let next = 0;
    for (let k = 0; k < subcarriers; k++) {
      while (next < own.length && own[next] < k) next++;
      const right = own[Math.min(next, own.length - 1)], left = own[Math.max(next - 1, 0)];
      const weight = right > k && left < k ? (k - left) / (right - left) : 1;
      for (let part = 0; part < 2; part++) {
        full[at + 2 * k + part] = (1 - weight) * sparse[at + 2 * left + part] +
          weight * sparse[at + 2 * right + part];
      }
    }
  }
  return full;
}

export interface TapPrior {
  /** F */
  subcarriers: number;
  /** L */
  taps: number;
}

/** A of R = AAᴴ, [subcarrier, tap]. */
function responses({ subcarriers, taps }: TapPrior, rows: readonly number[]): ComplexMatrix {
  const { powers } = exponentialProfile(taps, 1), out = zeros(rows.length, taps);
  rows.forEach((k, row) => {
    for (let l = 0; l < taps; l++) {
      const angle = -2 * Math.PI * (k * l % subcarriers) / subcarriers, at = 2 * (row * taps + l);
      out[at] = Math.sqrt(powers[l]) * Math.cos(angle);
      out[at + 1] = Math.sqrt(powers[l]) * Math.sin(angle);
    }
  });
  return out;
}

export interface MmseFilter {
  /** R_kp·(R_pp + N0·I)⁻¹, [subcarrier, pilot]. */
  weights: ComplexMatrix;
  /** Error variance of each subcarrier, if the prior is true. */
  errors: Float64Array;
}

/** The linear MMSE filter of one antenna with pilots of modulus 1. @param noiseVariance N0, floored at 1e-12 */
export function mmseFilter(positions: readonly number[], prior: TapPrior, noiseVariance: number): MmseFilter {
  const { subcarriers, taps } = prior, count = positions.length;
  const noise = Math.max(noiseVariance, LEAST_NOISE_VARIANCE);
  const all = responses(prior, Array.from({ length: subcarriers }, (_, k) => k)), some = responses(prior, positions);
  // [A_p; sqrt(N0)·I] g = [I; 0], one column per pilot.
  const system = zeros(count + taps, taps), right = zeros(count + taps, count);
  system.set(some);
  for (let l = 0; l < taps; l++) system[2 * ((count + l) * taps + l)] = Math.sqrt(noise);
  for (let p = 0; p < count; p++) right[2 * (p * count + p)] = 1;
  const weights = matrixProduct(all, leastSquares(system, right, count + taps, taps, count), subcarriers, taps, count);
  // The filter's answer to A_p is A less the error's share of every tap.
  const seen = matrixProduct(weights, some, subcarriers, count, taps);
  const errors = new Float64Array(subcarriers), row = all.length / subcarriers;
  for (let i = 0; i < all.length; i++) errors[Math.floor(i / row)] += all[i] * (all[i] - seen[i]);
  return { weights, errors };
}

/** Applies the filter of each antenna. @param sparse [row, tx, subcarrier], known at the positions */
export function applyMmse(
  sparse: Values,
  positions: readonly (readonly number[])[],
  filters: readonly MmseFilter[],
  subcarriers: number,
): Float64Array<ArrayBuffer> {
  const full = new Float64Array(sparse.length), tx = positions.length;
  for (let at = 0, row = 0; at < full.length; at += 2 * subcarriers, row++) {
    const own = positions[row % tx], { weights } = filters[row % tx];
    for (let k = 0, w = 0; k < subcarriers; k++) {
      let real = 0, imaginary = 0;
      for (let p = 0; p < own.length; p++, w += 2) {
        const hr = sparse[at + 2 * own[p]], hi = sparse[at + 2 * own[p] + 1];
        real += weights[w] * hr - weights[w + 1] * hi;
        imaginary += weights[w] * hi + weights[w + 1] * hr;
      }
      full[at + 2 * k] = real;
      full[at + 2 * k + 1] = imaginary;
    }
  }
  return full;
}
