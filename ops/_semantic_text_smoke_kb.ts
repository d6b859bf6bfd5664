/**
 * The built-in knowledge base: prior knowledge of a receiver about the built-in sentences (ops/source/
 * _semantic_text_smoke.ts). Fifteen concepts with two facts each: the content of the sentences, and common knowledge about
 * their subjects. No content word occurs in facts about two sentences, so grounding never mixes their subjects.
 *
 * A fact matches a state that shares more than half of the content words of the fact: one common word such as "doctor" or
 * "7" is no evidence that a sentence says the whole fact.
 *
 * The order is part of a version: the first concepts cover all sentences, so that fewer concepts mean less knowledge of
 * each. Written for this project.
 */
import concepts from "./_semantic_text_smoke_kb.json" with { type: "json" };
import { type Fact, type KnownFact, phraseOf } from "./_semantic_state.ts";
import { contentWords } from "./_words.ts";

export const SEMANTIC_TEXT_SMOKE_KB_VERSION = "semantic_text_smoke_kb-v3";

function knownFact([subject, predicate, object, ...qualifiers]: string[]): KnownFact {
  const fact: Fact = { subject, predicate, object, ...(qualifiers.length > 0 ? { qualifiers } : {}) };
  const words = new Set(contentWords(phraseOf(fact)));
  return { ...fact, min_token_overlap: Math.floor(words.size / 2) + 1 };
}

/** Concept and facts, in the order of the version. */
export const SEMANTIC_TEXT_SMOKE_KB = (concepts as [string, string[][]][]).map(
  ([concept, facts]): readonly [concept: string, facts: readonly KnownFact[]] => [concept, facts.map(knownFact)],
);
