/**
 * Faithfulness of received states: concepts, entities and facts as sets of trimmed, case-folded strings (facts as triples),
 * scores of lib/numeric/scores/set_scores.ts, all means over examples.
 *
 * R are the facts of the reference, C those of the candidate, K those of the knowledge base:
 * unsupported_assertion_rate = |C \ R| / |C|, fact_omission_rate = |R \ C| / |R|, each 0 for a zero denominator.
 * unsupported_assertion_rate_scored and fact_omission_rate_scored are the same without the examples of a zero
 * denominator; `faithfulness.items_without_facts` counts the examples with an empty R or C. kb_fact_precision = |C ∩ K| /
 * |C|, null for an empty C; fact_precision, fact_recall and fact_f1 are null when R and C are empty. The counts
 * `semantic.fact_count_reference` and `semantic.fact_count_candidate` are sums over examples.
 *
 * `faithfulness.source_*` compare with the state before grounding: S are the facts of R that were extracted from the
 * source, without those that grounding added (`origin: "knowledge"`). The facts A of the candidate that knowledge added
 * have knowledge_fact_precision = |A ∩ S| / |A| (null for an empty A), knowledge_fact_recall = |A ∩ S| / |S| (null for an
 * empty S), and `semantic.fact_count_knowledge` = |A|. A mean is over the examples with a value; a metric without any is
 * omitted, and null in the report.
 *
 * A lost state is empty: it omits all facts and asserts none. The items of the report list the members that each state
 * omits and adds, with their origin.
 */
import { KNOWLEDGE_BASE, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { type JsonObject, SvcError } from "../api.ts";
import { checkPairedIds, typedMetrics } from "../../lib/artifact/values.ts";
import { folded, setScores } from "../../lib/numeric/scores/set_scores.ts";
import { type Fact, factKey, isKnowledge, knowledgeOf, type SemanticState, statesOf } from "../_semantic_state.ts";
import { defineReport } from "../_report.ts";

export default defineReport({
  id: "metrics.semantic_state_faithfulness",
  name: "State faithfulness scores",
  description: "Scores how faithfully a received state keeps the reference content and base facts",
  inputs: { candidate: [SEMANTIC_STATE], kb: [KNOWLEDGE_BASE], reference: [SEMANTIC_STATE] },
  run({ inputs }) {
    const candidates = statesOf(inputs.candidate), references = statesOf(inputs.reference);
    checkPairedIds(candidates, references);
    if (references.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty batch of states");
    const known = new Set(knowledgeOf(inputs.kb).facts.map(factKey));
    const rows = references.map((reference, index) => scored(candidates[index], reference, known));
    const mean = (id: string) => {
      const values = rows.map(({ metrics }) => metrics[id]).filter((value) => value !== null);
      return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    const total = (part: "reference" | "candidate" | "knowledge") =>
      BigInt(rows.reduce((sum, { counts }) => sum + counts[part], 0));
    const metrics = {
      ...Object.fromEntries(Object.keys(rows[0].metrics).map((id) => [id, mean(id)])),
      "faithfulness.items_without_facts": BigInt(
        rows.filter(({ counts }) => counts.reference === 0 || counts.candidate === 0).length,
      ),
      "semantic.fact_count_reference": total("reference"),
      "semantic.fact_count_candidate": total("candidate"),
      "semantic.fact_count_knowledge": total("knowledge"),
    };
    const items = rows.map(({ metrics, marks }, index): JsonObject => ({
      id: references[index].id,
      metrics: typedMetrics(metrics),
      ...marks,
    }));
    return { metrics, items };
  },
});

/** Scores of one example, and its differences. */
function scored(candidate: SemanticState, reference: SemanticState, known: ReadonlySet<string>) {
  const terms = (texts: readonly string[]) => new Map(texts.map((text) => [folded(text), text]));
  const triples = (facts: readonly Fact[]) =>
    new Map(facts.map((fact): [string, JsonObject] => [factKey(fact), { ...fact } as JsonObject]));
  const concepts = compared(terms(candidate.concepts), terms(reference.concepts));
  const entities = compared(terms(candidate.entities), terms(reference.entities));
  const stated = triples(candidate.facts), meant = triples(reference.facts);
  const extracted = triples(reference.facts.filter((fact) => !isKnowledge(fact)));
  const added = triples(candidate.facts.filter(isKnowledge));
  const facts = compared(stated, meant);
  const metrics: Record<string, number | null> = {};
  for (const [kind, { scores }] of Object.entries({ concept: concepts, entity: entities })) {
    metrics[`faithfulness.${kind}_precision`] = scores.precision;
    metrics[`faithfulness.${kind}_recall`] = scores.recall;
    metrics[`faithfulness.${kind}_f1`] = scores.f1;
  }
  const unsupported = ratio(facts.unsupported.length, stated.size), omitted = ratio(facts.omitted.length, meant.size);
  Object.assign(metrics, {
    ...factScores("faithfulness.", stated, meant),
    "faithfulness.unsupported_assertion_rate_scored": unsupported,
    "faithfulness.fact_omission_rate_scored": omitted,
    "faithfulness.unsupported_assertion_rate": unsupported ?? 0,
    "faithfulness.fact_omission_rate": omitted ?? 0,
    "faithfulness.kb_fact_precision": ratio(shared(stated, known), stated.size),
    ...factScores("faithfulness.source_", stated, extracted),
    "faithfulness.source_unsupported_assertion_rate": ratio(stated.size - shared(stated, extracted), stated.size),
    "faithfulness.source_fact_omission_rate": ratio(extracted.size - shared(stated, extracted), extracted.size),
    "faithfulness.knowledge_fact_precision": ratio(shared(added, extracted), added.size),
    "faithfulness.knowledge_fact_recall": ratio(shared(added, extracted), extracted.size),
  });
  return {
    metrics,
    counts: { reference: meant.size, candidate: stated.size, knowledge: added.size },
    marks: {
      omitted_concepts: concepts.omitted,
      unsupported_concepts: concepts.unsupported,
      omitted_entities: entities.omitted,
      unsupported_entities: entities.unsupported,
      omitted_facts: facts.omitted,
      unsupported_facts: facts.unsupported,
    },
  };
}

const ratio = (part: number, of: number) => of > 0 ? part / of : null;

/** Number of the members of a set that another one holds. */
const shared = (part: ReadonlyMap<string, unknown>, within: { has(key: string): boolean }) =>
  [...part.keys()].filter((key) => within.has(key)).length;

/** Precision, recall and F1 of facts; null when both sides have none. */
function factScores(prefix: string, stated: ReadonlyMap<string, unknown>, meant: ReadonlyMap<string, unknown>) {
  const scores = setScores(new Set(stated.keys()), new Set(meant.keys()));
  const nothing = stated.size === 0 && meant.size === 0;
  return Object.fromEntries(
    (["precision", "recall", "f1"] as const).map((id) => [`${prefix}fact_${id}`, nothing ? null : scores[id]]),
  );
}

/** Scores of two sets, whose members stand under what makes them the same; differences in the members' own form. */
function compared<T>(candidate: ReadonlyMap<string, T>, reference: ReadonlyMap<string, T>) {
  const scores = setScores(new Set(candidate.keys()), new Set(reference.keys()));
  return {
    scores,
    omitted: scores.omitted.map((key) => reference.get(key)!),
    unsupported: scores.unsupported.map((key) => candidate.get(key)!),
  };
}
