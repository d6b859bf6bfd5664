/**
 * Images as vectors, float32 [image, dimension] of length 1.
 *
 * local_semantic          concepts of a fixed vocabulary (`_concepts.ts`), hashed to `dimensions`: one space with the texts
 *                         of clip_text_embed at equal dimensions. An image without a known concept is the zero vector.
 * local_color_histogram   the shares of `bins` equal intervals of red, then green, then blue: 3·bins numbers.
 * transformers_clip       the image side of a CLIP model, local or fetched (`_clip.ts`): one space with its texts.
 *
 * Hashing: `_hashing.ts`.
 */
import { defineOperation, z } from "../api.ts";
import { IMAGES } from "../../lib/contract/kinds.ts";
import { imagesOf } from "../../lib/artifact/values.ts";
import type { RgbRaster } from "../../lib/numeric/image/plain_scene.ts";
import { idsOfImages } from "../_image_ids.ts";
import { CLIP_MODEL, clipImages, clipModel, clipSpace } from "./_clip.ts";
import { CONCEPTS_VERSION, conceptsOfImage } from "./_concepts.ts";
import { builtInSpace, EMBEDDINGS, embeddingsArtifact } from "./_embedding_space.ts";
import { hashFeatures } from "./_hashing.ts";
import { checkDevice, pretrainedParams } from "./_pretrained.ts";
import { rgbAt } from "./_rgb_images.ts";

const HISTOGRAM_VERSION = "svc.rgb_histogram.v1";

export default defineOperation({
  id: "foundation.clip_image_embed",
  name: "Image embedding",
  description: "Embeds images with a local heuristic or a pretrained model",
  inputs: { images: [IMAGES] },
  outputs: { embeddings: EMBEDDINGS },
  params: z.strictObject({
    backend: z.enum(["local_semantic", "local_color_histogram", "transformers_clip"]).default("local_semantic")
      .describe("space of the embeddings: hashed concepts, colour histogram, or a CLIP model"),
    dimensions: z.int().min(1).max(65536).default(8).describe("size of an embedding; texts must use the same")
      .meta({ "x-svc-used-when": { backend: "local_semantic" } }),
    bins: z.int().min(1).max(256).default(16).describe("histogram bins of each colour channel")
      .meta({ "x-svc-used-when": { backend: "local_color_histogram" } }),
    ...pretrainedParams(CLIP_MODEL, { backend: "transformers_clip" }),
  }),
  outputMetadataGuarantees: { embeddings: { keys: ["embedding_ids", "embedding_space"], from: "images" } },
  check: checkDevice,
  models: (params) => params.backend === "transformers_clip" ? clipModel("image", params) : [],
  async run({ inputs, params, model, progress }) {
    const batch = imagesOf(inputs.images), { metadata } = inputs.images;
    const ids = idsOfImages(metadata, batch.count) ??
      Array.from({ length: batch.count }, (_, index) => `image_${index}`);
    if (params.backend === "transformers_clip") {
      const clip = model("clip"), rows = await clipImages(clip, batch, progress);
      const embeddings = embeddingsArtifact(rows, ids, clipSpace(clip, rows[0].length), metadata);
      return { outputs: { embeddings }, metadata: { model: clip.record } };
    }
    const semantic = params.backend === "local_semantic";
    const rows = Array.from({ length: batch.count }, (_, index) => {
      progress(index, batch.count, { phase: "embedding", unit: "images" });
      const image = rgbAt(batch, index);
      return semantic
        ? hashFeatures(conceptsOfImage(image), params.dimensions, CONCEPTS_VERSION)
        : colourHistogram(image, params.bins);
    });
    const space = semantic
      ? builtInSpace(params.backend, CONCEPTS_VERSION, params.dimensions)
      : builtInSpace(params.backend, HISTOGRAM_VERSION, 3 * params.bins);
    return { outputs: { embeddings: embeddingsArtifact(rows, ids, space, metadata) } };
  },
});

/** Shares of the pixels, scaled to length 1. */
function colourHistogram({ data }: RgbRaster & { data: Uint8Array }, bins: number): Float64Array {
  const counts = new Float64Array(3 * bins);
  data.forEach((sample, at) => counts[(at % 3) * bins + Math.floor(sample * bins / 256)]++);
  const length = Math.hypot(...counts);
  return counts.map((count) => count / length);
}
