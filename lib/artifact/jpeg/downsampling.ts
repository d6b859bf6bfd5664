/**
 * From pixels to component planes: colour conversion, downsampling, and padding to whole blocks.
 *
 * Downsampling averages 2x1 or 2x2 samples; the rounding alternates from column to column (0, 1 of 2; 1, 2 of 4), which
 * keeps the mean unbiased. Padding repeats the last column before and the last row after downsampling, as in libjpeg,
 * for equal coded bytes.
 */
import { rgbToYcc } from "./color.ts";
import type { ComponentGeometry, FrameGeometry } from "./geometry.ts";

/** Samples of one component, padded to whole blocks. */
export interface Plane {
  readonly data: Uint8Array;
  readonly stride: number;
}

const planeOf = (component: ComponentGeometry): Plane => ({
  data: new Uint8Array(component.blocksWide * component.blocksHigh * 64),
  stride: component.blocksWide * 8,
});

export function greyPlane(pixels: Uint8Array, frame: FrameGeometry): Plane {
  const { width, height } = frame;
  const plane = planeOf(frame.components[0]);
  for (let row = 0; row < height; row++) {
    const at = row * plane.stride;
    plane.data.set(pixels.subarray(row * width, (row + 1) * width), at);
    plane.data.fill(plane.data[at + width - 1], at + width, at + plane.stride);
  }
  repeatLastRow(plane, height);
  return plane;
}

/** The Y, Cb and Cr planes of an RGB image; Cb and Cr have sampling factors 1. */
export function colorPlanes(pixels: Uint8Array, frame: FrameGeometry): Plane[] {
  const { width, height, horizontal, vertical } = frame;
  const [luma, blue, red] = frame.components.map(planeOf);
  // Full-resolution chroma of the rows for one downsampled row.
  const chromaWidth = blue.stride * horizontal;
  const full = [blue, red].map(() => Array.from({ length: vertical }, () => new Uint8Array(chromaWidth)));
  const chromaRows = Math.ceil(height / vertical);
  for (let group = 0; group < chromaRows; group++) {
    for (let part = 0; part < vertical; part++) {
      const row = group * vertical + part;
      if (row >= height) { // odd height: the last row is repeated
        for (const rows of full) rows[part].set(rows[part - 1]);
        continue;
      }
      const line = luma.data.subarray(row * luma.stride, (row + 1) * luma.stride);
      rgbToYcc(pixels, row * width * 3, width, line, full[0][part], full[1][part]);
      line.fill(line[width - 1], width);
      for (const rows of full) rows[part].fill(rows[part][width - 1], width);
    }
    [blue, red].forEach((plane, index) => {
      const target = plane.data.subarray(group * plane.stride, (group + 1) * plane.stride);
      if (horizontal === 1) target.set(full[index][0]);
      else if (vertical === 1) halveColumns(full[index][0], target);
      else halveBoth(full[index][0], full[index][1], target);
    });
  }
  repeatLastRow(luma, height);
  repeatLastRow(blue, chromaRows);
  repeatLastRow(red, chromaRows);
  return [luma, blue, red];
}

function halveColumns(row: Uint8Array, target: Uint8Array): void {
  for (let x = 0, at = 0; x < target.length; x++, at += 2) target[x] = (row[at] + row[at + 1] + (x & 1)) >> 1;
}

function halveBoth(upper: Uint8Array, lower: Uint8Array, target: Uint8Array): void {
  for (let x = 0, at = 0; x < target.length; x++, at += 2) {
    target[x] = (upper[at] + upper[at + 1] + lower[at] + lower[at + 1] + 1 + (x & 1)) >> 2;
  }
}

function repeatLastRow(plane: Plane, rows: number): void {
  const last = plane.data.subarray((rows - 1) * plane.stride, rows * plane.stride);
  for (let at = rows * plane.stride; at < plane.data.length; at += plane.stride) plane.data.set(last, at);
}
