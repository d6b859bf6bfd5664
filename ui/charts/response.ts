/** Channels over subcarriers and over delay. */
import { ifft } from "../../lib/numeric/linalg/fft.ts";
import type { CurveFigure, FigurePoint, FigureSeries } from "../../lib/figure/types.ts";

/** A frequency response H_k, k = 0 … F-1. */
export interface Response {
  label: string;
  real: Float64Array;
  imaginary: Float64Array;
}

/** Tap powers further below the strongest one are numerical noise, in dB. */
const DEEPEST_DB = 60;
/** Taps are drawn up to the last one within this distance of the strongest, in dB. */
const TRIMMED_DB = 45;
/** Minimum number of drawn taps; lines of at most so many have markers. */
const FEWEST_TAPS = 8, MARKED_TAPS = 48;
/** Longer delays are shown in microseconds. */
const MICRO_NS = 5000;

/** 10·log10; null for 0. */
export const decibel = (power: number): number | null => power > 0 ? 10 * Math.log10(power) : null;

/** |H_k|² of each subcarrier. */
export const gainsOf = ({ real, imaginary }: Response): Float64Array =>
  real.map((value, k) => value * value + imaginary[k] * imaginary[k]);

/** |h_n|² with h_n = 1/F · Σ_k H_k·exp(+j2πkn/F): over all taps they sum to the mean of |H_k|². */
export function tapPowers({ real, imaginary }: Response): Float64Array {
  const spectrum = new Float64Array(2 * real.length);
  real.forEach((value, k) => spectrum.set([value, imaginary[k]], 2 * k));
  const taps = ifft(spectrum);
  return Float64Array.from(real, (_, n) => taps[2 * n] ** 2 + taps[2 * n + 1] ** 2);
}

/** The elementwise mean of lists of equal length. */
export function meanOf(lists: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(lists[0]?.length ?? 0);
  for (const list of lists) list.forEach((value, at) => sum[at] += value);
  return sum.map((value) => value / lists.length);
}

export interface Powers {
  label: string;
  kind?: FigureSeries["kind"];
  powers: Float64Array;
}

interface Facts {
  title: string;
  subtitle: string;
  source: Record<string, string>;
}

const at = (x: number, power: number): FigurePoint => ({ x, y: decibel(power), low: null, high: null });

/** |H_k|² in dB over subcarriers. */
export function responseFigure(series: readonly Powers[], facts: Facts): CurveFigure {
  return {
    ...facts,
    form: "curves",
    type: "channel-response",
    x: {
      title: "Subcarrier",
      unit: "",
      scale: "linear",
      domain: [0, Math.max(1, ...series.map(({ powers }) => powers.length - 1))],
    },
    y: { title: "Gain |H|²", unit: "dB", scale: "linear", domain: null },
    series: series.map(({ label, kind = "measured", powers }) => ({
      label,
      kind,
      points: Array.from(powers, (power, k) => at(k, power)),
    })),
    step: false,
    markers: false,
    front: null,
  };
}

/**
 * Tap powers in dB over delay.
 *
 * @param bandwidthHz F·Δf: taps are 1/(F·Δf) apart; null where the spacing of the subcarriers is not known
 */
export function delayFigure(series: readonly Powers[], bandwidthHz: number | null, facts: Facts): CurveFigure {
  const most = Math.max(...series.flatMap(({ powers }) => Array.from(powers)), 0);
  const top = decibel(most) ?? 0, floor = top - DEEPEST_DB;
  const taps = Math.max(0, ...series.map(({ powers }) => powers.length));
  const heard = most * 10 ** (-TRIMMED_DB / 10),
    lasts = series.map(({ powers }) => powers.findLastIndex((p) => p > heard));
  const end = Math.min(taps - 1, Math.max(FEWEST_TAPS, ...lasts.map((last) => last + 2)));
  const inNs = bandwidthHz === null ? 1 : 1e9 / bandwidthHz, micro = bandwidthHz !== null && end * inNs > MICRO_NS;
  const step = micro ? inNs / 1000 : inNs, unit = bandwidthHz === null ? "" : micro ? "µs" : "ns";
  return {
    ...facts,
    form: "curves",
    type: "delay-profile",
    x: {
      title: unit === "" ? "Delay tap" : "Delay",
      unit,
      scale: "linear",
      domain: [0, Number((end * step).toPrecision(6))],
    },
    y: { title: "Tap power |h|²", unit: "dB", scale: "linear", domain: [floor, top + 3] },
    series: series.map(({ label, kind = "measured", powers }) => ({
      label,
      kind,
      points: Array.from(powers.subarray(0, end + 1), (power, n) => {
        const point = at(Number((n * step).toPrecision(6)), power);
        return { ...point, y: point.y === null ? null : Math.max(floor, point.y) };
      }),
    })),
    step: false,
    markers: end < MARKED_TAPS,
    front: null,
  };
}
