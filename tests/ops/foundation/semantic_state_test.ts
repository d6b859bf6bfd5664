import assert from "node:assert/strict";
import encodeText from "../../../ops/foundation/text_semantic_state_encode.ts";
import semanticStatePayload from "../../../ops/foundation/semantic_state_payload.ts";
import ground from "../../../ops/foundation/semantic_state_ground.ts";
import knowledge from "../../../ops/foundation/knowledge_base.ts";
import toText from "../../../ops/foundation/semantic_state_to_text.ts";
import { conceptsOf, entitiesOf } from "../../../ops/foundation/_local_rules.ts";
import {
  emptyState,
  type Fact,
  knowledgeArtifact,
  knowledgeOf,
  phraseOf,
  type SemanticState,
  statesArtifact,
  statesOf,
} from "../../../ops/_semantic_state.ts";
import { SEMANTIC_TEXT_SMOKE_KB } from "../../../ops/_semantic_text_smoke_kb.ts";
import { contentWords, MASK } from "../../../ops/_words.ts";
import { SEMANTIC_TEXT_SMOKE } from "../../../ops/source/_semantic_text_smoke.ts";
import { bitsArtifact, bitsOf, textsOf } from "../../../lib/artifact/values.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { packBits, unpackBits } from "../../../lib/numeric/array/bit_packing.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { textsInput } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const [encode, decode] = semanticStatePayload;

const base = async (params: JsonObject = {}) => (await runOperation(knowledge, { params })).outputs.kb;

async function grounded(texts: Record<string, string>, params: JsonObject = {}, kb?: InputArtifact) {
  const { outputs: { state } } = await runOperation(encodeText, { inputs: { texts: textsInput(texts) } });
  return (await runOperation(ground, { inputs: { state, kb: kb ?? await base() }, params })).outputs.state;
}

Deno.test("concepts are content words by first appearance, entities names and quantities", () => {
  assert.deepEqual(conceptsOf("The rain, heavy RAIN, hit 7 towns.", 16), ["rain", "heavy", "hit", "towns"]);
  assert.deepEqual(conceptsOf("rain wind noon", 2), ["rain", "wind"]);
  assert.deepEqual(conceptsOf(`a ${MASK} b-c ${MASK}`, 16), ["b-c"]);
  const expected: Record<string, string[]> = {
    weather_report: ["Lisbon", "45 kilometres per hour"],
    robot_instruction: ["Robot Unit 7", "Bay 12", "90 seconds"],
    medical_note: ["Doctor Okafor", "250 milligrams"],
    traffic_alert: ["two lanes", "Harbour Bridge", "25 minutes"],
    sensor_summary: ["Sensor Delta", "18.6 degrees Celsius", "64 percent"],
  };
  for (const [id, text] of Object.entries(SEMANTIC_TEXT_SMOKE)) assert.deepEqual(entitiesOf(text), expected[id], id);
  assert.deepEqual(entitiesOf("Rain fell. It fell on Porto, Lisbon and Porto."), ["Porto", "Lisbon"]);
  assert.deepEqual(entitiesOf('"Rain fell," said Ana. (Wind followed.)'), ["Ana"]);
  assert.deepEqual(entitiesOf(`${MASK} Okafor saw Robot ${MASK} 7`), ["Okafor", "Robot", "7"]);
  assert.deepEqual(entitiesOf(""), []);
});

