/**
 * Rate of zero forcing that separates the streams of y = Hx/sqrt(T) + n with an estimate Ĥ: with W = Ĥ⁺, the
 * pseudo-inverse, and M = WH,
 *
 *     SINR_i = |M_ii|² / (Σ_{j≠i} |M_ij|² + T·N0·[WWᴴ]_ii),   rate = Σ_i log2(1 + SINR_i)
 *
 * With Ĥ = H this is the rate with perfect channel knowledge. A stream that W suppresses completely has the rate 0.
 *
 * Source: Wang, Au, Murch, Mow, Cheng and Lau, "On the performance of the MIMO zero-forcing receiver in the presence of channel
 * estimation error", IEEE Trans. Wireless Commun. 6, 2007.
 */
import { matrixProduct, zeros } from "../linalg/linear_algebra.ts";
import { svd } from "../linalg/svd.ts";

/** Singular values below this share of the largest count as 0. */
const RELATIVE_RANK = 1e-12;

/** A⁺, n × m. @param a m × n, interleaved, row-major */
function pseudoInverse(a: Float64Array, m: number, n: number): Float64Array<ArrayBuffer> {
  const { u, values, v } = svd(a, m, n), kept = values.length, out = zeros(n, m);
  values.forEach((value, s) => {
    if (!(value > RELATIVE_RANK * values[0])) return;
    for (let i = 0; i < n; i++) {
      const vr = v[2 * (i * kept + s)] / value, vi = v[2 * (i * kept + s) + 1] / value;
      for (let j = 0; j < m; j++) {
        const ur = u[2 * (j * kept + s)], ui = u[2 * (j * kept + s) + 1], at = 2 * (i * m + j);
        out[at] += vr * ur + vi * ui;
        out[at + 1] += vi * ur - vr * ui;
      }
    }
  });
  return out;
}

/** Sum over the streams of log2(1 + SINR). @param channel H and estimate Ĥ, both rx × tx */
export function zeroForcingRate(
  channel: Float64Array,
  estimate: Float64Array,
  { rx, tx, noiseVariance }: { rx: number; tx: number; noiseVariance: number },
): number {
  const w = pseudoInverse(estimate, rx, tx), seen = matrixProduct(w, channel, tx, rx, tx);
  const power = (matrix: Float64Array, at: number) => matrix[2 * at] ** 2 + matrix[2 * at + 1] ** 2;
  let rate = 0;
  for (let i = 0; i < tx; i++) {
    let disturbance = 0;
    for (let j = 0; j < tx; j++) if (j !== i) disturbance += power(seen, i * tx + j);
    for (let r = 0; r < rx; r++) disturbance += tx * noiseVariance * power(w, i * rx + r);
    const signal = power(seen, i * tx + i);
    if (signal > 0) rate += Math.log1p(signal / disturbance) * Math.LOG2E;
  }
  return rate;
}
