/** Images of arrays: image batches as they are, other planes as grey. */
import type { Image } from "./image.ts";
import { elementCount, type NdArray } from "../numeric/array/ndarray.ts";
import { SvcError } from "../contract/error.ts";
import { invalid } from "./array_block.ts";

/** Pixels of an image. */
const MAX_PIXELS = 1 << 26;

/**
 * One image of an array. Shapes: [H, W], [H, W, C], [N, H, W] and [N, H, W, C] with C of 1, 3 or 4. Bytes are samples;
 * floats in [0, 1] are scaled to them, anything else is stretched from its minimum (black) to its maximum (white).
 * @param index of the image in a batch
 * @throws SvcError `artifact_invalid` for other shapes, `query_invalid` for an index beyond the batch
 */
export function imageOfArray(array: NdArray, index: number): Image {
  const { dtype, shape, data } = array;
  if (dtype.startsWith("complex")) throw invalid("Cannot draw a complex array as an image", "Ask for its series");
  const { count, height, width, channels } = layout(shape);
  if (index >= count) {
    throw new SvcError("query_invalid", `Cannot draw image ${index}: there are ${count}`, {
      hint: `index goes from 0 to ${count - 1}`,
    });
  }
  if (height * width > MAX_PIXELS) throw invalid("Cannot draw so large an image");
  const size = height * width * channels, start = index * size;
  const samples = new Uint8Array(size);
  if (dtype === "uint8") {
    return { width, height, channels, data: Uint8Array.from(data.subarray(start, start + size) as Uint8Array) };
  }
  const [offset, scale] = stretch(array, start, size);
  for (let i = 0; i < size; i++) {
    const value = (Number(data[start + i]) - offset) * scale;
    samples[i] = value >= 255 ? 255 : value > 0 ? Math.round(value) : 0;
  }
  return { width, height, channels, data: samples };
}

function layout(shape: readonly number[]): { count: number; height: number; width: number; channels: 1 | 3 | 4 } {
  const isColor = (size: number): size is 1 | 3 | 4 => size === 1 || size === 3 || size === 4;
  const last = shape.at(-1) ?? 0;
  if (elementCount(shape) > 0) {
    if (shape.length === 4 && isColor(last)) {
      return { count: shape[0], height: shape[1], width: shape[2], channels: last };
    }
    if (shape.length === 3 && isColor(last)) return { count: 1, height: shape[0], width: shape[1], channels: last };
    if (shape.length === 3) return { count: shape[0], height: shape[1], width: shape[2], channels: 1 };
    if (shape.length === 2) return { count: 1, height: shape[0], width: shape[1], channels: 1 };
  }
  throw invalid(`Cannot draw an array of the shape [${shape.join(", ")}] as an image`, "Ask for its series");
}

/** Offset and factor from values to samples. */
function stretch({ dtype, data }: NdArray, start: number, size: number): [number, number] {
  if (dtype === "bool") return [0, 255];
  let low = Infinity, high = -Infinity;
  for (let i = start; i < start + size; i++) {
    const value = Number(data[i]);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (dtype.startsWith("float") && low >= 0 && high <= 1) return [0, 255];
  return high > low ? [low, 255 / (high - low)] : [low, 0];
}