Deno.test("the built-in base covers every sentence and mixes none", async () => {
  assert.ok(SEMANTIC_TEXT_SMOKE_KB.length >= 12);
  const facts = SEMANTIC_TEXT_SMOKE_KB.flatMap(([, rows]) => rows);
  assert.ok(facts.length >= 20 && facts.length <= 40);
  const everything = await base({ max_builtin_concepts: 100 });
  assert.equal(knowledgeOf(everything).facts.length, facts.length, "a fact stands twice");
  for (const kb of [everything, await base()]) {
    const owners = new Map<number, string>();
    for (const { id, matches } of statesOf(await grounded(SEMANTIC_TEXT_SMOKE, { max_matches_per_state: 100 }, kb))) {
      assert.ok(matches!.length >= 2, `${id} has ${matches!.length} facts`);
      for (const { kb_fact_index } of matches!) {
        assert.ok(!owners.has(kb_fact_index), `${id} and ${owners.get(kb_fact_index)} share ${kb_fact_index}`);
        owners.set(kb_fact_index, id);
      }
    }
  }
});

Deno.test("a base is versioned, and its parameters decide what is in it", async () => {
  assert.equal(knowledgeOf(await base()).concepts.length, 12);
  assert.deepEqual(knowledgeOf(await base({ kb_id: "empty" })).facts, []);
  const facts_json =
    '[["rain ", "falls  from", "clouds"], {"subject":"RAIN","predicate":"falls from","object":"clouds"}]';
  const inline = knowledgeOf(await base({ kb_id: "inline_json", facts_json }));
  assert.deepEqual(inline.facts, [{ subject: "rain", predicate: "falls from", object: "clouds" }]);
  assert.match(inline.version, /^inline_json-v1\+[0-9a-f]{12}$/);
  const other = knowledgeOf(await base({ kb_id: "inline_json", facts_json: '[["snow","falls from","clouds"]]' }));
  assert.notEqual(other.version, inline.version);
  const appended = knowledgeOf(await base({ facts_json: '[["snow","falls from","clouds"]]', max_builtin_concepts: 1 }));
  assert.deepEqual(appended.concepts, ["rain", "snow"]);
  assert.deepEqual(appended.facts.length, 3);
  const check = (params: JsonObject) =>
    knowledge.definition.check!({ max_builtin_concepts: 12, facts_json: "", ...params } as never, new Set());
  assert.equal(check({ kb_id: "inline_json", facts_json })?.length, 0);
  for (const facts_json of ["", "[", "{}", "[1]", '[["a","b"]]', '[["a","b"," "]]']) {
    assert.equal(check({ kb_id: "inline_json", facts_json }).length, 1, facts_json);
  }
  assert.equal(check({ kb_id: "empty", facts_json }).length, 1);
});

Deno.test("grounding ranks facts by shared words and keeps what the state said", async () => {
  const facts = ["rain|hits|town", "heavy rain|hits|Porto", "snow|hits|town"].map((text) => {
    const [subject, predicate, object] = text.split("|");
    return { subject, predicate, object };
  });
  const kb = knowledgeArtifact({ id: "k", version: "k-v1", concepts: [], facts });
  const said = { subject: "sun", predicate: "follows", object: "rain" };
  const state: SemanticState = { id: "a", concepts: ["heavy", "rain"], entities: ["Porto"], facts: [said] };
  const run = async (params: JsonObject) => {
    const { outputs } = await runOperation(ground, { inputs: { state: statesArtifact([state], "text"), kb }, params });
    return statesOf(outputs.state)[0];
  };
  const all = await run({});
  const source = { ...said, origin: "source" };
  const added = facts.map((fact) => ({ ...fact, origin: "knowledge" }));
  assert.deepEqual(all.facts, [source, added[1], added[0]]);
  assert.deepEqual(all.matches, [
    { kb_fact_index: 1, overlap: 3, words: ["heavy", "rain", "porto"] },
    { kb_fact_index: 0, overlap: 1, words: ["rain"] },
  ]);
  assert.deepEqual((await run({ min_token_overlap: 2 })).facts, [source, added[1]]);
  assert.deepEqual((await run({ max_matches_per_state: 1 })).facts, [source, added[1]]);
  assert.deepEqual((await run({ max_matches_per_state: 0 })).facts, [source]);
});

