/**
 * JPEG at its best within a number of bytes: of each allowed size of the image the largest quality that fits, and of the
 * results the one with the smallest squared error. Also reads what this module and the encoder write.
 */
import { resizeLikePillow } from "../../numeric/image/pillow_resize.ts";
import { completeJpeg, halfSize, isAbbreviated } from "./abbreviated.ts";
import { decodeJpeg } from "./decoder.ts";
import { JpegEncoder, type JpegImage, type JpegSubsampling } from "./encoder.ts";

/** Named as the parameters of the operations that search. */
export interface JpegSearch {
  readonly subsampling: JpegSubsampling;
  /** A file with marker segments, or an abbreviated stream. */
  readonly stream: "jfif" | "abbreviated";
  readonly optimize: boolean;
  readonly progressive: boolean;
  /** Also tries the image with half the width and height. */
  readonly half_size: boolean;
  readonly minimum_quality: number;
  readonly maximum_quality: number;
}

export interface FittingJpeg {
  readonly quality: number;
  readonly half: boolean;
  readonly bytes: Uint8Array;
  /** What the receiver sees. */
  readonly decoded: JpegImage;
}

/**
 * The best stream of at most `limit` bytes. Every quality is tried from the top, since sizes need not grow with it.
 * @param checkpoint called before each attempt
 * @returns undefined where nothing fits
 */
export function bestWithin(
  image: JpegImage,
  limit: number,
  search: JpegSearch,
  checkpoint: () => void,
): FittingJpeg | undefined {
  const full = largestFitting(image, false, limit, search, checkpoint);
  const half = search.half_size ? largestFitting(halved(image), true, limit, search, checkpoint) : undefined;
  const results = [full, half].flatMap((found) =>
    found === undefined ? [] : [{ ...found, decoded: decodeJpegStream(found.bytes, image) }]
  );
  if (results.length < 2) return results[0];
  const [first, second] = results.map(({ decoded }) => squaredError(decoded.data, image.data));
  return results[second < first ? 1 : 0];
}

/** The image with half the width and height, rounded up. */
export function halved(image: JpegImage): JpegImage {
  const { width, height } = halfSize(image);
  return { ...resizeLikePillow(image, width, height, "lanczos"), channels: image.channels };
}

function largestFitting(
  image: JpegImage,
  half: boolean,
  limit: number,
  search: JpegSearch,
  checkpoint: () => void,
): Omit<FittingJpeg, "decoded"> | undefined {
  const encoder = new JpegEncoder(image, search.subsampling);
  for (let quality = search.maximum_quality; quality >= search.minimum_quality; quality--) {
    checkpoint();
    const bytes = search.stream === "abbreviated"
      ? encoder.encodeAbbreviated(quality, { half, limit })
      : encoder.encode({ quality, optimize: search.optimize, progressive: search.progressive });
    if (bytes !== undefined && bytes.length <= limit) return { quality, half, bytes };
  }
  return undefined;
}

/**
 * Decodes a file or an abbreviated stream; an image of half the size is enlarged.
 * @param shape the expected image
 * @throws SvcError `jpeg_invalid`, `jpeg_unsupported` as {@link decodeJpeg}; an image of another size is returned as it is
 */
export function decodeJpegStream(
  bytes: Uint8Array,
  shape: { width: number; height: number; channels: number },
): JpegImage {
  const file = isAbbreviated(bytes) ? completeJpeg(bytes, shape) : bytes;
  const image = decodeJpeg(file, { maximumPixels: shape.width * shape.height });
  return enlarged(image, shape);
}

/** An image of half the width and height at its full size; another one as it is. */
export function enlarged(image: JpegImage, shape: { width: number; height: number }): JpegImage {
  const half = halfSize(shape);
  if (image.width !== half.width || image.height !== half.height) return image;
  return { ...resizeLikePillow(image, shape.width, shape.height, "lanczos"), channels: image.channels };
}

/** Sum over all samples. */
export function squaredError(left: Uint8Array, right: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += (left[at] - right[at]) ** 2;
  return sum;
}
