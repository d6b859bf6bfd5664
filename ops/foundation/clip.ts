/**
 * Embeddings of images and texts in one space.
 *
 * CLIP from a folder of its ONNX export: onnx/text_model.onnx and onnx/vision_model.onnx with projection (outputs
 * text_embeds and image_embeds), tokenizer.json, preprocessor_config.json.
 *
 * Rows are scaled to length 1. Texts longer than the context are cut before their end token. Each text runs separately
 * and unpadded, since tokens after the end token do not affect its embedding.
 *
 * Source: Radford et al., "Learning transferable visual models from natural language supervision", ICML 2021.
 */
import {
  defineOperation,
  isObject,
  type JsonObject,
  type ModelRequest,
  type NamedModel,
  type Progress,
  sha256Json,
  SvcError,
  usedWhen,
  z,
} from "../api.ts";
import { type ImageBatch, imagesOf, textsOf } from "../../lib/artifact/values.ts";
import { builtInSpace, EMBEDDINGS, embeddingsArtifact, type EmbeddingSpace } from "./_embedding_space.ts";
import { asInput, feedsOf, outputOf, realValues, tokenizerOf } from "./_named_tensors.ts";
import { pictureTensor, readPreprocessor } from "./_picture_tensor.ts";
import { rgbAt } from "./_rgb_images.ts";
import { IMAGES, TEXTS } from "../../lib/contract/kinds.ts";
import type { RgbRaster } from "../../lib/numeric/image/plain_scene.ts";
import { idsOfImages } from "../_image_ids.ts";
import { CONCEPTS_VERSION, conceptsOfImage, conceptsOfText } from "./_concepts.ts";
import { hashFeatures } from "./_hashing.ts";
import { checkDevice, pretrainedParams } from "./_pretrained.ts";
import { tokens } from "../../lib/numeric/scores/text_similarity.ts";

const TEXT = "onnx/text_model.onnx", VISION = "onnx/vision_model.onnx";
const TOKENIZER = "tokenizer.json", PREPROCESSOR = "preprocessor_config.json";
const PROJECTED =
  "embeddings need the projection; export it with CLIPTextModelWithProjection and CLIPVisionModelWithProjection";
/** Default number of tokens of a text. */
const CONTEXT = 77;

const CLIP_MODEL = "openai/clip-vit-base-patch32", BUNDLED = "svc-tiny-two-tower-v1";

/** The text or the image side of a model, identified by the files of the other side as well. */
function clipModel(side: "text" | "image", params: { model_id: string; model_revision: string }): ModelRequest[] {
  const all = [TEXT, VISION, TOKENIZER, PREPROCESSOR, "tokenizer_config.json", "config.json"];
  const files = side === "text" ? [TEXT, TOKENIZER] : [VISION, PREPROCESSOR];
  const optionalFiles = all.filter((file) => !files.includes(file));
  return [{ role: "clip", id: params.model_id, revision: params.model_revision, files, optionalFiles }];
}

/** The space of a model: both sides of one folder have the same record. */
function clipSpace({ record }: NamedModel, dimensions: number): EmbeddingSpace {
  const digest = (file: string) => {
    const row = isObject(record.files) ? record.files[file] : null;
    return isObject(row) ? row.sha256 ?? null : null;
  };
  const weights: JsonObject = { text: digest(TEXT), vision: digest(VISION) };
  const preparation: JsonObject = { tokenizer: digest(TOKENIZER), preprocessor: digest(PREPROCESSOR) };
  const pinned = record.source === "fetched" && typeof record.revision === "string";
  return {
    backend: "transformers_clip",
    model_id: String(record.id),
    model_revision: pinned ? String(record.revision) : `sha256:${sha256Json(weights)}`,
    revision_status: pinned ? "pinned" : "local",
    preprocessing_contract: `svc.clip.v1+sha256:${sha256Json(preparation)}`,
    dimensions,
  };
}

/** Embeds texts, one row each. */
async function clipTexts(model: NamedModel, texts: readonly string[], progress: Progress): Promise<Float32Array[]> {
  const tokenizer = await tokenizerOf(model);
  const session = await model.open(TEXT);
  const rows: Float32Array[] = [];
  for (const text of texts) {
    progress(rows.length, texts.length, { phase: "embedding", unit: "texts" });
    const all = tokenizer.encode(text).ids;
    const ids = all.length <= CONTEXT ? all : [...all.slice(0, CONTEXT - 1), all[all.length - 1]];
    const shape = [1, ids.length];
    const results = await session.run(feedsOf(session, {
      input_ids: () => asInput(session, "input_ids", ids, shape),
      attention_mask: () => asInput(session, "attention_mask", ids.map(() => 1), shape),
      position_ids: () => asInput(session, "position_ids", ids.map((_, at) => at), shape),
    }));
    rows.push(unit(realValues(outputOf(results, ["text_embeds"], PROJECTED))));
  }
  return rows;
}

