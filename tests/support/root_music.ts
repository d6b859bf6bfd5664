/**
 * Root-MUSIC, the reference of the spectral search: the root of aᴴ(I - vvᴴ)a nearest to the unit circle, as a polynomial in
 * z = exp(j2πd·sin θ), v the eigenvector of the largest eigenvalue.
 *
 * Source: Barabell, "Improving the resolution performance of eigenstructure-based direction-finding algorithms", ICASSP 1983.
 */
import { hermitianEigen } from "../../lib/numeric/linalg/hermitian_eigen.ts";
import type { ComplexMatrix } from "../../lib/numeric/linalg/linear_algebra.ts";
import { polynomialRoots } from "./polynomial_roots.ts";

/** Direction of arrival of one source, degrees. @param r the sample covariance */
export function rootMusic(r: ComplexMatrix, antennas: number, spacing: number): number {
  const { vectors } = hermitianEigen(r, antennas);
  // c_l is the sum of the l-th diagonal.
  const coefficients = new Float64Array(2 * (2 * antennas - 1));
  coefficients[2 * (antennas - 1)] = antennas;
  for (let i = 0; i < antennas; i++) {
    for (let j = 0; j < antennas; j++) {
      const at = 2 * (j - i + antennas - 1), p = 2 * ((i + 1) * antennas - 1), q = 2 * ((j + 1) * antennas - 1);
      coefficients[at] -= vectors[p] * vectors[q] + vectors[p + 1] * vectors[q + 1];
      coefficients[at + 1] -= vectors[p + 1] * vectors[q] - vectors[p] * vectors[q + 1];
    }
  }
  const roots = polynomialRoots(coefficients);
  let best = 0, nearest = Infinity;
  for (let k = 0; k < roots.length; k += 2) {
    // Roots come in pairs z, 1/z*: either of the pair on the circle will do.
    const distance = Math.abs(1 - Math.hypot(roots[k], roots[k + 1]));
    if (distance < nearest) [best, nearest] = [k, distance];
  }
  const turn = Math.atan2(roots[best + 1], roots[best]) / (2 * Math.PI * spacing);
  return Math.asin(Math.min(1, Math.max(-1, turn))) * 180 / Math.PI;
}
