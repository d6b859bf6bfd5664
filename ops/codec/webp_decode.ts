/**
 * Payload bits of `model.webp_encode` to images. Number, size, sample type and boundaries of the images come from the
 * trusted metadata; an image has failed if the link reported it, its file is damaged, or it decodes to another size. An
 * image of half the width and height is enlarged. on_error has the meaning it has in `model.jpeg_decode`.
 */
import { defineOperation, z } from "../api.ts";
import { decodeImages, DECODER_PARAMS, IMAGE_DECODER, WEBP_ENTROPY } from "../_coded_images.ts";

export default defineOperation({
  id: "model.webp_decode",
  name: "WebP bit payload to images",
  description: "Decodes WebP payloads; error policies other than fail are for outage and corruption studies",
  ...IMAGE_DECODER,
  params: z.strictObject(DECODER_PARAMS),
  entropyInfo: WEBP_ENTROPY,
  async run({ inputs: { bits }, params, progress, cancellation }) {
    const [{ decodeWebp }, { enlarged }] = await Promise.all([
      import("../../lib/artifact/webp.ts"),
      import("../../lib/artifact/jpeg/within_budget.ts"),
    ]);
    return await decodeImages(bits, params, {
      codec: "webp",
      decode: async (bytes, shape) => enlarged(await decodeWebp(bytes, shape), shape),
    }, { progress, cancellation });
  },
});
