/**
 * Finds lines of text with the detector of PP-OCRv4: the probability that a pixel lies in the shrunk region of a line, and
 * regions from it by differentiable binarisation's rules.
 *
 * Input of the network: float32 [1, 3, rows, columns], channels blue, green, red, normalised per plane; sides are multiples
 * of 32. Output: probabilities [1, 1, rows, columns]. Pixels above 0.3 form regions of eight neighbours. A region has the
 * rectangle of smallest area about it, which is dropped where its mean probability is below 0.6 or its shorter side below 3
 * pixels, and is grown by 2 · area / perimeter on each side, since the network was trained on shrunk regions. (PaddleOCR grows by 1.5; the
 * recogniser then loses most blanks between words.)
 *
 * Source: Liao et al., Real-time Scene Text Detection with Differentiable Binarization, AAAI 2020, section 3.5; mean and
 * deviation per plane and the limits are those of PaddleOCR.
 */
import type { ArrayValue, Context } from "./svc_types.ts";
import { type Box, scaled, wholeImage } from "./sample.ts";

const MEAN = [0.485, 0.456, 0.406], DEVIATION = [0.229, 0.224, 0.225];
const THRESHOLD = 0.3, LEAST_PROBABILITY = 0.6, LEAST_SIDE = 3, GROWTH = 2;
/** The longer side of the image for the network, in pixels. */
const LONGER_SIDE = 512;

type Point = readonly [x: number, y: number];

/** The boxes of lines of an image in reading order. */
export async function detect(images: ArrayValue, index: number, context: Context): Promise<Box[]> {
  const [, height, width] = images.shape, scale = LONGER_SIDE / Math.max(height, width);
  const rows = multiple(height * scale), columns = multiple(width * scale);
  const image = scaled(images, index, wholeImage(images), { rows, columns });
  const area = rows * columns, data = image.data as Float32Array;
  for (let plane = 0; plane < 3; plane++) {
    for (let at = plane * area; at < (plane + 1) * area; at++) data[at] = (data[at] - MEAN[plane]) / DEVIATION[plane];
  }
  const { probability } = await context.infer("detection", { image });
  return inReadingOrder(
    boxes(probability.data as Float32Array, rows, columns).map((box) => resized(box, width / columns, height / rows)),
  );
}

/**
 * From top to bottom, and in a row from left to right. A box is in the row of another if, across its direction, their
 * middles differ by less than half its height. Exported for tests.
 */
export function inReadingOrder(found: readonly Box[]): Box[] {
  const rows: Box[][] = [];
  for (const box of found.toSorted((a, b) => middle(a)[1] - middle(b)[1])) {
    const row = rows.find(([first]) => {
      const { down: [x, y] } = first, [to, from] = [middle(box), middle(first)];
      return Math.abs((to[0] - from[0]) * x + (to[1] - from[1]) * y) < (x * x + y * y) / 2;
    });
    if (row === undefined) rows.push([box]);
    else row.push(box);
  }
  return rows.flatMap((row) => row.sort((a, b) => middle(a)[0] - middle(b)[0]));
}

const multiple = (side: number) => Math.max(32, Math.round(side / 32) * 32);
const middle = ({ origin, across, down }: Box): Point => [
  origin[0] + (across[0] + down[0]) / 2,
  origin[1] + (across[1] + down[1]) / 2,
];

function resized({ origin, across, down }: Box, x: number, y: number): Box {
  const by = ([a, b]: Point): [number, number] => [a * x, b * y];
  return { origin: by(origin), across: by(across), down: by(down) };
}

/** Boxes in a map of probabilities. Exported for tests. */
export function boxes(probability: Float32Array, rows: number, columns: number): Box[] {
  const found: Box[] = [];
  for (const region of regions(probability, rows, columns)) {
    const mean = region.reduce((sum, at) => sum + probability[at], 0) / region.length;
    if (mean < LEAST_PROBABILITY) continue;
    const corners = region.flatMap((at): Point[] => {
      const x = at % columns, y = Math.floor(at / columns);
      return [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]];
    });
    const { origin, along, across, down } = smallestRectangle(hull(corners));
    if (Math.min(across, down) < LEAST_SIDE) continue;
    const growth = GROWTH * across * down / (2 * (across + down)), [ux, uy] = along;
    const wide = across + 2 * growth, high = down + 2 * growth;
    found.push({
      origin: [origin[0] - growth * (ux - uy), origin[1] - growth * (uy + ux)],
      across: [ux * wide, uy * wide],
      down: [-uy * high, ux * high],
    });
  }
  return found;
}

/** Pixels above the threshold, by regions of eight neighbours. */
function regions(probability: Float32Array, rows: number, columns: number): number[][] {
  const open = Uint8Array.from(probability, (value) => value > THRESHOLD ? 1 : 0), found: number[][] = [];
  for (let start = 0; start < open.length; start++) {
    if (open[start] === 0) continue;
    const region = [start];
    open[start] = 0;
    for (let next = 0; next < region.length; next++) {
      const x = region[next] % columns, y = Math.floor(region[next] / columns);
      for (let row = Math.max(0, y - 1); row <= Math.min(rows - 1, y + 1); row++) {
        for (let column = Math.max(0, x - 1); column <= Math.min(columns - 1, x + 1); column++) {
          const at = row * columns + column;
          if (open[at] === 1) {
            open[at] = 0;
            region.push(at);
          }
        }
      }
    }
    found.push(region);
  }
  return found;
}

/** The convex hull by Andrew's monotone chain. */
function hull(points: Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (ordered: Point[]) => {
    const kept: Point[] = [];
    for (const point of ordered) {
      while (kept.length > 1 && turn(kept[kept.length - 2], kept[kept.length - 1], point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.toReversed())];
}

const turn = (a: Point, b: Point, c: Point) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** The rectangle of smallest area about a hull: one side lies on an edge. Its `along` is within 45 degrees of the rows. */
function smallestRectangle(points: Point[]): { origin: Point; along: Point; across: number; down: number } {
  let best = { origin: [0, 0] as Point, along: [1, 0] as Point, across: Infinity, down: Infinity };
  points.forEach((point, index) => {
    const next = points[(index + 1) % points.length];
    const dx = next[0] - point[0], dy = next[1] - point[1], length = Math.hypot(dx, dy);
    // Of the four directions of a rectangle the one nearest to the positive x axis.
    const [ux, uy] = Math.abs(dx) >= Math.abs(dy)
      ? [Math.abs(dx) / length, Math.sign(dx) * dy / length]
      : [Math.abs(dy) / length, -Math.sign(dy) * dx / length];
    const u = points.map(([x, y]) => x * ux + y * uy), v = points.map(([x, y]) => y * ux - x * uy);
    const left = Math.min(...u), top = Math.min(...v), across = Math.max(...u) - left, down = Math.max(...v) - top;
    if (across * down < best.across * best.down - 1e-9) {
      best = { origin: [left * ux - top * uy, left * uy + top * ux], along: [ux, uy], across, down };
    }
  });
  return best;
}
