/**
 * A source in the near field of a large array, where wavefronts are curved. M antennas stand half a wavelength apart on
 * the x axis, centred at the origin; the source is at (r·sin θ, r·cos θ), θ in degrees from broadside:
 *
 *     x_m = (m - (M-1)/2)·λ/2,   r_m = sqrt(r² + x_m² - 2·r·x_m·sin θ),   h_m = exp(-j2πr_m/λ), m = 0 … M-1
 *
 * For r well beyond the Rayleigh distance 2D²/λ, D = (M-1)·λ/2, this is exp(-j2πr/λ) times the plane wave
 * exp(+j2πx_m·sin θ/λ): the range then changes only a common phase. Beams toward ĥ, w_m = conj(ĥ_m)/sqrt(M), reach the
 * share |Σ h_m·w_m|²/M of the largest gain.
 *
 * Sources: Cui and Dai, "Channel estimation for extremely large-scale MIMO: far-field or near-field?", IEEE Trans. Commun. 70,
 * 2022 (ranges uniform in 1/r); Balanis, Antenna Theory, 4th ed., 2016, 2.2.4 (Rayleigh distance).
 */

/** Metres per second. */
export const SPEED_OF_LIGHT = 299_792_458;
/** Gains that differ only by rounding count as equal. */
const EQUAL = 1e-12;

/** A uniform linear array with half a wavelength between its antennas. */
export interface LargeArray {
  antennas: number;
  /** Metres. */
  wavelength: number;
}

/** Position of a source: metres, degrees from broadside. */
export interface Focus {
  range: number;
  angle: number;
}

/** λ of a carrier. */
export function wavelengthOf(carrierGhz: number): number {
  return SPEED_OF_LIGHT / (carrierGhz * 1e9);
}

/** 2D²/λ, metres; 0 for one antenna. */
export function rayleighDistance({ antennas, wavelength }: LargeArray): number {
  const aperture = (antennas - 1) * wavelength / 2;
  return 2 * aperture * aperture / wavelength;
}

/** h of a source, interleaved. */
export function sphericalWave(array: LargeArray, { range, angle }: Focus): Float64Array<ArrayBuffer> {
  const sine = Math.sin(angle * Math.PI / 180);
  return wave(array, (x) => -Math.sqrt(Math.max(0, range * range + x * x - 2 * range * x * sine)));
}

/** exp(+j2πx_m·sin θ/λ), interleaved. */
export function planeWave(array: LargeArray, angle: number): Float64Array<ArrayBuffer> {
  const sine = Math.sin(angle * Math.PI / 180);
  return wave(array, (x) => x * sine);
}

/** @param path path difference to the origin in metres, for the place of an antenna */
function wave({ antennas, wavelength }: LargeArray, path: (x: number) => number): Float64Array<ArrayBuffer> {
  const h = new Float64Array(2 * antennas);
  for (let m = 0; m < antennas; m++) {
    const phase = 2 * Math.PI * path((m - (antennas - 1) / 2) * wavelength / 2) / wavelength;
    h[2 * m] = Math.cos(phase);
    h[2 * m + 1] = Math.sin(phase);
  }
  return h;
}

/** |Σ h_m·conj(ĥ_m)|² of interleaved vectors. */
export function correlationGain(h: ArrayLike<number>, estimate: ArrayLike<number>, offset = 0): number {
  let real = 0, imaginary = 0;
  for (let i = 0; i < estimate.length; i += 2) {
    const hr = h[offset + i], hi = h[offset + i + 1];
    real += hr * estimate[i] + hi * estimate[i + 1];
    imaginary += hi * estimate[i] - hr * estimate[i + 1];
  }
  return real * real + imaginary * imaginary;
}

/**
 * For each snapshot the codeword of the largest |Σ y_m·conj(ĥ_m)|², the first of equal ones.
 * @param received [example, antenna], interleaved
 * @param count number of codewords
 * @param codeword returns the k-th one; called once per codeword for all snapshots
 * @returns indices of codewords
 */
export function matchCodewords(
  received: Float32Array,
  antennas: number,
  count: number,
  codeword: (k: number) => Float64Array,
): Int32Array {
  const examples = received.length / (2 * antennas), best = new Int32Array(examples);
  const most = new Float64Array(examples).fill(-1);
  for (let k = 0; k < count; k++) {
    const word = codeword(k);
    for (let example = 0; example < examples; example++) {
      const gain = correlationGain(received, word, 2 * antennas * example);
      if (gain > most[example] * (1 + EQUAL)) [best[example], most[example]] = [k, gain];
    }
  }
  return best;
}

/** Angles from low to at most high, degrees. */
export function angleGrid(low: number, high: number, step: number): Float64Array<ArrayBuffer> {
  return Float64Array.from({ length: Math.floor((high - low) / step + 1e-9) + 1 }, (_, k) => low + k * step);
}

/** Ranges from near to far at equal steps of 1/r, metres; only the near one if the two are equal. */
export function reciprocalRanges(near: number, far: number, count: number): Float64Array<ArrayBuffer> {
  if (near === far) return Float64Array.of(near);
  return Float64Array.from({ length: count }, (_, k) => 1 / (1 / near + k / (count - 1) * (1 / far - 1 / near)));
}
