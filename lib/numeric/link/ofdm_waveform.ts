/**
 * OFDM in the time domain. F subcarriers, element k at the frequency (k - F/2)/F of the sampling rate, oversampling Q:
 *
 *     x[n] = F^(-1/2) Σ_k X_k e^{j2π(k - F/2)n/(QF)}, n = 0 … QF - 1        Y_k = F^(-1/2)/Q Σ_n y[n] e^{-j2π(k - F/2)n/(QF)}
 *
 * Transform precoding of M active subcarriers (DFT-s-OFDM) sends X_k = M^(-1/2) Σ_i x_i e^{-j2πik/M}.
 *
 * The cyclic prefix repeats the last samples in front. Peak-to-average power ratios are those of a symbol without its prefix.
 *
 * Sources: Goldsmith, Wireless Communications, 2005, ch. 12; TS 38.211 V16.2.0, 6.3.1.4.
 */
import { fft, ifft } from "../linalg/fft.ts";

/** Samples of one OFDM symbol without prefix. @param elements interleaved, F of them */
export function ofdmSamples(elements: Float64Array, oversampling: number): Float64Array {
  const size = elements.length / 2, length = oversampling * size, bins = new Float64Array(2 * length);
  for (let k = 0; k < size; k++) {
    const bin = (k - size / 2 + length) % length;
    bins[2 * bin] = elements[2 * k];
    bins[2 * bin + 1] = elements[2 * k + 1];
  }
  const scale = length / Math.sqrt(size);
  return ifft(bins).map((part) => scale * part);
}

/** Elements of one OFDM symbol from its samples. */
export function ofdmElements(samples: Float64Array, oversampling: number): Float64Array {
  const length = samples.length / 2, size = length / oversampling, bins = fft(samples);
  const out = new Float64Array(2 * size), scale = 1 / (oversampling * Math.sqrt(size));
  for (let k = 0; k < size; k++) {
    const bin = (k - size / 2 + length) % length;
    out[2 * k] = scale * bins[2 * bin];
    out[2 * k + 1] = scale * bins[2 * bin + 1];
  }
  return out;
}

/** Elements of precoded symbols, or symbols of precoded elements with `back`, one row of the grid at a time. */
export function precode(elements: ArrayLike<number>, active: number, back = false): Float64Array {
  const out = Float64Array.from(elements), scale = back ? Math.sqrt(active) : 1 / Math.sqrt(active);
  for (let start = 0; start < out.length; start += 2 * active) {
    const row = out.subarray(start, start + 2 * active);
    row.set((back ? ifft(row) : fft(row)).map((part) => scale * part));
  }
  return out;
}

/** First of `active` centred subcarriers. */
export const firstActive = (size: number, active: number): number => size / 2 - Math.floor(active / 2);

/** Peak-to-average power ratio in dB; undefined for a symbol without power. */
export function paprDb(samples: Float64Array): number | undefined {
  let peak = 0, sum = 0;
  for (let i = 0; i < samples.length; i += 2) {
    const power = samples[i] ** 2 + samples[i + 1] ** 2;
    peak = Math.max(peak, power);
    sum += power;
  }
  return sum === 0 ? undefined : 10 * Math.log10(peak / (sum / (samples.length / 2)));
}

/** A path of a sampled channel. */
export type Path = readonly [delay: number, real: number, imaginary: number];

/** Linear convolution with paths, zero before the first sample, cut to the length of the input. */
export function convolve(samples: Float32Array | Float64Array, paths: readonly Path[]): Float64Array {
  const out = new Float64Array(samples.length);
  for (const [delay, real, imaginary] of paths) {
    for (let i = Math.max(0, 2 * delay); i < out.length && i - 2 * delay < samples.length; i += 2) {
      const xr = samples[i - 2 * delay], xi = samples[i - 2 * delay + 1];
      out[i] += real * xr - imaginary * xi;
      out[i + 1] += real * xi + imaginary * xr;
    }
  }
  return out;
}

/** Frequency response of paths on subcarriers first … first + count - 1 of a grid of `size`. */
export function pathResponse(
  paths: readonly Path[],
  { size, oversampling, first, count }: { size: number; oversampling: number; first: number; count: number },
): Float64Array {
  const out = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    for (const [delay, real, imaginary] of paths) {
      const turn = -2 * Math.PI * (first + i - size / 2) * delay / (size * oversampling);
      out[2 * i] += real * Math.cos(turn) - imaginary * Math.sin(turn);
      out[2 * i + 1] += real * Math.sin(turn) + imaginary * Math.cos(turn);
    }
  }
  return out;
}
