/**
 * Decoder of a joint source-channel coder as a trainable component: received complex symbols to images.
 *
 *     learned_artifact    a trained package: symbols_ri [batch, 2K, h, w] -> reconstruction [batch, 3, height, width]
 *     external_callable   a contract for adapters, which does not run by itself
 *
 * The metadata of the encoder give the arrangement of the symbols and the form of the images.
 *
 * Shapes: symbols complex64 [N·K·h·w] -> images [N, H, W, C], uint8 or float32 in [0, 1] as they were sent; _deepjscc.ts has
 * the order.
 *
 * Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
 */
import { artifactKind, IMAGES, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineSlot } from "../../lib/contract/slot.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import { IMAGE_METADATA, imagesArtifact, symbolsOf, travel } from "../../lib/artifact/values.ts";
import type { NdArray } from "../../lib/numeric/ndarray.ts";
import { DEEPJSCC_SLOT, parted, type PictureForm, picturesOf, ROWS, SYMBOL_SHAPE } from "./_deepjscc.ts";

/** Metadata that describe the symbols and do not apply to the images. */
const SYMBOL_KEYS = [
  SYMBOL_SHAPE,
  "symbol_count",
  "channel_use_count",
  "representation",
  "image_dtype",
  "source_item_counts",
];

export default defineSlot({
  ...DEEPJSCC_SLOT,
  id: "model.deepjscc_external_decode",
  name: "JSCC decoder slot",
  description: "Decodes received symbols to images by a trained artifact or an adapter",
  inputs: { symbols: [RX_SYMBOLS, SYMBOLS] },
  outputs: { images: artifactKind(IMAGES, IMAGE_METADATA) },
  outputMetadataGuarantees: { images: { from: "symbols" } },
  timingMetric: "decoder.inference",
  exports: { torch: "external_model_decoder_slot" },
  twin: true,
  read: ({ inputs: { symbols } }) => parted(symbolsOf(symbols), symbols.metadata),
  learned: {
    component: { id: "decoder", role: "decoder", entrypoint: "decoder" },
    inputs: { symbols_ri: ["batch", "real_imag_channel", "symbol_height", "symbol_width"] },
    outputs: { reconstruction: ["batch", 3, "height", "width"] },
    meaning: {
      symbols_ri: "received symbols: the first half of the channels are real parts, the second half imaginary parts",
      reconstruction: "red, green and blue in 0 to 1; clipped afterwards",
    },
    rows: ROWS,
    run: async (symbols_ri, call) => (await call({ symbols_ri })).reconstruction,
  },
  result(reconstruction, _, { inputs: { symbols: { metadata } } }) {
    const pictures = picturesOf(reconstruction, formOf(metadata, reconstruction));
    return { outputs: { images: imagesArtifact(pictures, travel(metadata, {}, SYMBOL_KEYS)) } };
  },
});

/** The form of the encoded images; without metadata, that of the network's output. */
function formOf(metadata: JsonObject, { shape: [, , rows, columns] }: NdArray): PictureForm {
  const { height, width, channels } = trustedShape(metadata) ?? { height: rows, width: columns, channels: 3 };
  return {
    height,
    width,
    channels: channels === 1 ? 1 : 3,
    dtype: metadata.image_dtype === "uint8" ? "uint8" : "float32",
  };
}
