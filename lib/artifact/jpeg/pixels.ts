/** Component planes to pixels: upsampling and colour conversion, by strips of rows. */
import type { FrameGeometry, JpegImage } from "./geometry.ts";
import { kernels, Layout, memory, words } from "./kernel.ts";

/** Decoded samples of one component; rows may be longer than the component. */
export interface SamplePlane {
  readonly data: Uint8Array;
  readonly stride: number;
}

/** Words of a row source. */
const SOURCE = 8;

/** @param isRgb whether three components need no conversion */
export function toPixels(frame: FrameGeometry, planes: readonly SamplePlane[], isRgb: boolean): JpegImage {
  return planes.length === 1 ? greyPixels(frame, planes[0]) : colorPixels(frame, planes, isRgb);
}

function greyPixels({ width, height }: FrameGeometry, { data, stride }: SamplePlane): JpegImage {
  const pixels = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    pixels.set(data.subarray(row * stride, row * stride + width), row * width);
  }
  return { width, height, channels: 1, data: pixels };
}

function colorPixels(frame: FrameGeometry, planes: readonly SamplePlane[], isRgb: boolean): JpegImage {
  const { width, height, horizontal, vertical, components } = frame;
  const rows = 8 * vertical, layout = new Layout();
  const heads = layout.take(4 * SOURCE * planes.length);
  // Interpolation takes a row before and a row after those of the strip.
  const strips = planes.map(({ stride }, index) => layout.take((8 * components[index].vertical + 2) * stride));
  const lines = components.map((component) => layout.take(component.width * horizontal / component.horizontal + width));
  const sums = layout.take(2 * width + 64) + 16;
  const pixels = layout.take(rows * width * 3);
  layout.reserve();
  const result = new Uint8Array(width * height * 3);
  for (let from = 0; from < height; from += rows) {
    const to = Math.min(from + rows, height);
    components.forEach((component, index) => {
      const { data, stride } = planes[index], down = vertical / component.vertical;
      const first = Math.max(0, Math.floor(from / down) - 1);
      const last = Math.min(component.height - 1, Math.floor((to - 1) / down) + 1);
      memory().set(data.subarray(first * stride, (last + 1) * stride), strips[index]);
      const across = horizontal / component.horizontal;
      words(heads + 4 * SOURCE * index, SOURCE).set(
        [strips[index], stride, component.width, across, down, first, component.height, lines[index]],
      );
    });
    kernels.pixelRows(heads, from, to, width, Number(!isRgb), sums, pixels);
    result.set(memory().subarray(pixels, pixels + (to - from) * width * 3), from * width * 3);
  }
  return { width, height, channels: 3, data: result };
}
