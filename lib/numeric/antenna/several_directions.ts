/**
 * Directions of arrival of several sources at a uniform linear array of M antennas, d wavelengths apart. With R = Σ λ_k e_k e_kᴴ
 * the spectra over a grid of directions are
 *
 *     Bartlett   aᴴRa,   Capon   1/aᴴ(R + δI)⁻¹a,   MUSIC   1/‖E_nᴴa‖²
 *
 * with E_n the M - K eigenvectors of the smallest eigenvalues. Their K largest inner local maxima are moved to the vertex of
 * the parabola through ln(spectrum) at them and their neighbours. Without a grid:
 *
 *     root-MUSIC   roots z of aᴴE_nE_nᴴa in z = exp(j2πd·sin θ), one of each pair z, 1/z*, the K nearest to the unit circle
 *     ESPRIT       eigenvalues of the Φ with J₁E_sΦ = J₂E_s, by least squares or total least squares
 *
 * Angles are degrees from broadside, ascending; a phase beyond endfire, which d < 1/2 permits, is taken at ±90. With d > 1/2
 * several directions share a steering vector: a grid finds them all, the others return the one nearest to broadside.
 *
 * Sources: Schmidt, IEEE Trans. AP 34, 1986; Barabell, "Improving the resolution performance of eigenstructure-based
 * direction-finding algorithms", ICASSP 1983; Roy and Kailath, "ESPRIT", IEEE Trans. ASSP 37, 1989; Capon, Proc. IEEE 57, 1969;
 * Wax and Kailath, "Detection of signals by information theoretic criteria", IEEE Trans. ASSP 33, 1985; Shan, Wax and Kailath,
 * "On spatial smoothing for direction-of-arrival estimation of coherent signals", IEEE Trans. ASSP 33, 1985; Stoica and
 * Nehorai, "Performance study of conditional and unconditional direction-of-arrival estimation", IEEE Trans. ASSP 38, 1990.
 */
import { complexEigenvalues, polynomialRoots } from "../linalg/complex_eigen.ts";
import { steeringVector } from "./array_response.ts";
import { type Directions, filled } from "./array_spectrum.ts";
import { hermitianEigen } from "../linalg/hermitian_eigen.ts";
import type { HermitianEigen } from "../linalg/hermitian_reference.ts";
import { type ComplexMatrix, conjugateTranspose, matrixProduct, zeros } from "../linalg/linear_algebra.ts";
import { leastSquares } from "../linalg/qr.ts";

export type OrderCriterion = "mdl" | "aic";

/** (R + J R* J) / 2 */
export function forwardBackward(r: ComplexMatrix, n: number): ComplexMatrix {
  const count = n * n;
  return Float64Array.from(r, (value, i) => {
    const mirrored = 2 * (count - 1 - (i >> 1));
    return (value + (i % 2 === 0 ? r[mirrored] : -r[mirrored + 1])) / 2;
  });
}

/** The mean covariance of the subarrays of `size` neighbouring antennas. */
export function spatiallySmoothed(r: ComplexMatrix, n: number, size: number): ComplexMatrix {
  const mean = zeros(size, size), places = n - size + 1;
  for (let start = 0; start < places; start++) {
    for (let i = 0; i < size; i++) {
      const row = 2 * ((start + i) * n + start);
      for (let j = 0; j < 2 * size; j++) mean[2 * i * size + j] += r[row + j] / places;
    }
  }
  return mean;
}

/**
 * Number of sources, 0 to M - 1, by the criterion of Wax and Kailath. Eigenvalues below the rounding of the largest count as
 * that rounding.
 * @param values eigenvalues of the covariance, ascending
 */
export function sourceOrder(values: Float64Array, snapshots: number, criterion: OrderCriterion): number {
  const antennas = values.length, floor = antennas * Number.EPSILON * values[antennas - 1];
  if (!(floor > 0)) return 0;
  let order = 0, least = Infinity;
  for (let k = 0; k < antennas; k++) {
    const rest = antennas - k;
    let sum = 0, logs = 0;
    for (let i = 0; i < rest; i++) {
      const value = Math.max(values[i], floor);
      sum += value;
      logs += Math.log(value);
    }
    const misfit = snapshots * (rest * Math.log(sum / rest) - logs), free = k * (2 * antennas - k);
    const cost = criterion === "aic" ? 2 * misfit + 2 * free : misfit + 0.5 * free * Math.log(snapshots);
    if (cost < least) [order, least] = [k, cost];
  }
  return order;
}

/** Degrees of the phase between neighbouring antennas. */
function directionOf(real: number, imaginary: number, spacing: number): number {
  const sine = Math.atan2(imaginary, real) / (2 * Math.PI * spacing);
  return Math.asin(Math.min(1, Math.max(-1, sine))) * 180 / Math.PI;
}

