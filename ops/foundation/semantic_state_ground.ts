/**
 * Grounds states in a knowledge base: facts that share content words with the concepts and entities of a state join its
 * facts, and how they were found is recorded as its matches. Facts rank by the number of distinct words that they share,
 * those that share equally many in the order of the base.
 *
 * Facts that a state holds already stay: a receiver adds what it knows to what it was told.
 */
import { KNOWLEDGE_BASE, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { z } from "../../lib/contract/zod.ts";
import { travel } from "../../lib/artifact/values.ts";
import {
  distinctFacts,
  type Fact,
  knowledgeOf,
  type Match,
  modalityOf,
  phraseOf,
  type SemanticState,
  statesArtifact,
  statesOf,
} from "../_semantic_state.ts";
import { contentWords } from "../_words.ts";

export default defineOperation({
  id: "foundation.semantic_state_ground",
  name: "Ground state in knowledge base",
  description: "Adds the knowledge-base facts that share words with a state",
  inputs: { kb: [KNOWLEDGE_BASE], state: [SEMANTIC_STATE] },
  outputs: { state: SEMANTIC_STATE },
  params: z.strictObject({
    max_matches_per_state: z.int().nonnegative().default(12).describe("facts found at most; 0 grounds nothing"),
    min_token_overlap: z.int().positive().default(1).describe("distinct content words that a fact must share"),
  }),
  outputMetadataGuarantees: { state: { from: "state", keys: ["state_ids", "grounding"] } },
  threadSafe: true,
  run({ inputs, params }) {
    const kb = knowledgeOf(inputs.kb);
    const words = kb.facts.map((fact) => [...new Set(contentWords(phraseOf(fact)))]);
    const grounded = statesOf(inputs.state).map((state): SemanticState => {
      const matches = matchesOf(state, words, params);
      const facts = matches.map(({ kb_fact_index }): Fact => kb.facts[kb_fact_index]);
      return { ...state, facts: distinctFacts([...state.facts, ...facts]), matches };
    });
    const grounding = { kb_id: kb.id, kb_version: kb.version, min_token_overlap: params.min_token_overlap };
    const metadata = travel(inputs.state.metadata, { grounding });
    return { outputs: { state: statesArtifact(grounded, modalityOf(inputs.state), metadata) } };
  },
});

/** The facts of a base, as lists of words, that share enough words with a state; the best first. */
function matchesOf(
  state: SemanticState,
  facts: readonly (readonly string[])[],
  { max_matches_per_state, min_token_overlap }: { max_matches_per_state: number; min_token_overlap: number },
): Match[] {
  const said = new Set([...state.concepts, ...state.entities].flatMap(contentWords));
  return facts
    .map((words, index): Match => {
      const shared = words.filter((word) => said.has(word));
      return { kb_fact_index: index, overlap: shared.length, words: shared };
    })
    .filter(({ overlap }) => overlap >= min_token_overlap)
    .sort((a, b) => b.overlap - a.overlap || a.kb_fact_index - b.kb_fact_index)
    .slice(0, max_matches_per_state);
}
