/** Images to indices of a toy codebook, and back. */
import { IMAGES, INDICES } from "../../lib/contract/kinds.ts";
import { defineOperation, type JsonObject, SvcError, z } from "../api.ts";
import {
  emptyImages,
  type ImageBatch,
  imagesArtifact,
  type ImageShapes,
  imagesOf,
  metadataNumber,
  metadataText,
  oneImage,
  pixelsOf,
  sizeAt,
  travel,
} from "../../lib/artifact/values.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { INDEX_ASSIGNMENTS, indexAssignment, inverseAssignment } from "../../lib/numeric/coding/index_assignment.ts";
import { nearestCodeword } from "../../lib/numeric/coding/vector_quantization.ts";
import { DELIVERY_KEYS } from "../_jpeg_images.ts";
import { type Codebook, CODEBOOK_ID, CODEBOOK_SIZES, toyCodebook } from "./_toy_codebook.ts";
import { imageShapeMetadata, trustedShape } from "../../lib/artifact/image_payload.ts";

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
 * An index_assignment other than natural, the order from dark to bright, names the patches by other labels: the outputs are labels,
 * and the decoder takes the patches back. lib/numeric/coding/index_assignment.ts has the methods.
 *
 * Source: van den Oord, Vinyals and Kavukcuoglu, Neural Discrete Representation Learning, NeurIPS 2017, for the idea.
 */
