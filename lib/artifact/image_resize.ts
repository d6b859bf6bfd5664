/**
 * Image geometry in binary64: resizing, cropping, blurring. Only {@link roundSamples} rounds.
 *
 * Resizing filters each axis with a triangle whose half width is max(1, s) source pixels, s = source size / target
 * size, so that downscaling averages over all source pixels (antialiasing) and upscaling interpolates linearly. Target
 * pixel x has its centre at (x + 1/2)·s; source pixel i has the weight max(0, 1 - |i + 1/2 - centre| / max(1, s));
 * weights sum to 1; pixels beyond the edge have no weight. Columns are filtered before rows.
 */
import { SvcError } from "../contract/error.ts";
import type { Image } from "./image.ts";

/** Samples of an image as numbers of any type. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Uint8Array | Float32Array | Float64Array;
}

/** Weights of one target pixel for the source pixels `first`, `first + 1`, … */
interface Window {
  first: number;
  weights: Float64Array;
}

function triangleWindows(from: number, to: number): Window[] {
  const scale = from / to, reach = Math.max(1, scale);
  return Array.from({ length: to }, (_, target) => {
    const centre = (target + 0.5) * scale;
    const first = Math.max(0, Math.ceil(centre - reach - 0.5));
    const last = Math.min(from - 1, Math.floor(centre + reach - 0.5));
    const weights = new Float64Array(last - first + 1);
    let sum = 0;
    for (let i = 0; i < weights.length; i++) {
      weights[i] = Math.max(0, 1 - Math.abs(first + i + 0.5 - centre) / reach);
      sum += weights[i];
    }
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}

/**
 * Filters along one axis of the array [outer][size][inner]: for columns outer are the rows and inner the channels, for
 * rows outer is 1 and inner a whole row.
 */
function filterAxis(
  source: Raster["data"],
  outer: number,
  size: number,
  inner: number,
  windows: Window[],
): Float64Array {
  const result = new Float64Array(outer * windows.length * inner);
  for (let o = 0, to = 0; o < outer; o++) {
    for (const { first, weights } of windows) {
      const start = (o * size + first) * inner;
      if (inner === 3) {
        // The same sums in registers.
        let red = 0, green = 0, blue = 0;
        for (let w = 0, from = start; w < weights.length; w++, from += 3) {
          const weight = weights[w];
          red += weight * source[from];
          green += weight * source[from + 1];
          blue += weight * source[from + 2];
        }
        result[to++] = red;
        result[to++] = green;
        result[to++] = blue;
        continue;
      }
      for (let w = 0; w < weights.length; w++) {
        const weight = weights[w], from = start + w * inner;
        for (let i = 0; i < inner; i++) result[to + i] += weight * source[from + i];
      }
      to += inner;
    }
  }
  return result;
}

/**
 * Resizes an image with the antialiased triangle filter.
 * @returns unrounded samples in the same range
 */
export function resizeTriangle(image: Raster, width: number, height: number): Float64Array {
  const { channels } = image;
  const columns = filterAxis(image.data, image.height, image.width, channels, triangleWindows(image.width, width));
  return filterAxis(columns, 1, image.height, width * channels, triangleWindows(image.height, height));
}

/**
 * Resizes an image to a shorter side of `side` pixels; the other side is proportional, rounded down.
 * @throws RangeError unless `side` is a positive integer
 */
export function resizeShorterSide(image: Image, side: number): Image {
  if (!Number.isInteger(side) || side < 1) throw new RangeError(`Cannot resize an image to ${side} pixels`);
  const shorter = Math.min(image.width, image.height);
  if (shorter === side) return image;
  const width = Math.floor(image.width * side / shorter), height = Math.floor(image.height * side / shorter);
  return { width, height, channels: image.channels, data: roundSamples(resizeTriangle(image, width, height)) };
}

/**
 * Crops the central square; an odd margin leaves the extra pixel at the right and the bottom.
 * @throws SvcError `boundary_shape_invalid` for a smaller image
 */
export function centreCrop(image: Image, size: number): Image {
  const { width, height, channels } = image;
  if (size > width || size > height) {
    throw new SvcError("boundary_shape_invalid", `Cannot crop ${size} x ${size} pixels from ${width} x ${height}`, {
      hint: `Choose a crop size of at most ${Math.min(width, height)}, or resize the image first`,
    });
  }
  const left = Math.floor((width - size) / 2), top = Math.floor((height - size) / 2);
  const data = new Uint8Array(size * size * channels), length = size * channels;
  for (let row = 0; row < size; row++) {
    const from = ((top + row) * width + left) * channels;
    data.set(image.data.subarray(from, from + length), row * length);
  }
  return { width: size, height: size, channels, data };
}

/**
 * Blurs an image with a Gaussian of standard deviation `sigma` pixels, truncated at floor(4·sigma + 1/2) pixels and
 * normalised. Edges are mirrored with the outermost pixels repeated (… b a | a b …).
 * @returns unrounded samples in the same range
 */
export function gaussianBlur(image: Raster, sigma: number): Float64Array {
  const { width, height, channels } = image;
  const radius = Math.floor(4 * sigma + 0.5);
  if (!(sigma > 0) || radius === 0) return Float64Array.from(image.data);
  const kernel = new Float64Array(2 * radius + 1);
  for (let i = -radius; i <= radius; i++) kernel[i + radius] = Math.exp(-0.5 * (i / sigma) ** 2);
  const sum = kernel.reduce((total, weight) => total + weight, 0);
  const windows = (size: number): Window[] =>
    Array.from({ length: size }, (_, centre) => {
      // Mirrored pixels are within this range too.
      const first = Math.max(0, centre - radius), last = Math.min(size - 1, centre + radius);
      const weights = new Float64Array(last - first + 1);
      for (let i = -radius; i <= radius; i++) weights[mirror(centre + i, size) - first] += kernel[i + radius] / sum;
      return { first, weights };
    });
  const columns = filterAxis(image.data, height, width, channels, windows(width));
  return filterAxis(columns, 1, height, width * channels, windows(height));
}

function mirror(index: number, size: number): number {
  const period = 2 * size, at = ((index % period) + period) % period;
  return at < size ? at : period - 1 - at;
}

/** Rounds samples to 8 bits, half to even, clipped to 0 … 255. */
export function roundSamples(values: Float64Array): Uint8Array {
  // ToUint8Clamp (ECMA-262) rounds exactly so.
  const rounded = Uint8ClampedArray.from(values);
  return new Uint8Array(rounded.buffer);
}
