/**
 * Encoder of a joint source-channel coder as a trainable component: images to complex symbols.
 *
 *     learned_artifact    a trained package: images [batch, 3, height, width] -> symbols_ri [batch, 2K, h, w]
 *     external_callable   a contract for adapters, which does not run by itself
 *
 * The symbols are the unscaled output of the network: their power is set in a later step. Possible image sizes depend
 * on the network.
 *
 * Shapes: images uint8 or float32 [N, H, W, C], C = 1 or 3 -> symbols complex64 [N·K·h·w]; _deepjscc.ts has the order.
 *
 * Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
 */
import { artifactKind, IMAGES, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineSlot } from "../../lib/contract/slot.ts";
import { imagesOf, SYMBOL_METADATA, symbolsArtifact, travel } from "../../lib/artifact/values.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import { DEEPJSCC_SLOT, joined, planesOf, ROWS, SYMBOL_SHAPE } from "./_deepjscc.ts";

export default defineSlot({
  ...DEEPJSCC_SLOT,
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
    inputs: { images: ["batch", 3, "height", "width"] },
    outputs: { symbols_ri: ["batch", "real_imag_channel", "symbol_height", "symbol_width"] },
    meaning: {
      images: "red, green and blue in 0 to 1",
      symbols_ri:
        "symbols of any power: the first half of the channels are real parts, the second half imaginary parts",
    },
    rows: ROWS,
    run: async (batch, call) => (await call({ images: planesOf(batch) })).symbols_ri,
  },
  result(symbolsRi, { count, height, width, channels, dtype }, { inputs }) {
    const symbols = joined(symbolsRi), perImage = symbols.length / 2 / count;
    const [, parts, rows, columns] = symbolsRi.shape;
    const metadata = travel(inputs.images.metadata, {
      image_count: count,
      image_height: height,
      image_width: width,
      image_channels: channels,
      image_dtype: dtype,
      [SYMBOL_SHAPE]: [count, parts / 2, rows, columns],
      source_item_counts: Array(count).fill(perImage),
    }, DELIVERY_KEYS);
    return {
      outputs: { symbols: symbolsArtifact(symbols, metadata) },
      metrics: { "channel.uses_per_pixel": perImage / (height * width) },
    };
  },
});
