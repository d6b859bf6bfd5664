/**
 * Images as JPEG files in one payload container, eight bits per byte, most significant bit first.
 *
 * Files are byte-identical to those of libjpeg for the same quality, subsampling, optimize and progressive. With
 * compact_binary_v1 every image is a source item, with safe_json_base64 the whole payload is one. Rates are bits per
 * pixel (height times width, all images): native_codec counts the files, serialized_payload the container.
 *
 * A budget replaces the quality: `target_bpp` B gives an image of H by W pixels floor(B·H·W) bits, and
 * `channel_uses_per_pixel` u with m bits per symbol and code rate R gives floor(floor(u·H·W)·m·R). The largest quality
 * whose source item (file, its 9 bytes in the container, and 8 more of the first image) fits is taken, per image. With
 * `fill_budget` fill bytes 0xFF, which every decoder skips, make all items as large as the budget, so that links have
 * equal channel uses. An image of which nothing fits has no file, and the receiver treats it as lost.
 *
 * For comparisons use `stream: abbreviated`, `half_size: true` and a budget: a file of a small image is to a large part
 * header and tables, and a comparison with files measures those.
 *
 * Source: ITU-T T.81; quality scale and tables after Annex K as libjpeg applies them. Abbreviated streams:
 * lib/artifact/jpeg/abbreviated.ts.
 */
