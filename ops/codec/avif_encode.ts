/**
 * Images as AVIF files (AV1 key frames) in one payload container, eight bits per byte, most significant bit first.
 *
 * Files are those of libavif with libaom, tuned for squared error, for the quality, speed and subsampling. A budget
 * replaces the quality (../_coded_images.ts); the quality that fits is found by bisection. With `fill_budget` zero bytes
 * follow each file. An image of which nothing fits has no file, and the receiver treats it as lost.
 *
 * For comparisons use `stream: abbreviated`, `half_size: true` and a budget, as for `model.jpeg_encode`: a file is some
 * 290 bytes of boxes, which an abbreviated stream leaves out.
 *
 * Source: AV1 bitstream specification, AVIF 1.1. Abbreviated streams: lib/artifact/avif.ts.
 */
import { defineOperation, z } from "../api.ts";
import { AVIF_ENTROPY, BUDGET_PARAMS, encodeImages, fileEncoder, HALF_SIZE, IMAGE_ENCODER } from "../_coded_images.ts";

export default defineOperation({
  id: "model.avif_encode",
  name: "AVIF images to bit payload",
  description: "Encodes images as AVIF files and emits them as payload bits",
  ...IMAGE_ENCODER,
  params: z.strictObject({
    quality: z.int().min(0).max(100).default(60).describe("100 is finest; without effect with a budget"),
    subsampling: z.enum(["444", "420"]).default("420").describe("chroma subsampling of colour images"),
    speed: z.int().min(0).max(10).default(6).describe("speed of the encoder; 0 gives the smallest files"),
    stream: z.enum(["file", "abbreviated"]).default("file")
      .describe("abbreviated: the coded units without the boxes that the receiver knows"),
    half_size: HALF_SIZE,
    ...BUDGET_PARAMS,
  }),
  entropyInfo: AVIF_ENTROPY,
  async run({ inputs: { images }, params, progress, cancellation }) {
    const { decodeAvif, encodeAvif } = await import("../../lib/artifact/avif.ts");
    const encoder = await fileEncoder(params, cancellation, {
      codec: "avif",
      encode: (image, quality) => encodeAvif(image, { ...params, quality }),
      decode: decodeAvif,
    });
    return await encodeImages(images, params, encoder, { progress, cancellation });
  },
});
