/**
 * JPEG at channel capacity: the separation reference. An image of H by W pixels has n = floor(channel_uses_per_pixel ·
 * H · W) complex channel uses and at most n · log2(1 + snr) bits, those of an ideal code at the mean Es/N0. The largest
 * quality whose file fits is found by trying all from the top, since file sizes need not grow with quality.
 *
 * awgn delivers every image with a fitting quality. slow_rayleigh draws one gain h ~ CN(0, 1) per image, unknown to the
 * sender, and delivers if and only if n · log2(1 + |h|² · snr) is at least the bits of the file. on_outage sets the
 * substitute of a lost image. Bits are those of the files; there is no container. A strong reference has
 * `stream: abbreviated` and `half_size: true`: a file of a small image is to a large part header and tables.
 *
 * Sources: Shannon 1948; Ozarow, Shamai and Wyner 1994 (outage on block fading channels).
 */
import { IMAGES } from "../../lib/contract/kinds.ts";
import { defineOperation, float, seedParameter, shownIn, z } from "../api.ts";
import { rateCounts } from "../../lib/artifact/statistical_unit.ts";
import { rateMetadata } from "../../lib/contract/metric_metadata.ts";
import { imagesArtifact, imagesOf, pixelsOf, sizeAt, travel } from "../../lib/artifact/values.ts";
import { quantile } from "../../lib/numeric/scores/statistics.ts";
import { notExported } from "../_backends.ts";
import {
  channelMeans,
  DELIVERED_IMAGES,
  deliveryMetadata,
  ImageBatchWriter,
  JPEG_ENTROPY,
  JPEG_STREAM_PARAMS,
  jpegImageAt,
  subsamplingOf,
} from "../_jpeg_images.ts";

const parameters = z.strictObject({
  channel_model: z.enum(["awgn", "slow_rayleigh"]).default("awgn").describe("slow_rayleigh: one gain per image"),
  snr_db: z.number().default(12).describe("mean Es/N0 in dB").meta(shownIn("dB")),
  channel_uses_per_pixel: z.number().positive().default(0.5).describe("complex channel uses per pixel of an image"),
  minimum_quality: z.int().min(1).max(100).default(1).describe("least JPEG quality, 1 to 100"),
  maximum_quality: z.int().min(1).max(100).default(95).describe("largest JPEG quality, 1 to 100"),
  subsampling: z.enum(["keep", "444", "422", "420"]).default("420")
    .describe("chroma subsampling; keep: that of the source file if known, else 444"),
  ...JPEG_STREAM_PARAMS,
  on_outage: z.enum(["gray_image", "zeros", "image_channel_mean"]).default("gray_image")
    .describe("substitute of a lost image; image_channel_mean: the mean of each channel"),
  seed: seedParameter(undefined, { channel_model: "slow_rayleigh" }),
});

export default defineOperation({
  id: "channel.jpeg_capacity_oracle",
  name: "JPEG at channel capacity",
  description: "Theoretical bound: JPEG sized to the budget of an ideal channel code",
  inputs: { images: [IMAGES] },
  outputs: { images: DELIVERED_IMAGES },
  params: parameters,
  differentiability: notExported("none", "none", "Theoretical separation reference"),
  entropyInfo: JPEG_ENTROPY,
  outputMetadataGuarantees: { images: { from: "images" } },
  check({ minimum_quality, maximum_quality }) {
    if (minimum_quality <= maximum_quality) return [];
    return [{
      message: `Cannot search qualities from ${minimum_quality} up to ${maximum_quality}`,
      place: ["minimum_quality"],
      hint: "Set minimum_quality to at most maximum_quality",
    }];
  },
  async run(context) {
    const { params, progress, cancellation } = context;
    const { bestWithin } = await import("../../lib/artifact/jpeg/within_budget.ts");
    const { metadata } = context.inputs.images;
    const batch = imagesOf(context.inputs.images), { count } = batch;
    const uses = Array.from({ length: count }, (_, index) => {
      const { height, width } = sizeAt(batch, index);
      return Math.floor(params.channel_uses_per_pixel * height * width);
    });
    const snr = 10 ** (params.snr_db / 10);
    const capacity = Math.log2(1 + snr), uniform = batch.sizes === undefined;
    const gains = params.channel_model === "awgn" ? undefined : context.generator.complexNormal64(count, 1);

    const writer = new ImageBatchWriter(batch);
    const delivered: boolean[] = [], qualities: (number | null)[] = [];
    let sourceBits = 0;
    for (let index = 0; index < count; index++) {
      const chosen = bestWithin(jpegImageAt(batch, index), Math.floor(uses[index] * capacity / 8), {
        ...params,
        subsampling: subsamplingOf(params.subsampling, metadata, index),
      }, () => cancellation.throwIfCancelled());
      const bits = (chosen?.bytes.length ?? 0) * 8;
      sourceBits += bits;
      qualities.push(chosen?.quality ?? null);
      const power = gains === undefined ? 1 : gains[2 * index] ** 2 + gains[2 * index + 1] ** 2;
      delivered.push(chosen !== undefined && (gains === undefined || uses[index] * Math.log2(1 + power * snr) >= bits));
      if (chosen !== undefined && delivered[index]) writer.write(index, chosen.decoded.data);
      else if (params.on_outage === "image_channel_mean") writer.fill(index, channelMeans(batch, index));
      else writer.fill(index, params.on_outage === "zeros" ? "zeros" : "grey");
      progress(index + 1, count, { phase: "encode", unit: "images" });
    }
    const lost = delivered.map((arrived) => arrived ? 0 : 1);
    const pixels = pixelsOf(batch), allUses = uses.reduce((sum, own) => sum + own, 0);
    const selected = qualities.filter((quality) => quality !== null);
    return {
      outputs: {
        images: imagesArtifact(
          writer.batch,
          travel(metadata, {
            ...deliveryMetadata(delivered),
            codec: "jpeg",
            selected_qualities: qualities,
            channel_uses_per_image: uniform ? uses[0] : uses,
            capacity_bits_per_image: uniform ? float(uses[0] * capacity) : uses.map((own) => float(own * capacity)),
          }),
        ),
      },
      metrics: {
        ...(selected.length === 0 ? {} : {
          "codec.jpeg.selected_quality_mean": selected.reduce((sum, quality) => sum + quality, 0) / selected.length,
          "codec.jpeg.selected_quality_min": quantile(selected, 0),
          "codec.jpeg.selected_quality_max": quantile(selected, 1),
        }),
        "codec.bit_count": BigInt(sourceBits),
        "codec.native_bit_count": BigInt(sourceBits),
        "codec.bytes": BigInt(sourceBits / 8),
        "rate.native_codec_bpp": sourceBits / pixels,
        "channel.outage_rate": delivered.filter((arrived) => !arrived).length / count,
        "channel.uses_per_pixel": allUses / pixels,
        "channel.channel_use_count": BigInt(allUses),
        "channel.snr_db": params.snr_db,
        "channel.awgn.capacity_bpp": allUses * capacity / pixels,
      },
      metadata: rateMetadata({ "channel.outage_rate": rateCounts(lost, {}, "source_item") }),
    };
  },
});
