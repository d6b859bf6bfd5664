/**
 * Sentences from semantic states.
 *
 * - local_template writes the facts of a state in order, else its entities and concepts.
 * - kb_reconstruct uses the knowledge base: it fills the masks of a source text from the phrases of the state's facts
 *   that are in the base. Without a source text it writes the facts of origin "source" and then the entities that they do
 *   not mention; a fact that grounding added is no content of the source, and is not written.
 * - masked_lm writes as local_template, and fills its masks with a language model (`_masked_lm.ts`).
 *
 * With prefer_source_text a state with a source sentence gives that sentence (local_template unchanged).
 */
import { KNOWLEDGE_BASE, SEMANTIC_STATE, TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { textsArtifact, travel } from "../../lib/artifact/values.ts";
import { folded } from "../../lib/numeric/scores/set_scores.ts";
import {
  type Fact,
  factKey,
  isKnowledge,
  knowledgeOf,
  phraseOf,
  type SemanticState,
  statesOf,
} from "../_semantic_state.ts";
import { maskCount } from "../_words.ts";
import { factSentences } from "./_clauses.ts";
import { fillMasks, MASKED_LM_PARAMS, maskedLm } from "./_masked_lm.ts";
import { checkDevice } from "./_pretrained.ts";
import { fillFromPhrases } from "./_repair.ts";

export default defineOperation({
  id: "foundation.semantic_state_to_text",
  name: "State to text",
  description: "Writes text from semantic states by template or with the help of a knowledge base",
  inputs: { kb: [KNOWLEDGE_BASE], state: [SEMANTIC_STATE] },
  outputs: { texts: TEXTS },
  params: z.strictObject({
    ...MASKED_LM_PARAMS,
    generator: z.enum(["local_template", "kb_reconstruct", "masked_lm"]).default("local_template").describe(
      "template sentences, sentences of the source's facts with masks filled from the base, or a masked language model",
    ),
    prefer_source_text: z.boolean().default(true).describe("use the source sentence of a state if it has one"),
  }),
  outputMetadataGuarantees: { texts: { from: "state", keys: ["text_ids"] } },
  timingMetric: "decoder.inference",
  check: checkDevice,
  models: maskedLm,
  async run({ inputs, params: { generator, prefer_source_text, top_k }, model, progress }) {
    const known = new Set(knowledgeOf(inputs.kb).facts.map(factKey));
    const drafts = statesOf(inputs.state).map((state) => {
      const source = prefer_source_text ? state.source_text : undefined;
      if (generator !== "kb_reconstruct") return { id: state.id, text: source ?? written(state, state.facts) };
      const phrases = state.facts.filter((fact) => known.has(factKey(fact))).map(phraseOf);
      const text = source === undefined
        ? written(state, state.facts.filter((fact) => !isKnowledge(fact)))
        : fillFromPhrases(source, phrases);
      return { id: state.id, text };
    });
    const texts = drafts.map(({ text }) => text);
    const filled = generator === "masked_lm"
      ? await fillMasks(texts, model("masked_lm"), { topK: top_k, progress })
      : texts;
    const items = drafts.map(({ id }, index) => ({ id, text: filled[index] }));
    const metadata = travel(inputs.state.metadata, { text_ids: items.map(({ id }) => id), generator });
    const masks = items.reduce((sum, { text }) => sum + maskCount(text), 0);
    return {
      outputs: { texts: textsArtifact(items, metadata) },
      metrics: { "text.remaining_mask_count": BigInt(masks) },
    };
  },
});

/** A text of facts and the entities that they do not mention; of the concepts without either. */
function written({ entities, concepts }: SemanticState, facts: readonly Fact[]): string {
  const stated = factSentences(facts), said = folded(stated.join(" "));
  const unsaid = entities.filter((entity) => !said.includes(folded(entity)));
  const sentences = [...stated, ...(unsaid.length > 0 ? [unsaid.join(", ")] : [])];
  if (sentences.length === 0 && concepts.length > 0) sentences.push(concepts.join(", "));
  return sentences.map((sentence) => sentence.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()) + ".").join(" ");
}
