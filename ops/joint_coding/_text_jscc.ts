/**
 * Joint source-channel coding of text by a sequence-to-sequence model from a folder in the layout of its ONNX export:
 *
 *     tokenizer.json        tokens; tokenizer_config.json if there
 *     encoder_model.onnx    input_ids, attention_mask -> last_hidden_state [1, token, feature]
 *     decoder_model.onnx    input_ids, encoder_hidden_states, encoder_attention_mask -> logits [sequence, token, vocabulary]
 *     config.json           decoder_start_token_id, eos_token_id, forced_bos_token_id; generation_config.json takes precedence
 *
 * Features 2k and 2k + 1 of a token are the real and imaginary part of a symbol, token after token. The receiver knows the
 * number of tokens of each text and, with power normalisation, its gain: both are trusted metadata, not symbols.
 *
 * Sources: Lewis et al., "BART", ACL 2020; Xie et al., "Deep learning enabled semantic communication systems", 2021 (features
 * as channel symbols).
 */
import {
  asObject,
  type JsonObject,
  type Materialization,
  type ModelRequest,
  type NamedModel,
  parseJson,
  sha256Json,
  SvcError,
  z,
} from "../api.ts";
import type { TextTokenizer } from "../../lib/artifact/tokenizer.ts";
import { executed, exported } from "../_backends.ts";
import { checkDevice, pretrainedParams } from "../foundation/_pretrained.ts";

export const ENCODER = "encoder_model.onnx", DECODER = "decoder_model.onnx";
const TOKENIZER = "tokenizer.json", TOKENIZER_CONFIG = "tokenizer_config.json";
const CONFIG = "config.json", GENERATION = "generation_config.json";
/** Metadata keys: model, tokens of each text, and the gain that its symbols were multiplied by. */
export const FACTS = "text_jscc", TOKEN_COUNTS = "text_token_counts", GAINS = "text_symbol_gains";

/** Metadata of the symbols for a decoder. */
export const SYMBOL_KEYS = [FACTS, TOKEN_COUNTS, GAINS, "text_ids", "source_item_counts"];

const { model_id, device } = pretrainedParams("facebook/bart-base");
export const TEXT_JSCC_PARAMS = {
  cache_dir: z.string().default("").describe("accepted without effect; models are in the state directory"),
  device,
  model_id,
  model_revision: z.string().regex(/^([0-9a-f]{40})?$/).default("aadd2ab0ae0c8268c7c9693540e9904811f36177")
    .describe("full commit of a fetched model; without effect for a local folder"),
};

/** The model; both sides name the same files, so that the digest of their record is equal. */
const textModel = (params: { model_id: string; model_revision: string }): ModelRequest[] => [{
  role: "text",
  id: params.model_id,
  revision: params.model_revision,
  files: [ENCODER, DECODER, TOKENIZER, CONFIG],
  optionalFiles: [TOKENIZER_CONFIG, GENERATION],
}];

const NO_TORCH = "No torch runtime is part of svc; the ONNX export of the same model runs";
/** The networks run from their export; a torch module of theirs is not written yet. */
export const textMaterializations = (side: "encoder" | "decoder"): Materialization[] => [
  ...executed("onnxruntime", `${side}_export`),
  {
    runner: "benchmark_run",
    backend: "torch",
    implementation: "transformers_eval_artifact",
    status: "planned",
    notes: NO_TORCH,
  },
  {
    runner: "dataset_capture",
    backend: "torch",
    implementation: "transformers_capture_artifact",
    status: "planned",
    notes: NO_TORCH,
  },
  exported("torch", `transformers_${side}_module`),
];

/** Contract of both sides, apart from name, ports and parameters. */
export const TEXT_JSCC = {
  differentiability: { framework: "torch", gradient: "full", trainable_params: true, exportable: true },
  check: checkDevice,
  models: textModel,
} as const;

/** The facts that decoder and encoder must have in common. */
export function factsOf({ record: { id, files } }: NamedModel): JsonObject {
  return { model: id, files_sha256: sha256Json(files) };
}

export async function tokenizerOf(model: NamedModel): Promise<TextTokenizer> {
  const { openTokenizer } = await import("../../lib/artifact/tokenizer.ts");
  const config = model.has(TOKENIZER_CONFIG) ? await model.read(TOKENIZER_CONFIG) : undefined;
  return openTokenizer(await model.read(TOKENIZER), config);
}

/** Tokens that steer the decoder. @throws SvcError `model_unavailable` without start or end */
export async function steeringTokens(
  model: NamedModel,
): Promise<{ start: number; end: number; forcedFirst: number | undefined }> {
  const settings: JsonObject = {};
  for (const file of [CONFIG, GENERATION]) {
    if (!model.has(file)) continue;
    try {
      Object.assign(settings, asObject(parseJson(new TextDecoder().decode(await model.read(file)))));
    } catch {
      throw new SvcError("model_unavailable", `Cannot read ${file} of the model`);
    }
  }
  const token = (name: string): number | undefined => {
    const value = settings[name];
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  const end = token("eos_token_id"), start = token("decoder_start_token_id") ?? token("bos_token_id");
  if (start === undefined || end === undefined) {
    throw new SvcError("model_unavailable", "Cannot write text with the model: it names no start or end token", {
      hint: "config.json must have decoder_start_token_id and eos_token_id",
    });
  }
  return { start, end, forcedFirst: token("forced_bos_token_id") };
}