/** Columns of the eigenvectors, M × count, from a column on. */
function columnsFrom({ vectors }: HermitianEigen, n: number, from: number, count: number, rows = n, skip = 0) {
  const out = zeros(rows, count);
  for (let i = 0; i < rows; i++) {
    const start = 2 * ((i + skip) * n + from);
    out.set(vectors.subarray(start, start + 2 * count), 2 * i * count);
  }
  return out;
}

/** Root-MUSIC. @param sources at least 1, less than the antennas */
export function rootMusic(eigen: HermitianEigen, antennas: number, sources: number, spacing: number): Directions {
  const noise = columnsFrom(eigen, antennas, 0, antennas - sources);
  const projector = matrixProduct(
    noise,
    conjugateTranspose(noise, antennas, antennas - sources),
    antennas,
    antennas - sources,
    antennas,
  );
  // aᴴCa = Σ C_mn z^(n - m)
  const coefficients = new Float64Array(2 * (2 * antennas - 1));
  for (let m = 0; m < antennas; m++) {
    for (let n = 0; n < antennas; n++) {
      const power = 2 * (n - m + antennas - 1), at = 2 * (m * antennas + n);
      coefficients[power] += projector[at];
      coefficients[power + 1] += projector[at + 1];
    }
  }
  const found = polynomialRoots(coefficients);
  const roots = Array.from({ length: found.length / 2 }, (_, k) => {
    const real = found[2 * k], imaginary = found[2 * k + 1], modulus = Math.hypot(real, imaginary);
    return { real, imaginary, modulus, distance: 1 - Math.min(modulus, 1 / modulus) };
  });
  const angles: number[] = [];
  while (angles.length < sources && roots.length > 0) {
    roots.sort((p, q) => p.distance - q.distance || p.real - q.real);
    const { real, imaginary, modulus } = roots.shift()!;
    angles.push(directionOf(real, imaginary, spacing));
    // Removes the partner 1/z*: rounding may put a double root on the circle instead of one on each side.
    const square = modulus * modulus;
    const away = roots.map((other) => Math.hypot(other.real - real / square, other.imaginary - imaginary / square));
    roots.splice(away.indexOf(Math.min(...away)), 1);
  }
  return filled(angles, sources, () => 0);
}

/** ESPRIT. @param sources at least 1, less than the antennas */
export function esprit(
  eigen: HermitianEigen,
  antennas: number,
  sources: number,
  { spacing, variant }: { spacing: number; variant: "ls" | "tls" },
): Directions {
  const rows = antennas - 1;
  const [lower, upper] = [0, 1].map((skip) => columnsFrom(eigen, antennas, antennas - sources, sources, rows, skip));
  const phi = variant === "ls"
    ? leastSquares(lower, upper, rows, sources, sources)
    : totalLeastSquares(lower, upper, rows, sources);
  const turns = complexEigenvalues(phi, sources);
  const angles = Array.from({ length: sources }, (_, k) => directionOf(turns[2 * k], turns[2 * k + 1], spacing));
  return filled(angles, sources, () => 0);
}

/** The Φ with AΦ ≈ B of total least squares: -V₁₂V₂₂⁻¹ of the right singular vectors of [A B]. */
function totalLeastSquares(a: ComplexMatrix, b: ComplexMatrix, rows: number, n: number): ComplexMatrix {
  const both = zeros(rows, 2 * n);
  for (let i = 0; i < rows; i++) {
    both.set(a.subarray(2 * i * n, 2 * (i + 1) * n), 4 * i * n);
    both.set(b.subarray(2 * i * n, 2 * (i + 1) * n), 4 * i * n + 2 * n);
  }
  const eigen = hermitianEigen(matrixProduct(conjugateTranspose(both, rows, 2 * n), both, 2 * n, rows, 2 * n), 2 * n);
  const v12 = columnsFrom(eigen, 2 * n, 0, n, n), v22 = columnsFrom(eigen, 2 * n, 0, n, n, n);
  // V₂₂ᴴΦᴴ = -V₁₂ᴴ
  const solved = leastSquares(conjugateTranspose(v22, n, n), conjugateTranspose(v12, n, n), n, n, n);
  return conjugateTranspose(solved, n, n).map((value) => -value);
}

/** Covariance of sources of given powers, √(p_i p_j)·ρ for each pair; K × K, row-major. */
export function sourceCovariance(powers: readonly number[], correlation: number): Float64Array {
  const k = powers.length;
  return Float64Array.from({ length: k * k }, (_, at) => {
    const i = Math.floor(at / k), j = at % k;
    return i === j ? powers[i] : correlation * Math.sqrt(powers[i] * powers[j]);
  });
}

