/** Kernels of the JPEG codec: ../jpeg.wasm. Their memory is laid out by ../../artifact/jpeg/kernel.ts. */
import { prepareOrder } from "./jpeg_order";

export { colorStrip, greyStrip, pixelRows } from "./jpeg_color";
export {
  acBlocks,
  buildTable,
  dcUnits,
  inputAt,
  refinementBlocks,
  remainingBlocks,
  sequentialUnits,
  setInput,
  startBlocks,
  startData,
  tableBytes,
  unusedBits,
} from "./jpeg_scan";
export {
  acTokens,
  countTokens,
  dcTokens,
  finishBand,
  finishBits,
  refinementTokens,
  sequentialTokens,
  startBand,
  startBits,
  writeTokens,
} from "./jpeg_tokens";
export { forwardBlocks, inverseBlocks, quantizeBlocks } from "./jpeg_transform";

/** The first address that the kernels leave free. */
export function base(): usize {
  return (__heap_base + 63) & ~63;
}

/** Makes the memory reach to an address. @returns whether it does */
export function reserve(end: usize): bool {
  const pages = <i32>((end + 0xffff) >>> 16);
  return pages <= memory.size() || memory.grow(pages - memory.size()) >= 0;
}

prepareOrder();
