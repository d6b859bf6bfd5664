/**
 * Transmit beamforming to one antenna, y = hᴴw·x + n with ‖w‖ = 1; vectors are interleaved complex.
 *
 *     maximum ratio     w = h/‖h‖, gain |hᴴw|² = ‖h‖²
 *     DFT codebook      w_k = exp(+j2πmk/M)/sqrt(M), m, k = 0 … M-1; the k of the largest gain, the lowest of equal ones
 *
 * A channel of zeros gets equal weights 1/sqrt(M).
 *
 * Source: Tse and Viswanath, Fundamentals of Wireless Communication, 2005, section 5.3; Love, Heath et al., "An overview of
 * limited feedback in wireless communication systems", IEEE JSAC 26, 2008.
 */

type Vector = Float32Array | Float64Array;

/** h/‖h‖ */
export function maximumRatio(h: Vector): Float64Array<ArrayBuffer> {
  let largest = 0;
  for (const value of h) largest = Math.max(largest, Math.abs(value));
  const w = new Float64Array(h.length);
  if (largest === 0) {
    for (let i = 0; i < w.length; i += 2) w[i] = 1 / Math.sqrt(h.length / 2);
    return w;
  }
  let squares = 0;
  for (let i = 0; i < w.length; i++) {
    w[i] = h[i] / largest;
    squares += w[i] * w[i];
  }
  const norm = Math.sqrt(squares);
  return w.map((value) => value / norm);
}

/** |hᴴw|² */
export function beamGain(h: Vector, w: Vector): number {
  let real = 0, imaginary = 0;
  for (let i = 0; i < h.length; i += 2) {
    real += h[i] * w[i] + h[i + 1] * w[i + 1];
    imaginary += h[i] * w[i + 1] - h[i + 1] * w[i];
  }
  return real * real + imaginary * imaginary;
}

/** The M beams of the DFT codebook, one after another. */
export function dftCodebook(antennas: number): Float64Array[] {
  return Array.from({ length: antennas }, (_, k) => {
    const w = new Float64Array(2 * antennas);
    for (let m = 0; m < antennas; m++) {
      const angle = 2 * Math.PI * (m * k % antennas) / antennas;
      w[2 * m] = Math.cos(angle) / Math.sqrt(antennas);
      w[2 * m + 1] = Math.sin(angle) / Math.sqrt(antennas);
    }
    return w;
  });
}

/** The beam of the codebook with the largest gain. */
export function sweepCodebook(h: Vector, codebook: readonly Float64Array[]): Float64Array {
  let best = codebook[0], most = -1;
  for (const beam of codebook) {
    const gain = beamGain(h, beam);
    // Gains that differ only by rounding count as equal.
    if (gain > most * (1 + 1e-12)) [best, most] = [beam, gain];
  }
  if (most === 0) return maximumRatio(h);
  return best;
}
