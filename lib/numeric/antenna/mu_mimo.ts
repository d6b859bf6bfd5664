/**
 * Linear precoders of a downlink, y_k = H_k W s + n_k with unit symbols, n_k ~ CN(0, N0 I) and ‖W‖_F² <= P. The rows of all
 * users form H, rows × tx, interleaved binary64; a row acts without conjugate. W is tx × streams.
 *
 *     mrt        w_k = sqrt(P/rows)·conj(h_k)/‖h_k‖
 *     zf         columns of the pseudo-inverse, scaled to the powers p_k; gains 1/‖column‖²
 *     rzf        Hᴴ(HHᴴ + αI)⁻¹, one scale so that ‖W‖_F² = P
 *     bd         right singular vectors of H_k(I - Ṽ_kṼ_kᴴ), Ṽ_k a basis of the rows of the other users; gains σ²
 *     wmmse      u_k = (HV)_kk/(Σ_j |(HV)_kj|² + N0), w_k = 1/(1 - conj(u_k)(HV)_kk),
 *                V = (Σ_k a_k w_k|u_k|² g_kg_kᴴ + μI)⁻¹[a_k w_k u_k g_k], g_k = conj(h_k), μ >= 0 by bisection to
 *                ‖V‖² <= P
 *     rate       log2 det(I + S_kS_kᴴ(N0 I + Σ_{j≠k} H_kW_jW_jᴴH_kᴴ)⁻¹), S_k = H_kW_k
 *
 * Sources: Peel, Hochwald and Swindlehurst, "A vector-perturbation technique for near-capacity multiantenna multiuser
 * communication, part I", IEEE Trans. Commun. 53, 2005; Spencer, Swindlehurst and Haardt, "Zero-forcing methods for downlink
 * spatial multiplexing in multiuser MIMO channels", IEEE Trans. Signal Process. 52, 2004; Shi et al., "An iteratively weighted
 * MMSE approach to distributed sum-utility maximization for a MIMO interfering broadcast channel", IEEE Trans. Signal
 * Process. 59, 2011.
 */
import { maximumRatio } from "./beamforming.ts";
import { energy } from "../linalg/complex.ts";
import { cholesky, type ComplexMatrix, conjugateTranspose, matrixProduct, zeros } from "../linalg/linear_algebra.ts";
import { realFirst, svd } from "../linalg/svd.ts";
import { noiseFloors, waterFill } from "../link/water_filling.ts";

export type PowerRule = "equal" | "water_filling";

/** The channel of all users and the budget. */
export interface Downlink {
  /** rows × tx */
  readonly h: Float64Array;
  readonly users: number;
  /** Receive antennas of a user. */
  readonly rx: number;
  readonly tx: number;
  readonly noise: number;
  readonly power: number;
}

/** Singular values below this share of the largest one count as zero. */
const RANK_TOLERANCE = 1e-12;
/** Halvings of the interval of the Lagrange multiplier μ. */
const HALVINGS = 200;

const rowsOf = ({ users, rx }: Downlink): number => users * rx;

/** Multiplies each column by a real factor, in place. */
function scaleColumns(w: ComplexMatrix, columns: number, factor: (column: number) => number): ComplexMatrix {
  const factors = Float64Array.from({ length: columns }, (_, column) => factor(column));
  for (let i = 0; i < w.length; i++) w[i] *= factors[(i >> 1) % columns];
  return w;
}

/** ‖column‖² of all columns. */
function columnEnergies(w: Float64Array, columns: number): Float64Array<ArrayBuffer> {
  const energies = new Float64Array(columns);
  for (let i = 0; i < w.length; i++) energies[(i >> 1) % columns] += w[i] * w[i];
  return energies;
}

/** Powers of streams from their gains; a stream without gain gets none. */
function sharePower(gains: Float64Array, { noise, power }: Downlink, rule: PowerRule): Float64Array {
  if (rule === "water_filling") return waterFill(noiseFloors(gains, noise), power);
  const live = gains.reduce((count, gain) => count + (gain > 0 ? 1 : 0), 0);
  return gains.map((gain) => gain > 0 ? power / live : 0);
}

