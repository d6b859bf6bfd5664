/**
 * Images as JPEG files in one payload container, eight bits per byte, most significant bit first.
 *
 * Files are byte-identical to those of libjpeg for the same quality, subsampling, optimize and progressive. With
 * compact_binary_v1 every image is a source item, with safe_json_base64 the whole payload is one. Rates are bits per
 * pixel (height times width, all images): native_codec counts the files, serialized_payload the container.
 *
 * Source: ITU-T T.81; quality scale and tables after Annex K as libjpeg applies them.
 */
import { artifactKind, IMAGES, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import { IMAGE_PAYLOAD_METADATA, imagePayloadMetadata, packImagePayload } from "../../lib/artifact/image_payload.ts";
import { BIT_METADATA, bitsArtifact, imagesOf, travel } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/bit_packing.ts";
import { notExported } from "../_backends.ts";
import { DELIVERY_KEYS, JPEG_ENTROPY, jpegImageAt, subsamplingOf } from "../_jpeg_images.ts";

export default defineOperation({
  id: "model.jpeg_encode",
  name: "JPEG images to bit payload",
  description: "Encodes images as JPEG files and emits them as payload bits",
  inputs: { images: [IMAGES] },
  outputs: { bits: artifactKind(PAYLOAD_BITS, { ...BIT_METADATA, ...IMAGE_PAYLOAD_METADATA }) },
  params: z.strictObject({
    quality: z.int().min(1).max(100).default(75).describe("scale of the quantisation tables; 100 is finest"),
    subsampling: z.enum(["keep", "444", "422", "420"]).default("420")
      .describe("chroma subsampling; keep: that of the source file if known, else 444"),
    optimize: z.boolean().default(false).describe("Huffman tables fitted to each image"),
    progressive: z.boolean().default(false).describe("progressive scans, always with fitted tables"),
    wire_format: z.enum(["safe_json_base64", "compact_binary_v1"]).default("safe_json_base64")
      .describe("container of the files; with compact_binary_v1 every image is a source item"),
    data_plane_backend: dataPlaneParameter(),
  }),
  differentiability: notExported("numpy", "stop", "Quantisation and entropy coding"),
  entropyInfo: JPEG_ENTROPY,
  outputMetadataGuarantees: { bits: { from: "images" } },
  timingMetric: "encoder.payload_encode",
  threadSafe: true,
  async run({ inputs, params, progress, cancellation }) {
    const { encodeJpeg } = await import("../../lib/artifact/jpeg/encoder.ts");
    const batch = imagesOf(inputs.images), { count, height, width, channels } = batch;
    const used = Array.from(
      { length: count },
      (_, at) => subsamplingOf(params.subsampling, inputs.images.metadata, at),
    );
    const items = used.map((subsampling, index) => {
      cancellation.throwIfCancelled();
      const data = encodeJpeg(jpegImageAt(batch, index), { ...params, subsampling });
      progress(index + 1, count, { phase: "encode", unit: "images" });
      return { height, width, channels, data };
    });
    const { bytes, itemByteCounts } = packImagePayload(items, "jpeg", params.wire_format);
    const bits = unpackBits(bytes);
    const metadata = travel(inputs.images.metadata, {
      ...imagePayloadMetadata(batch, "jpeg", params.wire_format, itemByteCounts),
      image_dtype: batch.dtype,
      jpeg_subsampling: used.every((each) => each === used[0]) ? used[0] : used,
    }, DELIVERY_KEYS);
    const pixels = count * height * width;
    const nativeBits = items.reduce((sum, { data }) => sum + data.length * 8, 0);
    return {
      outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
      metrics: {
        "codec.bit_count": BigInt(bits.length),
        "codec.native_bit_count": BigInt(nativeBits),
        "codec.bytes": BigInt(bytes.length),
        "rate.native_codec_bpp": nativeBits / pixels,
        "rate.serialized_payload_bpp": bits.length / pixels,
        "rate.payload_bpp": bits.length / pixels,
      },
    };
  },
});
