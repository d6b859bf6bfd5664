/**
 * Texts as semantic states by rules of form: concepts and entities (_local_rules.ts), and facts with `origin:
 * "source"`. Facts of a description of coloured shapes are their colours, positions and background (_scene_facts.ts);
 * of other texts, their clauses (_clauses.ts). A text without a recognised clause has no facts. With include_text the
 * state contains its text.
 */
import { SEMANTIC_STATE, TEXTS } from "../../lib/contract/kinds.ts";
import { defineOperation, z } from "../api.ts";
import { textsOf, travel } from "../../lib/artifact/values.ts";
import { distinctFacts, type Fact, type SemanticState, statesArtifact } from "../_semantic_state.ts";
import { clauseFacts } from "./_clauses.ts";
import { conceptsOf, entitiesOf } from "./_local_rules.ts";
import { readSceneText, sceneFacts } from "./_scene_facts.ts";

export default defineOperation({
  id: "foundation.text_semantic_state_encode",
  name: "Text to semantic state",
  description: "Extracts concepts, entities and facts from text by local rules, optionally carrying the source text",
  inputs: { texts: [TEXTS] },
  outputs: { state: SEMANTIC_STATE },
  params: z.strictObject({
    extractor: z.enum(["local_rules"]).default("local_rules").describe("extraction method; local_rules needs no model"),
    include_text: z.boolean().default(false).describe("add the sentence to the state as source_text"),
    max_concepts: z.int().nonnegative().default(16).describe("maximum number of concepts, by first appearance"),
  }),
  outputMetadataGuarantees: { state: { from: "texts", keys: ["state_ids", "extractor"] } },
  timingMetric: "encoder.inference",
  run({ inputs, params }) {
    const states = textsOf(inputs.texts).map(({ id, text }): SemanticState => ({
      id,
      concepts: conceptsOf(text, params.max_concepts),
      entities: entitiesOf(text),
      facts: factsOf(text),
      ...(params.include_text ? { source_text: text } : {}),
    }));
    const metadata = travel(inputs.texts.metadata, { extractor: params.extractor });
    return { outputs: { state: statesArtifact(states, "text", metadata) } };
  },
});

function factsOf(text: string): Fact[] {
  const scene = sceneFacts(readSceneText(text));
  return scene.length > 0 ? scene : distinctFacts(clauseFacts(text));
}