/** Sentences that share single words and numbers with the built-in knowledge, but none of its facts. */
const UNKNOWN = {
  market: "The doctor bought 7 apples in Paris.",
  tram: "Robot Unit 9 repaired 12 trams after the storm.",
  museum: "The museum opens on Tuesday and costs nine euros.",
  bridge: "Sensor Omega counts lorries on a bridge.",
};

Deno.test("built-in knowledge adds nothing to sentences that it does not know, and the step warns", async () => {
  const run = async (texts: Record<string, string>) => {
    const { outputs: { state } } = await runOperation(encodeText, { inputs: { texts: textsInput(texts) } });
    const kb = await base({ max_builtin_concepts: 100 });
    return await runOperation(ground, { inputs: { state, kb } });
  };
  const unknown = await run(UNKNOWN);
  for (const { id, facts, matches } of statesOf(unknown.outputs.state)) {
    assert.deepEqual(matches, [], id);
    assert.ok(facts.length > 0 && facts.every(({ origin }) => origin === "source"), id);
  }
  assert.equal(unknown.metrics["semantic.kb_coverage"], 0);
  const [warning] = unknown.metadata!.warnings as JsonObject[];
  assert.deepEqual([warning.code, warning.severity], ["semantic.kb_coverage", "warning"]);
  assert.equal(warning.message, "The knowledge base semantic_text_smoke_kb has facts about 0 of 4 texts");

  const known = await run(SEMANTIC_TEXT_SMOKE);
  assert.deepEqual([known.metrics["semantic.kb_coverage"], known.metadata?.warnings], [1, undefined]);
  const empty = await run({ a: "", b: MASK });
  assert.deepEqual([empty.metrics, empty.metadata?.warnings], [{}, undefined], "no content, no coverage");
});

Deno.test("clauses become facts of the source, in the words of the sentence", async () => {
  const facts = async (text: string) => {
    const { outputs } = await runOperation(encodeText, { inputs: { texts: textsInput({ a: text }) } });
    return statesOf(outputs.state)[0].facts.map(({ subject, predicate, object, qualifiers = [], origin }) => {
      assert.equal(origin, "source");
      return [subject, predicate, object, ...qualifiers].join("|");
    });
  };
  const expected: Record<string, string[]> = {
    weather_report: ["Heavy rain|will reach|Lisbon|before noon|with winds of 45 kilometres per hour"],
    robot_instruction: ["Robot Unit 7|must carry|the red toolbox to Bay 12|within 90 seconds"],
    medical_note: ["Doctor Okafor|prescribed|250 milligrams of ibuprofen twice daily|after the knee operation"],
    traffic_alert: [
      "A stalled lorry|blocks|two lanes of the Harbour Bridge",
      "A stalled lorry|delays|traffic by 25 minutes",
    ],
    sensor_summary: [
      "Sensor Delta|measured|18.6 degrees Celsius",
      "Sensor Delta|measured|64 percent humidity|inside the greenhouse|at dawn",
    ],
  };
  for (const [id, text] of Object.entries(SEMANTIC_TEXT_SMOKE)) assert.deepEqual(await facts(text), expected[id], id);
  const others: Record<string, string[]> = {
    "Three trains were delayed by snow, and the tram stops at noon. Yes.": [
      "Three trains|were delayed|by snow",
      "the tram|stops|at noon",
    ],
    "The tram stops at noon and at dawn.": ["The tram|stops|at noon|and at dawn"],
    "The pump starts at 6 a.m. and never stops.": ["The pump|starts|at 6 a.m.", "The pump|never stops|"],
    "The valve doesn't open. The pump will not have failed before noon.": [
      "The valve|doesn't|open",
      "The pump|will not have failed|before noon",
    ],
    "In March, the company sold cows, horses and pigs.": [
      "In March, the company|sold|cows, horses",
      "In March, the company|sold|pigs",
    ],
    "The trains never arrive before noon. They arrive at dusk. Winds move clouds over Porto.": [
      "The trains|never arrive|before noon",
      "They|arrive|at dusk",
      "Winds|move|clouds|over Porto",
    ],
    "The cat and the dog slept. He saw the dog near the gate and the bridge.": [
      "He|saw|the dog|near the gate and the bridge",
    ],
  };
  for (const [text, expected] of Object.entries(others)) assert.deepEqual(await facts(text), expected, text);
  assert.deepEqual(await facts(`Heavy ${MASK} will reach Lisbon. Rain, winds, 45 kilometres per hour.`), []);
  assert.deepEqual(await facts("A red circle at the top left."), ["red circle|at|top left"]);
});

