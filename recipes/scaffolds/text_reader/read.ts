/**
 * Reads each image as one word: bright or dark, by the mean of its samples relative to white. Replace it by your own
 * reader or captioner.
 */
import type { ArrayValue, Context, Reading } from "../svc_types.ts";

/**
 * @param images uint8 or float32 in [0, 1], [image, height, width, channel]
 * @returns one text for each image, in their order
 */
export function read(images: ArrayValue, params: { threshold?: number }, _context: Context): Reading {
  const { threshold = 0.4 } = params;
  const [count, ...axes] = images.shape, size = axes.reduce((product, axis) => product * axis, 1);
  const white = images.dtype === "uint8" ? 255 : 1;
  const texts = Array.from({ length: count }, (_, index) => {
    let sum = 0;
    for (let at = index * size; at < (index + 1) * size; at++) sum += Number(images.data[at]);
    return sum / size / white < threshold ? "dark" : "bright";
  });
  return { texts };
}
