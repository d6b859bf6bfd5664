/** 8-bit samples of images for display, and contact sheets of several images on white. */
import { type Image, toRgb } from "./image.ts";
import { resizeTriangle, roundSamples } from "./image_resize.ts";
import { type ImageBatch, oneImage } from "./values.ts";

/** One image of a batch with 8-bit samples. */
export function pictureOf(batch: ImageBatch, index: number): Image {
  const { width, height, channels, dtype, data: samples } = oneImage(batch, index);
  const data = dtype === "uint8"
    ? Uint8Array.from(samples)
    : roundSamples(Float64Array.from(samples, (value) => value * 255));
  return { width, height, channels: channels as Image["channels"], data };
}

/** White pixels between the images of a sheet. */
const GAP = 6;

/**
 * A sheet with one row of images per row of the argument, each image resized to a height, columns aligned.
 * @param height of an image in pixels
 * @param gap white pixels between images
 */
export function imageSheet(rows: readonly (readonly (Image | null)[])[], height: number, gap = GAP): Image {
  const tiles = rows.map((row) => row.map((image) => image === null ? null : resized(toRgb(image), height)));
  const columns = Math.max(...tiles.map((row) => row.length));
  const cell = Math.max(...tiles.flat().map((tile) => tile?.width ?? 1));
  const width = columns * (cell + gap) - gap, total = rows.length * (height + gap) - gap;
  const data = new Uint8Array(width * total * 3).fill(255);
  tiles.forEach((row, line) =>
    row.forEach((tile, column) => {
      for (let y = 0; tile !== null && y < height; y++) {
        const start = ((line * (height + gap) + y) * width + column * (cell + gap)) * 3;
        data.set(tile.data.subarray(y * tile.width * 3, (y + 1) * tile.width * 3), start);
      }
    })
  );
  return { width, height: total, channels: 3, data };
}

function resized(image: Image, height: number): Image {
  const width = Math.max(1, Math.round(image.width * height / image.height));
  if (width === image.width && height === image.height) return image;
  return { width, height, channels: image.channels, data: roundSamples(resizeTriangle(image, width, height)) };
}