/** Maximum ratio with equal powers; a row of zeros gets equal weights. */
export function maximumRatioPrecoder(link: Downlink): ComplexMatrix {
  const rows = rowsOf(link), { h, tx, power } = link, w = zeros(tx, rows), scale = Math.sqrt(power / rows);
  for (let row = 0; row < rows; row++) {
    const weights = maximumRatio(h.subarray(2 * row * tx, 2 * (row + 1) * tx));
    for (let m = 0; m < tx; m++) {
      w[2 * (m * rows + row)] = scale * weights[2 * m];
      w[2 * (m * rows + row) + 1] = -scale * weights[2 * m + 1];
    }
  }
  return w;
}

/** Hᴴ(HHᴴ + αI)⁻¹; the pseudo-inverse for α = 0. */
function regularizedInverse(h: Float64Array, rows: number, tx: number, alpha: number): ComplexMatrix {
  const { u, values, v } = svd(h, rows, tx), rank = values.length, least = RANK_TOLERANCE * values[0];
  scaleColumns(v, rank, (i) => values[i] > least ? values[i] / (values[i] * values[i] + alpha) : 0);
  return matrixProduct(v, conjugateTranspose(u, rows, rank), tx, rank, rows);
}

/** Zero forcing; needs rows <= tx to remove all interference. A dependent row leaves its stream a share of the others. */
export function zeroForcingPrecoder(link: Downlink, rule: PowerRule): ComplexMatrix {
  const rows = rowsOf(link), w = regularizedInverse(link.h, rows, link.tx, 0), energies = columnEnergies(w, rows);
  const gains = energies.map((one) => one > 0 ? 1 / one : 0), powers = sharePower(gains, link, rule);
  return scaleColumns(w, rows, (row) => Math.sqrt(powers[row] * gains[row]));
}

/** Regularised zero forcing. */
export function regularizedPrecoder(link: Downlink, alpha: number): ComplexMatrix {
  const rows = rowsOf(link), w = regularizedInverse(link.h, rows, link.tx, alpha), used = energy(w);
  return scaleColumns(w, rows, () => used > 0 ? Math.sqrt(link.power / used) : 0);
}

/**
 * Block diagonalisation; needs rows <= tx.
 * @returns W with rx streams of a user, strongest first, each with a first component that is real and not negative, and the gains σ² of all streams
 */
export function blockDiagonalPrecoder(link: Downlink, rule: PowerRule): { w: ComplexMatrix; gains: Float64Array } {
  const { h, users, rx, tx } = link, rows = rowsOf(link), size = 2 * rx * tx;
  const w = zeros(tx, rows), gains = new Float64Array(rows);
  for (let user = 0; user < users; user++) {
    const own = h.slice(user * size, (user + 1) * size);
    const effective = users === 1 ? own : withoutRows(own, rx, othersOf(h, user, size), rows - rx, tx);
    const { values, v } = svd(effective, rx, tx), least = RANK_TOLERANCE * Math.sqrt(energy(own));
    realFirst(v, rx);
    for (let stream = 0; stream < rx; stream++) {
      // Right singular vectors of a gain above zero lie in the null space of the other users.
      if (!(values[stream] > least)) continue;
      gains[user * rx + stream] = values[stream] ** 2;
      for (let m = 0; m < tx; m++) {
        w[2 * (m * rows + user * rx + stream)] = v[2 * (m * rx + stream)];
        w[2 * (m * rows + user * rx + stream) + 1] = v[2 * (m * rx + stream) + 1];
      }
    }
  }
  const powers = sharePower(gains, link, rule);
  return { w: scaleColumns(w, rows, (stream) => Math.sqrt(powers[stream])), gains };
}

