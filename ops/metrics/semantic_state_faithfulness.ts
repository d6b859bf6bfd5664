/**
 * Faithfulness of received states: concepts, entities and facts as sets of trimmed, case-folded strings (facts as triples),
 * scores of lib/numeric/set_scores.ts, all means over examples.
 *
 * The reference R contains the facts extracted from the source; facts added by grounding (`origin: "knowledge"`) do not
 * count. The candidate C contains all its facts, K those of the knowledge base: unsupported_assertion_rate = |C \ R| /
 * |C|, fact_omission_rate = |R \ C| / |R|, each 0 for a zero denominator; kb_fact_precision = |C ∩ K| / |C|, 1 for an
 * empty candidate. fact_precision, fact_recall and fact_f1 of an example without facts on both sides are null. The
 * counts `semantic.fact_count_reference` and `semantic.fact_count_candidate` are sums over examples.
 *
 * A second set of metrics describes the candidate's facts A that knowledge added: `semantic.fact_count_knowledge` =
 * |A|, knowledge_fact_precision = |A ∩ R| / |A| (null for an empty A), knowledge_fact_recall = |A ∩ R| / |R| (null for
 * an empty R). A mean is over the examples with a value; a metric without any is omitted, and null in the report.
 *
 * A lost state is empty: it omits all facts and asserts none. The items of the report list the members that each state
 * omits and adds, with their origin.
 */
import { KNOWLEDGE_BASE, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { SvcError } from "../../lib/contract/error.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { checkPairedIds, typedMetrics } from "../../lib/artifact/values.ts";
import { folded, setScores } from "../../lib/numeric/set_scores.ts";
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
  const stated = triples(candidate.facts);
  const meant = triples(reference.facts.filter((fact) => !isKnowledge(fact)));
  const added = triples(candidate.facts.filter(isKnowledge));
  const facts = compared(stated, meant);
  const share = (part: Iterable<string>, within: ReadonlyMap<string, unknown> | ReadonlySet<string>, of: number) =>
    [...part].filter((key) => within.has(key)).length / of;
  const metrics: Record<string, number | null> = {};
  for (const [kind, { scores }] of Object.entries({ concept: concepts, entity: entities, fact: facts })) {
    const nothing = kind === "fact" && stated.size === 0 && meant.size === 0;
    metrics[`faithfulness.${kind}_precision`] = nothing ? null : scores.precision;
    metrics[`faithfulness.${kind}_recall`] = nothing ? null : scores.recall;
    metrics[`faithfulness.${kind}_f1`] = nothing ? null : scores.f1;
  }
  metrics["faithfulness.unsupported_assertion_rate"] = stated.size > 0 ? facts.unsupported.length / stated.size : 0;
  metrics["faithfulness.fact_omission_rate"] = meant.size > 0 ? facts.omitted.length / meant.size : 0;
  metrics["faithfulness.kb_fact_precision"] = stated.size > 0 ? share(stated.keys(), known, stated.size) : 1;
  metrics["faithfulness.knowledge_fact_precision"] = added.size > 0 ? share(added.keys(), meant, added.size) : null;
  metrics["faithfulness.knowledge_fact_recall"] = meant.size > 0 ? share(added.keys(), meant, meant.size) : null;
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

/** Scores of two sets, whose members stand under what makes them the same; differences in the members' own form. */
function compared<T>(candidate: ReadonlyMap<string, T>, reference: ReadonlyMap<string, T>) {
  const scores = setScores(new Set(candidate.keys()), new Set(reference.keys()));
  return {
    scores,
    omitted: scores.omitted.map((key) => reference.get(key)!),
    unsupported: scores.unsupported.map((key) => candidate.get(key)!),
  };
}
