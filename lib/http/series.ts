/**
 * Arrays thinned for plots, so that millions of values need not cross the wire: a line keeps the smallest and the largest
 * value of each stretch, so that no peak is lost; complex values become a two-dimensional histogram, a constellation.
 */
import { float, type JsonObject, type Value } from "../contract/value.ts";
import { DTYPES, elementCount, type NdArray } from "../numeric/ndarray.ts";
import { finite, invalid } from "./artifact_file.ts";

export const SERIES_KINDS = ["line", "histogram", "histogram_2d"] as const;
export type SeriesKind = typeof SERIES_KINDS[number];

/**
 * Thins an array, read in C order.
 *
 * @param points at most this many points of a line, bins of a histogram, or cells of one axis squared
 * @param kind by the type of the array when left out
 * @returns `{kind, x, y, counts?, source_count}`; edges of bins are one more than bins
 */
export function seriesOf(array: NdArray, points: number, kind?: SeriesKind): JsonObject {
  const complex = DTYPES[array.dtype].slots === 2;
  const chosen = kind ?? (complex ? "histogram_2d" : "line");
  if ((chosen === "histogram_2d") !== complex) {
    throw invalid(
      `Cannot make a ${chosen} of ${array.dtype} values`,
      complex ? "Use histogram_2d" : "Use line or histogram",
    );
  }
  const count = elementCount(array.shape);
  if (chosen === "histogram_2d") return constellation(array, Math.max(2, Math.floor(Math.sqrt(points))), count);
  return chosen === "line" ? line(array, points, count) : histogram(array, points, count);
}

function line({ data }: NdArray, points: number, count: number): JsonObject {
  const x: number[] = [], y: Value[] = [];
  const put = (index: number) => {
    x.push(index);
    y.push(finite(Number(data[index])));
  };
  if (count <= points) {
    for (let i = 0; i < count; i++) put(i);
  } else {
    const stretches = Math.max(1, points >> 1);
    for (let s = 0; s < stretches; s++) {
      const from = Math.floor(s * count / stretches), to = Math.floor((s + 1) * count / stretches);
      let low = from, high = from;
      for (let i = from; i < to; i++) {
        if (data[i] < data[low]) low = i;
        if (data[i] > data[high]) high = i;
      }
      put(Math.min(low, high));
      if (low !== high) put(Math.max(low, high));
    }
  }
  return { kind: "line", x, y, source_count: count };
}

function histogram({ data }: NdArray, points: number, count: number): JsonObject {
  const [low, high] = range(data, 0, 1, count);
  const bins = Math.min(points, 256), counts = new Array<number>(bins).fill(0);
  const scale = high > low ? bins / (high - low) : 0;
  for (let i = 0; i < count; i++) {
    const value = Number(data[i]);
    if (Number.isFinite(value)) counts[Math.min(bins - 1, Math.floor((value - low) * scale))]++;
  }
  return { kind: "histogram", x: edges(low, high, bins), y: counts, source_count: count };
}

/** Real part along x, imaginary part along y; `counts[row][column]` with rows along y. */
function constellation({ data }: NdArray, cells: number, count: number): JsonObject {
  const [left, right] = range(data, 0, 2, count), [bottom, top] = range(data, 1, 2, count);
  const counts = Array.from({ length: cells }, () => new Array<number>(cells).fill(0));
  const across = right > left ? cells / (right - left) : 0, up = top > bottom ? cells / (top - bottom) : 0;
  for (let i = 0; i < count; i++) {
    const re = Number(data[2 * i]), im = Number(data[2 * i + 1]);
    if (!Number.isFinite(re) || !Number.isFinite(im)) continue;
    const row = Math.min(cells - 1, Math.floor((im - bottom) * up));
    counts[row][Math.min(cells - 1, Math.floor((re - left) * across))]++;
  }
  return {
    kind: "histogram_2d",
    x: edges(left, right, cells),
    y: edges(bottom, top, cells),
    counts,
    source_count: count,
  };
}

/** Smallest and largest finite value of every `step`-th number; [0, 0] where there is none. */
function range(data: NdArray["data"], from: number, step: number, count: number): [number, number] {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < count; i++) {
    const value = Number(data[from + i * step]);
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 0];
}

function edges(low: number, high: number, bins: number): Value[] {
  return Array.from({ length: bins + 1 }, (_, i) => float(low + (high - low) * i / bins));
}
