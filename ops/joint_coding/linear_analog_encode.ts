/**
 * Untrained linear analog code of images: coefficients of a block transform, scaled by gains of a prior, as amplitudes of
 * complex symbols. lib/numeric/coding/linear_analog.ts has formulas, prior and order of the symbols.
 *
 * An image of H x W pixels takes floor(u·H·W) symbols for u channel uses per pixel, pilots included; fewer when all
 * coefficients fit. The receiver estimates the scale of the image and the gain of the channel from pilots, which is constant over
 * an image. The mean power of the data symbols is 1 for an average image: the power is set in a later step.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> symbols complex64 [N·n].
 *
 * Source: Jakubczak and Katabi, A cross-layer design for scalable mobile video, MobiCom, 2011.
 */
import { defineOperation, SvcError, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imageShapeMetadata } from "../../lib/artifact/image_payload.ts";
import { imageAt, imagesOf, pixelsOf, symbolsArtifact, travel } from "../../lib/artifact/values.ts";
import {
  linearAnalogCode,
  linearAnalogEncode,
  type LinearAnalogSettings,
} from "../../lib/numeric/coding/linear_analog.ts";
import { notExported } from "../_backends.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import { ANALOG_SYMBOLS, codesOf, MAXIMUM_BLOCK_SIZE, MINIMUM_USES_PER_PIXEL } from "./_linear_analog.ts";

const parameters = z.strictObject({
  channel_uses_per_pixel: z.number().min(MINIMUM_USES_PER_PIXEL).max(4).default(0.5)
    .describe("largest number of complex symbols per pixel, pilots included"),
  block_size: z.int().min(2).max(MAXIMUM_BLOCK_SIZE).default(16).describe("side of the transform blocks in pixels"),
  pixel_correlation: z.number().min(0).max(0.999).default(0.95)
    .describe("correlation of neighbouring pixels in the prior; gives the selection and the gains of coefficients"),
  pilot_fraction: z.number().min(0).max(0.5).default(0.01)
    .describe("pilots as a fraction of the symbols of an image, rounded; at least one pilot is sent"),
});

export default defineOperation({
  id: "model.linear_analog_encode",
  name: "Linear analog image encoder",
  description: "Maps images to complex symbols by a block transform and fixed gains, without training",
  inputs: { images: [IMAGES] },
  outputs: { symbols: ANALOG_SYMBOLS },
  params: parameters,
  differentiability: notExported("torch", "full", "Linear in the image"),
  equivalence: { type: "numerical", tolerance: { atol: 1e-6, rtol: 1e-5 } },
  outputMetadataGuarantees: { symbols: { from: "images" } },
  timingMetric: "encoder.inference",
  estimate(params, { images: { shape } }) {
    if (shape?.length !== 4) return {};
    const [count, height, width, channels] = shape;
    const { symbols } = linearAnalogCode(settingsOf(params, { height, width, channels }));
    return { symbols: [["complex64", count * symbols]] };
  },
  run({ inputs, params, progress, cancellation }) {
    const batch = imagesOf(inputs.images), { count, channels, dtype } = batch;
    if (channels !== 1 && channels !== 3) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot encode images of ${channels} channels: 1 or 3 are supported`,
      );
    }
    const codes = codesOf(batch, (size) => {
      const settings = settingsOf(params, { ...size, channels });
      if (settings.symbols >= 2) return settings;
      throw new SvcError(
        "params_conflict",
        `Cannot send an image of ${size.height} x ${size.width} pixels with ${settings.symbols} symbols`,
        { hint: "A pilot and a data symbol are needed: raise channel_uses_per_pixel" },
      );
    });
    const counts = codes.map((code) => code.symbols), total = counts.reduce((sum, own) => sum + own, 0);
    const symbols = new Float32Array(2 * total), [first] = codes;
    for (let index = 0, at = 0; index < count; index++) {
      cancellation.throwIfCancelled();
      const samples = imageAt(batch, index);
      const image = dtype === "uint8" ? Float64Array.from(samples, (sample) => sample / 255) : samples;
      symbols.set(linearAnalogEncode(codes[index], image), 2 * at);
      at += counts[index];
      progress(index + 1, count, { phase: "encode", unit: "images" });
    }
    const metadata = travel(inputs.images.metadata, {
      ...imageShapeMetadata(batch),
      image_dtype: dtype,
      analog_block_size: first.blockSize,
      analog_pilot_count: first.pilots,
      ...(batch.sizes === undefined ? {} : { analog_pilot_counts: codes.map(({ pilots }) => pilots) }),
      analog_pixel_correlation: first.correlation,
      source_item_counts: counts,
    }, DELIVERY_KEYS);
    return {
      outputs: { symbols: symbolsArtifact(symbols, metadata) },
      metrics: { "channel.uses_per_pixel": total / pixelsOf(batch) },
    };
  },
});

function settingsOf(
  params: z.output<typeof parameters>,
  { height, width, channels }: { height: number; width: number; channels: number },
): LinearAnalogSettings {
  const symbols = Math.floor(params.channel_uses_per_pixel * height * width);
  return {
    height,
    width,
    channels,
    blockSize: params.block_size,
    symbols,
    pilots: Math.max(1, Math.round(params.pilot_fraction * symbols)),
    correlation: params.pixel_correlation,
  };
}
