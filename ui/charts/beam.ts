/** Transmit and receive patterns of an array: gains over angle from weights, and spectra from snapshots. */
import type { CurveFigure, FigureGuide } from "../../lib/figure/types.ts";
import { numberText } from "../../lib/figure/number_text.ts";
import { sampleCovariance, steeringVector } from "../../lib/numeric/antenna/array_response.ts";
import { hermitianReference } from "../../lib/numeric/linalg/hermitian_reference.ts";
import { SpectrumSearch } from "../../lib/numeric/antenna/array_spectrum.ts";
import { decibel } from "./response.ts";

/** Degrees from broadside, half a degree apart. Exported for tests. */
export const ANGLES: Float64Array = Float64Array.from({ length: 361 }, (_, k) => -90 + k / 2);
/** Below the strongest direction. */
const DEEPEST_DB = 40;
const HALF_POWER_DB = 10 * Math.log10(2);

/**
 * |a(θ)ᴴw|² / ‖w‖² of a uniform linear array: 1 for one antenna, M at most for M of them.
 *
 * @param w interleaved
 * @param spacing between antennas, in wavelengths
 */
export function beamPattern(w: Float64Array, spacing: number): Float64Array {
  const antennas = w.length / 2, norm = w.reduce((sum, value) => sum + value * value, 0) || 1;
  return ANGLES.map((angle) => {
    const a = steeringVector(angle, antennas, spacing);
    let real = 0, imaginary = 0;
    for (let i = 0; i < w.length; i += 2) {
      real += a[i] * w[i] + a[i + 1] * w[i + 1];
      imaginary += a[i] * w[i + 1] - a[i + 1] * w[i];
    }
    return (real * real + imaginary * imaginary) / norm;
  });
}

/**
 * Bartlett's and MUSIC's spectrum of snapshots, interleaved [antenna, snapshot]; the largest value of each is 1.
 *
 * @param sources dimension of MUSIC's signal subspace; without a noise subspace there is no such spectrum
 */
export function angleSpectra(x: Float64Array, antennas: number, snapshots: number, spacing: number, sources = 1) {
  const search = new SpectrumSearch(ANGLES, antennas, spacing);
  const eigen = hermitianReference(sampleCovariance(x, antennas, snapshots), antennas);
  const scaled = (method: "bartlett" | "music") => {
    const values = search.spectrum(eigen, method, sources), most = Math.max(...values);
    return values.map((value) => value / most);
  };
  return { bartlett: scaled("bartlett"), music: antennas > sources ? scaled("music") : null };
}

/** True and estimated directions of arrival as guides; a repeated one once. */
export function directionGuides(truth: readonly number[], estimate: readonly number[]): FigureGuide[] {
  const guides = (angles: readonly number[], name: string) =>
    [...new Set(angles)].map((at): FigureGuide => ({ axis: "x", at, label: `${name} ${numberText(at, "unicode")}°` }));
  return [...guides(truth, "true"), ...guides(estimate, "estimate")];
}

/**
 * Weights of the wave that a surface reflects, interleaved: the phases of its elements times the channel g from one
 * transmit antenna, conjugated, because its path to a direction is h_rᵀ·diag(e^{jθ})·g, without a conjugate.
 */
export function reflectedWeights(phases: Float64Array, g: Float64Array): Float64Array {
  const w = new Float64Array(g.length);
  phases.forEach((phase, n) => {
    const c = Math.cos(phase), s = Math.sin(phase), real = g[2 * n], imaginary = g[2 * n + 1];
    w[2 * n] = real * c - imaginary * s;
    w[2 * n + 1] = -(real * s + imaginary * c);
  });
  return w;
}

/** The level of half the power, and the direction of the largest one, as guides of a pattern. */
export function patternGuides(powers: Float64Array, angles: Float64Array): FigureGuide[] {
  const most = Math.max(...powers), peak = decibel(most);
  if (peak === null) return [];
  const at = angles[powers.indexOf(most)];
  return [
    { axis: "y", at: peak - HALF_POWER_DB, label: "half power" },
    { axis: "x", at, label: `peak ${numberText(at, "unicode")}°` },
  ];
}

interface Shown {
  label: string;
  kind?: "measured" | "baseline";
  powers: Float64Array;
  /** Default ANGLES. */
  angles?: Float64Array;
}

/** Gains over angle in dB, down to the displayed minimum. */
export function angleFigure(
  type: "beam-pattern" | "angle-spectrum",
  series: readonly Shown[],
  guides: FigureGuide[],
  facts: { title: string; subtitle: string; source: Record<string, string> },
): CurveFigure {
  const top = Math.max(...series.map(({ powers }) => decibel(Math.max(...powers)) ?? -Infinity), -Infinity);
  const highest = Number.isFinite(top) ? top : 0, floor = highest - DEEPEST_DB;
  return {
    ...facts,
    form: "curves",
    type,
    x: { title: "Angle from broadside", unit: "°", scale: "linear", domain: [-90, 90] },
    y: {
      title: type === "beam-pattern" ? "Gain over one antenna" : "Spectrum",
      unit: "dB",
      scale: "linear",
      domain: [floor, highest + 3],
    },
    series: series.map(({ label, kind = "measured", powers, angles = ANGLES }) => ({
      label,
      kind,
      points: Array.from(powers, (power, k) => {
        const y = decibel(power);
        return { x: angles[k], y: y === null ? floor : Math.max(floor, y), low: null, high: null };
      }),
    })),
    step: false,
    markers: false,
    front: null,
    guides,
  };
}
