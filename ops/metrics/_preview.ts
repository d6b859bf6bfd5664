/** Thumbnails of images in reports: PNG files as data URLs, with limited width and height. */
import { Buffer } from "node:buffer";
import type { Image } from "../../lib/artifact/image.ts";
import { resizeTriangle, roundSamples } from "../../lib/artifact/image_resize.ts";
import { writePng } from "../../lib/artifact/png_encode.ts";
import { type ImageBatch, oneImage } from "../../lib/artifact/values.ts";

/** One image of a batch as `data:image/png;base64,…`. */
export function previewOf(batch: ImageBatch, index: number, maximumSide: number): string {
  const image = oneImage(batch, index), scale = Math.min(1, maximumSide / Math.max(image.height, image.width));
  const width = Math.max(1, Math.floor(image.width * scale)), height = Math.max(1, Math.floor(image.height * scale));
  const samples = resizeTriangle(image, width, height);
  const data = roundSamples(batch.dtype === "uint8" ? samples : samples.map((value) => value * 255));
  const png = writePng({ width, height, channels: batch.channels as Image["channels"], data });
  return `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
}