function othersOf(h: Float64Array, user: number, size: number): Float64Array {
  const others = new Float64Array(h.length - size);
  others.set(h.subarray(0, user * size));
  others.set(h.subarray((user + 1) * size), user * size);
  return others;
}

/** A(I - VVᴴ), where the columns of V are a basis of the rows of B. */
function withoutRows(a: Float64Array, rx: number, b: Float64Array, rows: number, tx: number): ComplexMatrix {
  const { values, v } = svd(b, rows, tx), rank = values.length, least = RANK_TOLERANCE * values[0];
  scaleColumns(v, rank, (i) => values[i] > least ? 1 : 0);
  const along = matrixProduct(matrixProduct(a, v, rx, tx, rank), conjugateTranspose(v, tx, rank), rx, rank, tx);
  return along.map((value, i) => a[i] - value);
}

/**
 * The weighted MMSE iteration from maximum ratio with equal powers, for one receive antenna a user. It never lowers the
 * weighted sum rate.
 * @param weights of the users' rates
 */
export function weightedMmsePrecoder(link: Downlink, weights: ArrayLike<number>, iterations: number): ComplexMatrix {
  const { h, users, tx, noise, power } = link;
  let v = maximumRatioPrecoder(link);
  for (let step = 0; step < iterations; step++) {
    const product = matrixProduct(h, v, users, tx, users);
    // With B = diag(sqrt(a w)|u|)H and E = diag(sqrt(a w)·u/|u|): V = (BᴴB + μI)⁻¹BᴴE, which the SVD of B solves.
    const root = new Float64Array(users), target = zeros(users, users);
    for (let k = 0; k < users; k++) {
      const at = 2 * (k * users + k), re = product[at], im = product[at + 1];
      const others = energy(product.subarray(2 * k * users, at)) +
        energy(product.subarray(at + 2, 2 * (k + 1) * users));
      const size = Math.hypot(re, im), total = size * size + others + noise;
      const weight = Math.sqrt(weights[k] * total / (others + noise));
      root[k] = weight * size / total;
      if (size > 0) {
        target[at] = weight * re / size;
        target[at + 1] = weight * im / size;
      }
    }
    // Users that are switched off fade by a factor an iteration; zeros keep their squares from underflowing.
    const least = RANK_TOLERANCE * root.reduce((most, one) => Math.max(most, one), 0);
    const rows = h.map((value, i) => {
      const own = root[Math.floor(i / (2 * tx))];
      return own > least ? value * own : 0;
    });
    v = powerLimitedInverse(rows, target, users, tx, power);
  }
  return v;
}

/** (BᴴB + μI)⁻¹BᴴE with the least μ >= 0 at which ‖·‖_F² <= P. */
function powerLimitedInverse(
  b: Float64Array,
  e: Float64Array,
  users: number,
  tx: number,
  power: number,
): ComplexMatrix {
  const { u, values, v } = svd(b, users, tx), rank = values.length;
  const inner = matrixProduct(conjugateTranspose(u, users, rank), e, rank, users, users);
  const least = RANK_TOLERANCE * values[0];
  const shares = Float64Array.from(values, (_, i) => energy(inner.subarray(2 * i * users, 2 * (i + 1) * users)));
  const factor = (i: number, multiplier: number) => values[i] > least ? values[i] / (values[i] ** 2 + multiplier) : 0;
  const used = (multiplier: number) => shares.reduce((sum, share, i) => sum + share * factor(i, multiplier) ** 2, 0);
  let multiplier = 0;
  if (used(0) > power) {
    let low = 0;
    multiplier = Math.sqrt(shares.reduce((sum, share, i) => sum + share * values[i] ** 2, 0) / power);
    for (let halving = 0; halving < HALVINGS; halving++) {
      const middle = (low + multiplier) / 2;
      if (used(middle) > power) low = middle;
      else multiplier = middle;
    }
  }
  scaleColumns(v, rank, (i) => factor(i, multiplier));
  return matrixProduct(v, inner, tx, rank, users);
}

