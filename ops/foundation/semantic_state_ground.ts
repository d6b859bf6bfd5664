/**
 * Grounds states in a knowledge base: facts that share content words with the concepts and entities of a state are
 * added to facts with `origin: "knowledge"`, and their matches are recorded. Facts rank by the number of distinct
 * shared words, ties in the order of the base. A single number is not a content word. A fact of the base may need more
 * shared words than min_token_overlap (the built-in ones do).
 *
 * Facts of a state are unchanged: grounding adds knowledge, which metrics distinguish from content. A fact that the state
 * says already, perhaps with more qualifiers, is not added.
 * `semantic.kb_coverage` is the fraction of the states with content to which the base adds or confirms a fact; below
 * one half the step warns, because the base has another subject.
 */
import { KNOWLEDGE_BASE, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation, diagnostic, z } from "../api.ts";

import { travel } from "../../lib/artifact/values.ts";
import { folded } from "../../lib/numeric/scores/set_scores.ts";
import {
  distinctFacts,
  type Fact,
  factKey,
  knowledgeOf,
  type KnownFact,
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
    max_matches_per_state: z.int().nonnegative().default(12).describe("maximum number of added facts; 0 adds none"),
    min_token_overlap: z.int().positive().default(1).describe(
      "minimum number of distinct shared content words; facts of the built-in base need more than half of their own",
    ),
  }),
  outputMetadataGuarantees: { state: { from: "state", keys: ["state_ids", "grounding"] } },
  run({ inputs, params }) {
    const kb = knowledgeOf(inputs.kb);
    const grounded = statesOf(inputs.state).map((state): SemanticState => {
      const matches = matchesOf(state, kb.facts, params);
      const facts = matches.map(({ kb_fact_index }): Fact => {
        const { min_token_overlap: _, ...fact } = kb.facts[kb_fact_index];
        return { ...fact, origin: "knowledge" };
      }).filter((fact) => !state.facts.some((said) => implies(said, fact)));
      return { ...state, facts: distinctFacts([...state.facts, ...facts]), matches };
    });
    const grounding = { kb_id: kb.id, kb_version: kb.version, min_token_overlap: params.min_token_overlap };
    const metadata = travel(inputs.state.metadata, { grounding });
    return {
      outputs: { state: statesArtifact(grounded, modalityOf(inputs.state), metadata) },
      ...coverageOf(grounded, kb.id),
    };
  },
});

/** The fraction of the states with content that have a match, and the warning for less than half; nothing without any. */
function coverageOf(states: readonly SemanticState[], kb: string) {
  const stated = states.filter(({ concepts, entities }) => concepts.length + entities.length > 0);
  if (stated.length === 0) return {};
  const covered = stated.filter(({ matches }) => matches!.length > 0).length;
  const metrics = { "semantic.kb_coverage": covered / stated.length };
  if (2 * covered >= stated.length) return { metrics };
  const message = `The knowledge base ${kb} has facts about ${covered} of ${stated.length} texts`;
  const warning = diagnostic("semantic.kb_coverage", ["inputs", "kb"], message, {
    severity: "warning",
    hint: "Add facts about these texts with facts_json, or leave grounding out",
  });
  return { metrics, metadata: { warnings: [warning] } };
}

/** Whether a fact says another one, with qualifiers that the other one lacks. */
function implies(said: Fact, { qualifiers = [], ...triple }: Fact): boolean {
  const own = new Set((said.qualifiers ?? []).map(folded));
  return factKey({ ...said, qualifiers: [] }) === factKey(triple) && qualifiers.every((one) => own.has(folded(one)));
}

const isBareNumber = (word: string) => /^[\p{N}.,]+$/u.test(word);

/** The facts of a base that share enough words with a state; the best first. */
function matchesOf(
  state: SemanticState,
  facts: readonly KnownFact[],
  { max_matches_per_state, min_token_overlap }: { max_matches_per_state: number; min_token_overlap: number },
): Match[] {
  const said = new Set([...state.concepts, ...state.entities].flatMap(contentWords));
  return facts
    .map((fact, index) => {
      const words = [...new Set(contentWords(phraseOf(fact)))].filter((word) => said.has(word));
      const needed = Math.max(min_token_overlap, fact.min_token_overlap ?? 1);
      return { fits: words.length >= needed && !words.every(isBareNumber), kb_fact_index: index, words };
    })
    .filter(({ fits }) => fits)
    .map(({ kb_fact_index, words }): Match => ({ kb_fact_index, overlap: words.length, words }))
    .sort((a, b) => b.overlap - a.overlap || a.kb_fact_index - b.kb_fact_index)
    .slice(0, max_matches_per_state);
}
