/** Crosshair of a figure: conversion between screen positions and values, and the value of each series at an x. */
import type { PlotFrame } from "../../lib/figure/svg.ts";
import type { CurveFigure, FigureAxis, FigurePoint, FigureSeries } from "../../lib/figure/types.ts";

type Ends = [number, number];

const curve = ({ scale }: FigureAxis) => scale === "log" ? Math.log10 : (value: number) => value;

/** The relative position of a value on an axis: 0 at its start, 1 at its end. */
export function shareOf(value: number, axis: FigureAxis, [low, high]: Ends): number {
  const f = curve(axis);
  return (f(value) - f(low)) / (f(high) - f(low));
}

/** The value at a relative position of an axis. */
export function valueAt(share: number, axis: FigureAxis, [low, high]: Ends): number {
  const f = curve(axis), at = f(low) + share * (f(high) - f(low));
  return axis.scale === "log" ? 10 ** at : at;
}

/** The x values of all shown measurements, ascending; without any, those of theory curves. */
export function placesOf({ series }: CurveFigure, [low, high]: Ends): number[] {
  const seen = series.filter(({ hidden }) => hidden !== true), measured = seen.filter(({ kind }) => kind !== "theory");
  const places = (measured.length > 0 ? measured : seen).flatMap(({ points }) => points.map(({ x }) => x));
  return [...new Set(places)].filter((x) => x >= low && x <= high).sort((a, b) => a - b);
}

/** The nearest member of an ascending list. */
export function nearest(places: readonly number[], value: number): number | null {
  let best: number | null = null;
  for (const place of places) if (best === null || Math.abs(place - value) < Math.abs(best - value)) best = place;
  return best;
}

/**
 * The point of a series at an x, or null. Measurements are never interpolated; theory curves are interpolated between their
 * dense points.
 */
export function pointAt(
  { points, kind }: FigureSeries,
  place: number,
  { step, y }: Pick<CurveFigure, "step" | "y">,
): FigurePoint | null {
  if (step) return points.findLast(({ x }) => x <= place) ?? null;
  const after = points.findIndex(({ x }) => x >= place);
  if (after < 0 || points[after].x === place) return points[after] ?? null;
  const [from, to] = [points[after - 1], points[after]];
  if (kind !== "theory" || from === undefined || !isShown(from, y) || !isShown(to, y)) return null;
  const f = curve(y), share = (place - from.x) / (to.x - from.x), at = f(from.y!) + share * (f(to.y!) - f(from.y!));
  return { x: place, y: y.scale === "log" ? 10 ** at : at, low: null, high: null };
}

const isShown = (point: FigurePoint, { scale }: FigureAxis) => point.y !== null && (scale === "linear" || point.y > 0);

/** The axis limits of a zoom box between two corners; null for a click. */
export function boxOf(
  frame: PlotFrame,
  figure: Pick<CurveFigure, "x" | "y">,
  from: { x: number; y: number },
  to: { x: number; y: number },
): { x: Ends; y: Ends } | null {
  if (Math.abs(to.x - from.x) < 4 || Math.abs(to.y - from.y) < 4) return null;
  const across = [from.x, to.x].map((place) => clamp((place - frame.left) / frame.width)).sort((a, b) => a - b);
  const up = [from.y, to.y].map((place) => clamp(1 - (place - frame.top) / frame.height)).sort((a, b) => a - b);
  return {
    x: across.map((share) => valueAt(share, figure.x, frame.x)) as Ends,
    y: up.map((share) => valueAt(share, figure.y, frame.y)) as Ends,
  };
}

/** The limits of an axis zoomed around a value by a factor (above 1: in, below 1: out). */
export function zoomedEnds(around: number, factor: number, axis: FigureAxis, ends: Ends): Ends {
  const share = shareOf(around, axis, ends);
  return [valueAt(share - share / factor, axis, ends), valueAt(share + (1 - share) / factor, axis, ends)];
}

const clamp = (share: number) => Math.min(1, Math.max(0, share));
