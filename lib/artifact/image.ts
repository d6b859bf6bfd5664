/** Images in memory: 8-bit samples, row by row from the top left, interleaved channels. */

export interface Image {
  readonly width: number;
  readonly height: number;
  /** 1 grey, 3 RGB, 4 RGB with alpha. */
  readonly channels: 1 | 3 | 4;
  readonly data: Uint8Array;
}

/** The same image with three channels: grey is repeated, alpha is removed. */
export function toRgb(image: Image): Image {
  if (image.channels === 3) return image;
  const { channels } = image, pixels = image.width * image.height;
  const data = new Uint8Array(3 * pixels);
  for (let i = 0; i < pixels; i++) {
    for (let channel = 0; channel < 3; channel++) {
      data[3 * i + channel] = image.data[channels * i + (channels === 1 ? 0 : channel)];
    }
  }
  return { ...image, channels: 3, data };
}

/**
 * The upright image by its EXIF orientation.
 * @param orientation 1 … 8; 2 mirrors, 3 rotates by 180°, 6 clockwise, 8 counter-clockwise, the others combine these
 */
export function orient(image: Image, orientation: number): Image {
  if (orientation <= 1 || orientation > 8) return image;
  const swaps = orientation >= 5;
  const { channels } = image;
  const width = swaps ? image.height : image.width, height = swaps ? image.width : image.height;
  const data = new Uint8Array(image.data.length);
  for (let y = 0, to = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [column, row] = storedPixel(orientation, x, y, image.width - 1, image.height - 1);
      const from = (row * image.width + column) * channels;
      for (let channel = 0; channel < channels; channel++) data[to++] = image.data[from + channel];
    }
  }
  return { width, height, channels, data };
}

/** Stored position of the pixel (x, y) of the upright image (EXIF 2.32, tag 0x0112). */
function storedPixel(orientation: number, x: number, y: number, right: number, bottom: number): [number, number] {
  switch (orientation) {
    case 2:
      return [right - x, y];
    case 3:
      return [right - x, bottom - y];
    case 4:
      return [x, bottom - y];
    case 5:
      return [y, x];
    case 6:
      return [y, bottom - x];
    case 7:
      return [right - y, bottom - x];
    default:
      return [right - y, x];
  }
}
