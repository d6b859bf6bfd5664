/**
 * Radiation pattern of weights on a uniform linear array of M antennas, d wavelengths apart, over u = sin θ:
 *
 *     P(u) = Σ_k |a(θ)ᴴw_k|²,   a_m(θ) = exp(+j2πd·m·u), m = 0 … M-1
 *
 * summed over the beams w_k that are sent at once. Weights of norm 1 have at most P = M, one antenna has P = 1. Equal
 * weights have the half-power width 0.886/(M·d) rad and, for many antennas, a first sidelobe at -13.26 dB.
 *
 * Source: Balanis, Antenna Theory, 4th ed., 2016, sections 6.3 and 6.8; Van Trees, Optimum Array Processing, 2002, 2.4.
 */
import type { Complex } from "../linalg/complex.ts";

/** Samples per antenna of the search over u; a lobe of M antennas at half a wavelength is 2/M wide. */
const SAMPLES = 16;
/** Patterns that vary less than this share have no beam, and values closer than it are equal. */
const EQUAL = 1e-9;
const STEPS = 60;

/** P(u) of interleaved weight vectors of equal length. */
export function patternGain(beams: readonly Complex[], spacing: number, u: number): number {
  const turn = -2 * Math.PI * spacing * u, zr = Math.cos(turn), zi = Math.sin(turn);
  let power = 0;
  for (const w of beams) {
    let real = 0, imaginary = 0;
    // Horner's scheme for the polynomial in z = exp(-j2πdu).
    for (let i = w.length - 2; i >= 0; i -= 2) {
      const next = real * zr - imaginary * zi + w[i];
      imaginary = real * zi + imaginary * zr + w[i + 1];
      real = next;
    }
    power += real * real + imaginary * imaginary;
  }
  return power;
}

/** The beam of a pattern; angles in degrees from broadside. */
export interface Lobes {
  peakDeg: number;
  /** P at the peak. */
  peak: number;
  /** Between the first angles of half the power on both sides; null where one side keeps more up to ±90°. */
  widthDeg: number | null;
  /** Largest local maximum outside the main lobe relative to the peak; null without one. */
  sidelobe: number | null;
}

/**
 * Finds the main lobe, its half-power width and the largest sidelobe, to about 1e-7 in u. Of equal maxima the one at the
 * lowest angle is the peak; a grating lobe counts as a sidelobe.
 * @returns null for a pattern without a direction: no power, or the same one everywhere
 */
export function lobesOf(beams: readonly Complex[], spacing: number): Lobes | null {
  const count = SAMPLES * (beams[0].length / 2) * Math.max(1, Math.ceil(2 * spacing));
  const places = Float64Array.from({ length: count + 1 }, (_, i) => -1 + 2 * i / count);
  const gain = (u: number) => patternGain(beams, spacing, u), values = places.map(gain);
  let best = 0, least = values[0];
  values.forEach((value, i) => {
    if (value > values[best] * (1 + EQUAL)) best = i;
    least = Math.min(least, value);
  });
  if (values[best] - least <= EQUAL * values[best]) return null;
  const summit = (i: number) => maximum(gain, places[Math.max(0, i - 1)], places[Math.min(count, i + 1)]);
  const at = summit(best), peak = gain(at);

  let left = best, right = best;
  while (left > 0 && values[left - 1] < values[left]) left--;
  while (right < count && values[right + 1] < values[right]) right++;
  const others: number[] = [];
  for (let i = 0; i <= count; i++) {
    const outside = i < left || i > right;
    if (outside && values[i] >= (values[i - 1] ?? 0) && values[i] >= (values[i + 1] ?? 0)) others.push(i);
  }
  const highest = others.reduce((most, i) => Math.max(most, values[i]), 0);
  // A sample misses its maximum by less than 4 %.
  const refined = others.filter((i) => values[i] >= 0.96 * highest).map((i) => gain(summit(i)));

  const low = fallsTo(peak / 2, gain, places.subarray(0, best + 1).toReversed());
  const high = fallsTo(peak / 2, gain, places.subarray(best));
  return {
    peakDeg: degreesOf(at),
    peak,
    widthDeg: low === null || high === null ? null : degreesOf(high) - degreesOf(low),
    sidelobe: refined.length === 0 ? null : Math.max(...refined) / peak,
  };
}

const degreesOf = (u: number) => Math.asin(u) * 180 / Math.PI;

/** The place of the maximum between two places, by golden sections. */
function maximum(f: (u: number) => number, low: number, high: number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let a = high - ratio * (high - low), b = low + ratio * (high - low), fa = f(a), fb = f(b);
  for (let step = 0; step < STEPS; step++) {
    if (fa >= fb) {
      [high, b, fb] = [b, a, fa];
      a = high - ratio * (high - low);
      fa = f(a);
    } else {
      [low, a, fa] = [a, b, fb];
      b = low + ratio * (high - low);
      fb = f(b);
    }
  }
  // A maximum at the end of the visible range stays there.
  return [low, high].reduce((most, u) => f(u) > f(most) ? u : most, (low + high) / 2);
}

/** The first place along a path where the pattern falls to a level, by bisection; null without one. */
function fallsTo(level: number, f: (u: number) => number, path: Float64Array): number | null {
  const reached = path.findIndex((u) => f(u) <= level);
  if (reached < 0) return null;
  let above = path[reached - 1], below = path[reached];
  for (let step = 0; step < STEPS; step++) {
    const middle = (above + below) / 2;
    if (f(middle) > level) above = middle;
    else below = middle;
  }
  return (above + below) / 2;
}
