/** Geometry of maps and polar plots. */
import { correlationGain, sphericalWave } from "../../lib/numeric/antenna/near_field.ts";
import type { FigurePoint } from "../../lib/figure/types.ts";

const MARGIN = 0.05;

/** Ends of both axes, of equal length, around all points: a distance is one whatever its direction. */
export function equalDomains(sets: readonly (readonly FigurePoint[])[]): [x: [number, number], y: [number, number]] {
  const ends = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;
  const all = sets.flat(), spans = [ends(all.map(({ x }) => x)), ends(all.map(({ y }) => y!))] as const;
  const half = (0.5 + MARGIN) * (Math.max(...spans.map(([low, high]) => high - low)) || 1);
  return spans.map(([low, high]) => [(low + high) / 2 - half, (low + high) / 2 + half]) as [
    [number, number],
    [number, number],
  ];
}

/**
 * The share of the largest gain that a beam toward a focus has at the cells [y, x] of a plane.
 *
 * @param reach the plane is -reach … reach along the array and 0 … 2·reach away from it, in m
 */
export function focusGains(
  focus: { range: number; angle: number },
  { antennas, wavelength, reach, cells }: { antennas: number; wavelength: number; reach: number; cells: number },
): Float64Array {
  const array = { antennas, wavelength }, beam = sphericalWave(array, focus), step = 2 * reach / cells;
  return Float64Array.from({ length: cells * cells }, (_, at) => {
    const x = -reach + (at % cells + 0.5) * step, y = (Math.floor(at / cells) + 0.5) * step;
    const h = sphericalWave(array, { range: Math.hypot(x, y), angle: Math.atan2(x, y) * 180 / Math.PI });
    return correlationGain(h, beam) / antennas ** 2;
  });
}

/** Of a polar plot in its own units. */
export const RADIUS = 220;

/** A point of a polar plot: 0° is up, positive angles are to the right. */
export function polarPoint(angle: number, share: number): [x: number, y: number] {
  const turn = angle * Math.PI / 180, r = RADIUS * Math.max(0, share);
  return [r * Math.sin(turn), -r * Math.cos(turn)];
}

/** Range of the colours that a linear scale is written in. */
export const LINEAR_DB = 40;

/** Values as powers whose decibels are the values: the colours of a linear scale. */
export const shares = (values: Float64Array, low: number, high: number): Float64Array =>
  values.map((value) => 10 ** (((value - low) / (high - low || 1) - 1) * LINEAR_DB / 10));
