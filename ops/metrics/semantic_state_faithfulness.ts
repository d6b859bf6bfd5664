/**
 * How faithfully received states say what was meant: concepts, entities and facts as sets of trimmed, case-folded strings
 * (facts as triples), scores of lib/numeric/set_scores.ts, all means over examples.
 *
 * With C the candidate's facts, R the reference's and K those of the knowledge base: unsupported_assertion_rate =
 * |C \ R| / |C|, fact_omission_rate = |R \ C| / |R|, each 0 where the denominator is empty; kb_fact_precision =
 * |C ∩ K| / |C|, 1 for an empty candidate. A state that was lost is silent: it omits everything and asserts nothing.
 *
 * The items of the report name what each state left out and what it made up.
 */
import { KNOWLEDGE_BASE, REPORT, SEMANTIC_STATE } from "../../lib/contract/kinds.ts";
import { defineOperation } from "../../lib/contract/define.ts";
import { SvcError } from "../../lib/contract/error.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { z } from "../../lib/contract/zod.ts";
import { checkPairedIds, reportResult, typedMetrics } from "../../lib/artifact/values.ts";
import { folded, setScores } from "../../lib/numeric/set_scores.ts";
import { type Fact, factKey, knowledgeOf, type SemanticState, statesOf } from "../_semantic_state.ts";

export default defineOperation({
  id: "metrics.semantic_state_faithfulness",
  name: "State faithfulness scores",
  description: "Scores how faithfully a received state keeps the reference content and base facts",
  inputs: { candidate: [SEMANTIC_STATE], kb: [KNOWLEDGE_BASE], reference: [SEMANTIC_STATE] },
  outputs: { report: REPORT },
  params: z.strictObject({}),
  threadSafe: true,
  run({ inputs }) {
    const candidates = statesOf(inputs.candidate), references = statesOf(inputs.reference);
    checkPairedIds(candidates, references);
    if (references.length === 0) throw new SvcError("boundary_empty", "Cannot score an empty batch of states");
    const known = new Set(knowledgeOf(inputs.kb).facts.map(factKey));
    const rows = references.map((reference, index) => scored(candidates[index], reference, known));
    const metrics = Object.fromEntries(
      Object.keys(rows[0].metrics).map((
        id,
      ) => [id, rows.reduce((sum, row) => sum + row.metrics[id], 0) / rows.length]),
    );
    const items = rows.map(({ metrics, marks }, index): JsonObject => ({
      id: references[index].id,
      metrics: typedMetrics(metrics),
      ...marks,
    }));
    return reportResult("metrics.semantic_state_faithfulness", metrics, { items });
  },
});

/** Scores of one example, and what to mark in it. */
function scored(candidate: SemanticState, reference: SemanticState, known: ReadonlySet<string>) {
  const terms = (texts: readonly string[]) => new Map(texts.map((text) => [folded(text), text]));
  const triples = (facts: readonly Fact[]) =>
    new Map(facts.map((fact): [string, JsonObject] => [factKey(fact), { ...fact }]));
  const concepts = compared(terms(candidate.concepts), terms(reference.concepts));
  const entities = compared(terms(candidate.entities), terms(reference.entities));
  const said = triples(candidate.facts), meant = triples(reference.facts);
  const facts = compared(said, meant);
  const share = (count: number, of: number, otherwise: number) => of > 0 ? count / of : otherwise;
  const metrics: Record<string, number> = {};
  for (const [kind, { scores }] of Object.entries({ concept: concepts, entity: entities, fact: facts })) {
    metrics[`faithfulness.${kind}_precision`] = scores.precision;
    metrics[`faithfulness.${kind}_recall`] = scores.recall;
    metrics[`faithfulness.${kind}_f1`] = scores.f1;
  }
  metrics["faithfulness.unsupported_assertion_rate"] = share(facts.unsupported.length, said.size, 0);
  metrics["faithfulness.fact_omission_rate"] = share(facts.omitted.length, meant.size, 0);
  metrics["faithfulness.kb_fact_precision"] = share(
    [...said.keys()].filter((key) => known.has(key)).length,
    said.size,
    1,
  );
  return {
    metrics,
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
