/** Shared by encoder and decoder of the linear analog code: what the symbols say about the images. */
import { artifactKind, SYMBOLS } from "../../lib/contract/kinds.ts";
import { type ImageShapes, type ImageSize, sizeAt, SYMBOL_METADATA } from "../../lib/artifact/values.ts";
import {
  type LinearAnalogCode,
  linearAnalogCode,
  type LinearAnalogSettings,
} from "../../lib/numeric/coding/linear_analog.ts";

/** Smallest channel uses per pixel of the encoder, which bounds the images that a decoder accepts. */
export const MINIMUM_USES_PER_PIXEL = 0.01;
/** Largest side of a block. */
export const MAXIMUM_BLOCK_SIZE = 64;

/** The code of each image; images of one size share one. */
export function codesOf(
  images: ImageShapes,
  settings: (size: ImageSize, index: number) => LinearAnalogSettings,
): LinearAnalogCode[] {
  const known = new Map<string, LinearAnalogCode>();
  return Array.from({ length: images.count }, (_, index) => {
    const size = sizeAt(images, index), key = `${size.height} ${size.width}`;
    const code = known.get(key) ?? linearAnalogCode(settings(size, index));
    known.set(key, code);
    return code;
  });
}

/** Symbols of the encoder. */
export const ANALOG_SYMBOLS = artifactKind(SYMBOLS, {
  ...SYMBOL_METADATA,
  image_count: "count",
  image_height: "count",
  image_width: "count",
  image_channels: "count",
  image_dtype: "text",
  analog_block_size: "count",
  analog_pilot_count: "count",
  analog_pixel_correlation: "number",
  source_item_counts: "list",
});