import { artifactKind, IMAGES, PAYLOAD_BITS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { dataPlaneParameter } from "../../lib/contract/schema.ts";
import { z } from "../../lib/contract/zod.ts";
import {
  IMAGE_PAYLOAD_METADATA,
  imagePayloadMetadata,
  itemOverheadBytes,
  packImagePayload,
} from "../../lib/artifact/image_payload.ts";
import { BIT_METADATA, bitsArtifact, imagesOf, travel } from "../../lib/artifact/values.ts";
import { unpackBits } from "../../lib/numeric/bit_packing.ts";
import { BITS_PER_SYMBOL } from "../../lib/numeric/modulation.ts";
import { quantile } from "../../lib/numeric/statistics.ts";
import { notExported } from "../_backends.ts";
import { DELIVERY_KEYS, JPEG_ENTROPY, JPEG_STREAM_PARAMS, jpegImageAt, subsamplingOf } from "../_jpeg_images.ts";

const parameters = z.strictObject({
  quality: z.int().min(1).max(100).default(75)
    .describe("scale of the quantisation tables; 100 is finest; without effect with a budget"),
  subsampling: z.enum(["keep", "444", "422", "420"]).default("420")
    .describe("chroma subsampling; keep: that of the source file if known, else 444"),
  optimize: z.boolean().default(false).describe("Huffman tables fitted to each image; of files")
    .meta({ "x-svc-used-when": { stream: "jfif" } }),
  progressive: z.boolean().default(false).describe("progressive scans, always with fitted tables; of files")
    .meta({ "x-svc-used-when": { stream: "jfif" } }),
  ...JPEG_STREAM_PARAMS,
  target_bpp: z.number().positive().optional()
    .describe("budget in payload bits per pixel of each image, container included"),
  channel_uses_per_pixel: z.number().positive().optional()
    .describe("budget in complex channel uses per pixel of each image, by modulation and code_rate"),
  modulation: z.enum(["bpsk", "qpsk", "qam16", "qam64"]).default("qpsk").describe(
    "modulation of the link, for channel_uses_per_pixel",
  ),
  code_rate: z.number().positive().max(1).default(0.5)
    .describe("payload bits per transmitted bit, framing and padding included, for channel_uses_per_pixel"),
  fill_budget: z.boolean().default(false).describe("fill bytes make every image take the whole budget"),
  wire_format: z.enum(["safe_json_base64", "compact_binary_v1"]).default("safe_json_base64")
    .describe("container of the files; with compact_binary_v1 every image is a source item; a budget needs it"),
  data_plane_backend: dataPlaneParameter(),
});

export default defineOperation({
  id: "model.jpeg_encode",
  name: "JPEG images to bit payload",
  description: "Encodes images as JPEG files and emits them as payload bits",
  inputs: { images: [IMAGES] },
  outputs: { bits: artifactKind(PAYLOAD_BITS, { ...BIT_METADATA, ...IMAGE_PAYLOAD_METADATA }) },
  params: parameters,
  differentiability: notExported("numpy", "stop", "Quantisation and entropy coding"),
  entropyInfo: JPEG_ENTROPY,
  outputMetadataGuarantees: { bits: { from: "images" } },
  timingMetric: "encoder.payload_encode",
  estimate(params, { images: { shape } }) {
    if (shape === undefined || !params.fill_budget) return {};
    const [count, height, width] = shape, budget = budgetBytes(params, height * width);
    return budget === undefined ? {} : { bits: [["uint8", 8 * count * budget]] };
  },
  threadSafe: true,
  check(params) {
    const problem = (place: string, message: string, hint: string) => [{ message, place: [place], hint }];
    const { target_bpp, channel_uses_per_pixel } = params;
    if (target_bpp !== undefined && channel_uses_per_pixel !== undefined) {
      return problem("target_bpp", "Cannot follow two budgets", "Give target_bpp or channel_uses_per_pixel");
    }
    if (target_bpp !== undefined || channel_uses_per_pixel !== undefined) {
      if (params.wire_format === "compact_binary_v1") return [];
      const hint = "Set wire_format to compact_binary_v1";
      return problem("wire_format", "Cannot give each image a budget: the JSON container is one source item", hint);
    }
    const needs = (["half_size", "fill_budget"] as const).find((name) => params[name]);
    if (needs === undefined) return [];
    return problem(needs, `Cannot use ${needs} without a budget`, "Set target_bpp or channel_uses_per_pixel");
  },
  async run({ inputs, params, progress, cancellation }) {
    const [{ JpegEncoder }, { bestWithin }] = await Promise.all([
      import("../../lib/artifact/jpeg/encoder.ts"),
      import("../../lib/artifact/jpeg/within_budget.ts"),
    ]);
    const batch = imagesOf(inputs.images), { count, height, width, channels } = batch;
    const used = Array.from(
      { length: count },
      (_, at) => subsamplingOf(params.subsampling, inputs.images.metadata, at),
    );
    const budget = budgetBytes(params, height * width);
    const qualities: (number | null)[] = [];
    let fileBytes = 0;
    const items = used.map((subsampling, index) => {
      cancellation.throwIfCancelled();
      const image = jpegImageAt(batch, index), { quality } = params;
      let data: Uint8Array;
      if (budget === undefined) {
        const encoder = new JpegEncoder(image, subsampling);
        data = params.stream === "jfif" ? encoder.encode(params) : encoder.encodeAbbreviated(quality)!;
        fileBytes += data.length;
      } else {
        const limit = budget - itemOverheadBytes(index);
        const search = { ...params, subsampling, minimum_quality: 1, maximum_quality: 100 };
        const found = bestWithin(image, limit, search, () => cancellation.throwIfCancelled());
        qualities.push(found?.quality ?? null);
        fileBytes += found?.bytes.length ?? 0;
        data = found?.bytes ?? new Uint8Array();
        if (params.fill_budget) data = filled(data, Math.max(0, limit));
      }
      progress(index + 1, count, { phase: "encode", unit: "images" });
      return { height, width, channels, data };
    });
    const { bytes, itemByteCounts } = packImagePayload(items, "jpeg", params.wire_format);
    const bits = unpackBits(bytes);
    const selected = qualities.filter((quality) => quality !== null);
    const metadata = travel(inputs.images.metadata, {
      ...imagePayloadMetadata(batch, "jpeg", params.wire_format, itemByteCounts),
      image_dtype: batch.dtype,
      jpeg_subsampling: used.every((each) => each === used[0]) ? used[0] : used,
      ...(budget === undefined ? {} : { selected_qualities: qualities }),
    }, DELIVERY_KEYS);
    const pixels = count * height * width;
    return {
      outputs: { bits: bitsArtifact(bits, metadata, "payload.bits") },
      metrics: {
        ...(budget === undefined ? {} : { "codec.jpeg.unfit_count": BigInt(count - selected.length) }),
        ...(selected.length === 0 ? {} : {
          "codec.jpeg.selected_quality_mean": selected.reduce((sum, quality) => sum + quality, 0) / selected.length,
          "codec.jpeg.selected_quality_min": quantile(selected, 0),
          "codec.jpeg.selected_quality_max": quantile(selected, 1),
        }),
        "codec.bit_count": BigInt(bits.length),
        "codec.native_bit_count": BigInt(fileBytes * 8),
        "codec.native_bytes": BigInt(fileBytes),
        "codec.bytes": BigInt(bytes.length),
        "rate.native_codec_bpp": fileBytes * 8 / pixels,
        "rate.serialized_payload_bpp": bits.length / pixels,
        "rate.payload_bpp": bits.length / pixels,
      },
    };
  },
});

/** Bytes of each source item; undefined without a budget. */
function budgetBytes(params: z.output<typeof parameters>, pixels: number): number | undefined {
  const { target_bpp, channel_uses_per_pixel, modulation, code_rate } = params;
  if (target_bpp !== undefined) return Math.floor(Math.floor(target_bpp * pixels) / 8);
  if (channel_uses_per_pixel === undefined) return undefined;
  const uses = Math.floor(channel_uses_per_pixel * pixels);
  return Math.floor(Math.floor(uses * BITS_PER_SYMBOL[modulation] * code_rate) / 8);
}

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
