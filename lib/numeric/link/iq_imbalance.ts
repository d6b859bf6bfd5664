/**
 * A receiver front end with I/Q imbalance. With r = x·exp(jφ), φ the phase offset, α = 10^(gain_imbalance_db/40) and ε
 * the quadrature error,
 *
 *     I = α·Re r + dc_i        Q = (Im r·cos ε + Re r·sin ε)/α + dc_q
 *
 * so that the amplitude gains of I and Q differ by gain_imbalance_db. The transform is affine and, unless cos ε = 0, has
 * an inverse. Shapes: interleaved complex64.
 *
 * Without knowledge of the front end: r is proper (E r² = 0), so mean and covariance of (I, Q) determine offsets, gain ratio and
 * quadrature error; of QPSK, E r⁴ determines the phase modulo 90 degrees, and E|r|² with E|r|⁴ determine signal and noise.
 *
 * Sources: Windisch, Estimation and Compensation of I/Q Imbalance in Broadband Communications Receivers, 2007, ch. 2 and 3;
 * Viterbi and Viterbi, IEEE Trans. Inf. Theory 29(4), 1983 (phase); Pauluzzi and Beaulieu, IEEE Trans. Commun. 48(10), 2000
 * (M2M4 estimate of signal and noise).
 */

export interface IqImbalance {
  gain_imbalance_db: number;
  quadrature_error_deg: number;
  phase_offset_deg: number;
  dc_offset_i: number;
  dc_offset_q: number;
}

const RADIANS = Math.PI / 180;

/** Applies the imbalance to symbols; a new array. */
export function impairIq(symbols: Float32Array, imbalance: IqImbalance): Float32Array<ArrayBuffer> {
  const gain = 10 ** (imbalance.gain_imbalance_db / 40);
  const turn = imbalance.phase_offset_deg * RADIANS, skew = imbalance.quadrature_error_deg * RADIANS;
  const [turnReal, turnImaginary] = [Math.cos(turn), Math.sin(turn)];
  const [straight, leak] = [Math.cos(skew) / gain, Math.sin(skew) / gain];
  const impaired = new Float32Array(symbols.length);
  for (let i = 0; i < symbols.length; i += 2) {
    const real = symbols[i] * turnReal - symbols[i + 1] * turnImaginary;
    const imaginary = symbols[i] * turnImaginary + symbols[i + 1] * turnReal;
    impaired[i] = gain * real + imbalance.dc_offset_i;
    impaired[i + 1] = imaginary * straight + real * leak + imbalance.dc_offset_q;
  }
  return impaired;
}

/**
 * Removes the imbalance; a new array.
 * @throws RangeError when both branches carry the same signal, so that no inverse exists
 */
export function restoreIq(impaired: Float32Array, imbalance: IqImbalance): Float32Array<ArrayBuffer> {
  const gain = 10 ** (imbalance.gain_imbalance_db / 40);
  const turn = imbalance.phase_offset_deg * RADIANS, skew = imbalance.quadrature_error_deg * RADIANS;
  const [turnReal, turnImaginary] = [Math.cos(turn), Math.sin(turn)];
  const [straight, leak] = [Math.cos(skew), Math.sin(skew)];
  if (Math.abs(straight) < 1e-9) {
    throw new RangeError(
      `Cannot separate branches that are ${imbalance.quadrature_error_deg} degrees out of quadrature`,
    );
  }
  const symbols = new Float32Array(impaired.length);
  for (let i = 0; i < symbols.length; i += 2) {
    const real = (impaired[i] - imbalance.dc_offset_i) / gain;
    const imaginary = (gain * (impaired[i + 1] - imbalance.dc_offset_q) - real * leak) / straight;
    symbols[i] = real * turnReal + imaginary * turnImaginary;
    symbols[i + 1] = imaginary * turnReal - real * turnImaginary;
  }
  return symbols;
}

/** Smallest signal power that `blindQpsk` assumes, relative to the received power. */
const LEAST_SIGNAL = 1e-3;

/**
 * Removes an unknown imbalance from noisy QPSK: offsets by the mean, gain ratio and quadrature error by orthogonalising Q
 * to I, the phase by the fourth power, in ±45 degrees. A phase beyond turns all decisions by 90 degrees.
 * @returns symbols of unit signal power, a new array, and their noise variance
 * @throws RangeError when both branches carry the same signal, or one none
 */
export function blindQpsk(impaired: Float32Array): { symbols: Float32Array<ArrayBuffer>; noise: number } {
  const count = impaired.length / 2, symbols = new Float32Array(impaired.length);
  let i = 0, q = 0, ii = 0, iq = 0, qq = 0;
  for (let k = 0; k < impaired.length; k += 2) {
    i += impaired[k] / count;
    q += impaired[k + 1] / count;
  }
  for (let k = 0; k < impaired.length; k += 2) {
    ii += (impaired[k] - i) ** 2 / count;
    iq += (impaired[k] - i) * (impaired[k + 1] - q) / count;
    qq += (impaired[k + 1] - q) ** 2 / count;
  }
  const rest = qq - iq * iq / ii;
  if (!(rest > 1e-9 * qq)) {
    throw new RangeError(
      `Cannot separate I and Q of ${count} symbols: their correlation is complete, or one is constant`,
    );
  }
  let real4 = 0, imaginary4 = 0, fourth = 0;
  for (let k = 0; k < impaired.length; k += 2) {
    const x = (impaired[k] - i) / Math.sqrt(ii);
    const y = (impaired[k + 1] - q - iq / ii * (impaired[k] - i)) / Math.sqrt(rest);
    const real2 = x * x - y * y, imaginary2 = 2 * x * y;
    real4 += real2 * real2 - imaginary2 * imaginary2;
    imaginary4 += 2 * real2 * imaginary2;
    fourth += (x * x + y * y) ** 2 / count;
    symbols[k] = x;
    symbols[k + 1] = y;
  }
  // QPSK has x⁴ = -1 and E|r|² = S + N = 2, E|r|⁴ = S² + 4SN + 2N².
  const turn = Math.atan2(-imaginary4, -real4) / 4;
  const signal = Math.min(2, Math.max(2 * LEAST_SIGNAL, Math.sqrt(Math.max(0, 8 - fourth))));
  const [cosine, sine] = [Math.cos(turn) / Math.sqrt(signal), Math.sin(turn) / Math.sqrt(signal)];
  for (let k = 0; k < symbols.length; k += 2) {
    const x = symbols[k], y = symbols[k + 1];
    symbols[k] = x * cosine + y * sine;
    symbols[k + 1] = y * cosine - x * sine;
  }
  return { symbols, noise: (2 - signal) / signal };
}
