/** The images of a batch as rasters of three channels with samples in 0 … 255, for any stored form. */
import { type ImageBatch, oneImage } from "../../lib/artifact/values.ts";
import type { RgbRaster } from "../../lib/numeric/image/plain_scene.ts";

/** One image: grey is repeated, alpha is dropped, float samples in 0 … 1 are scaled and rounded. */
export function rgbAt(batch: ImageBatch, index: number): RgbRaster & { data: Uint8Array } {
  const { width, height, channels, data: samples } = oneImage(batch, index);
  const scale = batch.dtype === "uint8" ? 1 : 255;
  const data = new Uint8Array(3 * width * height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let channel = 0; channel < 3; channel++) {
      const sample = samples[pixel * channels + (channels === 1 ? 0 : channel)];
      data[3 * pixel + channel] = Math.round(sample * scale);
    }
  }
  return { width, height, data };
}
