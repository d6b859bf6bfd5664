/** JPEG files as payload bits, and back. */
import { defineOperation, z } from "../api.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import {
  BUDGET_PARAMS,
  decodeImages,
  DECODER_PARAMS,
  encodeImages,
  IMAGE_DECODER,
  IMAGE_ENCODER,
  WITHOUT_BUDGET,
} from "../_coded_images.ts";
import { JPEG_ENTROPY, JPEG_STREAM_PARAMS, subsamplingOf } from "../_jpeg_images.ts";

const parameters = z.strictObject({
  quality: z.int().min(1).max(100).default(75).meta(WITHOUT_BUDGET)
    .describe("scale of the quantisation tables; 100 is finest; without effect with a budget"),
  subsampling: z.enum(["keep", "444", "422", "420"]).default("420")
    .describe("chroma subsampling; keep: that of the source file if known, else 444"),
  ...JPEG_STREAM_PARAMS,
  ...BUDGET_PARAMS,
});

/**
 * Images as JPEG files in one payload container, eight bits per byte, most significant bit first.
 *
 * Files are byte-identical to those of libjpeg for the same quality, subsampling, optimize and progressive. With
 * compact_binary_v1 every image is a source item, with safe_json_base64 the whole payload is one. Rates are bits per
 * pixel (height times width, all images): native_codec counts the files, serialized_payload the container.
 *
 * A budget replaces the quality (../_coded_images.ts). With `fill_budget` fill bytes 0xFF, which every decoder skips, make
 * all items as large as the budget, so that links have equal channel uses. An image of which nothing fits has no file, and
 * the receiver treats it as lost.
 *
 * For comparisons use `stream: abbreviated`, `half_size: true` and a budget: a file of a small image is to a large part
 * header and tables, and a comparison with files measures those.
 *
 * Source: ITU-T T.81; quality scale and tables after Annex K as libjpeg applies them. Abbreviated streams:
 * lib/artifact/jpeg/abbreviated.ts.
 */
const jpegEncode = defineOperation({
  id: "model.jpeg_encode",
  name: "JPEG images to bit payload",
  description: "Encodes images as JPEG files and emits them as payload bits",
  ...IMAGE_ENCODER,
  params: parameters,
  entropyInfo: JPEG_ENTROPY,
  async run({ inputs: { images }, params, progress, cancellation }) {
    const [{ encodeJpeg, JpegEncoder }, { bestWithin }] = await Promise.all([
      import("../../lib/artifact/jpeg/encoder.ts"),
      import("../../lib/artifact/jpeg/within_budget.ts"),
    ]);
    const used = Array.from(
      { length: imagesOf(images).count },
      (_, at) => subsamplingOf(params.subsampling, images.metadata, at),
    );
    return await encodeImages(images, params, {
      codec: "jpeg",
      encode(image, index) {
        const subsampling = used[index];
        if (params.stream === "jfif") return encodeJpeg(image, { ...params, subsampling });
        return new JpegEncoder(image, subsampling).encodeAbbreviated(params.quality)!;
      },
      fit(image, index, limit) {
        const search = { ...params, subsampling: used[index], minimum_quality: 1, maximum_quality: 100 };
        return bestWithin(image, limit, search, () => cancellation.throwIfCancelled());
      },
      fill: filled,
      metadata: { jpeg_subsampling: used.every((each) => each === used[0]) ? used[0] : used },
    }, { progress, cancellation });
  },
});

/** Appends fill bytes, in a file before the end-of-image marker. */
function filled(data: Uint8Array, length: number): Uint8Array {
  const whole = new Uint8Array(length).fill(0xff);
  if (data[0] !== 0xff) {
    whole.set(data);
    return whole;
  }
  whole.set(data.subarray(0, -2));
  whole.set(data.subarray(-2), length - 2);
  return whole;
}

/**
 * Payload bits back to images. Number, size, sample type and boundaries of the images come from the trusted metadata;
 * an image has failed if the link reported it, its file is damaged, or it decodes to another size. Files and abbreviated
 * the first byte of a stream gives its form; an image of half the width and height is enlarged.
 *
 * on_error sets the treatment of a failed image: fail refuses the payload, zeros and erasure give black, gray_image and
 * report_outage middle grey. All but fail list the failed images in the metadata (failed_item_indices, delivered).
 */
const jpegDecode = defineOperation({
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

export default [jpegEncode, jpegDecode];
