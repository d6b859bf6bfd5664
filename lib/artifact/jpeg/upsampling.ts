/**
 * Upsamples component planes to full resolution.
 *
 * Chroma at half resolution is interpolated with the triangle filter 3/4, 1/4 (libjpeg's "fancy upsampling", with its
 * alternating rounding); other integral factors repeat samples.
 */
import type { ComponentGeometry, FrameGeometry } from "./geometry.ts";

/** Decoded samples of one component; rows may be longer than the component. */
export interface SamplePlane {
  readonly data: Uint8ClampedArray;
  readonly stride: number;
}

/** Returns a full-resolution row of a component; the array is valid until the next call. */
export type RowSource = (row: number) => Uint8ClampedArray;

export function upsampler(frame: FrameGeometry, component: ComponentGeometry, plane: SamplePlane): RowSource {
  const across = frame.horizontal / component.horizontal, down = frame.vertical / component.vertical;
  const { width, height } = component;
  const line = (row: number) => {
    const at = Math.min(Math.max(row, 0), height - 1) * plane.stride;
    return plane.data.subarray(at, at + plane.stride);
  };
  if (across === 1 && down === 1) return line;
  const output = new Uint8ClampedArray(Math.max(frame.width, width * across));
  if (across === 2 && down === 1 && width > 2) {
    return (row) => {
      doubleColumns(line(row), width, output);
      return output;
    };
  }
  if (across === 1 && down === 2) {
    return (row) => {
      const near = line(row >> 1), far = line((row >> 1) + (row & 1 ? 1 : -1)), bias = row & 1 ? 2 : 1;
      for (let x = 0; x < width; x++) output[x] = (near[x] * 3 + far[x] + bias) >> 2;
      return output;
    };
  }
  if (across === 2 && down === 2 && width > 2) {
    const sums = new Int16Array(width);
    return (row) => {
      const near = line(row >> 1), far = line((row >> 1) + (row & 1 ? 1 : -1));
      for (let x = 0; x < width; x++) sums[x] = near[x] * 3 + far[x];
      doubleBoth(sums, output);
      return output;
    };
  }
  return (row) => {
    const source = line(Math.floor(row / down));
    for (let x = 0; x < frame.width; x++) output[x] = source[Math.floor(x / across)];
    return output;
  };
}

function doubleColumns(row: Uint8ClampedArray, width: number, output: Uint8ClampedArray): void {
  output[0] = row[0];
  output[1] = (row[0] * 3 + row[1] + 2) >> 2;
  for (let x = 1; x < width - 1; x++) {
    const center = row[x] * 3;
    output[2 * x] = (center + row[x - 1] + 1) >> 2;
    output[2 * x + 1] = (center + row[x + 1] + 2) >> 2;
  }
  const last = width - 1;
  output[2 * last] = (row[last] * 3 + row[last - 1] + 1) >> 2;
  output[2 * last + 1] = row[last];
}

/** @param sums 3·near + far of two rows of samples */
function doubleBoth(sums: Int16Array, output: Uint8ClampedArray): void {
  const last = sums.length - 1;
  output[0] = (sums[0] * 4 + 8) >> 4;
  output[1] = (sums[0] * 3 + sums[1] + 7) >> 4;
  for (let x = 1; x < last; x++) {
    const center = sums[x] * 3;
    output[2 * x] = (center + sums[x - 1] + 8) >> 4;
    output[2 * x + 1] = (center + sums[x + 1] + 7) >> 4;
  }
  output[2 * last] = (sums[last] * 3 + sums[last - 1] + 8) >> 4;
  output[2 * last + 1] = (sums[last] * 4 + 7) >> 4;
}
