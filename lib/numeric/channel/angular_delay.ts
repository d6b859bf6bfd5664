/**
 * Channels of an antenna array over subcarriers in the angle-delay domain. With M antennas and K subcarriers
 *
 *     a_qn = 1/sqrt(MK) · Σ_m Σ_k h_mk · exp(-j2πqm/M) · exp(+j2πkn/K),
 *
 * unitary, so power is preserved. Few paths with short delays concentrate most power in the first delays, so feedback
 * of a few coefficients suffices.
 *
 * Source: Wen, Shih and Jin, "Deep learning for massive MIMO CSI feedback", IEEE Wireless Commun. Lett. 7, 2018, section II.
 */
import { fft, ifft } from "../linalg/fft.ts";

type Values = Float32Array | Float64Array;

/** [antenna, subcarrier] to [delay, angle], interleaved. */
export function toAngularDelay(h: Values, antennas: number, subcarriers: number): Float64Array<ArrayBuffer> {
  const delays = new Float64Array(2 * antennas * subcarriers);
  for (let m = 0; m < antennas; m++) {
    const row = ifft(Float64Array.from(h.subarray(2 * m * subcarriers, 2 * (m + 1) * subcarriers)));
    for (let n = 0; n < subcarriers; n++) delays.set(row.subarray(2 * n, 2 * n + 2), 2 * (n * antennas + m));
  }
  const scale = Math.sqrt(subcarriers / antennas);
  for (let at = 0; at < delays.length; at += 2 * antennas) delays.set(fft(delays.slice(at, at + 2 * antennas)), at);
  return delays.map((value) => value * scale);
}

/** [delay, angle] to [antenna, subcarrier], the inverse. */
export function fromAngularDelay(a: Values, antennas: number, subcarriers: number): Float64Array<ArrayBuffer> {
  const h = new Float64Array(2 * antennas * subcarriers), delays = new Float64Array(h.length);
  for (let n = 0; n < subcarriers; n++) {
    const row = ifft(Float64Array.from(a.subarray(2 * n * antennas, 2 * (n + 1) * antennas)));
    for (let m = 0; m < antennas; m++) delays.set(row.subarray(2 * m, 2 * m + 2), 2 * (m * subcarriers + n));
  }
  const scale = Math.sqrt(antennas / subcarriers);
  for (let at = 0; at < h.length; at += 2 * subcarriers) h.set(fft(delays.slice(at, at + 2 * subcarriers)), at);
  return h.map((value) => value * scale);
}
