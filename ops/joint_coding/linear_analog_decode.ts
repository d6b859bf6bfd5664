/**
 * Receiver of the linear analog code of images: gain from the pilots, Wiener estimates of the coefficients, inverse
 * transform. lib/numeric/coding/linear_analog.ts has the formulas.
 *
 * The noise variance is that of each symbol after equalisation, else that in the metadata of the symbols. The variance of
 * a coefficient is estimated from its received power over the blocks of the image, or is that of the prior. The gain of the
 * channel may be unknown when it is constant over an image; with symbols that fade one by one, equalise before.
 *
 * Shapes: symbols complex64 [N·n] -> images [N, H, W, C], uint8 or float32 in [0, 1] as they were sent, clipped.
 *
 * Source: Jakubczak and Katabi, A cross-layer design for scalable mobile video, MobiCom, 2011.
 */
import { defineOperation, type InputArtifact, SvcError, z } from "../api.ts";
import { artifactKind, IMAGES, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import {
  IMAGE_METADATA,
  imageAt,
  type ImageBatch,
  imagesArtifact,
  metadataOf,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import { type LinearAnalogCode, linearAnalogCode, linearAnalogDecode } from "../../lib/numeric/coding/linear_analog.ts";
import { notExported } from "../_backends.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { ANALOG_SYMBOLS, MAXIMUM_BLOCK_SIZE, MINIMUM_USES_PER_PIXEL } from "./_linear_analog.ts";

/** Metadata that describe the symbols and do not apply to the images. */
const SYMBOL_KEYS = [
  "analog_block_size",
  "analog_pilot_count",
  "analog_pixel_correlation",
  "image_dtype",
  "source_item_counts",
];

export default defineOperation({
  id: "model.linear_analog_decode",
  name: "Linear analog image decoder",
  description: "Estimates images from received symbols of the linear analog code",
  inputs: { symbols: [RX_SYMBOLS, SYMBOLS] },
  outputs: { images: artifactKind(IMAGES, IMAGE_METADATA) },
  params: z.strictObject({
    coefficient_variances: z.enum(["received", "prior"]).default("received")
      .describe("variances of the Wiener estimate: received powers without noise, or those of the encoder's prior"),
  }),
  differentiability: notExported("torch", "full", "Wiener estimate with a variance from the received symbols"),
  equivalence: { type: "numerical", tolerance: { atol: 1e-5, rtol: 1e-4 } },
  outputMetadataGuarantees: { images: { from: "symbols" } },
  timingMetric: "decoder.inference",
  run({ inputs: { symbols: input }, params, progress, cancellation }) {
    const symbols = symbolsOf(input), { batch, code } = layoutOf(input, symbols.length / 2);
    const noise = noiseVarianceOf(input, symbols.length / 2);
    for (let index = 0; index < batch.count; index++) {
      cancellation.throwIfCancelled();
      const from = index * code.symbols, to = from + code.symbols;
      const variances = typeof noise.variance === "number" ? noise.variance : noise.variance.subarray(from, to);
      const received = symbols.subarray(2 * from, 2 * to);
      const samples = linearAnalogDecode(code, received, variances, params.coefficient_variances === "received");
      const image = imageAt(batch, index);
      for (let at = 0; at < samples.length; at++) {
        const sample = Math.min(1, Math.max(0, samples[at]));
        image[at] = batch.dtype === "uint8" ? Math.round(255 * sample) : sample;
      }
      progress(index + 1, batch.count, { phase: "decode", unit: "images" });
    }
    return {
      outputs: { images: imagesArtifact(batch, travel(input.metadata, {}, SYMBOL_KEYS)) },
      metadata: noise.facts,
    };
  },
});

/** The images to fill and the code of each, from the metadata of the encoder. */
function layoutOf(input: InputArtifact, symbolCount: number): { batch: ImageBatch; code: LinearAnalogCode } {
  const known = metadataOf(input, ANALOG_SYMBOLS);
  const { image_count: count, image_height: height, image_width: width, image_channels: channels } = known;
  const { analog_block_size: blockSize, analog_pilot_count: pilots, analog_pixel_correlation: correlation } = known;
  const symbols = symbolCount / count;
  const possible = Number.isInteger(symbols) && pilots < symbols && blockSize <= MAXIMUM_BLOCK_SIZE &&
    (channels === 1 || channels === 3) && height * width * MINIMUM_USES_PER_PIXEL < symbols + 1 &&
    correlation >= 0 && correlation < 1;
  const code = possible
    ? linearAnalogCode({ height, width, channels, blockSize, symbols, pilots, correlation })
    : undefined;
  if (code?.symbols !== symbols) {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot read ${count} images of ${height} x ${width} pixels from ${symbolCount} analog symbols`,
      { hint: "Wire symbols of model.linear_analog_encode, without padding" },
    );
  }
  const dtype = known.image_dtype === "uint8" ? "uint8" : "float32";
  const samples = count * height * width * channels;
  const data = dtype === "uint8" ? new Uint8Array(samples) : new Float32Array(samples);
  return { batch: { count, height, width, channels, dtype, data }, code };
}
