/**
 * Toy VQ-VAE decoder: assembles the patches of the indices and removes the encoder's padding. Codebook, patch size,
 * size and sample type of the images come from the metadata only; float32 samples are v / 255.
 *
 * Every index is a patch, so damaged indices affect only their patches; there is no failed image.
 */
import { IMAGES, INDICES } from "../../lib/contract/kinds.ts";
import { defineOperation, type JsonObject, SvcError, z } from "../api.ts";
import {
  imageAt,
  type ImageBatch,
  imagesArtifact,
  metadataNumber,
  metadataText,
  travel,
} from "../../lib/artifact/values.ts";
import { trustedShape } from "../../lib/artifact/image_payload.ts";
import { type Codebook, CODEBOOK_ID, CODEBOOK_SIZES, toyCodebook } from "./_toy_codebook.ts";

/** Metadata that describe the indices and do not apply to the images. */
const INDEX_KEYS = ["codebook_id", "codebook_size", "patch_size", "patch_padding", "image_dtype", "source_item_counts"];

export default defineOperation({
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
  threadSafe: true,
  run({ inputs, cancellation }) {
    const { metadata } = inputs.indices;
    const { size, patchSize, shape } = layoutOf(metadata);
    const codebook = toyCodebook(shape.channels, size, patchSize);
    const rows = Math.ceil(shape.height / patchSize), columns = Math.ceil(shape.width / patchSize);
    const indices = inputs.indices.array();
    if (indices.data.length !== shape.count * rows * columns) {
      throw new SvcError(
        "boundary_shape_invalid",
        `Cannot fill ${shape.count} x ${rows} x ${columns} patches with ${indices.data.length} indices`,
      );
    }
    const samples = shape.count * shape.height * shape.width * shape.channels;
    const dtype = metadata.image_dtype === "float32" ? "float32" : "uint8";
    const data = dtype === "float32" ? new Float32Array(samples) : new Uint8Array(samples);
    const batch: ImageBatch = { ...shape, dtype, data };
    for (let image = 0, at = 0; image < shape.count; image++) {
      cancellation.throwIfCancelled();
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++, at++) {
          const index = Number(indices.data[at]);
          if (!(index >= 0 && index < size)) {
            throw new SvcError("boundary_value_invalid", `Cannot find the index ${index} in a codebook of ${size}`);
          }
          putPatch(batch, image, row * patchSize, column * patchSize, patchSize, codebook, index);
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
  const isKnown = (CODEBOOK_SIZES as readonly unknown[]).includes(size) && (id ?? CODEBOOK_ID) === CODEBOOK_ID;
  if (shape && isKnown && patchSize !== undefined && Number.isInteger(patchSize) && patchSize >= 1 && patchSize <= 64) {
    return { shape, size: size!, patchSize };
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
  const { height, width, channels, dtype } = batch, samples = imageAt(batch, image);
  const span = Math.min(size, width - left) * channels;
  for (let y = 0; y < size && top + y < height; y++) {
    const from = index * dimension + y * size * channels;
    const to = ((top + y) * width + left) * channels;
    for (let i = 0; i < span; i++) samples[to + i] = dtype === "float32" ? data[from + i] / 255 : data[from + i];
  }
}
