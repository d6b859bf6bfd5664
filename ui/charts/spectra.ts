/** Waveforms: power density over frequency by Welch's method, and the distribution of the envelope. */
import { fft } from "../../lib/numeric/linalg/fft.ts";
import type { CurveFigure, FigurePoint } from "../../lib/figure/types.ts";
import { decibel } from "./response.ts";

/** Samples of a waveform with its layout. */
export interface Waveform {
  label: string;
  real: Float64Array;
  imaginary: Float64Array;
  /** Subcarrier spacings of the sample rate. */
  spacings: number;
}

interface Facts {
  title: string;
  subtitle: string;
  source: Record<string, string>;
}

const SEGMENT = 512, LEVEL_STEP_DB = 0.25, LARGEST_LEVEL_DB = 12;
/** Densities further below the largest one are drawn at this distance, in dB. */
const FLOOR_DB = -90;

/**
 * Power density in SEGMENT bins from -1/2 to 1/2 of the sample rate: mean |DFT|² of half-overlapping segments with a Hann window.
 * The bins sum to the mean power of the waveform. A shorter waveform is one segment. Exported for tests.
 */
export function powerDensity({ real, imaginary }: Waveform): Float64Array {
  const size = Math.min(SEGMENT, real.length), density = new Float64Array(size);
  const window = Float64Array.from({ length: size }, (_, n) => Math.sin(Math.PI * (n + 0.5) / size) ** 2);
  const scale = size * window.reduce((sum, value) => sum + value * value, 0);
  let segments = 0;
  for (let start = 0; start + size <= real.length; start += Math.max(1, size >> 1), segments++) {
    const part = new Float64Array(2 * size);
    for (let n = 0; n < size; n++) {
      part[2 * n] = window[n] * real[start + n];
      part[2 * n + 1] = window[n] * imaginary[start + n];
    }
    const bins = fft(part), shift = size >> 1;
    for (let k = 0; k < size; k++) {
      const at = (k + size - shift) % size;
      density[k] += (bins[2 * at] ** 2 + bins[2 * at + 1] ** 2) / scale;
    }
  }
  return density.map((value) => value / segments);
}

/** Power density in dB relative to the largest one, over the frequency in subcarrier spacings. */
export function spectrumFigure(waveforms: readonly Waveform[], facts: Facts): CurveFigure {
  const series = waveforms.map((waveform) => {
    const density = powerDensity(waveform), largest = Math.max(...density), size = density.length;
    const points = Array.from(density, (value, k): FigurePoint => ({
      x: (k - (size >> 1)) * waveform.spacings / size,
      y: Math.max(FLOOR_DB, decibel(value / largest) ?? FLOOR_DB),
      low: null,
      high: null,
    }));
    return { label: waveform.label, kind: "measured" as const, points };
  });
  return {
    ...facts,
    form: "curves",
    type: "waveform-spectrum",
    x: { title: "Frequency in subcarrier spacings", unit: "", scale: "linear", domain: null },
    y: { title: "Relative power density", unit: "dB", scale: "linear", domain: null },
    series,
    step: false,
    markers: false,
    front: null,
  };
}

/** Share of samples whose power exceeds a level above the mean, until none does. Exported for tests. */
export function exceedance({ real, imaginary }: Waveform): FigurePoint[] {
  const powers = real.map((value, n) => value * value + imaginary[n] * imaginary[n]).sort();
  const mean = powers.reduce((sum, power) => sum + power, 0) / powers.length, points: FigurePoint[] = [];
  let below = 0;
  for (let level = 0; level <= LARGEST_LEVEL_DB && mean > 0; level += LEVEL_STEP_DB) {
    while (below < powers.length && powers[below] <= mean * 10 ** (level / 10)) below++;
    if (below === powers.length) break;
    points.push({ x: level, y: 1 - below / powers.length, low: null, high: null });
  }
  return points;
}

/** Exceedance of the envelope beside e^(-level) of Gaussian samples. */
export function envelopeFigure(waveforms: readonly Waveform[], facts: Facts): CurveFigure {
  const measured = waveforms.map((one) => ({ label: one.label, kind: "measured" as const, points: exceedance(one) }));
  const least = Math.min(...measured.flatMap(({ points }) => points.map(({ y }) => y!)), 1);
  const gaussian = Array.from({ length: LARGEST_LEVEL_DB / LEVEL_STEP_DB + 1 }, (_, i): FigurePoint => {
    const x = i * LEVEL_STEP_DB;
    return { x, y: Math.exp(-(10 ** (x / 10))), low: null, high: null };
  }).filter(({ y }) => y! >= least);
  return {
    ...facts,
    form: "curves",
    type: "waveform-envelope",
    x: { title: "Sample power over the mean", unit: "dB", scale: "linear", domain: null },
    y: { title: "Share of samples above", unit: "", scale: "log", domain: null },
    series: [...measured, { label: "Gaussian samples", kind: "theory", points: gaussian }],
    step: false,
    markers: false,
    front: null,
  };
}
