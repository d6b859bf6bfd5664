/** Pixels to transform coefficients: colour conversion, downsampling, padding to whole blocks and the transform, by strips. */
import type { FrameGeometry, JpegImage } from "./geometry.ts";
import { kernels, Layout, memory, values } from "./kernel.ts";

/** Rows of blocks of a component in a strip. A frame of one component has units of one block. */
export const blockRows = (frame: FrameGeometry, component: number): number =>
  frame.components.length === 1 ? 1 : frame.components[component].vertical;

/** @returns coefficients per component: 64 in natural order per block, row by row, scaled by 8 */
export function transform({ data }: JpegImage, frame: FrameGeometry): Int16Array[] {
  const { width, height, horizontal, vertical, components } = frame, channels = components.length;
  const rows = 8 * (channels === 1 ? 1 : vertical), rowBytes = width * channels;
  const layout = new Layout();
  const pixels = layout.take(rows * rowBytes);
  const planes = components.map(({ blocksWide }, index) => layout.take(blockRows(frame, index) * blocksWide * 64));
  const stride = components.map(({ blocksWide }) => blocksWide * 8);
  const full = layout.take(4 * (horizontal * (stride[1] ?? 0) + 16));
  const blocks = layout.take(2 * rows * stride[0]);
  layout.reserve();
  const coefficients = components.map(({ blocksWide, blocksHigh }) => new Int16Array(blocksWide * blocksHigh * 64));
  for (let from = 0, strip = 0; from < height; from += rows, strip++) {
    const count = Math.min(rows, height - from);
    memory().set(data.subarray(from * rowBytes, (from + count) * rowBytes), pixels);
    const [luma, blue, red] = planes;
    if (channels === 1) kernels.greyStrip(pixels, count, width, luma, stride[0]);
    else {
      kernels.colorStrip(pixels, count, width, horizontal, vertical, luma, stride[0], blue, red, stride[1], full);
    }
    components.forEach(({ blocksWide, blocksHigh }, index) => {
      const wanted = blockRows(frame, index), first = strip * wanted, found = Math.min(wanted, blocksHigh - first);
      kernels.forwardBlocks(planes[index], blocksWide, found, blocks);
      coefficients[index].set(values(blocks, found * blocksWide * 64), first * blocksWide * 64);
    });
  }
  return coefficients;
}
