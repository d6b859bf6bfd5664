/**
 * Sentences from semantic states.
 *
 * - local_template writes the facts of a state in order, else its entities and concepts.
 * - kb_reconstruct uses the knowledge base: it fills the masks of a source text from the phrases of the
 *   state's facts that are in the base, and without a source text writes these facts and then the entities that they do
 *   not mention. A damaged fact is omitted.
 * - masked_lm writes as local_template, and fills its masks with a language model (`_masked_lm.ts`).
 *
 * With prefer_source_text a state with a source sentence gives that sentence (local_template unchanged).
 */
import { KNOWLEDGE_BASE, SEMANTIC_STATE, TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { textsArtifact, travel } from "../../lib/artifact/values.ts";
import { folded } from "../../lib/numeric/set_scores.ts";
import { type Fact, factKey, knowledgeOf, phraseOf, type SemanticState, statesOf } from "../_semantic_state.ts";
import { maskCount } from "../_words.ts";
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
      "template sentences, sentences of the knowledge base, or a masked language model",
    ),
    prefer_source_text: z.boolean().default(true).describe("use the source sentence of a state if it has one"),
  }),
  outputMetadataGuarantees: { texts: { from: "state", keys: ["text_ids"] } },
  timingMetric: "decoder.inference",
  threadSafe: true,
  check: checkDevice,
  models: maskedLm,
  async run({ inputs, params: { generator, prefer_source_text, top_k }, model, progress }) {
    const known = new Set(knowledgeOf(inputs.kb).facts.map(factKey));
    const drafts = statesOf(inputs.state).map((state) => {
      const facts = generator !== "kb_reconstruct"
        ? state.facts
        : state.facts.filter((fact) => known.has(factKey(fact)));
      const source = prefer_source_text ? state.source_text : undefined;
      return { id: state.id, text: source === undefined ? written(state, facts) : repaired(source, facts, generator) };
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

const repaired = (source: string, facts: readonly Fact[], generator: string) =>
  generator === "kb_reconstruct" ? fillFromPhrases(source, facts.map(phraseOf)) : source;

/** A text of facts and the entities that they do not mention; of the concepts without either. */
function written({ entities, concepts }: SemanticState, facts: readonly Fact[]): string {
  const said = folded(facts.map(phraseOf).join(" "));
  const unsaid = entities.filter((entity) => !said.includes(folded(entity)));
  const sentences = [...facts.map(phraseOf), ...(unsaid.length > 0 ? [unsaid.join(", ")] : [])];
  if (sentences.length === 0 && concepts.length > 0) sentences.push(concepts.join(", "));
  return sentences.map((sentence) => sentence.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()) + ".").join(" ");
}
