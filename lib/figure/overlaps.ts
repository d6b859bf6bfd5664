/** Points that the markers of later series would hide: they get a larger outline of their own marker. */
import type { CurveFigure } from "./types.ts";

export interface HiddenPoint {
  series: string;
  /** Index of the series. */
  index: number;
  x: number;
  y: number;
  /** Side of the outline in sides of a marker: larger under more markers, so that all are seen. */
  side: number;
}

/** Markers nearer than this share of the height of the plot hide each other. */
const NEAR = 0.02;

/** The hidden points of a figure with markers. */
export function hiddenPoints({ series, y, markers, step }: CurveFigure): HiddenPoint[] {
  if (markers === false || step) return [];
  const along = (value: number) => y.scale === "log" ? Math.log10(value) : value;
  const points = series.flatMap(({ label, kind, hidden, points }, index) =>
    hidden === true || kind === "theory" ? [] : points.flatMap(({ x, y: value }) => {
      const height = value === null ? NaN : along(value);
      return Number.isFinite(height) ? [{ series: label, index, x, y: value!, height }] : [];
    })
  );
  const heights = points.map(({ height }) => height);
  const near = NEAR * (heights.reduce((a, b) => Math.max(a, b), -Infinity) -
    heights.reduce((a, b) => Math.min(a, b), Infinity));
  const places = Map.groupBy(points, ({ x }) => Number(x.toPrecision(9)));
  return points.flatMap(({ height, ...point }) => {
    const above = places.get(Number(point.x.toPrecision(9)))!
      .filter((other) => other.index > point.index && Math.abs(other.height - height) <= near);
    return above.length === 0 ? [] : [{ ...point, side: 1 + 0.5 * above.length }];
  });
}
