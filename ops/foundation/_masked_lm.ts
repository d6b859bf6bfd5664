/**
 * Fills literal `[MASK]` words with a masked language model from a folder of its ONNX export: model.onnx or
 * onnx/model.onnx with logits [1, token, vocabulary], and tokenizer.json.
 *
 * Masks of a text are filled from left to right, each with the earlier ones already filled. Among the `top_k` most
 * likely tokens the likeliest word wins; without a word, the likeliest token that is not special. The rest of the text
 * stays unchanged.
 *
 * Source: Devlin et al., "BERT: pre-training of deep bidirectional transformers", NAACL 2019.
 */
import { type ModelRequest, type ModelSession, type NamedModel, type Progress, SvcError, z } from "../api.ts";
import type { TextTokenizer } from "../../lib/artifact/tokenizer.ts";
import { MASK, maskCount } from "../_words.ts";
import { asInput, feedsOf, GRAPHS, openGraph, outputOf, realValues, tokenizerOf } from "./_named_tensors.ts";

const OF_MODEL = { "x-svc-used-when": { generator: "masked_lm" } };

export const MASKED_LM_PARAMS = {
  cache_dir: z.string().default("").describe("masked_lm: accepted without effect; models are in the state directory"),
  device: z.string().default("cpu").meta(OF_MODEL).describe("models run on the processor: cpu"),
  model_id: z.string().default("distilbert/distilbert-base-uncased").meta(OF_MODEL).describe(
    "svc-tiny-masked-lm-v1, the published name of a fetched model, or a local folder of an ONNX export",
  ),
  model_revision: z.string().default("").meta(OF_MODEL).describe(
    "full commit of a fetched model; empty uses the fetched one",
  ),
  top_k: z.int().positive().default(1).meta(OF_MODEL).describe(
    "number of likeliest tokens that are searched for a word",
  ),
};

/** The model, if the generator is one. */
export function maskedLm(
  { generator, model_id, model_revision }: { generator: string; model_id: string; model_revision: string },
): ModelRequest[] {
  if (generator !== "masked_lm") return [];
  const files = ["tokenizer.json"], optionalFiles = [...GRAPHS, "tokenizer_config.json", "config.json"];
  return [{ role: "masked_lm", id: model_id, revision: model_revision, files, optionalFiles }];
}

/**
 * Fills the masks of texts; the model runs only for texts with a mask.
 * @throws SvcError `model_unavailable` for a tokenizer without a mask, or a graph with other inputs or outputs
 */
export async function fillMasks(
  texts: readonly string[],
  model: NamedModel,
  { topK, progress }: { topK: number; progress: Progress },
): Promise<string[]> {
  const tokenizer = await tokenizerOf(model);
  const maskToken = [tokenizer.named("mask_token"), MASK, "<mask>"]
    .find((token) => token !== undefined && tokenizer.idOf(token) !== undefined);
  if (maskToken === undefined) {
    throw new SvcError("model_unavailable", "Cannot fill masks: it has no mask token");
  }
  const session = await openGraph(model);
  const total = texts.reduce((sum, text) => sum + maskCount(text), 0);
  const filled: string[] = [];
  let done = 0;
  for (let text of texts) {
    while (maskCount(text) > 0) {
      progress(done++, total, { phase: "filling", unit: "masks" });
      const { ids } = tokenizer.encode(text.replaceAll(MASK, maskToken));
      const logits = await logitsAtMask(session, ids, tokenizer.idOf(maskToken)!);
      const word = chooseWord(logits, tokenizer, topK);
      text = text.replace(MASK, () => word);
    }
    filled.push(text);
  }
  return filled;
}

async function logitsAtMask(session: ModelSession, ids: number[], mask: number): Promise<Float32Array> {
  const at = ids.indexOf(mask), shape = [1, ids.length];
  if (at < 0) throw new SvcError("model_unavailable", "Cannot fill masks: the tokenizer splits the mask into words");
  const results = await session.run(feedsOf(session, {
    input_ids: () => asInput(session, "input_ids", ids, shape),
    attention_mask: () => asInput(session, "attention_mask", ids.map(() => 1), shape),
    token_type_ids: () => asInput(session, "token_type_ids", ids.map(() => 0), shape),
  }));
  const logits = outputOf(results, ["logits"]);
  const vocabulary = logits.shape.at(-1) ?? 0;
  if (logits.shape.length !== 3 || logits.shape[1] !== ids.length) {
    throw new SvcError("model_unavailable", `Cannot read logits of shape [${logits.shape.join(", ")}]`);
  }
  return realValues(logits).subarray(at * vocabulary, (at + 1) * vocabulary);
}

/** The likeliest token that is a word; equal logits in the order of the vocabulary. */
function chooseWord(logits: Float32Array, tokenizer: TextTokenizer, topK: number): string {
  const ranked = Array.from(logits.keys()).filter((id) => !tokenizer.isSpecial(id))
    .sort((a, b) => logits[b] - logits[a] || a - b).slice(0, topK);
  const words = ranked.map((id) => ({ token: tokenizer.tokenOf(id) ?? "", word: tokenizer.decode([id]).trim() }));
  const whole = words.find(({ token, word }) => !token.startsWith("##") && /^[\p{L}\p{N}]/u.test(word));
  const { word } = whole ?? words[0] ?? { word: "" };
  // A token that continues a word is not a word.
  return word.replace(/^##/, "");
}
