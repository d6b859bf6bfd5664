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
import { type KnownFact, phraseOf } from "./_semantic_state.ts";
import { contentWords } from "./_words.ts";

export const SEMANTIC_TEXT_SMOKE_KB_VERSION = "semantic_text_smoke_kb-v2";

function fact(subject: string, predicate: string, object: string): KnownFact {
  const words = new Set(contentWords(phraseOf({ subject, predicate, object })));
  return { subject, predicate, object, min_token_overlap: Math.floor(words.size / 2) + 1 };
}

/** Concept and facts, in the order of the version. */
export const SEMANTIC_TEXT_SMOKE_KB: readonly (readonly [concept: string, facts: readonly KnownFact[]])[] = [
  ["rain", [fact("heavy rain", "will reach", "Lisbon"), fact("rain", "falls from", "clouds")]],
  ["robot", [
    fact("Robot Unit 7", "must carry", "the red toolbox to Bay 12"),
    fact("robot", "is a", "programmable machine"),
  ]],
  ["ibuprofen", [
    fact("Doctor Okafor", "prescribed", "250 milligrams of ibuprofen twice daily"),
    fact("ibuprofen", "relieves", "pain"),
  ]],
  ["lorry", [
    fact("stalled lorry", "blocks", "two lanes of the Harbour Bridge"),
    fact("lorry", "transports", "freight"),
  ]],
  ["sensor", [fact("Sensor Delta", "measured", "18.6 degrees Celsius"), fact("sensor", "detects", "conditions")]],
  ["winds", [fact("winds", "of", "45 kilometres per hour"), fact("winds", "move", "clouds")]],
  ["toolbox", [fact("toolbox", "holds", "tools"), fact("toolbox", "arrives at Bay 12 within", "90 seconds")]],
  ["knee", [
    fact("knee operation", "repairs", "the joint"),
    fact("ibuprofen", "after", "the knee operation"),
  ]],
  ["bridge", [
    fact("Harbour Bridge", "spans", "the estuary"),
    fact("stalled lorry", "delays", "traffic by 25 minutes"),
  ]],
  ["humidity", [
    fact("Sensor Delta", "measured", "64 percent humidity"),
    fact("humidity", "describes", "water vapour"),
  ]],
  ["Lisbon", [fact("Lisbon", "is the capital of", "Portugal"), fact("heavy rain", "in Lisbon before", "noon")]],
  ["greenhouse", [
    fact("greenhouse", "shelters", "plants"),
    fact("humidity", "inside the greenhouse at", "dawn"),
  ]],
  ["doctor", [fact("doctor", "treats", "patients"), fact("doctor", "plans", "the operation")]],
  ["traffic", [fact("traffic", "uses", "lanes"), fact("traffic", "crosses", "the Harbour Bridge")]],
  ["bay", [fact("Bay 12", "stores", "equipment"), fact("Robot Unit 7", "works at", "Bay 12")]],
];
