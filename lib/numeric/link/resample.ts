/**
 * Resampling of complex signals by a ratio L/M, and shifts in frequency.
 *
 *     y[m] = sum over k of x[k] h[K + m·M - k·L],  K = 10·max(L, M),  m = 0 … ceil(n·L/M) - 1
 *     h[i] = L·w[i]·sinc((i - K)/max(L, M)) / sum,  i = 0 … 2K,  w a Kaiser window of shape 5
 *
 * h is a low pass of the narrower band with a gain of L at zero frequency and no delay; its stop band is about 50 dB down.
 * Samples outside of the signal are zero.
 *
 * Signals are interleaved (real, imaginary). Source: Oppenheim and Schafer, Discrete-Time Signal Processing, 3rd ed., 2010,
 * 4.6 and 7.5; window and length are those of scipy.signal.resample_poly.
 */

/** Half of the filter in periods of the lower rate, and the shape of its window. */
const HALF_PERIODS = 10, SHAPE = 5;

/** The modified Bessel function of order 0 by its power series. */
function besselI0(x: number): number {
  let sum = 1, term = 1;
  for (let k = 1; term > 1e-18 * sum; k++) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}

function lowPass(up: number, down: number): Float64Array {
  const longer = Math.max(up, down), half = HALF_PERIODS * longer, taps = new Float64Array(2 * half + 1);
  let sum = 0;
  for (let i = 0; i < taps.length; i++) {
    const phase = Math.PI * (i - half) / longer, place = (i - half) / half;
    const window = besselI0(SHAPE * Math.sqrt(Math.max(0, 1 - place * place))) / besselI0(SHAPE);
    taps[i] = window * (phase === 0 ? 1 : Math.sin(phase) / phase);
    sum += taps[i];
  }
  return taps.map((tap) => tap * up / sum);
}

/**
 * A signal at `up / down` times its rate.
 * @param signal interleaved
 * @returns ceil(n·up/down) samples
 */
export function resampled(signal: Float32Array, up: number, down: number): Float32Array {
  if (up === down) return signal.slice();
  const taps = lowPass(up, down), half = (taps.length - 1) / 2, count = signal.length / 2;
  const result = new Float32Array(2 * Math.ceil(count * up / down));
  for (let m = 0; m < result.length / 2; m++) {
    const first = Math.max(0, Math.ceil((m * down - half) / up));
    const last = Math.min(count - 1, Math.floor((m * down + half) / up));
    let real = 0, imaginary = 0;
    for (let k = first, tap = half + m * down - first * up; k <= last; k++, tap -= up) {
      real += signal[2 * k] * taps[tap];
      imaginary += signal[2 * k + 1] * taps[tap];
    }
    result[2 * m] = real;
    result[2 * m + 1] = imaginary;
  }
  return result;
}

/**
 * A signal multiplied by exp(j2π·shift·n), n = first, first + 1, ….
 * @param shift in cycles a sample
 */
export function shifted(signal: Float32Array, shift: number, first = 0): Float32Array {
  const result = new Float32Array(signal.length);
  for (let n = 0; n < signal.length / 2; n++) {
    const cycles = shift * (first + n), angle = 2 * Math.PI * (cycles - Math.floor(cycles));
    const cosine = Math.cos(angle), sine = Math.sin(angle), real = signal[2 * n], imaginary = signal[2 * n + 1];
    result[2 * n] = real * cosine - imaginary * sine;
    result[2 * n + 1] = real * sine + imaginary * cosine;
  }
  return result;
}
