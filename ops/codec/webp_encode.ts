/**
 * Images as lossy WebP files (VP8 key frames) in one payload container, eight bits per byte, most significant bit first.
 *
 * Files are those of libwebp 1.5 with its default settings for the quality and method; chroma has half the width and height.
 * A budget replaces the quality (../_coded_images.ts); the quality that fits is found by bisection. With `fill_budget`
 * zero bytes follow each file. An image of which nothing fits has no file, and the receiver treats it as lost.
 *
 * For comparisons use `stream: abbreviated`, `half_size: true` and a budget, as for `model.jpeg_encode`.
 *
 * Source: RFC 6386 (VP8), RFC 9649 (WebP). Abbreviated streams: lib/artifact/webp.ts.
 */
import { defineOperation, z } from "../api.ts";
import { BUDGET_PARAMS, encodeImages, fileEncoder, HALF_SIZE, IMAGE_ENCODER, WEBP_ENTROPY } from "../_coded_images.ts";

export default defineOperation({
  id: "model.webp_encode",
  name: "WebP images to bit payload",
  description: "Encodes images as lossy WebP files and emits them as payload bits",
  ...IMAGE_ENCODER,
  params: z.strictObject({
    quality: z.int().min(0).max(100).default(75).describe("100 is finest; without effect with a budget"),
    method: z.int().min(0).max(6).default(6).describe("effort of the encoder; 6 gives the smallest files"),
    stream: z.enum(["file", "abbreviated"]).default("file")
      .describe("abbreviated: the frame without the headers that the receiver knows, 27 bytes less"),
    half_size: HALF_SIZE,
    ...BUDGET_PARAMS,
  }),
  entropyInfo: WEBP_ENTROPY,
  async run({ inputs: { images }, params, progress, cancellation }) {
    const { decodeWebp, encodeWebp } = await import("../../lib/artifact/webp.ts");
    const encoder = await fileEncoder(params, cancellation, {
      codec: "webp",
      encode: (image, quality, half) => encodeWebp(image, { ...params, quality }, half),
      decode: decodeWebp,
    });
    return await encodeImages(images, params, encoder, { progress, cancellation });
  },
});
