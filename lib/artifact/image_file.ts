/**
 * Reads images from PNG and JPEG files.
 *
 * The result has 8-bit samples (16-bit PNG samples v become round(v/257)) in grey, RGB or RGBA, upright by the EXIF
 * orientation of the file. Colour profiles are not applied.
 */
import { messageOf, SvcError } from "../contract/error.ts";
import { exifOrientation } from "./exif.ts";
import { type Image, orient } from "./image.ts";
import { decodeJpeg } from "./jpeg/decoder.ts";
import { decodePng, parsePng, PNG_SIGNATURE } from "./png_decode.ts";

/** An image of 50 megapixels needs 150 MB and 4 s; a larger header is refused before decoding. */
const MAX_PIXELS = 50_000_000;
/** Of a file that is read to show its image. */
export const MAX_IMAGE_FILE_BYTES = 2 ** 28;

export interface ImageFile extends Image {
  readonly format: "png" | "jpeg";
  /** Bits per sample in the file. */
  readonly bitDepth: number;
  /** The EXIF orientation that was applied; default 1. */
  readonly orientation: number;
  /** Faults of the file that did not prevent its decoding, such as a missing end marker. */
  readonly warnings: readonly string[];
}

export interface ImageLimits {
  maxPixels?: number;
}

/**
 * Decodes a PNG or JPEG file.
 * @throws SvcError `image_file_invalid` for damaged files, `image_file_unsupported` for other formats and CMYK,
 *   `artifact_limit_exceeded` for more pixels than the limit
 */
export function decodeImage(bytes: Uint8Array, limits: ImageLimits = {}): ImageFile {
  const maxPixels = limits.maxPixels ?? MAX_PIXELS;
  if (PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) return decodePngImage(bytes, maxPixels);
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return decodeJpegImage(bytes, maxPixels);
  throw new SvcError("image_file_unsupported", "Cannot read the image: it is neither PNG nor JPEG", {
    hint: "Convert it to PNG or JPEG",
  });
}

function checkPixels(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  throw new SvcError("artifact_limit_exceeded", `Cannot read an image of ${width} x ${height} pixels`, {
    hint: `The limit is ${maxPixels} pixels`,
  });
}

function decodePngImage(bytes: Uint8Array, maxPixels: number): ImageFile {
  const file = parsePng(bytes);
  checkPixels(file.width, file.height, maxPixels);
  const orientation = file.exif === null ? 1 : exifOrientation(file.exif);
  return { ...orient(decodePng(file), orientation), format: "png", bitDepth: file.depth, orientation, warnings: [] };
}

function decodeJpegImage(bytes: Uint8Array, maxPixels: number): ImageFile {
  const { width, height, components, bitDepth, orientation } = scanJpeg(bytes);
  if (components !== 1 && components !== 3) {
    throw new SvcError("image_file_unsupported", `Cannot read a JPEG image with ${components} colour components`, {
      hint: "Convert CMYK images to RGB",
    });
  }
  checkPixels(width, height, maxPixels);
  let image: Image;
  const warnings: string[] = [];
  try {
    image = decodeJpeg(bytes, { warnings });
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError("image_file_invalid", `Cannot read the JPEG image: ${messageOf(error)}`, { cause: error });
  }
  return { ...orient(image, orientation), format: "jpeg", bitDepth, orientation, warnings };
}

/** Reads size, components and orientation from the segments before the first scan (ITU-T T.81, B.1). */
function scanJpeg(bytes: Uint8Array) {
  const invalid = (why: string) => new SvcError("image_file_invalid", `Cannot read the JPEG image: ${why}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let orientation = 1;
  for (let at = 2;;) {
    // Fill bytes may precede a marker.
    while (at + 1 < bytes.length && bytes[at] === 0xff && bytes[at + 1] === 0xff) at++;
    if (at + 4 > bytes.length) throw invalid("it ends before its frame header");
    if (bytes[at] !== 0xff) throw invalid("a segment does not begin with a marker");
    const marker = bytes[at + 1], length = view.getUint16(at + 2), body = at + 4, end = at + 2 + length;
    if (marker === 0xd9 || marker === 0xda) throw invalid("it has no frame header before its data");
    if (length < 2 || end > bytes.length) throw invalid("a segment extends beyond the file");
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      if (length < 8) throw invalid("its frame header is too short");
      const height = view.getUint16(body + 1), width = view.getUint16(body + 3);
      if (width === 0 || height === 0) throw invalid("it has no valid size");
      return { width, height, components: bytes[body + 5], bitDepth: bytes[body], orientation };
    }
    if (marker === 0xe1 && String.fromCharCode(...bytes.subarray(body, body + 6)) === "Exif\0\0") {
      orientation = exifOrientation(bytes.subarray(body + 6, end));
    }
    at = end;
  }
}