Deno.test("facts of one subject are one sentence where a reader finds the same facts in it", async () => {
  const kb = await base({ kb_id: "empty" });
  const fact = (subject: string, predicate: string, object: string, qualifiers: string[] = []) => ({
    subject,
    predicate,
    object,
    qualifiers,
  });
  const text = async (facts: Fact[]) => (await write({ ...emptyState("a"), facts }, kb, {})).text;
  const pump = fact("The pump", "starts", "at 7", ["with noise"]);
  assert.equal(
    await text([pump, fact("The pump", "stops", "at 9"), fact("The valve", "is", "open")]),
    "The pump starts at 7 with noise and stops at 9. The valve is open.",
  );
  // "measured noise and trials": the second verb would be read as an object.
  assert.equal(
    await text([fact("The firm", "measured", "noise"), fact("The firm", "trial", "pumps")]),
    "The firm measured noise. The firm trial pumps.",
  );
  assert.equal(
    await text([pump, { ...fact("The pump", "stops", "at 9"), origin: "knowledge" }]),
    [
      "The pump starts at 7 with noise. The pump stops at 9.",
    ].join(),
  );
  const many = Array.from({ length: 3000 }, (_, index) => fact("The firm", "sold", `${index} pumps`));
  const written = await text(many);
  assert.ok(written.split(". ").every((sentence) => sentence.length <= 501));
  const { outputs } = await runOperation(encodeText, { inputs: { texts: textsInput({ a: written }) } });
  assert.deepEqual(statesOf(outputs.state)[0].facts.map(({ object }) => object), many.map(({ object }) => object));
});

Deno.test("grounding adds no fact that the state says with more qualifiers, and keeps those of the base", async () => {
  const facts_json = JSON.stringify([
    ["rain", "hits", "town"],
    { subject: "snow", predicate: "hits", object: "town", qualifiers: ["at  dawn "] },
  ]);
  const kb = await base({ kb_id: "inline_json", facts_json });
  assert.deepEqual(knowledgeOf(kb).facts[1].qualifiers, ["at dawn"]);
  const [rain, snow] = statesOf(
    await grounded({ rain: "The rain hits town at noon.", snow: "Snow hits town." }, {}, kb),
  );
  const plain = { subject: "rain", predicate: "hits", object: "town", origin: "knowledge" };
  const dawn = { ...plain, subject: "snow", qualifiers: ["at dawn"] };
  assert.deepEqual(rain.facts.slice(1), [dawn]);
  assert.deepEqual(snow.facts.slice(1), [dawn, plain]);
});

// Payload

async function sent(texts: Record<string, string> = SEMANTIC_TEXT_SMOKE) {
  const state = await grounded(texts);
  return { states: statesOf(state), bits: (await runOperation(encode, { inputs: { state } })).outputs.bits };
}

async function received(bits: Uint8Array, metadata: JsonObject, params: JsonObject = {}) {
  const { outputs: { state } } = await runOperation(decode, {
    inputs: { bits: { kind: "channel.payload_bits.numpy", ...bitsArtifact(bits, metadata, "payload.bits") } },
    params,
  });
  const { delivered, failed_item_indices } = state.metadata;
  return { states: statesOf(state), delivered, failed_item_indices, modality: state.json().modality };
}

