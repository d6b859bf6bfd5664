/** Parts of images as inputs of the networks. */
import type { ArrayValue } from "./svc_types.ts";

/** A parallelogram in an image: a corner and its two sides, in pixels from the top left edge. */
export interface Box {
  origin: readonly [x: number, y: number];
  across: readonly [x: number, y: number];
  down: readonly [x: number, y: number];
}

export const wholeImage = ({ shape: [, height, width] }: ArrayValue): Box => ({
  origin: [0, 0],
  across: [width, 0],
  down: [0, height],
});

/**
 * A box as float32 [1, 3, rows, columns] in [0, 1], channels blue, green, red, by bilinear interpolation between pixel
 * centres; outside of the image its edge continues.
 * @param images uint8 or float32 in [0, 1], [image, height, width, channel] with 1 or at least 3 channels
 */
export function scaled(
  { dtype, shape: [, height, width, channels], data }: ArrayValue,
  index: number,
  { origin, across, down }: Box,
  { rows, columns }: { rows: number; columns: number },
): ArrayValue {
  const planes = new Float32Array(3 * rows * columns), full = dtype === "uint8" ? 255 : 1;
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const u = (x + 0.5) / columns, v = (y + 0.5) / rows;
      const [left, right, toRight] = taps(origin[0] + across[0] * u + down[0] * v, width);
      const [top, bottom, below] = taps(origin[1] + across[1] * u + down[1] * v, height);
      for (let plane = 0; plane < 3; plane++) {
        const c = channels < 3 ? 0 : 2 - plane;
        const at = (row: number, column: number) =>
          Number(data[((index * height + row) * width + column) * channels + c]);
        const upper = at(top, left) * (1 - toRight) + at(top, right) * toRight;
        const lower = at(bottom, left) * (1 - toRight) + at(bottom, right) * toRight;
        planes[(plane * rows + y) * columns + x] = (upper * (1 - below) + lower * below) / full;
      }
    }
  }
  return { dtype: "float32", shape: [1, 3, rows, columns], data: planes };
}

/** The two pixels about a position, and the weight of the second. */
function taps(position: number, size: number): [number, number, number] {
  const centre = Math.min(Math.max(position - 0.5, 0), size - 1), low = Math.floor(centre);
  return [low, Math.min(low + 1, size - 1), centre - low];
}
