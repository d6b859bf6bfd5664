/**
 * Decoder of a joint source-channel coder as a trainable component: received complex symbols to images.
 *
 *     learned_artifact    a trained package: symbols_ri [batch, 2K, h, w], and if it takes it snr_db [batch] ->
 *                         reconstruction [batch, 3, height, width]
 *     external_callable   a contract for adapters, which does not run by itself
 *
 * The SNR of an image is that of its symbols at unit power with the mean of their noise variances after equalisation, plus
 * snr_offset_db: a network that assumes more smooths less, which favours detection over squared error. The metadata of the encoder give the arrangement of the symbols and the form of the images.
 *
 * Shapes: symbols complex64 [N·K·h·w] -> images [N, H, W, C], uint8 or float32 in [0, 1] as they were sent; _deepjscc.ts has
 * the order.
 *
 * Source: Bourtsoulatze, Burth Kurka and Gündüz, Deep Joint Source-Channel Coding for Wireless Image Transmission, 2019.
 */
import { artifactKind, IMAGES, RX_SYMBOLS, SYMBOLS } from "../../lib/contract/kinds.ts";
import { defineSlot, type InputArtifact, type JsonObject, SvcError, z } from "../api.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import {
  emptyImages,
  formAt,
  IMAGE_METADATA,
  imageAt,
  type ImageForm,
  imagesArtifact,
  symbolsOf,
  travel,
} from "../../lib/artifact/values.ts";
import { type NdArray, ndarray } from "../../lib/numeric/array/ndarray.ts";
import { noiseVarianceOf } from "../_noise_variance.ts";
import { DEEPJSCC_SLOT, parted, picturesOf, ROWS, SYMBOL_SHAPE } from "./_deepjscc.ts";

/** Metadata that describe the symbols and do not apply to the images. */
const SYMBOL_KEYS = [
  SYMBOL_SHAPE,
  "symbol_count",
  "channel_use_count",
  "representation",
  "image_dtype",
  "image_sizes",
  "source_item_counts",
];

export default defineSlot({
  ...DEEPJSCC_SLOT,
  params: {
    ...DEEPJSCC_SLOT.params,
    snr_db: z.number().min(-50).max(100).optional()
      .describe(
        "Es/N0 in dB that the decoder assumes, for networks that take it; default: by the noise variance of the symbols",
      ),
    snr_offset_db: z.number().min(-50).max(50).default(0)
      .describe("dB added to this Es/N0: a decoder that assumes more smooths less"),
  },
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
    inputs: {
      symbols_ri: ["batch", "real_imag_channel", "symbol_height", "symbol_width"],
      snr_db: ["batch"],
    },
    optional: ["snr_db"],
    outputs: { reconstruction: ["batch", 3, "height", "width"] },
    meaning: {
      symbols_ri: "received symbols: the first half of the channels are real parts, the second half imaginary parts",
      snr_db:
        "Es/N0 in dB after equalisation, of the image: the parameter snr_db, or of the mean noise variance of its symbols; " +
        "plus snr_offset_db",
      reconstruction: "red, green and blue in 0 to 1; clipped afterwards",
    },
    rows: ROWS,
    async run(calls, call, { inputs: { symbols }, params }) {
      const known = params.snr_db === undefined && call.takes("snr_db") ? snrOf(symbols, calls) : undefined;
      const found: NdArray[] = [];
      for (const symbols_ri of calls) {
        const [count] = symbols_ri.shape, first = found.length;
        const assumed = known === undefined
          ? new Float32Array(count).fill(params.snr_db ?? 0)
          : known.snr.subarray(first, first + count);
        const snr_db = ndarray("float32", assumed.map((value) => clipped(value + params.snr_offset_db)), [count]);
        found.push((await call({ symbols_ri, snr_db })).reconstruction);
      }
      return { reconstructions: found, facts: known?.facts };
    },
  },
  result({ reconstructions, facts }, _, { inputs: { symbols: { metadata } } }) {
    const form = formOf(metadata, reconstructions), batch = emptyImages(form);
    // One call is the whole batch, several are one image each.
    if (form.sizes === undefined) batch.data.set(picturesOf(reconstructions[0], form).data);
    else {
      reconstructions.forEach((each, index) => imageAt(batch, index).set(picturesOf(each, formAt(form, index)).data));
    }
    return { outputs: { images: imagesArtifact(batch, travel(metadata, {}, SYMBOL_KEYS)) }, metadata: facts };
  },
});

/** The range that networks accept. */
const clipped = (snr: number) => Math.min(100, Math.max(-50, snr));

/** Es/N0 in dB of each image at unit symbol power. */
function snrOf(symbols: InputArtifact, calls: readonly NdArray[]) {
  const counts = calls.flatMap(({ shape: [count, parts, rows, columns] }) =>
    Array<number>(count).fill(parts / 2 * rows * columns)
  );
  const { variance, facts } = noiseVarianceOf(symbols, counts.reduce((sum, own) => sum + own, 0));
  let at = 0;
  const snr = Float32Array.from(counts, (perImage) => {
    if (typeof variance === "number") return 10 * Math.log10(1 / variance);
    const own = variance.subarray(at, at += perImage);
    return 10 * Math.log10(perImage / own.reduce((sum, value) => sum + value, 0));
  });
  return { snr: snr.map(clipped), facts };
}

/** The form of the encoded images; without metadata, that of the network's output. */
function formOf(metadata: JsonObject, reconstructions: readonly NdArray[]): ImageForm {
  const [{ shape: [count, , height, width] }] = reconstructions;
  const shape = trustedShape(metadata) ?? { count, height, width, channels: 3 };
  const calls = shape.sizes === undefined ? 1 : shape.count;
  if (reconstructions.length !== calls) {
    throw new SvcError("boundary_count_mismatch", `Cannot read ${shape.count} images from ${reconstructions.length}`);
  }
  return {
    ...shape,
    ...(shape.sizes === undefined ? { count } : {}),
    channels: shape.channels === 1 ? 1 : 3,
    dtype: metadata.image_dtype === "uint8" ? "uint8" : "float32",
  };
}
