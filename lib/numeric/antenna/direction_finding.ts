/**
 * Direction of arrival of one source in white noise at a uniform linear array of M antennas, d wavelengths apart:
 *
 *     x_n = a(θ)·s_n + noise,   a_m(θ) = exp(+j2πd·m·sin θ), m = 0 … M-1,   R = XXᴴ/N
 *
 *     Bartlett    maximum of aᴴRa over a grid
 *     MUSIC       minimum of ‖E_nᴴa‖², E_n the M-1 eigenvectors of R with the smallest eigenvalues
 *
 * An extremum inside the grid is moved to the vertex of the parabola through it and its neighbours. Equal values go to
 * the smallest modulus, then to the negative angle. One antenna, or zero signal, gives 0. Angles are degrees from
 * broadside; with d > 1/2 several directions share a steering vector, and the one nearest to broadside is returned.
 *
 * Sources: Schmidt, "Multiple emitter location and signal parameter estimation", IEEE Trans. AP 34, 1986; Stoica and Nehorai,
 * "Performance study of conditional and unconditional direction-of-arrival estimation", IEEE Trans. ASSP 38, 1990 (bound).
 */
import { hermitianEigen } from "../linalg/hermitian_eigen.ts";
import { type ComplexMatrix, zeros } from "../linalg/linear_algebra.ts";
import { radians, steeringVector } from "./array_response.ts";

/** Values closer than this share of the largest one are equal. */
const EQUAL = 1e-12;

/** A search over a grid of directions for one kind of array. */
export class DirectionSearch {
  /** Steering vectors, one after another. */
  readonly #steering: Float64Array;
  /** Grid points from broadside outwards, the negative one of a pair first. */
  readonly #order: number[];

  /** @param grid ascending degrees at equal steps */
  constructor(readonly grid: Float64Array, readonly antennas: number, readonly spacing: number) {
    this.#steering = new Float64Array(2 * antennas * grid.length);
    grid.forEach((angle, k) => this.#steering.set(steeringVector(angle, antennas, spacing), 2 * antennas * k));
    this.#order = Array.from(grid, (_, k) => k).sort((p, q) =>
      Math.abs(grid[p]) - Math.abs(grid[q]) || grid[p] - grid[q]
    );
  }

  /** @param r the sample covariance */
  bartlett(r: ComplexMatrix): number {
    if (this.antennas === 1 || isSilent(r)) return 0;
    // Negated aᴴRa, so that both searches find a minimum.
    return this.#minimum((a) => -quadraticForm(r, this.#steering, a, this.antennas));
  }

  /** @param r the sample covariance */
  music(r: ComplexMatrix): number {
    if (this.antennas === 1 || isSilent(r)) return 0;
    const projector = noiseProjector(r, this.antennas);
    return this.#minimum((a) => quadraticForm(projector, this.#steering, a, this.antennas));
  }

  #minimum(valueAt: (offset: number) => number): number {
    const { grid } = this, values = Float64Array.from(grid, (_, k) => valueAt(2 * this.antennas * k));
    let largest = 0;
    for (const value of values) largest = Math.max(largest, Math.abs(value));
    let best = this.#order[0];
    for (const k of this.#order) if (values[k] < values[best] - EQUAL * largest) best = k;
    if (best === 0 || best === grid.length - 1) return grid[best];
    const [before, at, after] = [values[best - 1], values[best], values[best + 1]];
    const bend = before - 2 * at + after;
    const shift = bend > EQUAL * largest ? 0.5 * (before - after) / bend : 0;
    return grid[best] + Math.min(1, Math.max(-1, shift)) * (grid[best + 1] - grid[best]);
  }
}

/**
 * The unconditional Cramér-Rao bound of the variance of a direction estimate, degrees squared: var = 6/(N·ρ·M(M²-1))·(1
 * + 1/(Mρ)) / (2πd·cos θ)², ρ the Es/N0 per antenna; Infinity for one antenna.
 */
export function directionCramerRao(
  degrees: number,
  { antennas, snapshots, snr, spacing }: { antennas: number; snapshots: number; snr: number; spacing: number },
): number {
  const slope = 2 * Math.PI * spacing * Math.cos(radians(degrees)) * Math.PI / 180;
  const phase = 6 / (snapshots * snr * antennas * (antennas ** 2 - 1)) * (1 + 1 / (antennas * snr));
  return phase / (slope * slope);
}

/** E_n·E_nᴴ */
function noiseProjector(r: ComplexMatrix, antennas: number): ComplexMatrix {
  const { vectors } = hermitianEigen(r, antennas), projector = zeros(antennas, antennas);
  for (let i = 0; i < antennas; i++) {
    for (let j = 0; j < antennas; j++) {
      let real = 0, imaginary = 0;
      for (let k = 0; k < antennas - 1; k++) {
        const p = 2 * (i * antennas + k), q = 2 * (j * antennas + k);
        real += vectors[p] * vectors[q] + vectors[p + 1] * vectors[q + 1];
        imaginary += vectors[p + 1] * vectors[q] - vectors[p] * vectors[q + 1];
      }
      projector[2 * (i * antennas + j)] = real;
      projector[2 * (i * antennas + j) + 1] = imaginary;
    }
  }
  return projector;
}

/** aᴴCa of a Hermitian C. */
function quadraticForm(c: ComplexMatrix, vectors: Float64Array, offset: number, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const xr = vectors[offset + 2 * i], xi = vectors[offset + 2 * i + 1];
    sum += c[2 * (i * n + i)] * (xr * xr + xi * xi);
    for (let j = 0; j < i; j++) {
      const yr = vectors[offset + 2 * j], yi = vectors[offset + 2 * j + 1], at = 2 * (i * n + j);
      // 2·Re(x_i*·c_ij·x_j)
      sum += 2 * (c[at] * (xr * yr + xi * yi) + c[at + 1] * (xi * yr - xr * yi));
    }
  }
  return sum;
}

const isSilent = (r: ComplexMatrix) => r.every((value) => value === 0);
