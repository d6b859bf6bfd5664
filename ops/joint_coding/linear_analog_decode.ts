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
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import {
  emptyImages,
  IMAGE_METADATA,
  imageAt,
  type ImageBatch,
  imagesArtifact,
  type ImageShapes,
  metadataCounts,
  metadataOf,
  sizeAt,
  sourceItemCounts,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import { type LinearAnalogCode, linearAnalogDecode } from "../../lib/numeric/coding/linear_analog.ts";
import { notExported } from "../_backends.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { ANALOG_SYMBOLS, codesOf, MAXIMUM_BLOCK_SIZE, MINIMUM_USES_PER_PIXEL } from "./_linear_analog.ts";

/** Metadata that describe the symbols and do not apply to the images. */
const SYMBOL_KEYS = [
  "analog_block_size",
  "analog_pilot_count",
  "analog_pilot_counts",
  "image_sizes",
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
    const symbols = symbolsOf(input), { batch, codes } = layoutOf(input, symbols.length / 2);
    const noise = noiseVarianceOf(input, symbols.length / 2);
    for (let index = 0, from = 0, to = 0; index < batch.count; index++, from = to) {
      cancellation.throwIfCancelled();
      const code = codes[index];
      to = from + code.symbols;
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
function layoutOf(input: InputArtifact, symbolCount: number): { batch: ImageBatch; codes: LinearAnalogCode[] } {
  const known = metadataOf(input, ANALOG_SYMBOLS), shapes = trustedShape(input.metadata)!, { channels } = shapes;
  const { analog_block_size: blockSize, analog_pilot_count: pilots, analog_pixel_correlation: correlation } = known;
  const uniform = shapes.sizes === undefined, everyPilots = metadataCounts(input.metadata, "analog_pilot_counts");
  const counts = uniform ? undefined : sourceItemCounts(input.metadata, symbolCount);
  const refuse = (): never => {
    throw new SvcError(
      "boundary_count_mismatch",
      `Cannot read ${sizesText(shapes)} from ${symbolCount} analog symbols`,
      { hint: "Wire symbols of model.linear_analog_encode, without padding" },
    );
  };
  const codes = codesOf(shapes, ({ height, width }, index) => {
    const symbols = uniform ? symbolCount / shapes.count : counts?.[index] ?? NaN;
    const own = uniform ? pilots : everyPilots?.[index] ?? NaN;
    const possible = Number.isInteger(symbols) && own > 0 && own < symbols && blockSize <= MAXIMUM_BLOCK_SIZE &&
      (channels === 1 || channels === 3) && height * width * MINIMUM_USES_PER_PIXEL < symbols + 1 &&
      correlation >= 0 && correlation < 1;
    return possible ? { height, width, channels, blockSize, symbols, pilots: own, correlation } : refuse();
  });
  const total = codes.reduce((sum, { symbols }) => sum + symbols, 0);
  if (total !== symbolCount) return refuse();
  return { batch: emptyImages({ ...shapes, dtype: known.image_dtype === "uint8" ? "uint8" : "float32" }), codes };
}

function sizesText(shapes: ImageShapes): string {
  const { height, width } = sizeAt(shapes, 0);
  return `${shapes.count} images of ${shapes.sizes === undefined ? `${height} x ${width} pixels` : "several sizes"}`;
}
