import assert from "node:assert/strict";
import encode from "../../../ops/foundation/text_semantic_state_encode.ts";
import ground from "../../../ops/foundation/semantic_state_ground.ts";
import knowledge from "../../../ops/foundation/knowledge_base.ts";
import faithfulness from "../../../ops/metrics/semantic_state_faithfulness.ts";
import {
  emptyState,
  type Fact,
  knowledgeArtifact,
  type SemanticState,
  statesArtifact,
  statesOf,
} from "../../../ops/_semantic_state.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { textsInput } from "../inputs.ts";
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
    Object.entries(metrics).map(([id, value]) => [id.replace(/^faithfulness\.|^semantic\./, ""), Number(value)]),
  );
  const report = outputs.report.json();
  return { metrics: named, report: report.metrics as JsonObject, items: report.items as JsonObject[] };
}

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} ${expected}`);

Deno.test("the scores follow their definitions", async () => {
  const reference = state("a", ["Rain", "wind", "noon"], ["Lisbon"], ["rain|reaches|Lisbon", "wind|blows|hard"]);
  const candidate = state("a", [" rain", "storm"], ["Lisbon", "45"], [
    "Rain|reaches|lisbon",
    "rain|stops|soon",
    "x|y|z",
  ]);
  const { metrics, items } = await score([candidate], [reference], ["rain|reaches|Lisbon", "rain|stops|soon"]);
  // Without facts that knowledge added, the scores against the source are the same.
  assert.equal(Object.keys(metrics).length, 12 + 3 + 5 + 1 + 3);
  for (const id of ["fact_precision", "fact_recall", "fact_f1", "unsupported_assertion_rate", "fact_omission_rate"]) {
    assert.equal(metrics[`source_${id}`], metrics[id], id);
  }
  assert.deepEqual([metrics.unsupported_assertion_rate_scored, metrics.fact_omission_rate_scored], [
    metrics.unsupported_assertion_rate,
    metrics.fact_omission_rate,
  ]);
  assert.equal(metrics.items_without_facts, 0);
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
    omitted_facts: [{ ...fact("wind|blows|hard"), origin: "source" }],
    unsupported_facts: ["rain|stops|soon", "x|y|z"].map((text) => ({ ...fact(text), origin: "source" })),
  });
  assert.deepEqual([metrics.fact_count_reference, metrics.fact_count_candidate, metrics.fact_count_knowledge], [
    2,
    3,
    0,
  ]);
});

const known = (text: string): Fact => ({ ...fact(text), origin: "knowledge" });

Deno.test("facts that knowledge added count on both sides, and source scores leave out those of the reference", async () => {
  const reference = state("a", [], [], ["rain|reaches|Lisbon", "wind|blows|hard"]);
  reference.facts.push(known("rain|falls from|clouds"));
  const candidate = state("a", [], [], ["wind|blows|hard"]);
  candidate.facts.push(known("rain|reaches|Lisbon"), known("rain|falls from|clouds"), known("Lisbon|is in|Portugal"));
  const { metrics, items } = await score([candidate], [reference]);
  near(metrics.fact_precision, 3 / 4);
  near(metrics.fact_recall, 1);
  near(metrics.unsupported_assertion_rate, 1 / 4);
  near(metrics.fact_omission_rate, 0);
  near(metrics.source_fact_precision, 2 / 4);
  near(metrics.source_fact_recall, 1);
  near(metrics.source_unsupported_assertion_rate, 2 / 4);
  near(metrics.source_fact_omission_rate, 0);
  near(metrics.knowledge_fact_precision, 1 / 3);
  near(metrics.knowledge_fact_recall, 1 / 2);
  assert.deepEqual([metrics.fact_count_reference, metrics.fact_count_candidate, metrics.fact_count_knowledge], [
    3,
    4,
    3,
  ]);
  assert.deepEqual(items[0].unsupported_facts, [known("Lisbon|is in|Portugal")]);
  // A grounded state is perfect against itself.
  const { metrics: same } = await score([candidate], [candidate]);
  assert.deepEqual([same.fact_f1, same.unsupported_assertion_rate, same.fact_omission_rate], [1, 0, 0]);
});

Deno.test("whatever the built-in knowledge adds to sentences that it does not know is counted as unsupported", async () => {
  const texts = {
    // Most words of a built-in fact, and another city, number or person.
    porto: "Heavy rain will reach Porto before noon.",
    sensor: "Sensor Delta measured 21 degrees Celsius at dusk.",
    doctor: "Doctor Smith prescribed 500 milligrams of ibuprofen twice daily.",
    market: "The doctor bought 7 apples in Paris.",
  };
  const { outputs: { kb } } = await runOperation(knowledge, { params: { max_builtin_concepts: 100 } });
  const { outputs: { state: source } } = await runOperation(encode, { inputs: { texts: textsInput(texts) } });
  const { outputs: { state: received } } = await runOperation(ground, { inputs: { state: source, kb } });
  const inputs = { reference: source, candidate: received, kb };
  const { metrics, outputs: { report } } = await runOperation(faithfulness, { inputs });
  const [stated, claimed] = [source, received].map(statesOf);
  const added = claimed.map(({ facts }, index) => facts.slice(stated[index].facts.length));
  assert.deepEqual(added.map((facts) => facts.length > 0), [true, true, true, false]);
  assert.deepEqual((report.json().items as JsonObject[]).map((item) => item.unsupported_facts), added);
  const count = added.flat().length, facts = stated.flatMap(({ facts }) => facts).length;
  assert.deepEqual(
    ["reference", "candidate", "knowledge"].map((part) => Number(metrics[`semantic.fact_count_${part}`])),
    [facts, facts + count, count],
  );
  assert.equal(metrics["faithfulness.knowledge_fact_precision"], 0);
  const rates = added.map((facts, index) => facts.length / claimed[index].facts.length);
  near(Number(metrics["faithfulness.unsupported_assertion_rate"]), rates.reduce((sum, rate) => sum + rate, 0) / 4);
});

Deno.test("silence omits everything and asserts nothing", async () => {
  const reference = state("a", ["rain"], ["Lisbon"], ["rain|reaches|Lisbon"]);
  const { metrics } = await score([emptyState("a")], [reference]);
  for (const [id, value] of Object.entries(metrics)) {
    const expected = {
      fact_count_reference: 1,
      fact_omission_rate: 1,
      fact_omission_rate_scored: 1,
      source_fact_omission_rate: 1,
      items_without_facts: 1,
    };
    assert.equal(value, expected[id as keyof typeof expected] ?? 0, id);
  }
});

Deno.test("no facts on both sides score null, not 1; facts without a source are unsupported", async () => {
  const { metrics: silent, report, items } = await score([emptyState("a")], [emptyState("a")]);
  const undefinedScores = [
    "fact_precision",
    "fact_recall",
    "fact_f1",
    "source_fact_precision",
    "source_fact_recall",
    "source_fact_f1",
    "unsupported_assertion_rate_scored",
    "fact_omission_rate_scored",
    "source_unsupported_assertion_rate",
    "source_fact_omission_rate",
    "kb_fact_precision",
    "knowledge_fact_precision",
    "knowledge_fact_recall",
  ];
  for (const id of undefinedScores) {
    assert.ok(!(id in silent), id);
    assert.equal(report[`faithfulness.${id}`], null);
    assert.equal((items[0].metrics as JsonObject)[`faithfulness.${id}`], null);
  }
  const zero = /^(unsupported_assertion_rate|fact_omission_rate|fact_count_\w+)$/;
  for (const [id, value] of Object.entries(silent)) assert.equal(value, Number(!zero.test(id)), id);
  const { metrics: talking } = await score([state("a", ["rain"], ["Lisbon"], ["a|b|c"])], [emptyState("a")]);
  for (const [id, value] of Object.entries(talking)) {
    const one = [
      "unsupported_assertion_rate",
      "unsupported_assertion_rate_scored",
      "source_unsupported_assertion_rate",
      "fact_count_candidate",
      "items_without_facts",
    ];
    assert.equal(value, Number(one.includes(id)), id);
  }
  const { metrics: half } = await score([emptyState("a"), state("b", [], [], ["a|b|c"])], [
    emptyState("a"),
    state("b", [], [], ["a|b|c"]),
  ]);
  assert.equal(half.fact_f1, 1, "the mean is over examples with facts");
  assert.equal(half.items_without_facts, 1);
  const { metrics: lost } = await score([emptyState("a"), emptyState("b")], [
    emptyState("a"),
    state("b", [], [], ["a|b|c"]),
  ]);
  assert.deepEqual([lost.fact_omission_rate, lost.fact_omission_rate_scored], [0.5, 1]);
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