/** The lower triangular L with LLᵀ = P of a real positive semidefinite P, K × K row-major. */
export function lowerFactor(covariance: Float64Array, k: number): Float64Array {
  const lower = new Float64Array(k * k);
  for (let j = 0; j < k; j++) {
    for (let i = j; i < k; i++) {
      let rest = covariance[i * k + j];
      for (let l = 0; l < j; l++) rest -= lower[i * k + l] * lower[j * k + l];
      if (i === j) lower[i * k + j] = rest > k * Number.EPSILON * covariance[i * k + i] ? Math.sqrt(rest) : 0;
      else if (lower[j * k + j] > 0) lower[i * k + j] = rest / lower[j * k + j];
    }
  }
  return lower;
}

/** Sources and array of a bound. */
export interface SourcesAtArray {
  antennas: number;
  snapshots: number;
  /** Between antennas, in wavelengths. */
  spacing: number;
  noiseVariance: number;
  /** Covariance of the sources, real, K × K row-major. */
  covariance: Float64Array;
}

/**
 * The stochastic Cramér-Rao bound of the variance of each direction, degrees squared:
 * σ²/(2N)·[Re(DᴴΠD ⊙ (PAᴴR⁻¹AP)ᵀ)]⁻¹, Π the projector orthogonal to A, D the derivatives of A's columns.
 * @returns Infinity for all where the directions cannot be distinguished
 */
export function stochasticCramerRao(
  degrees: Float64Array,
  { antennas, snapshots, spacing, noiseVariance, covariance }: SourcesAtArray,
): Float64Array {
  const k = degrees.length, a = zeros(antennas, k), d = zeros(antennas, k), p = zeros(k, k), unit = zeros(k, k);
  if (k >= antennas) return new Float64Array(k).fill(Infinity);
  degrees.forEach((angle, source) => {
    const column = steeringVector(angle, antennas, spacing);
    const slope = 2 * Math.PI * spacing * Math.cos(angle * Math.PI / 180) * Math.PI / 180;
    for (let m = 0; m < antennas; m++) {
      const at = 2 * (m * k + source);
      a.set(column.subarray(2 * m, 2 * m + 2), at);
      // da/dθ = j·slope·m·a
      d[at] = -slope * m * column[2 * m + 1];
      d[at + 1] = slope * m * column[2 * m];
    }
    for (let other = 0; other < k; other++) p[2 * (source * k + other)] = covariance[source * k + other];
    unit[2 * (source * k + source)] = 1;
  });
  const ap = matrixProduct(a, p, antennas, k, k);
  const r = matrixProduct(ap, conjugateTranspose(a, antennas, k), antennas, k, antennas);
  for (let m = 0; m < antennas; m++) r[2 * (m * antennas + m)] += noiseVariance;
  try {
    const fitted = matrixProduct(a, leastSquares(a, d, antennas, k, k), antennas, k, k);
    const outside = d.map((value, i) => value - fitted[i]);
    const h = matrixProduct(conjugateTranspose(d, antennas, k), outside, k, antennas, k);
    const inner = leastSquares(r, ap, antennas, antennas, k);
    const weight = matrixProduct(conjugateTranspose(ap, antennas, k), inner, k, antennas, k);
    const information = zeros(k, k);
    for (let i = 0; i < k; i++) {
      for (let j = 0; j < k; j++) {
        const at = 2 * (i * k + j), across = 2 * (j * k + i);
        information[at] = h[at] * weight[across] - h[at + 1] * weight[across + 1];
      }
    }
    const inverse = leastSquares(information, unit, k, k, k);
    return Float64Array.from(degrees, (_, i) => noiseVariance / (2 * snapshots) * inverse[2 * (i * k + i)]);
  } catch (error) {
    if (error instanceof RangeError) return new Float64Array(k).fill(Infinity);
    throw error;
  }
}

/**
 * Pairs of two ascending lists with the least sum of squared differences: all members of the shorter list, each with its
 * own member of the longer one. On a line the best pairs do not cross.
 * @returns for each member of `wanted` an index into `given`, -1 where it is left over
 */
export function closestPairs(wanted: Float64Array, given: Float64Array): Int32Array {
  if (wanted.length > given.length) {
    const pairs = new Int32Array(wanted.length).fill(-1);
    closestPairs(given, wanted).forEach((index, at) => pairs[index] = at);
    return pairs;
  }
  const rows = wanted.length, columns = given.length, width = columns + 1;
  // Least cost of the first i wanted ones among the first j given ones.
  const cost = new Float64Array((rows + 1) * width).fill(Infinity).fill(0, 0, width);
  const taken = (i: number, j: number) => cost[(i - 1) * width + j - 1] + (wanted[i - 1] - given[j - 1]) ** 2;
  for (let i = 1; i <= rows; i++) {
    for (let j = i; j <= columns; j++) cost[i * width + j] = Math.min(cost[i * width + j - 1], taken(i, j));
  }
  const pairs = new Int32Array(rows);
  for (let i = rows, j = columns; i > 0; j--) {
    if (cost[i * width + j] !== taken(i, j)) continue;
    pairs[--i] = j - 1;
  }
  return pairs;
}
