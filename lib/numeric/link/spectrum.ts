/**
 * Power spectrum of samples by Welch's method: segments of L samples, half overlapped, under a periodic Hann window w,
 *
 *     P[m] = mean over segments |Σ_n w[n] x[n] e^{-j2πmn/L}|² / (L Σ w²)        Σ_m P[m] is the mean power of white samples
 *
 * Shapes: samples interleaved [2n] -> P [L], bin m at the frequency m/L of the sampling rate, upper half negative.
 *
 * Source: Welch, IEEE Trans. Audio Electroacoust. 15, 1967.
 */
import { Fft } from "../linalg/fft.ts";

/** @throws RangeError for fewer samples than one segment */
export function powerSpectrum(samples: Float32Array, length: number): Float64Array {
  const window = Float64Array.from({ length }, (_, n) => 0.5 - 0.5 * Math.cos(2 * Math.PI * n / length));
  const step = Math.floor(length / 2), segments = Math.floor((samples.length / 2 - length) / step) + 1;
  if (segments < 1) {
    throw new RangeError(`Cannot measure a spectrum of ${length} bins on ${samples.length / 2} samples`);
  }
  const power = new Float64Array(length), plan = new Fft(length), segment = new Float64Array(2 * length);
  const scale = 1 / (segments * length * window.reduce((sum, value) => sum + value * value, 0));
  for (let start = 0, left = segments; left > 0; start += 2 * step, left--) {
    for (let i = 0; i < 2 * length; i++) segment[i] = window[i >> 1] * samples[start + i];
    const bins = plan.forward(segment);
    for (let m = 0; m < length; m++) power[m] += scale * (bins[2 * m] ** 2 + bins[2 * m + 1] ** 2);
  }
  return power;
}

/** Power between two frequencies in bins, parts of a bin included; negative frequencies stand in the upper half. */
export function bandPower(power: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let m = Math.round(from); m <= Math.round(to); m++) {
    const share = Math.min(to, m + 0.5) - Math.max(from, m - 0.5);
    sum += Math.max(0, share) * power[(m + power.length) % power.length];
  }
  return sum;
}
