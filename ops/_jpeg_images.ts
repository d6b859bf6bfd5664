/**
 * Conversion of images for JPEG. Samples of float32 images x in [0, 1] become round(255·x), and decoded ones v/255; an
 * alpha channel is refused. The grey substitute of a lost image is 128 (0.5).
 */
import { type JsonObject, SvcError, type Value, z } from "./api.ts";
import { artifactKind, IMAGES } from "../lib/contract/kinds.ts";
import {
  emptyImages,
  IMAGE_METADATA,
  imageAt,
  type ImageBatch,
  type ImageForm,
  oneImage,
} from "../lib/artifact/values.ts";
import type { JpegImage, JpegSubsampling } from "../lib/artifact/jpeg/encoder.ts";

/** Parameters of the form of a JPEG stream. */
export const JPEG_STREAM_PARAMS = {
  optimize: z.boolean().default(false).describe("Huffman tables fitted to each image; of files")
    .meta({ "x-svc-used-when": { stream: "jfif" }, "x-svc-ui": { used_when: { progressive: false } } }),
  progressive: z.boolean().default(false).describe("progressive scans, always with fitted tables; of files")
    .meta({ "x-svc-used-when": { stream: "jfif" } }),
  stream: z.enum(["jfif", "abbreviated"]).default("jfif").describe(
    "jfif: a file; abbreviated: without marker segments, with the smallest of Huffman tables known to both ends or sent",
  ),
  half_size: z.boolean().default(false)
    .describe(
      "also tries half the width and height, enlarged by the receiver, and sends it where its error is smaller",
    ),
};

/** The entropy coder, as stated in the contracts of all JPEG operations. */
export const JPEG_ENTROPY = {
  algorithm: "JPEG Huffman coding",
  coder: "Huffman",
  fact: "Sequential JPEG with the standard tables unless optimize, progressive or stream says otherwise",
};

/** One image of a batch with 8-bit samples. @throws SvcError `jpeg_unsupported` for images with an alpha channel */
export function jpegImageAt(batch: ImageBatch, index: number): JpegImage {
  const { width, height, channels, data: samples } = oneImage(batch, index);
  if (channels !== 1 && channels !== 3) {
    throw new SvcError("jpeg_unsupported", `Cannot encode images with ${channels} channels as JPEG`, {
      hint: "JPEG supports grey and RGB images; remove the alpha channel at the source",
    });
  }
  const data = samples instanceof Uint8Array ? samples : Uint8Array.from(samples, (x) => Math.round(255 * x));
  return { width, height, channels, data };
}

/**
 * The subsampling of one image. `keep` means that of the source file, from the metadata `jpeg_subsampling` (one value
 * for all images, or one per image), and 444 without it.
 */
export function subsamplingOf(chosen: JpegSubsampling | "keep", metadata: JsonObject, index: number): JpegSubsampling {
  if (chosen !== "keep") return chosen;
  const known = metadata.jpeg_subsampling;
  const source: Value | undefined = Array.isArray(known) ? known[index] : known;
  return source === "422" || source === "420" ? source : "444";
}

/** A batch to be filled image by image, with the sample type of the source. */
export class ImageBatchWriter {
  readonly batch: ImageBatch;

  constructor(form: ImageForm) {
    this.batch = emptyImages(form);
  }

  /** Stores 8-bit samples of an image. */
  write(index: number, samples: Uint8Array): void {
    const target = imageAt(this.batch, index);
    if (target instanceof Uint8Array) target.set(samples);
    else for (let at = 0; at < samples.length; at++) target[at] = samples[at] / 255;
  }

  /** Fills an image with black, middle grey, or one value per channel in units of the samples. */
  fill(index: number, what: "zeros" | "grey" | readonly number[]): void {
    const target = imageAt(this.batch, index);
    const isFloat = this.batch.dtype === "float32";
    if (what === "zeros") target.fill(0);
    else if (what === "grey") target.fill(isFloat ? 0.5 : 128);
    else for (let at = 0; at < target.length; at++) target[at] = what[at % what.length];
  }
}

/** Mean of each channel of an image, rounded for 8-bit samples. */
export function channelMeans(batch: ImageBatch, index: number): number[] {
  const samples = imageAt(batch, index), { channels } = batch;
  const sums = new Float64Array(channels);
  for (let at = 0; at < samples.length; at++) sums[at % channels] += samples[at];
  return Array.from(sums, (sum) => {
    const mean = sum * channels / samples.length;
    return batch.dtype === "uint8" ? Math.round(mean) : mean;
  });
}

/** Images that a decoder delivered or replaced. */
export const DELIVERED_IMAGES = artifactKind(IMAGES, {
  ...IMAGE_METADATA,
  delivered: "list",
  failed_item_indices: "list",
});

/** The status of each image, for delivery reports. */
export function deliveryMetadata(delivered: readonly boolean[]) {
  return {
    delivered: [...delivered],
    failed_item_indices: delivered.flatMap((arrived, index) => (arrived ? [] : [index])),
  };
}

/** Metadata keys of an earlier delivery, which do not apply to a new payload. */
export const DELIVERY_KEYS: readonly string[] = ["delivered", "failed_item_indices", "item_bit_counts"];
