/**
 * Payload bits back to images. Number, size, sample type and boundaries of the images come from the trusted metadata;
 * an image has failed if the link reported it, its file is damaged, or it decodes to another size. Files and abbreviated
 * the first byte of a stream gives its form; an image of half the width and height is enlarged.
 *
 * on_error sets the treatment of a failed image: fail refuses the payload, zeros and erasure give black, gray_image and
 * report_outage middle grey. All but fail list the failed images in the metadata (failed_item_indices, delivered).
 */
import { defineOperation, z } from "../api.ts";
import { decodeImages, DECODER_PARAMS, IMAGE_DECODER } from "../_coded_images.ts";
import { JPEG_ENTROPY } from "../_jpeg_images.ts";

export default defineOperation({
  id: "model.jpeg_decode",
  name: "JPEG bit payload to images",
  description: "Decodes JPEG payloads; error policies other than fail are for outage and corruption studies",
  ...IMAGE_DECODER,
  params: z.strictObject(DECODER_PARAMS),
  entropyInfo: JPEG_ENTROPY,
  async run({ inputs: { bits }, params, progress, cancellation }) {
    const { decodeJpegStream } = await import("../../lib/artifact/jpeg/within_budget.ts");
    return await decodeImages(bits, params, { codec: "jpeg", decode: decodeJpegStream }, { progress, cancellation });
  },
});