Deno.test("the payload is canonical JSON, and its metadata says where each state lies and nothing of what it says", async () => {
  const { bits, states } = await sent({ a: "Rain in Porto.", "ü": "" });
  const bytes = packBits(bitsOf(bits));
  const text = new TextDecoder().decode(bytes);
  assert.ok(
    text.startsWith('{"kind":"semantic.state","modality":"text","schema_version":1,"states":[{"concepts":["rain"'),
  );
  const spans = bits.metadata.state_spans as [number, number][];
  const cut = spans.map(([start, count]) => JSON.parse(new TextDecoder().decode(bytes.subarray(start, start + count))));
  assert.deepEqual(cut.map(({ id }) => id), ["a", "ü"]);
  assert.deepEqual(bits.metadata.source_item_counts, [bytes.length * 8]);
  assert.ok(!JSON.stringify(bits.metadata).toLowerCase().includes("porto"));
  for (const on_error of ["replace", "fail"]) {
    const back = await received(bitsOf(bits), bits.metadata, { on_error });
    assert.deepEqual(back.states, states);
    assert.deepEqual(back.delivered, [true, true]);
    assert.equal(back.modality, "text");
  }
});

Deno.test("a damaged state costs itself alone", async () => {
  const { bits, states } = await sent();
  const bytes = packBits(bitsOf(bits));
  const [start, count] = (bits.metadata.state_spans as [number, number][])[1];
  bytes[start + count - 1] ^= 4;
  const damaged = await received(unpackBits(bytes), bits.metadata);
  assert.deepEqual(damaged.states[1], emptyState(states[1].id));
  assert.deepEqual(damaged.failed_item_indices, [1]);
  assert.deepEqual([damaged.states[0], ...damaged.states.slice(2)], [states[0], ...states.slice(2)]);
  await refuses("boundary_utf8_invalid", () => received(unpackBits(bytes), bits.metadata, { on_error: "fail" }));
});

Deno.test("a bad byte becomes U+FFFD, and a damaged id does not matter", async () => {
  const { bits } = await sent({ abc: "Rain in Porto." });
  const text = new TextDecoder().decode(packBits(bitsOf(bits)));
  const bytes = new TextEncoder().encode(text);
  bytes[text.indexOf("rain")] = 0xff;
  bytes[text.indexOf('"abc"') + 1] = 0xff;
  const { states: [state] } = await received(unpackBits(bytes), bits.metadata);
  assert.equal(state.id, "abc");
  assert.ok(state.concepts[0] === "\ufffdain", state.concepts[0]);
});

Deno.test("what is truncated is lost from there on", async () => {
  const { bits, states } = await sent();
  const spans = bits.metadata.state_spans as [number, number][];
  const kept = (spans[2][0] + 10) * 8;
  const cut = await received(bitsOf(bits).subarray(0, kept), { ...bits.metadata, source_item_counts: [kept] });
  assert.deepEqual(cut.failed_item_indices, [2, 3, 4]);
  assert.deepEqual(cut.states.slice(0, 2), states.slice(0, 2));
  const none = await received(new Uint8Array(0), { ...bits.metadata, source_item_counts: [0] });
  assert.deepEqual(none.failed_item_indices, [0, 1, 2, 3, 4]);
});

Deno.test("a payload that the link lost is empty whatever its bytes", async () => {
  const { bits, states } = await sent();
  const metadata = { ...bits.metadata, failed_item_indices: [0] };
  const lost = await received(bitsOf(bits), metadata);
  assert.deepEqual(lost.states, states.map(({ id }) => emptyState(id)));
  assert.equal(lost.modality, "text");
  await refuses("boundary_utf8_invalid", () => received(bitsOf(bits), metadata, { on_error: "fail" }));
});

