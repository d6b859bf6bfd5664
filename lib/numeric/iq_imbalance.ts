/**
 * A receiver front end with I/Q imbalance. With r = x·exp(jφ), φ the phase offset, α = 10^(gain_imbalance_db/40) and ε
 * the quadrature error,
 *
 *     I = α·Re r + dc_i        Q = (Im r·cos ε + Re r·sin ε)/α + dc_q
 *
 * so that the amplitude gains of I and Q differ by gain_imbalance_db. The transform is affine and, unless cos ε = 0, has
 * an inverse. Shapes: interleaved complex64.
 *
 * Source: Windisch, Estimation and Compensation of I/Q Imbalance in Broadband Communications Receivers, 2007, ch. 2.
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
