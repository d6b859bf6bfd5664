/**
 * Texts to complex symbols by the encoder of a sequence-to-sequence model: the features of every token, two a symbol. With
 * `power_normalize` the symbols of each text have mean power 1; else they are the features.
 *
 * A text longer than `max_length` tokens is cut, and its last token is the end token.
 *
 * Shapes: texts -> symbols complex64 [n], n = Σ tokens · features / 2. Folder of the model, order of symbols and sources:
 * _text_jscc.ts.
 */
import { defineOperation, SvcError, z } from "../api.ts";
import { artifactKind, SYMBOLS, TEXTS } from "../../lib/contract/kinds.ts";
import { SYMBOL_METADATA, symbolsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";
import { asInput, feedsOf, outputOf, realValues } from "../foundation/_named_tensors.ts";
import {
  ENCODER,
  FACTS,
  factsOf,
  GAINS,
  SYMBOL_KEYS,
  TEXT_JSCC,
  TEXT_JSCC_PARAMS,
  textMaterializations,
  TOKEN_COUNTS,
  tokenizerOf,
} from "./_text_jscc.ts";

export default defineOperation({
  id: "model.text_bart_jscc_encode",
  name: "BART text-to-symbol encoder",
  description: "Maps texts to complex symbols by a pretrained encoder",
  inputs: { texts: [TEXTS] },
  outputs: { symbols: artifactKind(SYMBOLS, SYMBOL_METADATA) },
  params: z.strictObject({
    ...TEXT_JSCC_PARAMS,
    max_length: z.int().min(2).max(4096).default(64).describe("most tokens of a text, special ones included"),
    power_normalize: z.boolean().default(true).describe("mean power 1 for the symbols of each text"),
  }),
  ...TEXT_JSCC,
  materializations: textMaterializations("encoder"),
  outputMetadataGuarantees: { symbols: { from: "texts", keys: SYMBOL_KEYS } },
  timingMetric: "encoder.inference",
  async run({ inputs, params, model, progress, cancellation }) {
    const texts = textsOf(inputs.texts), text = model("text");
    const tokenizer = await tokenizerOf(text), session = await text.open(ENCODER);
    const parts: Float32Array[] = [], tokens: number[] = [], gains: number[] = [];
    let words = 0, cut = 0;
    for (const [index, item] of texts.entries()) {
      cancellation.throwIfCancelled();
      let { ids } = tokenizer.encode(item.text);
      if (ids.length > params.max_length) {
        ids = [...ids.slice(0, params.max_length - 1), ids[ids.length - 1]];
        cut++;
      }
      const shape = [1, ids.length];
      const output = outputOf(
        await session.run(feedsOf(session, {
          input_ids: () => asInput(session, "input_ids", ids, shape),
          attention_mask: () => asInput(session, "attention_mask", ids.map(() => 1), shape),
        })),
        ["last_hidden_state"],
      );
      const features = Float32Array.from(realValues(output));
      if (output.shape.length !== 3 || output.shape[1] !== ids.length || output.shape[2] % 2 !== 0) {
        throw new SvcError("model_unavailable", `Cannot send features of shape [${output.shape.join(", ")}]`, {
          hint: "[1, token, feature] with an even number of features was expected",
        });
      }
      const power = 2 * features.reduce((sum, value) => sum + value ** 2, 0) / features.length;
      if (!Number.isFinite(power)) {
        throw new SvcError("boundary_non_finite", "Cannot send features that are not finite");
      }
      const gain = params.power_normalize && power > 0 ? 1 / Math.sqrt(power) : 1;
      parts.push(features.map((value) => value * gain));
      tokens.push(ids.length);
      gains.push(gain);
      words += item.text.split(/\s+/u).filter((word) => word !== "").length;
      progress(index + 1, texts.length, { phase: "encode", unit: "texts" });
    }
    const symbols = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      symbols.set(part, at);
      at += part.length;
    }
    const metadata = travel(inputs.texts.metadata, {
      [FACTS]: factsOf(text),
      [TOKEN_COUNTS]: tokens,
      [GAINS]: gains,
      text_ids: texts.map(({ id }) => id),
      source_item_counts: parts.map(({ length }) => length / 2),
    });
    return {
      outputs: { symbols: symbolsArtifact(symbols, metadata) },
      metrics: {
        "codec.truncated_text_count": BigInt(cut),
        ...(words === 0 ? {} : { "text.channel_uses_per_word": symbols.length / 2 / words }),
      },
    };
  },
});