Deno.test("a payload without a trusted layout is read as a whole", async () => {
  const { bits, states } = await sent();
  assert.deepEqual((await received(bitsOf(bits), {})).states, states);
  await refuses("boundary_utf8_invalid", () => received(bitsOf(bits).subarray(0, 800), {}));
  const ids = { state_ids: ["a"] };
  assert.deepEqual((await received(bitsOf(bits), ids)).states, [emptyState("a")]);
  await refuses("boundary_value_invalid", () => received(bitsOf(bits), { ...ids, state_spans: [[0, 1], [1, 1]] }));
});

Deno.test("no pattern of bit errors breaks the receiver", async () => {
  const { bits, states } = await sent({ a: "Rain in Porto, 5 °C.", b: "Wind." });
  for (let seed = 0; seed < 200; seed++) {
    const errors = Generator.seeded(seed).random(bitsOf(bits).length);
    const noisy = bitsOf(bits).map((bit, i) => bit ^ Number(errors[i] < 0.004 * (seed % 7)));
    assert.deepEqual((await received(noisy, bits.metadata)).states.map(({ id }) => id), states.map(({ id }) => id));
  }
});

// Sentences

const write = async (state: SemanticState, kb: InputArtifact, params: JsonObject) => {
  const { outputs, metrics } = await runOperation(toText, {
    inputs: { state: statesArtifact([state], "text"), kb },
    params,
  });
  return { text: textsOf(outputs.texts)[0].text, masks: metrics["text.remaining_mask_count"] };
};

Deno.test("a state is written as its facts, then what they leave unsaid", async () => {
  const kb = await base();
  const [known, invented] = [knowledgeOf(kb).facts[0], { subject: "pigs", predicate: "fly to", object: "Rome" }];
  const state: SemanticState = {
    id: "a",
    concepts: ["rain"],
    entities: ["Lisbon", "7 pigs"],
    facts: [known, invented],
  };
  assert.equal(
    (await write(state, kb, {})).text,
    "Heavy rain will reach Lisbon before noon with winds of 45 kilometres per hour. Pigs fly to Rome. 7 pigs.",
  );
  const added: SemanticState = {
    ...state,
    facts: [{ ...known, origin: "knowledge" }, { ...invented, origin: "source" }],
  };
  assert.equal(
    (await write(added, kb, { generator: "kb_reconstruct" })).text,
    "Pigs fly to Rome. Lisbon, 7 pigs.",
    "a fact that grounding added is not written, one of the source is",
  );
  assert.equal((await write({ ...state, entities: [], facts: [] }, kb, {})).text, "Rain.");
  assert.equal((await write(emptyState("a"), kb, {})).text, "");
});

Deno.test("masks are filled from facts where a neighbour tells the place; what nothing tells stays", async () => {
  const kb = await base();
  const state: SemanticState = {
    ...statesOf(await grounded({ a: SEMANTIC_TEXT_SMOKE.weather_report }))[0],
    source_text: `Heavy ${MASK} will reach ${MASK} in spite of ${MASK} forecasts.`,
  };
  const repaired = await write(state, kb, { generator: "kb_reconstruct" });
  assert.equal(repaired.text, `Heavy rain will reach Lisbon in spite of ${MASK} forecasts.`);
  assert.equal(repaired.masks, 1n);
  const plain = await write(state, kb, {});
  assert.equal(plain.text, state.source_text);
  assert.equal(plain.masks, 3n);
  const unknown = await write({ ...state, facts: [] }, kb, { generator: "kb_reconstruct" });
  assert.equal(unknown.masks, 3n);
});

Deno.test("content words leave out what only holds a sentence together", () => {
  assert.deepEqual(contentWords("rain,wind.Noon 1,000.5 well-known"), [
    "rain",
    "wind",
    "noon",
    "1,000.5",
    "well-known",
  ]);
  assert.deepEqual(contentWords("The rain will be in Lisbon's 18.6 °C"), ["rain", "lisbon's", "18.6", "°c"]);
  assert.equal(phraseOf({ subject: "a", predicate: "b", object: "c" }), "a b c");
});
