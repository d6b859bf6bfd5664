/** Polygons on a raster of pixels. */

/** A corner, in pixels: the pixel (x, y) covers x … x + 1 and y … y + 1. */
export type Point = readonly [x: number, y: number];

/** Area of a polygon by the shoelace formula, for either orientation. */
export function polygonArea(points: readonly Point[]): number {
  let twice = 0;
  points.forEach(([x, y], index) => {
    const [nextX, nextY] = points[(index + 1) % points.length];
    twice += x * nextY - nextX * y;
  });
  return Math.abs(twice) / 2;
}

/**
 * Calls `cover` for every pixel whose centre lies inside a polygon, by the even-odd rule, row by row from the top. An
 * edge belongs to the pixels on its right and below it, so polygons with a common edge share no pixel.
 * @param cover receives the index of the pixel in a raster of `width` columns
 */
export function fillPolygon(
  points: readonly Point[],
  { width, height }: { width: number; height: number },
  cover: (pixel: number) => void,
): void {
  for (let row = 0; row < height; row++) {
    const y = row + 0.5;
    const crossings = points.flatMap(([x0, y0], index) => {
      const [x1, y1] = points[(index + 1) % points.length];
      return (y0 <= y) === (y1 <= y) ? [] : [x0 + (y - y0) * (x1 - x0) / (y1 - y0)];
    }).sort((a, b) => a - b);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const first = Math.max(0, Math.ceil(crossings[pair] - 0.5));
      const end = Math.min(width, Math.ceil(crossings[pair + 1] - 0.5));
      for (let x = first; x < end; x++) cover(row * width + x);
    }
  }
}
