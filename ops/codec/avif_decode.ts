/**
 * Payload bits of `model.avif_encode` to images. Number, size, sample type and boundaries of the images come from the
 * trusted metadata; an image has failed if the link reported it, its file is damaged, or it decodes to another size. An
 * image of half the width and height is enlarged. on_error has the meaning it has in `model.jpeg_decode`.
 */
import { defineOperation, z } from "../api.ts";
import { AVIF_ENTROPY, decodeImages, DECODER_PARAMS, IMAGE_DECODER } from "../_coded_images.ts";

export default defineOperation({
  id: "model.avif_decode",
  name: "AVIF bit payload to images",
  description: "Decodes AVIF payloads; error policies other than fail are for outage and corruption studies",
  ...IMAGE_DECODER,
  params: z.strictObject(DECODER_PARAMS),
  entropyInfo: AVIF_ENTROPY,
  async run({ inputs: { bits }, params, progress, cancellation }) {
    const [{ decodeAvif }, { enlarged }] = await Promise.all([
      import("../../lib/artifact/avif.ts"),
      import("../../lib/artifact/jpeg/within_budget.ts"),
    ]);
    return await decodeImages(bits, params, {
      codec: "avif",
      decode: async (bytes, shape) => enlarged(await decodeAvif(bytes, shape), shape),
    }, { progress, cancellation });
  },
});
