/**
 * Toy VQ-VAE encoder: every patch of patch_size x patch_size pixels becomes the index of the nearest patch of a bundled
 * codebook (squared Euclidean distance over all channels, ties to the lowest index). It is the quantiser of a VQ-VAE
 * without its networks: encoder and decoder are the identity on patches.
 *
 * Shapes: images [N, H, W, C] with C = 1 or 3 -> indices int32 [N, ceil(H / patch_size), ceil(W / patch_size)]. An image
 * whose sides are not multiples is extended to the right and down by its outermost pixels; `patch_padding` records the
 * number of pixels, and the decoder removes them. Samples of float32 images x in [0, 1] are compared as 255·x.
 *
 * Codebooks: see `_toy_codebook.ts`; they were trained on svc_sample_images. Rate: ceil(log2(codebook_size)) bits per
 * patch, no entropy coding. codec.codebook_perplexity is 2^H of the indices' empirical distribution, at most the size of
 * the codebook.
 *
 * Source: van den Oord, Vinyals and Kavukcuoglu, Neural Discrete Representation Learning, NeurIPS 2017, for the idea.
 */
import { IMAGES, INDICES } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { imageAt, type ImageBatch, imagesOf, travel } from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { nearestCodeword } from "../../lib/numeric/coding/vector_quantization.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import { CODEBOOK_ID, CODEBOOK_SIZES, toyCodebook } from "./_toy_codebook.ts";

export default defineOperation({
  id: "model.toy_vqvae_encode",
  name: "Toy VQ-VAE encoder",
  description: "Replaces every patch of an image by its nearest neighbour in a fixed codebook",
  inputs: { images: [IMAGES] },
  outputs: { indices: INDICES },
  params: z.strictObject({
    codebook_size: z.literal([...CODEBOOK_SIZES]).default(64).describe("patches of the codebook"),
    patch_size: z.int().min(1).max(64).default(8).describe("side of a patch in pixels"),
  }),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  formats: { artifact: "npz", tensor: "none" },
  outputMetadataGuarantees: {
    indices: {
      from: "images",
      keys: [
        "codebook_id",
        "codebook_size",
        "patch_size",
        "patch_padding",
        "image_count",
        "image_height",
        "image_width",
        "image_channels",
        "image_dtype",
        "source_item_counts",
      ],
    },
  },
  timingMetric: "encoder.inference",
  threadSafe: true,
  run({ inputs, params, progress, cancellation }) {
    const { codebook_size, patch_size } = params;
    const batch = imagesOf(inputs.images), { count, height, width, channels } = batch;
    const codebook = toyCodebook(channels, codebook_size, patch_size);
    const rows = Math.ceil(height / patch_size), columns = Math.ceil(width / patch_size), perImage = rows * columns;
    const indices = new Int32Array(count * perImage), patch = new Float64Array(codebook.dimension);
    for (let image = 0, at = 0; image < count; image++) {
      for (let row = 0; row < rows; row++) {
        cancellation.throwIfCancelled();
        for (let column = 0; column < columns; column++) {
          copyPatch(patch, batch, image, row * patch_size, column * patch_size, patch_size);
          indices[at++] = nearestCodeword(codebook, patch).index;
        }
      }
      progress(image + 1, count, { phase: "quantise", unit: "images" });
    }
    const metadata = travel(inputs.images.metadata, {
      codebook_id: CODEBOOK_ID,
      codebook_size,
      patch_size,
      patch_padding: { right: columns * patch_size - width, bottom: rows * patch_size - height },
      image_count: count,
      image_height: height,
      image_width: width,
      image_channels: channels,
      image_dtype: batch.dtype,
      source_item_counts: Array(count).fill(perImage),
    }, DELIVERY_KEYS);
    const bitCount = indices.length * Math.log2(codebook_size);
    return {
      outputs: { indices: { array: ndarray("int32", indices, [count, rows, columns]), metadata } },
      metrics: {
        "codec.index_count": BigInt(indices.length),
        "codec.native_bit_count": BigInt(bitCount),
        "rate.native_codec_bpp": bitCount / (count * height * width),
        ...usageOf(indices, codebook_size),
      },
    };
  },
});

/** One patch with samples in 0 … 255; beyond the edges the outermost pixels are repeated. */
function copyPatch(patch: Float64Array, batch: ImageBatch, image: number, top: number, left: number, size: number) {
  const { height, width, channels } = batch, samples = imageAt(batch, image);
  const scale = batch.dtype === "float32" ? 255 : 1;
  for (let y = 0, to = 0; y < size; y++) {
    const line = Math.min(top + y, height - 1) * width;
    for (let x = 0; x < size; x++) {
      const from = (line + Math.min(left + x, width - 1)) * channels;
      for (let channel = 0; channel < channels; channel++) patch[to++] = scale * samples[from + channel];
    }
  }
}

/** Statistics of the used codewords. */
function usageOf(indices: Int32Array, size: number) {
  const counts = new Float64Array(size);
  for (const index of indices) counts[index]++;
  const used = counts.filter((count) => count > 0);
  const entropy = used.reduce((sum, count) => sum - (count / indices.length) * Math.log2(count / indices.length), 0);
  return { "codec.codebook_used_entries": used.length, "codec.codebook_perplexity": 2 ** entropy };
}
