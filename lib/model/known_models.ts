/**
 * Published models that operations name by default, and the files of their ONNX exports. Only `svc models fetch`
 * downloads; an entry without a pinned revision needs one, because only verified bytes can be pinned.
 */
import codecs from "./codecs.json" with { type: "json" };

export interface KnownModel {
  readonly id: string;
  /** A short description. */
  readonly title: string;
  /** Repository of an ONNX export on huggingface.co; null if unknown. */
  readonly repository: string | null;
  /** Full commit of the hashed files; null if none was hashed. */
  readonly revision: string | null;
  /** Files to fetch, relative to the folder of the model, with known digests. */
  readonly files: Readonly<Record<string, { readonly sha256?: string; readonly size_bytes?: number }>>;
  /** How to create the folder without a published export. */
  readonly remedy: string;
}

/** Files without digests. */
const unpinned = (...paths: string[]): KnownModel["files"] => Object.fromEntries(paths.map((path) => [path, {}]));

const exported = (id: string) =>
  `export it with optimum-cli export onnx --model ${id} <folder>, and name that folder as model_id`;

const codec = (id: string): KnownModel => ({
  id,
  title: "learned image codec",
  repository: null,
  revision: null,
  files: unpinned("analysis.onnx", "synthesis.onnx", "hyper_analysis.onnx", "hyper_synthesis.onnx", "tables.json"),
  remedy: "export its transforms and tables to ONNX, or use the bundled svc_tiny_hyperprior",
});

export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    id: "openai/clip-vit-base-patch32",
    title: "image and text embedding",
    repository: "Xenova/clip-vit-base-patch32",
    revision: null,
    files: unpinned(
      "config.json",
      "tokenizer.json",
      "tokenizer_config.json",
      "preprocessor_config.json",
      "onnx/text_model.onnx",
      "onnx/vision_model.onnx",
    ),
    remedy:
      "put its text and image sides with their projections as onnx/text_model.onnx and onnx/vision_model.onnx into a " +
      "folder with tokenizer.json and preprocessor_config.json, and name that folder as model_id; svc-tiny-two-tower-v1 is bundled",
  },
  {
    id: "distilbert/distilbert-base-uncased",
    title: "masked language model",
    repository: "Xenova/distilbert-base-uncased",
    revision: null,
    files: unpinned("config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model.onnx"),
    remedy: `${exported("distilbert/distilbert-base-uncased")}; svc-tiny-masked-lm-v1 is bundled`,
  },
  {
    id: "dandelin/vilt-b32-finetuned-vqa",
    title: "visual question answering",
    repository: null,
    revision: null,
    files: unpinned("config.json", "tokenizer.json", "preprocessor_config.json", "model.onnx"),
    remedy: `${exported("dandelin/vilt-b32-finetuned-vqa")}; svc-tiny-scene-answerer-v1 is bundled`,
  },
  {
    id: "segmind/tiny-sd",
    title: "text-to-image diffusion",
    repository: null,
    revision: null,
    files: unpinned(
      "tokenizer/tokenizer.json",
      "text_encoder/model.onnx",
      "unet/model.onnx",
      "vae_decoder/model.onnx",
      "scheduler/scheduler_config.json",
    ),
    remedy: exported("segmind/tiny-sd"),
  },
  {
    id: "stabilityai/sd-vae-ft-mse",
    title: "variational autoencoder of images",
    repository: null,
    revision: null,
    files: unpinned("vae_encoder/model.onnx", "vae_decoder/model.onnx"),
    remedy: `export a diffusion pipeline that uses it with optimum-cli export onnx, and name the folder of its ` +
      "vae_encoder and vae_decoder as model_id",
  },
  {
    id: "CompVis/ldm-celebahq-256",
    title: "vector-quantised autoencoder of images",
    repository: null,
    revision: null,
    files: unpinned("vae_encoder/model.onnx", "vae_decoder/model.onnx", "codebook.npy"),
    remedy: "export encoder and decoder of its vqvae with torch.onnx.export as vae_encoder/model.onnx and " +
      "vae_decoder/model.onnx, its codebook as codebook.npy, and name that folder as model_id",
  },
  {
    id: "facebook/bart-base",
    title: "encoder and decoder of text",
    repository: null,
    revision: null,
    files: unpinned("encoder_model.onnx", "decoder_model.onnx", "tokenizer.json", "config.json"),
    remedy: exported("facebook/bart-base"),
  },
  ...["yolo11n.pt", "yolo11n-seg.pt"].map((id): KnownModel => ({
    id,
    title: id.includes("seg") ? "instance segmentation" : "object detection",
    repository: null,
    revision: null,
    files: unpinned("model.onnx"),
    remedy: `export it with yolo export model=${id} format=onnx, and name the .onnx file as model_id; ` +
      `${id.includes("seg") ? "svc-tiny-segmenter-v1" : "svc-tiny-detector-v1"} is bundled`,
  })),
  ...codecs.map(codec),
];

export function knownModel(id: string): KnownModel | undefined {
  return KNOWN_MODELS.find((model) => model.id === id);
}
