/**
 * Places of the labels beside points: the nearest of fixed places around the marker at which a label hides no marker, no other
 * label and no frame; the one that hides least where there is none. A label away from its marker has a line to it.
 */
import type { Position } from "./axis.ts";
import type { FigureStyle } from "./style.ts";
import { textWidth } from "./text_width.ts";
import type { FigureSeries } from "./types.ts";

/** A label with the middle of its text, in the units of the axes. */
export interface PlacedLabel {
  series: string;
  label: string;
  x: number;
  y: number;
  label_x: number;
  label_y: number;
  /** Whether a line joins the label and its point. */
  away: boolean;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Directions from the marker, and distances beyond its edge in heights of the text. */
const AROUND = [[1, -1], [1, 1], [-1, -1], [-1, 1], [1, 0], [-1, 0], [0, -1], [0, 1]] as const;
const BEYOND = [0, 0.7, 1.4, 2.1, 2.8, 3.5, 5, 7];

/** Size of the labels. */
export const labelSize = (style: FigureStyle): number => 0.8 * style.font_size;

/**
 * The labels of all seen series, in the order of their points.
 * @param axes scales of the plot: their domains are drawn as they are
 */
export function placedLabels(
  series: readonly FigureSeries[],
  style: FigureStyle,
  axes: Record<"x" | "y", Pick<Position, "scale">>,
): PlacedLabel[] {
  const { width, height } = style, size = labelSize(style), radius = Math.sqrt(style.marker_size) / 2;
  const [alongX, alongY] = [scaleOf(axes.x, 0, width), scaleOf(axes.y, height, 0)];
  const points = series.filter(({ hidden, kind }) => hidden !== true && kind !== "theory").flatMap((
    { label, points },
  ) =>
    points.flatMap(({ y, ...point }) =>
      y === null ? [] : [{ ...point, y, series: label, px: alongX.to(point.x), py: alongY.to(y) }]
    )
  ).filter(({ px, py }) => px >= 0 && px <= width && py >= 0 && py <= height);
  const markers = points.map(({ px, py }) => boxOf(px, py, 2 * radius, 2 * radius));
  const placed: Box[] = [];
  return points.flatMap(({ series, label, x, y, px, py }) => {
    if (label === undefined) return [];
    const wide = textWidth(label, size);
    const places = BEYOND.flatMap((beyond) =>
      AROUND.map(([right, down]) => {
        const [reachX, reachY] = [radius + wide / 2 + 1, radius + size / 2].map((reach) => reach + beyond * size);
        return { beyond, box: boxOf(px + right * reachX, py + down * reachY, wide, size) };
      })
    );
    const hides = places.map(({ box }) => {
      const outside = wide * size - shared(box, { left: 0, right: width, top: 0, bottom: height });
      return [...markers, ...placed].reduce((sum, other) => sum + shared(box, other), outside);
    });
    const least = hides.reduce((a, b) => Math.min(a, b)),
      { beyond, box } = places[hides.findIndex((one) => one <= least + 1e-6)];
    placed.push(box);
    const [cx, cy] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    return [{ series, label, x, y, label_x: alongX.from(cx), label_y: alongY.from(cy), away: beyond > 0 }];
  });
}

const boxOf = (x: number, y: number, width: number, height: number): Box => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

/** The common area of two boxes. */
const shared = (a: Box, b: Box): number =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

/** From values to places of the plot, and back. */
function scaleOf({ scale }: Pick<Position, "scale">, start: number, end: number) {
  const log = scale.type === "log", along = (value: number) => log ? Math.log10(value) : value;
  const [low, high] = (scale.domain as [number, number]).map(along);
  return {
    to: (value: number) => start + (end - start) * (along(value) - low) / (high - low),
    from(place: number) {
      const value = low + (high - low) * (place - start) / (end - start);
      return log ? 10 ** value : value;
    },
  };
}
