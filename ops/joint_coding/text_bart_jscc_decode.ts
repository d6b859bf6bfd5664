/**
 * Received symbols to texts: the features of every text, divided by its gain, condition the decoder of the model, and beam
 * search (lib/numeric/scores/beam_search.ts) finds the text. The model must be that of the encoder. Penalties of repeated words are
 * not applied.
 *
 * Shapes: symbols complex64 [n] -> texts. Folder of the model, order of symbols and sources: _text_jscc.ts.
 */
import { defineOperation, isObject, type ModelSession, sha256Json, SvcError, z } from "../api.ts";
import { RX_SYMBOLS, SYMBOLS, TEXTS } from "../../lib/contract/kinds.ts";
import { metadataCounts, symbolsOf, textsArtifact, travel } from "../../lib/artifact/values.ts";
import { beamSearch } from "../../lib/numeric/scores/beam_search.ts";
import { ndarray } from "../../lib/numeric/array/ndarray.ts";
import { asInput, feedsOf, outputOf, realValues } from "../foundation/_named_tensors.ts";
import {
  DECODER,
  FACTS,
  factsOf,
  GAINS,
  steeringTokens,
  SYMBOL_KEYS,
  TEXT_JSCC,
  TEXT_JSCC_PARAMS,
  textMaterializations,
  TOKEN_COUNTS,
  tokenizerOf,
} from "./_text_jscc.ts";

export default defineOperation({
  id: "model.text_bart_jscc_decode",
  name: "BART symbol-to-text decoder",
  description: "Writes texts from received symbols by a pretrained decoder",
  inputs: { symbols: [SYMBOLS, RX_SYMBOLS] },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    ...TEXT_JSCC_PARAMS,
    generation_max_length: z.int().min(2).max(4096).default(64).describe("most tokens of a text, the start included"),
    num_beams: z.int().min(1).max(64).default(1).describe("beams of the search; 1 is greedy"),
  }),
  ...TEXT_JSCC,
  materializations: textMaterializations("decoder"),
  inputMetadataRequirements: { symbols: { all_of: SYMBOL_KEYS } },
  outputMetadataGuarantees: { texts: { from: "symbols", keys: ["text_ids"] } },
  timingMetric: "decoder.inference",
  async run({ inputs: { symbols: input }, params, model, progress, cancellation }) {
    const { metadata } = input, text = model("text"), facts = factsOf(text);
    if (!isObject(metadata[FACTS]) || sha256Json(metadata[FACTS]) !== sha256Json(facts)) {
      throw new SvcError("artifact_hash_mismatch", "Cannot decode symbols of another model", {
        hint: `They were made by ${JSON.stringify(metadata[FACTS] ?? null)}, and the decoder has ${
          JSON.stringify(facts)
        }`,
      });
    }
    const symbols = symbolsOf(input), layout = layoutOf(metadata, symbols.length / 2);
    const tokenizer = await tokenizerOf(text),
      session = await text.open(DECODER),
      steering = await steeringTokens(text);
    const items: { id: string; text: string }[] = [];
    let at = 0;
    for (const { id, tokens, count, gain } of layout) {
      cancellation.throwIfCancelled();
      const features = symbols.slice(at, at += 2 * count).map((value) => value / gain);
      // A search needs probabilities.
      const ids = features.every(Number.isFinite)
        ? await beamSearch({
          ...steering,
          beams: params.num_beams,
          maxLength: params.generation_max_length,
          next: (sequences) => nextLogits(session, sequences, features, tokens),
        })
        : [];
      items.push({ id, text: tokenizer.decode(ids).trim() });
      progress(items.length, layout.length, { phase: "decode", unit: "texts" });
    }
    const kept = travel(metadata, { text_ids: items.map(({ id }) => id) }, SYMBOL_KEYS);
    return { outputs: { texts: textsArtifact(items, kept) } };
  },
});

/** Id, tokens, symbols and gain of each text. @throws SvcError `boundary_shape_invalid` */
function layoutOf(metadata: Parameters<typeof metadataCounts>[0], total: number) {
  const ids = metadata.text_ids, gains = metadata[GAINS];
  const tokens = metadataCounts(metadata, TOKEN_COUNTS), counts = metadataCounts(metadata, "source_item_counts");
  const lists = [ids, gains, tokens, counts];
  const fits = lists.every((list) => Array.isArray(list) && list.length === counts?.length) &&
    counts!.reduce((sum, count) => sum + count, 0) === total &&
    counts!.every((count, i) => tokens![i] > 0 && 2 * count % tokens![i] === 0) &&
    (gains as unknown[]).every((gain) => Number(gain) > 0);
  if (!fits) {
    throw new SvcError("boundary_shape_invalid", `Cannot divide ${total} symbols into the features of texts`, {
      hint: `The metadata ${SYMBOL_KEYS.join(", ")} must describe all symbols`,
    });
  }
  return counts!.map((count, i) => ({
    id: String((ids as unknown[])[i]),
    tokens: tokens![i],
    count,
    gain: Number((gains as unknown[])[i]),
  }));
}

async function nextLogits(
  session: ModelSession,
  sequences: readonly (readonly number[])[],
  features: Float32Array,
  tokens: number,
): Promise<Float32Array[]> {
  const rows = sequences.length, length = sequences[0].length;
  const repeated = new Float32Array(rows * features.length);
  for (let row = 0; row < rows; row++) repeated.set(features, row * features.length);
  const output = outputOf(
    await session.run(feedsOf(session, {
      input_ids: () => asInput(session, "input_ids", sequences.flat(), [rows, length]),
      encoder_hidden_states: () => ndarray("float32", repeated, [rows, tokens, features.length / tokens]),
      encoder_attention_mask: () =>
        asInput(session, "encoder_attention_mask", Array(rows * tokens).fill(1), [rows, tokens]),
    })),
    ["logits"],
  );
  const [, , vocabulary] = output.shape, logits = realValues(output);
  if (output.shape.length !== 3 || output.shape[0] !== rows || output.shape[1] !== length) {
    throw new SvcError("model_unavailable", `Cannot read logits of shape [${output.shape.join(", ")}]`);
  }
  return sequences.map((_, row) => {
    const last = (row + 1) * length - 1;
    return logits.subarray(last * vocabulary, (last + 1) * vocabulary);
  });
}
