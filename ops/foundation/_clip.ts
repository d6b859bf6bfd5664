/**
 * CLIP from a folder of its ONNX export: onnx/text_model.onnx and onnx/vision_model.onnx with projection (outputs
 * text_embeds and image_embeds), tokenizer.json, preprocessor_config.json.
 *
 * Rows are scaled to length 1. Texts longer than the context are cut before their end token. Each text runs separately
 * and unpadded, since tokens after the end token do not affect its embedding.
 *
 * Source: Radford et al., "Learning transferable visual models from natural language supervision", ICML 2021.
 */
import {
  isObject,
  type JsonObject,
  type ModelRequest,
  type NamedModel,
  type Progress,
  sha256Json,
  SvcError,
} from "../api.ts";
import { type ImageBatch } from "../../lib/artifact/values.ts";
import type { EmbeddingSpace } from "./_embedding_space.ts";
import { asInput, feedsOf, outputOf, realValues } from "./_named_tensors.ts";
import { pictureTensor, readPreprocessor } from "./_picture_tensor.ts";
import { rgbAt } from "./_rgb_images.ts";

const TEXT = "onnx/text_model.onnx", VISION = "onnx/vision_model.onnx";
const TOKENIZER = "tokenizer.json", PREPROCESSOR = "preprocessor_config.json";
const PROJECTED =
  "embeddings need the projection; export it with CLIPTextModelWithProjection and CLIPVisionModelWithProjection";
/** Default number of tokens of a text. */
const CONTEXT = 77;

export const CLIP_MODEL = "openai/clip-vit-base-patch32";

/** The text or the image side of a model, identified by the files of the other side as well. */
export function clipModel(
  side: "text" | "image",
  params: { model_id: string; model_revision: string },
): ModelRequest[] {
  const all = [TEXT, VISION, TOKENIZER, PREPROCESSOR, "tokenizer_config.json", "config.json"];
  const files = side === "text" ? [TEXT, TOKENIZER] : [VISION, PREPROCESSOR];
  const optionalFiles = all.filter((file) => !files.includes(file));
  return [{ role: "clip", id: params.model_id, revision: params.model_revision, files, optionalFiles }];
}

/** The space of a model: both sides of one folder have the same record. */
export function clipSpace({ record }: NamedModel, dimensions: number): EmbeddingSpace {
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
export async function clipTexts(
  model: NamedModel,
  texts: readonly string[],
  progress: Progress,
): Promise<Float32Array[]> {
  const { openTokenizer } = await import("../../lib/artifact/tokenizer.ts");
  const config = model.has("tokenizer_config.json") ? await model.read("tokenizer_config.json") : undefined;
  const tokenizer = openTokenizer(await model.read(TOKENIZER), config);
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
export async function clipImages(model: NamedModel, batch: ImageBatch, progress: Progress): Promise<Float32Array[]> {
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
