/**
 * Encoder of a joint source-channel coder as a trainable component: images to complex symbols.
 *
 *     learned_artifact    a trained package: images [batch, 3, height, width], and if it takes them snr_db [batch] and
 *                         channel_uses_per_pixel [batch] -> symbols_ri [batch, 2K, h, w]
 *     external_callable   a contract for adapters, which does not run by itself
 *
 * The symbols are the unscaled output of the network: their power is set in a later step. Possible image sizes depend
 * on the network. A network that takes channel_uses_per_pixel chooses K by it; whatever it pads is sent and counted.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> symbols complex64 [N·K·h·w]; _deepjscc.ts has the order.
 *
 * Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
 */
import { artifactKind, IMAGES, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineSlot, z } from "../api.ts";
import { imageShapeMetadata } from "../../lib/artifact/image_payload.ts";
import { imagesOf, pixelsOf, SYMBOL_METADATA, symbolsArtifact, travel } from "../../lib/artifact/values.ts";
import { elementCount, type NdArray } from "../../lib/numeric/array/ndarray.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import { callsOf, DEEPJSCC_SLOT, each, joined, planesOf, ROWS, SYMBOL_SHAPE } from "./_deepjscc.ts";

export default defineSlot({
  ...DEEPJSCC_SLOT,
  params: {
    ...DEEPJSCC_SLOT.params,
    snr_db: z.number().min(-50).max(100).default(10)
      .describe("Es/N0 in dB that the encoder assumes, for networks that take it"),
    channel_uses_per_pixel: z.number().positive().max(4).default(0.5)
      .describe("complex symbols per pixel, for networks that take them"),
  },
  id: "model.deepjscc_external_encode",
  name: "JSCC encoder slot",
  description: "Encodes images as complex symbols by a trained artifact or an adapter",
  inputs: { images: [IMAGES] },
  outputs: { symbols: artifactKind(SYMBOLS, SYMBOL_METADATA) },
  outputMetadataGuarantees: { symbols: { from: "images" } },
  timingMetric: "encoder.inference",
  exports: { torch: "external_model_encoder_slot" },
  twin: true,
  read: ({ inputs }) => imagesOf(inputs.images),
  learned: {
    component: { id: "encoder", role: "encoder", entrypoint: "encoder" },
    inputs: { images: ["batch", 3, "height", "width"], snr_db: ["batch"], channel_uses_per_pixel: ["batch"] },
    optional: ["snr_db", "channel_uses_per_pixel"],
    outputs: { symbols_ri: ["batch", "real_imag_channel", "symbol_height", "symbol_width"] },
    meaning: {
      images: "red, green and blue in 0 to 1",
      snr_db: "Es/N0 in dB that the encoder assumes: the parameter snr_db",
      channel_uses_per_pixel: "complex symbols per pixel: the parameter of this name, equal for all images of a call",
      symbols_ri:
        "symbols of any power: the first half of the channels are real parts, the second half imaginary parts",
    },
    rows: ROWS,
    async run(batch, call, { params }) {
      const found: NdArray[] = [];
      for (const images of callsOf(batch)) {
        const snr_db = each(images.count, params.snr_db);
        const channel_uses_per_pixel = each(images.count, params.channel_uses_per_pixel);
        found.push((await call({ images: planesOf(images), snr_db, channel_uses_per_pixel })).symbols_ri);
      }
      return found;
    },
  },
  result(found, batch, { inputs }) {
    const parts = found.map(joined), symbols = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (symbols.set(part, at), at + part.length), 0);
    const shapes = found.map(({ shape: [count, real, rows, columns] }) => [count, real / 2, rows, columns]);
    const metadata = travel(inputs.images.metadata, {
      ...imageShapeMetadata(batch),
      image_dtype: batch.dtype,
      [SYMBOL_SHAPE]: batch.sizes === undefined ? shapes[0] : shapes,
      source_item_counts: shapes.flatMap(([count, ...own]) => Array<number>(count).fill(elementCount(own))),
    }, DELIVERY_KEYS);
    return {
      outputs: { symbols: symbolsArtifact(symbols, metadata) },
      metrics: { "channel.uses_per_pixel": symbols.length / 2 / pixelsOf(batch) },
    };
  },
});
