/**
 * Spectra of direction finding over a grid, and their peaks: Bartlett aᴴRa, Capon 1/aᴴ(R + δI)⁻¹a, MUSIC 1/‖E_nᴴa‖². Conventions and
 * sources: ./several_directions.ts.
 */
import { steeringVector } from "./array_response.ts";
import type { HermitianEigen } from "../linalg/hermitian_reference.ts";

export type Spectrum = "music" | "capon" | "bartlett";

/** Directions of one covariance. */
export interface Directions {
  /** Degrees, ascending. */
  angles: Float64Array;
  /** Directions that the method did not find: the strongest one is repeated. */
  missing: number;
  /** Degrees; of methods without a spectrum the first one found. */
  strongest: number;
}

/** Below this a spectrum's denominator is rounding. */
const LEAST = 1e-300;

/** Whether R + δI has no inverse. @param values eigenvalues of R, ascending @param loading δ */
export function isSingular(values: Float64Array, loading: number): boolean {
  return !(values[0] + loading > values.length * Number.EPSILON * values[values.length - 1]);
}

/** Spectra over a grid for one kind of array. */
export class SpectrumSearch {
  readonly #steering: Float64Array;

  /** @param grid ascending degrees at equal steps */
  constructor(readonly grid: Float64Array, readonly antennas: number, spacing: number) {
    this.#steering = new Float64Array(2 * antennas * grid.length);
    grid.forEach((angle, k) => this.#steering.set(steeringVector(angle, antennas, spacing), 2 * antennas * k));
  }

  /**
   * The spectrum at the grid points.
   * @param eigen of the covariance
   * @param sources size of the signal subspace of MUSIC
   * @param loading δ of Capon
   * @throws RangeError when Capon's covariance has no inverse
   */
  spectrum({ values, vectors }: HermitianEigen, method: Spectrum, sources: number, loading = 0): Float64Array {
    const n = this.antennas;
    const weights = values.map((value, k) => {
      if (method === "bartlett") return Math.max(value, 0);
      return method === "music" ? Number(k < n - sources) : 1 / (value + loading);
    });
    if (method === "capon" && isSingular(values, loading)) {
      throw new RangeError("Cannot invert the covariance: it is singular");
    }
    return Float64Array.from(this.grid, (_, point) => {
      let form = 0;
      for (let k = 0; k < n; k++) {
        if (weights[k] === 0) continue;
        // e_kᴴa
        let real = 0, imaginary = 0;
        for (let m = 0, a = 2 * n * point; m < n; m++, a += 2) {
          const at = 2 * (m * n + k), er = vectors[at], ei = vectors[at + 1];
          real += er * this.#steering[a] + ei * this.#steering[a + 1];
          imaginary += er * this.#steering[a + 1] - ei * this.#steering[a];
        }
        form += weights[k] * (real * real + imaginary * imaginary);
      }
      form = Math.max(form, LEAST);
      return method === "bartlett" ? form : 1 / form;
    });
  }

  /** The directions of the largest inner local maxima. */
  peaks(spectrum: Float64Array, count: number): Directions {
    const found: number[] = [], step = this.grid[1] - this.grid[0];
    for (let k = 1; k < spectrum.length - 1; k++) {
      if (spectrum[k] > spectrum[k - 1] && spectrum[k] >= spectrum[k + 1]) found.push(k);
    }
    const strongest = found.sort((p, q) => spectrum[q] - spectrum[p] || p - q).slice(0, count);
    const angles = strongest.map((k) => {
      const [before, at, after] = [-1, 0, 1].map((offset) => Math.log(spectrum[k + offset]));
      const bend = before - 2 * at + after;
      // The logarithms of a peak of one rounding step are equal.
      return this.grid[k] + (bend < 0 ? 0.5 * step * (before - after) / bend : 0);
    });
    return filled(angles, count, () => this.#highest(spectrum));
  }

  /** The grid point of the largest value; of equal ones the nearest to broadside. */
  #highest(spectrum: Float64Array): number {
    return Array.from(this.grid, (angle, k) => ({ angle, value: spectrum[k] })).sort((p, q) =>
      q.value - p.value || Math.abs(p.angle) - Math.abs(q.angle) || p.angle - q.angle
    )[0].angle;
  }
}

/** Directions in order of strength, the strongest one repeated up to a count. */
export function filled(angles: number[], count: number, otherwise: () => number): Directions {
  const missing = count - angles.length, strongest = angles[0] ?? otherwise();
  return { angles: Float64Array.from([...angles, ...Array(missing).fill(strongest)]).sort(), missing, strongest };
}
