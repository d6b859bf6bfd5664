/**
 * Word noise on source texts. Words are runs of characters other than white space.
 *
 * drop_words and mask_words hit each word with the given probability; one mask is drawn over all words of the batch in
 * their order, random(words) < probability. shuffle_words permutes the words of each text, permutation(words), text by
 * text, without a probability. A text without a hit is unchanged.
 */
import { TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, seedParameter, z } from "../api.ts";
import { textsArtifact, textsOf, travel } from "../../lib/artifact/values.ts";

const WORD = /\S+/g;

export default defineOperation({
  id: "noise.source_text_perturbation",
  name: "Text input corruption",
  description: "Seeded word dropping, masking or shuffling of source text",
  inputs: { texts: [TEXTS] },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    mode: z.enum(["none", "drop_words", "mask_words", "shuffle_words"]).default("none")
      .describe("none, words left out, words masked, or words in random order"),
    probability: z.number().min(0).max(1).default(0).meta({ "x-svc-used-when": { mode: ["drop_words", "mask_words"] } })
      .describe("probability of a word to be dropped or masked"),
    mask_token: z.string().default("[MASK]").meta({ "x-svc-used-when": { mode: "mask_words" } })
      .describe("substitute of a masked word"),
    seed: seedParameter(0, { mode: ["drop_words", "mask_words", "shuffle_words"] }),
  }),
  outputMetadataGuarantees: { texts: { from: "texts", keys: ["source_noise"] } },
  run({ inputs, params, generator }) {
    const { mode, probability, mask_token } = params;
    const texts = textsOf(inputs.texts);
    const words = texts.map(({ text }) => text.match(WORD) ?? []);
    const mask = mode === "drop_words" || mode === "mask_words"
      ? generator.random(words.flat().length).map((draw) => Number(draw < probability))
      : new Float64Array(0);

    let position = 0, changedCount = 0;
    const perturbed = texts.map(({ id, text }, index) => {
      const hits = mask.subarray(position, position += words[index].length);
      let changed = text;
      if (mode === "shuffle_words") {
        const order = generator.permutation(words[index].length);
        changed = replaceWords(text, (_, at) => words[index][order[at]]);
      } else if (hits.includes(1)) {
        changed = mode === "mask_words"
          ? replaceWords(text, (word, at) => hits[at] ? mask_token : word)
          : words[index].filter((_, at) => !hits[at]).join(" ");
      }
      if (changed !== text) changedCount++;
      return { id, text: changed };
    });
    const metadata = travel(inputs.texts.metadata, {
      source_noise: { mode, hit_word_count: mask.reduce((a, b) => a + b, 0) },
    });
    return { outputs: { texts: textsArtifact(perturbed, metadata) }, metadata: { changed_text_count: changedCount } };
  },
});

/** Replaces the words of a text one by one; the white space between them is kept. */
function replaceWords(text: string, replacement: (word: string, at: number) => string): string {
  let at = 0;
  return text.replace(WORD, (word) => replacement(word, at++));
}
