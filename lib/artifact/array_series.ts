/**
 * Arrays thinned for plots, so that millions of values need not cross the wire: a line keeps the smallest and the largest
 * value of each stretch, so that no peak is lost; complex values become a two-dimensional histogram, a constellation.
 */
import { float, type JsonObject, type Value } from "../contract/value.ts";
import { DTYPES, elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { finite, invalid } from "./array_block.ts";

export const SERIES_KINDS = ["line", "histogram", "histogram_2d"] as const;
export type SeriesKind = typeof SERIES_KINDS[number];
export const SERIES_RANGES = ["all", "robust"] as const;
export type SeriesRange = typeof SERIES_RANGES[number];

/** Values that the ends of a robust range are taken from, evenly over the array. */
const SAMPLED = 65_536;
/** Share of the values beyond either end of the bulk. */
const TAIL = 0.004;
/** The bulk is widened by this much on either side; a range that is not larger is taken whole. */
const WIDENED = 0.25;

/**
 * Thins an array, read in C order.
 * @param points at most this many points of a line, bins of a histogram, or cells of one axis squared
 * @param kind by the type of the array when left out
 * @param wanted of histograms: `robust` leaves out values that lie far from the rest, so that one of them does not shrink
 *   the outline of all others, and counts them
 * @returns `{kind, x, y, counts?, source_count, outside_count?}`; edges of bins are one more than bins
 */
export function seriesOf(array: NdArray, points: number, kind?: SeriesKind, wanted: SeriesRange = "all"): JsonObject {
  const complex = DTYPES[array.dtype].slots === 2;
  const chosen = kind ?? (complex ? "histogram_2d" : "line");
  if ((chosen === "histogram_2d") !== complex) {
    throw invalid(
      `Cannot make a ${chosen} of ${array.dtype} values`,
      complex ? "Use histogram_2d" : "Use line or histogram",
    );
  }
  const count = elementCount(array.shape);
  if (chosen === "histogram_2d") return constellation(array, Math.max(2, Math.floor(Math.sqrt(points))), count, wanted);
  return chosen === "line" ? line(array, points, count) : histogram(array, points, count, wanted);
}

/**
 * Every `stride`-th value in C order, from `offset` on, as an array of one axis.
 * @throws SvcError `artifact_invalid` where there is none
 */
export function everyNth(array: NdArray, stride: number, offset: number): NdArray {
  if (stride === 1 && offset === 0) return array;
  const { slots } = DTYPES[array.dtype], count = Math.ceil((elementCount(array.shape) - offset) / stride);
  if (offset >= stride || count < 1) {
    throw invalid(
      `Cannot begin at value ${offset} of every ${stride}`,
      `Use an offset below stride and below the length`,
    );
  }
  const data = array.data.slice(0, count * slots);
  for (let i = 0; i < count; i++) {
    for (let slot = 0; slot < slots; slot++) data[i * slots + slot] = array.data[(i * stride + offset) * slots + slot];
  }
  return { ...array, shape: [count], data };
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

function histogram({ data }: NdArray, points: number, count: number, wanted: SeriesRange): JsonObject {
  const [low, high] = range(data, 0, 1, count, wanted);
  const bins = Math.min(points, 256), counts = new Array<number>(bins).fill(0);
  const scale = high > low ? bins / (high - low) : 0;
  let outside = 0;
  for (let i = 0; i < count; i++) {
    const value = Number(data[i]);
    if (value >= low && value <= high) counts[Math.min(bins - 1, Math.floor((value - low) * scale))]++;
    else outside++;
  }
  return { kind: "histogram", x: edges(low, high, bins), y: counts, source_count: count, outside_count: outside };
}

/** Real part along x, imaginary part along y; `counts[row][column]` with rows along y. */
function constellation({ data }: NdArray, cells: number, count: number, wanted: SeriesRange): JsonObject {
  const [left, right] = range(data, 0, 2, count, wanted), [bottom, top] = range(data, 1, 2, count, wanted);
  const counts = Array.from({ length: cells }, () => new Array<number>(cells).fill(0));
  const across = right > left ? cells / (right - left) : 0, up = top > bottom ? cells / (top - bottom) : 0;
  let outside = 0;
  for (let i = 0; i < count; i++) {
    const re = Number(data[2 * i]), im = Number(data[2 * i + 1]);
    if (!(re >= left && re <= right && im >= bottom && im <= top)) {
      outside++;
      continue;
    }
    const row = Math.min(cells - 1, Math.floor((im - bottom) * up));
    counts[row][Math.min(cells - 1, Math.floor((re - left) * across))]++;
  }
  return {
    kind: "histogram_2d",
    x: edges(left, right, cells),
    y: edges(bottom, top, cells),
    counts,
    source_count: count,
    outside_count: outside,
  };
}

/** The ends of every `step`-th number: of all that are finite, or of their bulk where some lie far from it. */
function range(
  data: NdArray["data"],
  from: number,
  step: number,
  count: number,
  wanted: SeriesRange,
): [number, number] {
  const [low, high] = extremes(data, from, step, count);
  if (wanted === "all") return [low, high];
  const stride = Math.max(1, Math.ceil(count / SAMPLED)), sample: number[] = [];
  for (let i = 0; i < count; i += stride) {
    const value = Number(data[from + i * step]);
    if (Number.isFinite(value)) sample.push(value);
  }
  const sorted = Float64Array.from(sample).sort(), beyond = Math.floor(sorted.length * TAIL);
  if (beyond === 0) return [low, high];
  const [first, last] = [sorted[beyond], sorted[sorted.length - 1 - beyond]], room = (last - first) * WIDENED;
  return [Math.max(low, first - room), Math.min(high, last + room)];
}

/** Smallest and largest finite value of every `step`-th number; [0, 0] where there is none. */
function extremes(data: NdArray["data"], from: number, step: number, count: number): [number, number] {
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