/** Embeds images, one row each. */
async function clipImages(model: NamedModel, batch: ImageBatch, progress: Progress): Promise<Float32Array[]> {
  const preprocessor = readPreprocessor(await model.read(PREPROCESSOR));
  const session = await model.open(VISION);
  const rows: Float32Array[] = [];
  for (let index = 0; index < batch.count; index++) {
    progress(index, batch.count, { phase: "embedding", unit: "images" });
    const pixels = pictureTensor(rgbAt(batch, index), preprocessor);
    const results = await session.run(feedsOf(session, { pixel_values: () => pixels }));
    rows.push(unit(realValues(outputOf(results, ["image_embeds"], PROJECTED))));
  }
  return rows;
}

function unit(row: Float32Array): Float32Array {
  const length = Math.hypot(...row);
  if (Number.isFinite(length)) return length === 0 ? row : row.map((value) => value / length);
  throw new SvcError("boundary_non_finite", "Cannot use an embedding that is not finite");
}

const HISTOGRAM_VERSION = "svc.rgb_histogram.v1";

/**
 * Images as vectors, float32 [image, dimension] of length 1.
 *
 * local_semantic          concepts of a fixed vocabulary (`_concepts.ts`), hashed to `dimensions`: one space with the texts
 *                         of clip_text_embed at equal dimensions. An image without a known concept is the zero vector.
 * local_color_histogram   the shares of `bins` equal intervals of red, then green, then blue: 3·bins numbers.
 * transformers_clip       the image side of a CLIP model, local, fetched or bundled: one space with its texts.
 *
 * Hashing: `_hashing.ts`.
 */
const clipImageEmbed = defineOperation({
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
    ...pretrainedParams(CLIP_MODEL, { when: { backend: "transformers_clip" }, bundled: BUNDLED }),
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

const WORDS_VERSION = "svc.words.v1";

/**
 * Texts as vectors, float32 [text, dimension] of length 1.
 *
 * local_semantic      concepts of a fixed vocabulary (`_concepts.ts`), hashed to `dimensions`: one space with the images
 *                     of clip_image_embed at equal dimensions. A text without a known concept is the zero vector.
 * local_hash          all words, hashed to `dimensions`: a space of its own.
 * transformers_clip   the text side of a CLIP model, local, fetched or bundled: one space with its images.
 *
 * Hashing: `_hashing.ts`.
 */
const clipTextEmbed = defineOperation({
  id: "foundation.clip_text_embed",
  name: "Text embedding",
  description: "Embeds texts with a local heuristic or a pretrained model",
  inputs: { texts: [TEXTS] },
  outputs: { embeddings: EMBEDDINGS },
  params: z.strictObject({
    backend: z.enum(["local_semantic", "local_hash", "transformers_clip"]).default("local_semantic").describe(
      "space of the embeddings: hashed concepts, hashed words, or a CLIP model",
    ),
    dimensions: z.int().min(1).max(65536).default(128).describe("size of an embedding; images must use the same")
      .meta(usedWhen({ backend: ["local_semantic", "local_hash"] })),
    ...pretrainedParams(CLIP_MODEL, { when: { backend: "transformers_clip" }, bundled: BUNDLED }),
  }),
  outputMetadataGuarantees: { embeddings: { keys: ["embedding_ids", "embedding_space"], from: "texts" } },
  check: checkDevice,
  models: (params) => params.backend === "transformers_clip" ? clipModel("text", params) : [],
  async run({ inputs, params: { backend, dimensions }, model, progress }) {
    const texts = textsOf(inputs.texts), ids = texts.map(({ id }) => id);
    if (backend === "transformers_clip") {
      const clip = model("clip"), rows = await clipTexts(clip, texts.map(({ text }) => text), progress);
      const embeddings = embeddingsArtifact(rows, ids, clipSpace(clip, rows[0]?.length ?? 0), inputs.texts.metadata);
      return { outputs: { embeddings }, metadata: { model: clip.record } };
    }
    const semantic = backend === "local_semantic", version = semantic ? CONCEPTS_VERSION : WORDS_VERSION;
    const rows = texts.map(({ text }) =>
      hashFeatures(semantic ? conceptsOfText(text) : wordCounts(text), dimensions, version)
    );
    const space = builtInSpace(backend, version, dimensions);
    return { outputs: { embeddings: embeddingsArtifact(rows, ids, space, inputs.texts.metadata) } };
  },
});

function wordCounts(text: string): Map<string, number> {
  return new Map([...Map.groupBy(tokens(text), (word) => word)].map(([word, all]) => [word, all.length]));
}

export default [clipImageEmbed, clipTextEmbed];
