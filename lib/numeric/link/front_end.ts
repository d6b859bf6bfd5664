/**
 * Nonlinear front ends on complex samples, interleaved (real, imaginary), in binary64.
 *
 *     rapp        y = x / (1 + (|x|/A)^2p)^(1/2p)                        solid-state amplifier, no phase distortion
 *     saleh       |y| = α r / (1 + β r²), phase + α_φ r² / (1 + β_φ r²)  travelling-wave tube, r = |x|, radians
 *     quantiser   (clamp(floor(v/Δ), -2^(b-1), 2^(b-1) - 1) + 1/2) Δ, Δ = 2·clip/2^b, of I and Q
 *     clip        A x/|x| where |x| > A
 *
 * Bussgang: y = g x + d with g = Σ y x* / Σ|x|², so that d is uncorrelated with x.
 *
 * Source: Rapp, "Effects of HPA-nonlinearity on a 4-DPSK/OFDM-signal", 2nd ECSC, 1991; Saleh, "Frequency-independent and
 * frequency-dependent nonlinear models of TWT amplifiers", IEEE Trans. Commun. 29(11), 1981; Bussgang, MIT RLE report 216, 1952.
 */

/** Rapp's amplifier. */
export function rapp(x: ArrayLike<number>, saturation: number, smoothness: number): Float64Array {
  return scaled(x, (r) => {
    const ratio = r / saturation;
    // (1 + t)^(-1/2p) = (A/r) (1 + 1/t)^(-1/2p): for large r the power of r/A would overflow.
    return ratio <= 1
      ? (1 + ratio ** (2 * smoothness)) ** (-0.5 / smoothness)
      : (1 + ratio ** (-2 * smoothness)) ** (-0.5 / smoothness) / ratio;
  });
}

export interface SalehParameters {
  alphaAmplitude: number;
  betaAmplitude: number;
  alphaPhase: number;
  betaPhase: number;
}

/** Saleh's amplifier. */
export function saleh(x: ArrayLike<number>, p: SalehParameters): Float64Array {
  const y = new Float64Array(x.length);
  for (let i = 0; i < y.length; i += 2) {
    const power = x[i] * x[i] + x[i + 1] * x[i + 1], gain = p.alphaAmplitude / (1 + p.betaAmplitude * power);
    const phase = p.alphaPhase * power / (1 + p.betaPhase * power), cosine = Math.cos(phase), sine = Math.sin(phase);
    y[i] = gain * (x[i] * cosine - x[i + 1] * sine);
    y[i + 1] = gain * (x[i] * sine + x[i + 1] * cosine);
  }
  return y;
}

/** Limits the amplitude and keeps the phase. */
export function clipEnvelope(x: ArrayLike<number>, amplitude: number): Float64Array {
  return scaled(x, (r) => r > amplitude ? amplitude / r : 1);
}

/** Mid-rise quantiser of each component. */
export function quantize(x: ArrayLike<number>, bits: number, clip: number): Float64Array {
  const step = 2 * clip / 2 ** bits, half = 2 ** (bits - 1);
  return Float64Array.from(x, (v) => (Math.min(Math.max(Math.floor(v / step), -half), half - 1) + 0.5) * step);
}

/** Each sample times a real gain of its amplitude. */
function scaled(x: ArrayLike<number>, gainOf: (amplitude: number) => number): Float64Array {
  const y = new Float64Array(x.length);
  for (let i = 0; i < y.length; i += 2) {
    const gain = gainOf(Math.hypot(x[i], x[i + 1]));
    y[i] = gain * x[i];
    y[i + 1] = gain * x[i + 1];
  }
  return y;
}

/** Σ|x|² of interleaved samples. @param sum of the samples before them */
export function energy(x: ArrayLike<number>, sum = 0): number {
  for (let i = 0; i < x.length; i++) sum += x[i] * x[i];
  return sum;
}

/** The Bussgang gain [real, imaginary]; null for an input without power. */
export function bussgangGain(x: ArrayLike<number>, y: ArrayLike<number>): [number, number] | null {
  let real = 0, imaginary = 0;
  for (let i = 0; i < x.length; i += 2) {
    real += y[i] * x[i] + y[i + 1] * x[i + 1];
    imaginary += y[i + 1] * x[i] - y[i] * x[i + 1];
  }
  const power = energy(x);
  return power === 0 ? null : [real / power, imaginary / power];
}

/** Interleaved samples over a complex number. */
export function divided(y: Float64Array, [real, imaginary]: readonly [number, number]): Float64Array {
  const power = real * real + imaginary * imaginary, out = new Float64Array(y.length);
  for (let i = 0; i < y.length; i += 2) {
    out[i] = (y[i] * real + y[i + 1] * imaginary) / power;
    out[i + 1] = (y[i + 1] * real - y[i] * imaginary) / power;
  }
  return out;
}

/** Σ|y - x|² @param sum of the samples before them */
export function errorEnergy(x: ArrayLike<number>, y: ArrayLike<number>, sum = 0): number {
  for (let i = 0; i < x.length; i++) sum += (y[i] - x[i]) ** 2;
  return sum;
}
