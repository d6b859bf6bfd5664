/** WebP and AVIF files as payload bits, and back. */
import { defineOperation, z } from "../api.ts";
import {
  AVIF_ENTROPY,
  BUDGET_PARAMS,
  decodeImages,
  DECODER_PARAMS,
  encodeImages,
  fileEncoder,
  HALF_SIZE,
  IMAGE_DECODER,
  IMAGE_ENCODER,
  WEBP_ENTROPY,
  WITHOUT_BUDGET,
} from "../_coded_images.ts";

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
const webpEncode = defineOperation({
  id: "model.webp_encode",
  name: "WebP images to bit payload",
  description: "Encodes images as lossy WebP files and emits them as payload bits",
  ...IMAGE_ENCODER,
  params: z.strictObject({
    quality: z.int().min(0).max(100).default(75).meta(WITHOUT_BUDGET)
      .describe("100 is finest; without effect with a budget"),
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
const avifEncode = defineOperation({
  id: "model.avif_encode",
  name: "AVIF images to bit payload",
  description: "Encodes images as AVIF files and emits them as payload bits",
  ...IMAGE_ENCODER,
  params: z.strictObject({
    quality: z.int().min(0).max(100).default(60).meta(WITHOUT_BUDGET)
      .describe("100 is finest; without effect with a budget"),
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

/**
 * Payload bits of an encoder above to images. Number, size, sample type and boundaries of the images come from the trusted
 * metadata; an image has failed if the link reported it, its file is damaged, or it decodes to another size. An image of half
 * the width and height is enlarged. on_error has the meaning it has in `model.jpeg_decode`.
 */
const decoderOf = (codec: "webp" | "avif", title: string, coding: typeof WEBP_ENTROPY) =>
  defineOperation({
    id: `model.${codec}_decode`,
    name: `${title} bit payload to images`,
    description: `Decodes ${title} payloads; error policies other than fail are for outage and corruption studies`,
    ...IMAGE_DECODER,
    params: z.strictObject(DECODER_PARAMS),
    entropyInfo: coding,
    async run({ inputs: { bits }, params, progress, cancellation }) {
      const { enlarged } = await import("../../lib/artifact/jpeg/within_budget.ts");
      const read = codec === "webp"
        ? (await import("../../lib/artifact/webp.ts")).decodeWebp
        : (await import("../../lib/artifact/avif.ts")).decodeAvif;
      return await decodeImages(bits, params, {
        codec,
        decode: async (bytes, shape) => enlarged(await read(bytes, shape), shape),
      }, { progress, cancellation });
    },
  });

export default [
  webpEncode,
  decoderOf("webp", "WebP", WEBP_ENTROPY),
  avifEncode,
  decoderOf("avif", "AVIF", AVIF_ENTROPY),
];
