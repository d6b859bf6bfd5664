import assert from "node:assert/strict";
import faithfulness from "../../../ops/metrics/semantic_state_faithfulness.ts";
import {
  emptyState,
  type Fact,
  knowledgeArtifact,
  type SemanticState,
  statesArtifact,
} from "../../../ops/_semantic_state.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const fact = (text: string): Fact => {
  const [subject, predicate, object] = text.split("|");
  return { subject, predicate, object };
};
const state = (id: string, concepts: string[], entities: string[], facts: string[]): SemanticState => ({
  id,
  concepts,
  entities,
  facts: facts.map(fact),
});

async function score(candidate: SemanticState[], reference: SemanticState[], known: string[] = []) {
  const kb = { id: "k", version: "k-v1", concepts: [], facts: known.map(fact) };
  const { metrics, outputs } = await runOperation(faithfulness, {
    inputs: {
      candidate: statesArtifact(candidate, "text"),
      reference: statesArtifact(reference, "text"),
      kb: knowledgeArtifact(kb),
    },
  });
  const named = Object.fromEntries(
    Object.entries(metrics).map(([id, value]) => [id.replace("faithfulness.", ""), value]),
  );
  return { metrics: named as Record<string, number>, items: outputs.report.json().items as JsonObject[] };
}

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} ${expected}`);

Deno.test("the twelve scores follow their definitions", async () => {
  const reference = state("a", ["Rain", "wind", "noon"], ["Lisbon"], ["rain|reaches|Lisbon", "wind|blows|hard"]);
  const candidate = state("a", [" rain", "storm"], ["Lisbon", "45"], [
    "Rain|reaches|lisbon",
    "rain|stops|soon",
    "x|y|z",
  ]);
  const { metrics, items } = await score([candidate], [reference], ["rain|reaches|Lisbon", "rain|stops|soon"]);
  assert.equal(Object.keys(metrics).length, 12);
  near(metrics.concept_precision, 1 / 2);
  near(metrics.concept_recall, 1 / 3);
  near(metrics.concept_f1, 2 / 5);
  near(metrics.entity_precision, 1 / 2);
  near(metrics.entity_recall, 1);
  near(metrics.entity_f1, 2 / 3);
  near(metrics.fact_precision, 1 / 3);
  near(metrics.fact_recall, 1 / 2);
  near(metrics.fact_f1, 2 / 5);
  near(metrics.unsupported_assertion_rate, 2 / 3);
  near(metrics.fact_omission_rate, 1 / 2);
  near(metrics.kb_fact_precision, 2 / 3);
  const { metrics: _, ...marks } = items[0];
  assert.deepEqual(marks, {
    id: "a",
    omitted_concepts: ["wind", "noon"],
    unsupported_concepts: ["storm"],
    omitted_entities: [],
    unsupported_entities: ["45"],
    omitted_facts: [fact("wind|blows|hard")],
    unsupported_facts: [fact("rain|stops|soon"), fact("x|y|z")],
  });
});

Deno.test("silence omits everything and asserts nothing", async () => {
  const reference = state("a", ["rain"], ["Lisbon"], ["rain|reaches|Lisbon"]);
  const { metrics } = await score([emptyState("a")], [reference]);
  for (const [id, value] of Object.entries(metrics)) {
    assert.equal(value, { unsupported_assertion_rate: 0, fact_omission_rate: 1, kb_fact_precision: 1 }[id] ?? 0, id);
  }
});

Deno.test("nothing said where nothing was meant is right; something said is made up", async () => {
  const { metrics: silent } = await score([emptyState("a")], [emptyState("a")]);
  for (const [id, value] of Object.entries(silent)) {
    assert.equal(value, { unsupported_assertion_rate: 0, fact_omission_rate: 0 }[id] ?? 1, id);
  }
  const { metrics: talking } = await score([state("a", ["rain"], ["Lisbon"], ["a|b|c"])], [emptyState("a")]);
  for (const [id, value] of Object.entries(talking)) {
    assert.equal(value, { unsupported_assertion_rate: 1 }[id] ?? 0, id);
  }
});

Deno.test("scores are means over examples, and repeated members count once", async () => {
  const reference = [state("a", ["rain", "rain"], [], []), state("b", ["wind"], [], [])];
  const { metrics } = await score([state("a", ["rain", "RAIN"], [], []), emptyState("b")], reference);
  assert.deepEqual([metrics.concept_precision, metrics.concept_recall, metrics.concept_f1], [0.5, 0.5, 0.5]);
});

Deno.test("states are paired by id, and a batch has at least one", async () => {
  await refuses("pair_ids_mismatch", () => score([emptyState("a")], [emptyState("b")]));
  await refuses(
    "pair_ids_mismatch",
    () => score([emptyState("a"), emptyState("a")], [emptyState("a"), emptyState("a")]),
  );
  await refuses("boundary_empty", () => score([], []));
});