const toyVqvaeEncode = defineOperation({
  id: "model.toy_vqvae_encode",
  name: "Toy VQ-VAE encoder",
  description: "Replaces every patch of an image by its nearest neighbour in a fixed codebook",
  inputs: { images: [IMAGES] },
  outputs: { indices: INDICES },
  params: z.strictObject({
    codebook_size: z.literal([...CODEBOOK_SIZES]).default(64).describe("patches of the codebook"),
    patch_size: z.int().min(1).max(64).default(8).describe("side of a patch in pixels"),
    index_assignment: z.enum(INDEX_ASSIGNMENTS).default("natural")
      .describe("labels of the patches, which decide what a bit error costs"),
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
  run({ inputs, params, progress, cancellation }) {
    const { codebook_size, patch_size, index_assignment } = params;
    const batch = imagesOf(inputs.images), { count, channels, sizes } = batch;
    const codebook = toyCodebook(channels, codebook_size, patch_size), grids = gridsOf(batch, patch_size);
    const labels = indexAssignment(index_assignment, codebook);
    const perImage = grids.map(({ rows, columns }) => rows * columns);
    const indices = new Int32Array(perImage.reduce((sum, own) => sum + own, 0));
    const patch = new Float64Array(codebook.dimension);
    for (let image = 0, at = 0; image < count; image++) {
      const { rows, columns } = grids[image];
      for (let row = 0; row < rows; row++) {
        cancellation.throwIfCancelled();
        for (let column = 0; column < columns; column++) {
          copyPatch(patch, batch, image, row * patch_size, column * patch_size, patch_size);
          indices[at++] = labels[nearestCodeword(codebook, patch).index];
        }
      }
      progress(image + 1, count, { phase: "quantise", unit: "images" });
    }
    const metadata = travel(inputs.images.metadata, {
      codebook_id: CODEBOOK_ID,
      codebook_size,
      patch_size,
      patch_padding: sizes === undefined ? grids[0].padding : grids.map(({ padding }) => padding),
      ...imageShapeMetadata(batch),
      image_dtype: batch.dtype,
      ...(index_assignment === "natural" ? {} : { index_assignment }),
      source_item_counts: perImage,
    }, DELIVERY_KEYS);
    const [{ rows, columns }] = grids, shape = sizes === undefined ? [count, rows, columns] : [indices.length];
    const bitCount = indices.length * Math.log2(codebook_size);
    return {
      outputs: { indices: { array: ndarray("int32", indices, shape), metadata } },
      metrics: {
        "codec.index_count": BigInt(indices.length),
        "codec.native_bit_count": BigInt(bitCount),
        "rate.native_codec_bpp": bitCount / pixelsOf(batch),
        ...usageOf(indices, codebook_size),
      },
    };
  },
});

/** One patch with samples in 0 … 255; beyond the edges the outermost pixels are repeated. */
function copyPatch(patch: Float64Array, batch: ImageBatch, image: number, top: number, left: number, size: number) {
  const { height, width, channels, data: samples } = oneImage(batch, image);
  const scale = batch.dtype === "float32" ? 255 : 1;
  for (let y = 0, to = 0; y < size; y++) {
    const line = Math.min(top + y, height - 1) * width;
    for (let x = 0; x < size; x++) {
      const from = (line + Math.min(left + x, width - 1)) * channels;
      for (let channel = 0; channel < channels; channel++) patch[to++] = scale * samples[from + channel];
    }
  }
}

/** Rows and columns of patches of each image, and the padding of its last ones in pixels. */
function gridsOf(shapes: ImageShapes, patchSize: number) {
  return Array.from({ length: shapes.count }, (_, index) => {
    const { height, width } = sizeAt(shapes, index);
    const rows = Math.ceil(height / patchSize), columns = Math.ceil(width / patchSize);
    return { rows, columns, padding: { right: columns * patchSize - width, bottom: rows * patchSize - height } };
  });
}

function usageOf(indices: Int32Array, size: number) {
  const counts = new Float64Array(size);
  for (const index of indices) counts[index]++;
  const used = counts.filter((count) => count > 0);
  const entropy = used.reduce((sum, count) => sum - (count / indices.length) * Math.log2(count / indices.length), 0);
  return { "codec.codebook_used_entries": used.length, "codec.codebook_perplexity": 2 ** entropy };
}

/** Metadata that describe the indices and do not apply to the images. */
const INDEX_KEYS = [
  "codebook_id",
  "codebook_size",
  "patch_size",
  "patch_padding",
  "index_assignment",
  "image_dtype",
  "image_sizes",
  "source_item_counts",
];

/**
 * Toy VQ-VAE decoder: assembles the patches of the indices and removes the encoder's padding. Codebook, patch size,
 * size and sample type of the images come from the metadata only; float32 samples are v / 255.
 *
 * Every index is a patch, so damaged indices affect only their patches; there is no failed image.
 */
const toyVqvaeDecode = defineOperation({
  id: "model.toy_vqvae_decode",
  name: "Toy VQ-VAE decoder",
  description: "Inverse of the toy encoder, from the indices and their metadata",
  inputs: { indices: [INDICES] },
  outputs: { images: IMAGES },
  params: z.strictObject({}),
  backends: { benchmark_run: ["numpy"], dataset_capture: ["numpy"] },
  formats: { artifact: "npz", tensor: "none" },
  inputMetadataRequirements: {
    indices: {
      all_of: ["codebook_size", "patch_size", "image_count", "image_height", "image_width", "image_channels"],
    },
  },
  outputMetadataGuarantees: { images: { from: "indices", keys: ["boundary_contract", "image_count"] } },
  timingMetric: "decoder.inference",
  run({ inputs, cancellation }) {
    const { metadata } = inputs.indices;
    const { size, patchSize, shape, assignment } = layoutOf(metadata);
    const codebook = toyCodebook(shape.channels, size, patchSize);
    const words = inverseAssignment(indexAssignment(assignment, codebook));
    const grids = gridsOf(shape, patchSize), indices = inputs.indices.array();
    const patches = grids.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
    if (indices.data.length !== patches) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot fill the ${patches} patches of ${shape.count} images with ${indices.data.length} indices`,
      );
    }
    const batch = emptyImages({ ...shape, dtype: metadata.image_dtype === "float32" ? "float32" : "uint8" });
    for (let image = 0, at = 0; image < shape.count; image++) {
      const { rows, columns } = grids[image];
      cancellation.throwIfCancelled();
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++, at++) {
          const index = Number(indices.data[at]);
          if (!(index >= 0 && index < size)) {
            throw new SvcError("boundary_value_invalid", `Cannot find the index ${index} in a codebook of ${size}`);
          }
          putPatch(batch, image, row * patchSize, column * patchSize, patchSize, codebook, words[index]);
        }
      }
    }
    return { outputs: { images: imagesArtifact(batch, travel(metadata, {}, INDEX_KEYS)) } };
  },
});

/** @throws SvcError `boundary_value_invalid` for metadata of another source than a toy encoder */
function layoutOf(metadata: JsonObject) {
  const shape = trustedShape(metadata), size = metadataNumber(metadata, "codebook_size");
  const patchSize = metadataNumber(metadata, "patch_size"), id = metadataText(metadata, "codebook_id");
  const assignment = INDEX_ASSIGNMENTS.find((known) => known === (metadata.index_assignment ?? "natural"));
  const isKnown = assignment !== undefined && (CODEBOOK_SIZES as readonly unknown[]).includes(size) &&
    (id ?? CODEBOOK_ID) === CODEBOOK_ID;
  if (shape && isKnown && patchSize !== undefined && Number.isInteger(patchSize) && patchSize >= 1 && patchSize <= 64) {
    return { shape, size: size!, patchSize, assignment: assignment! };
  }
  throw new SvcError("boundary_value_invalid", "Cannot find patches and images in the metadata of the indices", {
    hint: "Wire indices of model.toy_vqvae_encode, directly or after noise and transport",
  });
}

/** Writes the part of a patch that lies inside the image. */
function putPatch(
  batch: ImageBatch,
  image: number,
  top: number,
  left: number,
  size: number,
  { dimension, data }: Codebook,
  index: number,
) {
  const { height, width, channels, dtype, data: samples } = oneImage(batch, image);
  const span = Math.min(size, width - left) * channels;
  for (let y = 0; y < size && top + y < height; y++) {
    const from = index * dimension + y * size * channels;
    const to = ((top + y) * width + left) * channels;
    for (let i = 0; i < span; i++) samples[to + i] = dtype === "float32" ? data[from + i] / 255 : data[from + i];
  }
}

export default [toyVqvaeEncode, toyVqvaeDecode];