/** Rates, signal and interference powers of the users. */
export interface UserRates {
  /** bit/s/Hz */
  rates: Float64Array<ArrayBuffer>;
  signal: Float64Array<ArrayBuffer>;
  interference: Float64Array<ArrayBuffer>;
}

/**
 * What the users receive; a user decodes its own streams jointly and takes the others as noise.
 * @param w tx × streams, the streams of a user side by side
 */
export function userRates(link: Downlink, w: Float64Array, streams: number): UserRates {
  const { h, users, rx, tx, noise } = link, own = streams / users;
  const rates = new Float64Array(users), signal = new Float64Array(users), interference = new Float64Array(users);
  const product = matrixProduct(h, w, rowsOf(link), tx, streams);
  for (let user = 0; user < users; user++) {
    const noiseOnly = zeros(rx, rx), all = zeros(rx, rx);
    for (let i = 0; i < rx; i++) noiseOnly[2 * (i * rx + i)] = all[2 * (i * rx + i)] = noise;
    for (let stream = 0; stream < streams; stream++) {
      const wanted = Math.floor(stream / own) === user;
      let received = 0;
      for (let i = 0; i < rx; i++) {
        const p = 2 * ((user * rx + i) * streams + stream);
        received += product[p] ** 2 + product[p + 1] ** 2;
        for (let j = 0; j <= i; j++) {
          const q = 2 * ((user * rx + j) * streams + stream), at = 2 * (i * rx + j);
          const re = product[p] * product[q] + product[p + 1] * product[q + 1];
          const im = product[p + 1] * product[q] - product[p] * product[q + 1];
          all[at] += re;
          all[at + 1] += im;
          if (wanted) continue;
          noiseOnly[at] += re;
          noiseOnly[at + 1] += im;
        }
      }
      (wanted ? signal : interference)[user] += received;
    }
    rates[user] = rx === 1
      ? Math.log1p(signal[user] / (noise + interference[user])) * Math.LOG2E
      : Math.max(logDeterminant(all, rx) - logDeterminant(noiseOnly, rx), 0);
  }
  return { rates, signal, interference };
}

/** log2 det of a positive definite matrix. */
function logDeterminant(a: Float64Array, n: number): number {
  const lower = cholesky(a, n);
  let log = 0;
  for (let i = 0; i < n; i++) log += 2 * Math.log2(lower[2 * (i * n + i)]);
  return log;
}

/** Jain's index (Σx)²/(n Σx²), 1 for equal shares; undefined when all are zero. */
export function jainIndex(shares: ArrayLike<number>): number | undefined {
  let sum = 0, squares = 0;
  for (let i = 0; i < shares.length; i++) {
    sum += shares[i];
    squares += shares[i] ** 2;
  }
  return squares > 0 ? sum * sum / (shares.length * squares) : undefined;
}

/** Singular values squared of one user's channel, its right singular vectors tx × rank, and the powers by water-filling. */
function singleUserStreams({ h, rx, tx, noise, power }: Downlink, user: number) {
  const { values, v } = svd(h.slice(2 * user * rx * tx, 2 * (user + 1) * rx * tx), rx, tx);
  const gains = values.map((value) => value * value);
  return { gains, v, powers: waterFill(noiseFloors(gains, noise), power) };
}

/** The rate of one user served alone with the whole power: water-filling over its singular values. */
export function singleUserRate(link: Downlink, user: number): number {
  const { gains, powers } = singleUserStreams(link, user);
  return powers.reduce((rate, own, i) => rate + Math.log1p(own * gains[i] / link.noise) * Math.LOG2E, 0);
}

/** The precoder of one user served alone with the whole power. @returns W, tx × streams */
export function singleUserPrecoder(link: Downlink, user: number): { w: ComplexMatrix; streams: number } {
  const { v, powers } = singleUserStreams(link, user);
  return { w: scaleColumns(v, powers.length, (stream) => Math.sqrt(powers[stream])), streams: powers.length };
}
