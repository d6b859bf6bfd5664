/** A uniform linear array: its response to a direction, and the covariance of its snapshots. */
import { type ComplexMatrix, zeros } from "../linalg/linear_algebra.ts";

/** An angle in radians. */
export const radians = (degrees: number): number => degrees * Math.PI / 180;

/** a(θ), interleaved. */
export function steeringVector(degrees: number, antennas: number, spacing: number): Float64Array<ArrayBuffer> {
  const turn = 2 * Math.PI * spacing * Math.sin(radians(degrees)), a = new Float64Array(2 * antennas);
  for (let m = 0; m < antennas; m++) {
    a[2 * m] = Math.cos(turn * m);
    a[2 * m + 1] = Math.sin(turn * m);
  }
  return a;
}

/** R = XXᴴ/N of X, antennas × snapshots, row-major interleaved. */
export function sampleCovariance(x: Float32Array | Float64Array, antennas: number, snapshots: number): ComplexMatrix {
  const r = zeros(antennas, antennas);
  for (let i = 0; i < antennas; i++) {
    for (let j = 0; j <= i; j++) {
      let real = 0, imaginary = 0;
      for (let n = 0, p = 2 * i * snapshots, q = 2 * j * snapshots; n < snapshots; n++, p += 2, q += 2) {
        real += x[p] * x[q] + x[p + 1] * x[q + 1];
        imaginary += x[p + 1] * x[q] - x[p] * x[q + 1];
      }
      const lower = 2 * (i * antennas + j), upper = 2 * (j * antennas + i);
      r[lower] = r[upper] = real / snapshots;
      r[lower + 1] = i === j ? 0 : imaginary / snapshots;
      r[upper + 1] = -r[lower + 1];
    }
  }
  return r;
}
