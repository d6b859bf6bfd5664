/** m(x, x) is perfect: every metric of a candidate and a reference, on the inputs of the conformance suite. */
import assert from "node:assert/strict";
import { isNumber, type JsonObject, toNumber } from "../../lib/contract/value.ts";
import { findMetric } from "../../lib/research/catalog.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { FIXTURES } from "./_fixtures/index.ts";
import { runOperation } from "./harness.ts";
import { textsInput } from "./inputs.ts";

/** Metrics that describe one side, or a comparison in which equality has no best value. */
const DESCRIPTIONS =
  /count|_items|entropy|exact_psnr|knowledge_fact|kb_fact_precision|kb_coverage|remaining_mask|compression|_length|preview|bits|source_|per_word|^age\.(?!update_loss)|^semantic\.(spectral_efficiency|rate)_/;

/**
 * Scores of texts that are not 1 for equal texts, by formula: METEOR of one chunk of m words is 1 - 0.5·(1/m)³, CIDEr-D is ten
 * times a mean over orders and documents, BLEU-n of a text with fewer than n words has no n-gram. The second test checks them.
 */
const BY_FORMULA = /^text\.(meteor|cider_d|bleu_\d)$/;

type Sides = [candidate: string, reference: string];
function sides(ports: Record<string, unknown>): Sides | null {
  const candidate = ["candidate", "reconstruction"].find((port) => port in ports);
  return candidate === undefined || !("reference" in ports) ? null : [candidate, "reference"];
}

/** @returns the number of metrics that were checked */
function checkPerfect(operation: string, metrics: JsonObject): number {
  let checked = 0;
  for (const [id, value] of Object.entries(metrics)) {
    const entry = findMetric(id);
    if (!isNumber(value) || entry === undefined || entry.direction === "neutral") continue;
    if (DESCRIPTIONS.test(id) || BY_FORMULA.test(id)) continue;
    const measured = toNumber(value), told = `${operation}: ${id} is ${measured}`;
    checked++;
    if (entry.direction === "lower_is_better") assert.ok(Math.abs(measured) < 1e-9, told);
    // PSNR of equal images is the cap.
    else if (entry.unit === "dB") assert.ok(measured >= 99, told);
    else assert.ok(Math.abs(measured - 1) < 1e-6, told);
  }
  return checked;
}

for (const { operation } of BUILTIN_OPERATIONS) {
  const fixtures = FIXTURES[operation.id], ports = sides(operation.contract.input_kinds);
  if (!operation.id.startsWith("metrics.") || !Array.isArray(fixtures) || ports === null) continue;
  const [candidate, reference] = ports;
  Deno.test(`${operation.id} of equal inputs is perfect`, async () => {
    let checked = 0;
    for (const { name: _, inputs: given, stochastic: __, ...fixture } of fixtures) {
      const inputs = { ...await given!() };
      inputs[candidate] = inputs[reference];
      const { metrics } = await runOperation(operation, { ...fixture as object, inputs });
      checked += checkPerfect(operation.id, metrics);
    }
    assert.ok(checked > 0);
  });
}

Deno.test("scores of equal texts are perfect at every length, and follow their formula where that is not 1", async () => {
  const { operation } = BUILTIN_OPERATIONS.find(({ operation: { id } }) => id === "metrics.text_corpus_scores")!;
  const lengths = {
    "दिन": 1,
    "-40 dB": 2,
    "the door is": 3,
    "cats do not sleep": 4,
    "rain reaches Lisbon before noon": 5,
  };
  for (const [text, words] of Object.entries(lengths)) {
    const texts = textsInput({ a: text, b: text });
    const { metrics } = await runOperation(operation, { inputs: { candidate: texts, reference: texts } });
    checkPerfect(text, metrics);
    const score = (id: string) => toNumber(metrics[`text.${id}`] as number);
    for (const order of [1, 2, 3, 4]) assert.equal(score(`bleu_${order}`), Number(order <= words), `${text} ${order}`);
    assert.ok(Math.abs(score("meteor") - (1 - 0.5 / words ** 3)) < 1e-12, `${text}: METEOR ${score("meteor")}`);
    // Texts of one document frequency have no weight; of two different texts, each present order scores 10.
    const pair = textsInput({ a: text, b: "another one of them stays" });
    const { metrics: two } = await runOperation(operation, { inputs: { candidate: pair, reference: pair } });
    const expected = 10 * (Math.min(words, 4) / 4 + 1) / 2;
    assert.ok(Math.abs(toNumber(two["text.cider_d"] as number) - expected) < 1e-9, `${text}: ${two["text.cider_d"]}`);
  }
});
