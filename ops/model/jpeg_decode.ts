/**
 * Payload bits back to images. Number, size, sample type and boundaries of the images come from the trusted metadata;
 * an image has failed if the link reported it, its file is damaged, or it decodes to another size. Files and abbreviated
 * streams are told apart by their first byte; an image of half the width and height is enlarged.
 *
 * on_error sets the treatment of a failed image: fail refuses the payload, zeros and erasure give black, gray_image and
 * report_outage middle grey. All but fail list the failed images in the metadata (failed_item_indices, delivered).
 */
import { PAYLOAD_OR_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import {
  type ImagePayloadItem,
  type ImageShape,
  PAYLOAD_KEYS,
  readImagePayload,
  trustedShape,
} from "../../lib/artifact/image_payload.ts";
import type { JpegImage } from "../../lib/artifact/jpeg/encoder.ts";
import { bitsOf, imagesArtifact, travel } from "../../lib/artifact/values.ts";
import { notExported } from "../_backends.ts";
import { DELIVERED_IMAGES, deliveryMetadata, ImageBatchWriter, JPEG_ENTROPY } from "../_jpeg_images.ts";

export default defineOperation({
  id: "model.jpeg_decode",
  name: "JPEG bit payload to images",
  description: "Decodes JPEG payloads; error policies other than fail are for outage and corruption studies",
  inputs: { bits: PAYLOAD_OR_BITS },
  outputs: { images: DELIVERED_IMAGES },
  params: z.strictObject({
    on_error: z.enum(["fail", "zeros", "gray_image", "erasure", "report_outage"]).default("fail")
      .describe("treatment of a failed image: an error, black (zeros, erasure) or middle grey"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported("numpy", "stop", "Entropy decoding"),
  entropyInfo: JPEG_ENTROPY,
  outputMetadataGuarantees: { images: { from: "bits" } },
  timingMetric: "decoder.payload_decode",
  threadSafe: true,
  async run({ inputs, params, progress, cancellation }) {
    const { decodeJpegStream } = await import("../../lib/artifact/jpeg/within_budget.ts");
    const { metadata } = inputs.bits;
    const shape = trustedShape(metadata);
    const items = readImagePayload(bitsOf(inputs.bits), metadata, "jpeg");
    const decoded = items.map((item, index): JpegImage | SvcError => {
      cancellation.throwIfCancelled();
      const image = decodeItem(item, decodeJpegStream);
      // Without a trusted size no substitute image can be made.
      if (image instanceof SvcError && (params.on_error === "fail" || shape === undefined)) throw image;
      progress(index + 1, items.length, { phase: "decode", unit: "images" });
      return image;
    });
    const dtype = metadata.image_dtype === "float32" ? "float32" : "uint8";
    const { height, width, channels } = shape ?? commonShape(decoded as JpegImage[]);
    const writer = new ImageBatchWriter({ count: items.length, height, width, channels, dtype });
    const black = params.on_error === "zeros" || params.on_error === "erasure";
    decoded.forEach((image, index) => {
      if (image instanceof SvcError) writer.fill(index, black ? "zeros" : "grey");
      else writer.write(index, image.data);
    });
    const delivered = decoded.map((image) => !(image instanceof SvcError));
    const kept = travel(
      metadata,
      { ...deliveryMetadata(delivered), on_error: params.on_error },
      [...PAYLOAD_KEYS, "image_dtype"],
    );
    return { outputs: { images: imagesArtifact(writer.batch, kept) } };
  },
});

/** Decodes one file or stream; one of another size than expected is damaged. */
function decodeItem(
  item: ImagePayloadItem | SvcError,
  decode: (bytes: Uint8Array, shape: ImageShape) => JpegImage,
): JpegImage | SvcError {
  if (item instanceof SvcError) return item;
  try {
    const image = decode(item.data, item);
    if (image.height === item.height && image.width === item.width && image.channels === item.channels) return image;
    return new SvcError("image_payload_invalid", "Cannot use a decoded image: its size differs from the metadata");
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}

/** The common size of all images without it in the metadata; then every image must have arrived. */
function commonShape(images: readonly JpegImage[]): ImageShape {
  if (images.length === 0) {
    throw new SvcError("boundary_empty", "Cannot form a batch from a payload without images");
  }
  const { height, width, channels } = images[0];
  if (images.some((each) => each.height !== height || each.width !== width || each.channels !== channels)) {
    throw new SvcError("boundary_shape_invalid", "Cannot put images of unequal sizes into one batch");
  }
  return { height, width, channels };
}
