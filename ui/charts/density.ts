/** A two-dimensional histogram as pixels: viridis over the logarithm of the counts. */

/** Points of viridis, evenly spaced. */
const VIRIDIS: readonly (readonly [number, number, number])[] = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [109, 205, 89],
  [180, 222, 44],
  [253, 231, 37],
];

/** The colour of a value between 0 and 1. */
export function viridis(share: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1), low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return [0, 1, 2].map((channel) =>
    Math.round(VIRIDIS[low][channel] + (VIRIDIS[low + 1][channel] - VIRIDIS[low][channel]) * (at - low))
  ) as [number, number, number];
}

/** The colour of a cell, by its logarithm over the largest one, so that a single point is visible. */
export const densityColour = (share: number): [number, number, number] => viridis(0.08 + 0.92 * share);

/**
 * Pixels of a histogram; empty cells are transparent, so that the background is visible.
 *
 * @param counts rows from the smallest y; the image has its first row on top
 */
export function densityPixels(counts: readonly (readonly number[])[]): Uint8ClampedArray<ArrayBuffer> {
  const height = counts.length, width = counts[0]?.length ?? 0;
  const out = new Uint8ClampedArray(width * height * 4);
  const most = Math.log1p(Math.max(0, ...counts.map((row) => Math.max(0, ...row))));
  for (let y = 0; y < height; y++) {
    const row = counts[height - 1 - y];
    for (let x = 0; x < width; x++) {
      if (row[x] === 0) continue;
      out.set([...densityColour(Math.log1p(row[x]) / most), 255], (y * width + x) * 4);
    }
  }
  return out;
}
