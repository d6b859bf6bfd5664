/**
 * A reconfigurable surface of N elements between a transmit array and one receive antenna:
 *
 *     h(θ) = h_d + Σ_n h_r,n·e^{jθ_n}·g_n      g_n the row [tx] of element n of G; y = h·w·x + n
 *
 * Maximum ratio w = hᴴ/‖h‖ gives the gain ‖h‖². With one transmit antenna the gain is largest for
 *
 *     θ_n = arg h_d - arg(h_r,n g_n)           |h| = |h_d| + Σ |h_r,n g_n|, which grows as N²
 *
 * and phases of b bits lose sinc²(2^-b) of a large surface's power, sinc x = sin(πx)/(πx). With several antennas
 * weights and phases are improved in turn; the gain never falls.
 *
 * Vectors are interleaved complex.
 *
 * Source: Wu and Zhang, "Intelligent reflecting surface enhanced wireless network via joint active and passive
 * beamforming", IEEE Trans. Wireless Commun. 18, 2019; the same, "Beamforming optimization for wireless network aided by
 * intelligent reflecting surface with discrete phase shifts", IEEE Trans. Commun. 68, 2020 (quantisation).
 */
import { type Complex, energy } from "../linalg/complex.ts";

/** Channels of one realisation. */
export interface SurfaceChannel {
  /** h_d [tx] */
  direct: Complex;
  /** h_r [element] */
  reflected: Complex;
  /** G [element, tx] */
  incident: Complex;
}

const TURN = 2 * Math.PI;

/** h(θ) [tx]. */
export function effectiveChannel({ direct, reflected, incident }: SurfaceChannel, phases: Float64Array): Float64Array {
  const h = Float64Array.from(direct), size = direct.length;
  phases.forEach((phase, n) => {
    const c = Math.cos(phase), s = Math.sin(phase), real = reflected[2 * n], imaginary = reflected[2 * n + 1];
    const pr = real * c - imaginary * s, pi = real * s + imaginary * c;
    for (let t = 0; t < size; t += 2) {
      const gr = incident[n * size + t], gi = incident[n * size + t + 1];
      h[t] += pr * gr - pi * gi;
      h[t + 1] += pr * gi + pi * gr;
    }
  });
  return h;
}

/** Phases in [0, 2π) that align the paths of all elements with the direct one for the weights w [tx]. */
export function alignedPhases({ direct, reflected, incident }: SurfaceChannel, w: Complex): Float64Array {
  const reference = argument(product(direct, w)), size = direct.length;
  return Float64Array.from({ length: reflected.length / 2 }, (_, n) => {
    const [gr, gi] = product(incident.subarray(n * size, (n + 1) * size), w);
    const real = reflected[2 * n] * gr - reflected[2 * n + 1] * gi;
    return wrapped(reference - argument([real, reflected[2 * n] * gi + reflected[2 * n + 1] * gr]));
  });
}

/** Phases and maximum-ratio weights in turn, from the weights of the direct path. */
export function alternatePhases(channel: SurfaceChannel, iterations: number): Float64Array {
  let phases = alignedPhases(channel, maximumRatioRow(channel.direct));
  for (let i = 1; i < iterations; i++) {
    phases = alignedPhases(channel, maximumRatioRow(effectiveChannel(channel, phases)));
  }
  return phases;
}

/** The nearest multiple of 2π/2^bits in [0, 2π); the upper one of two that are as near. */
export function quantisedPhase(phase: number, bits: number): number {
  const levels = 2 ** bits;
  return Math.floor(phase / TURN * levels + 0.5) % levels * TURN / levels;
}

/** hᴴ/‖h‖ for y = h·w; equal weights for a channel of zeros. */
function maximumRatioRow(h: Complex): Float64Array {
  const norm = Math.sqrt(energy(h)), equal = Math.sqrt(2 / h.length);
  return Float64Array.from(h, (value, i) => norm === 0 ? (1 - i % 2) * equal : (1 - 2 * (i % 2)) * value / norm);
}

function product(row: Complex, w: Complex): [number, number] {
  let real = 0, imaginary = 0;
  for (let i = 0; i < w.length; i += 2) {
    real += row[i] * w[i] - row[i + 1] * w[i + 1];
    imaginary += row[i] * w[i + 1] + row[i + 1] * w[i];
  }
  return [real, imaginary];
}

const argument = ([real, imaginary]: [number, number]) => Math.atan2(imaginary, real);

/** In [0, 2π). */
function wrapped(angle: number): number {
  const turned = angle - TURN * Math.floor(angle / TURN);
  // Rounding may turn a small negative angle into 2π itself.
  return turned < TURN ? turned : 0;
}
