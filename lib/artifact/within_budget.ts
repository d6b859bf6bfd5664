/**
 * An image codec at its best within a number of bytes: the largest quality that fits, found by bisection, for the image
 * and, where allowed, for half its width and height; of the two the one with the smaller squared error.
 */
import type { JpegImage } from "./jpeg/encoder.ts";
import { enlarged, halved, squaredError } from "./jpeg/within_budget.ts";

export interface QualityCodec {
  readonly minimum_quality: number;
  readonly maximum_quality: number;
  encode(image: JpegImage, quality: number, half: boolean): Promise<Uint8Array>;
  /** An image of half the width and height is returned as it is. */
  decode(bytes: Uint8Array, shape: Omit<JpegImage, "data">): Promise<JpegImage>;
}

export interface FittingImage {
  readonly quality: number;
  readonly bytes: Uint8Array;
}

/**
 * The best stream of at most `limit` bytes. Bisection takes sizes to grow with quality; where they do not, the result fits
 * and its next larger quality does not.
 * @param checkpoint called before each attempt
 * @returns undefined where nothing fits
 */
export async function bestOfCodec(
  image: JpegImage,
  limit: number,
  { codec, half_size, checkpoint }: { codec: QualityCodec; half_size: boolean; checkpoint: () => void },
): Promise<FittingImage | undefined> {
  const largest = async (source: JpegImage, half: boolean): Promise<FittingImage | undefined> => {
    let found: FittingImage | undefined, low = codec.minimum_quality, high = codec.maximum_quality;
    while (low <= high) {
      checkpoint();
      // Budgets of links are small: the first attempt is the lowest quality.
      const quality = found === undefined ? low : Math.floor((low + high + 1) / 2);
      const bytes = await codec.encode(source, quality, half);
      if (bytes.length <= limit) {
        found = { quality, bytes };
        low = quality + 1;
      } else if (found === undefined) return undefined;
      else high = quality - 1;
    }
    return found;
  };
  const full = await largest(image, false);
  const half = half_size ? await largest(halved(image), true) : undefined;
  if (full === undefined || half === undefined) return full ?? half;
  const error = async ({ bytes }: FittingImage) =>
    squaredError(enlarged(await codec.decode(bytes, image), image).data, image.data);
  return await error(half) < await error(full) ? half : full;
}
