/**
 * Sixty sentences with negation, numbers and units (`tests/data/own_sentences.json`) through the steps of the shipped recipes of
 * semantic states: without a loss the written text is the sent one and its scores are perfect; where it lost a negation,
 * a number, a unit or a complement, no score of facts is perfect.
 */
import assert from "node:assert/strict";
import { isNumber, type JsonObject, toNumber, type Value } from "../../lib/contract/value.ts";
import type { InputArtifact } from "../../lib/contract/operation.ts";
import { readRecipeText } from "../../lib/recipe/read.ts";
import { textsOf } from "../../lib/artifact/values.ts";
import { statesOf } from "../../ops/_semantic_state.ts";
import { BUILTIN_OPERATIONS } from "../../ops/index.ts";
import { runOperation } from "../ops/harness.ts";
import { textsInput } from "../ops/inputs.ts";
import { ROOT_PATH } from "../support/paths.ts";

const { sentences } = JSON.parse(await Deno.readTextFile(new URL("../data/own_sentences.json", import.meta.url))) as {
  sentences: string[];
};
const RECIPES = [
  "recipe_starters/text_semantic_state_kb_clean.yaml",
  "text_semantic_state_kb_awgn.yaml",
  "text_semantic_state_kb_unchecked_awgn.yaml",
  "text_states_nr_ldpc_awgn.yaml",
];
const operationOf = (id: string) => BUILTIN_OPERATIONS.find(({ operation }) => operation.id === id)!.operation;

type Step = { id: string; op: string; params?: JsonObject; inputs: Record<string, string> };

type Texts = Record<string, string>;

/**
 * Runs the steps of a recipe from its texts to the scores of the written texts, without the link between sender and receiver.
 * @param written texts in place of those that the receiver writes
 */
async function scored(
  steps: Step[],
  sent: Texts,
  { includeText, written }: { includeText?: boolean; written?: Texts },
) {
  const made = new Map<string, InputArtifact>();
  const state = steps.find(({ op }) => op === "foundation.semantic_state_payload_decode")!.id;
  const coded = steps.find(({ op }) => op === "foundation.semantic_state_payload_encode")!.inputs.state;
  const put = (port: string, texts: Texts) => made.set(port, textsInput(texts) as unknown as InputArtifact);
  for (const { id, op, params = {}, inputs } of steps) {
    if (op === "source.text_dataset") put(`${id}.texts`, sent);
    else if (id === state) made.set(`${id}.state`, made.get(coded)!);
    else if (op === "foundation.semantic_state_to_text" && written !== undefined) put(`${id}.texts`, written);
    else if (
      /^foundation\.(knowledge_base|text_semantic_state_encode|semantic_state_ground|semantic_state_to_text)$/.test(op)
    ) {
      const given = Object.fromEntries(Object.entries(inputs ?? {}).map(([port, from]) => [port, made.get(from)!]));
      const chosen = includeText === undefined || !("include_text" in params)
        ? params
        : { ...params, include_text: includeText };
      const { outputs } = await runOperation(operationOf(op), { inputs: given, params: chosen });
      for (const [name, output] of Object.entries(outputs)) made.set(`${id}.${name}`, output);
    }
  }
  const step = steps.find(({ id }) => id === "written_faithfulness")!;
  const inputs = Object.fromEntries(Object.entries(step.inputs).map(([port, from]) => [port, made.get(from)!]));
  const { outputs } = await runOperation(operationOf(step.op), { inputs });
  const writer = steps.find(({ op }) => op === "foundation.semantic_state_to_text")!.id;
  const texts = written === undefined ? textsOf(made.get(`${writer}.texts`)!) : [];
  const items = outputs.report.json().items as { id: string; metrics: JsonObject }[];
  return { texts, items };
}

const NEGATIONS: Record<string, string> = {
  not: "",
  never: "",
  no: "a",
  nobody: "somebody",
  none: "all",
  neither: "either",
  nor: "or",
  hardly: "",
  without: "with",
  except: "and",
  only: "",
};
const COMPLEMENT = /^(?:after|at|before|below|above|by|from|in|of|on|onto|over|per|to|until|when|with|without)$/;
/** Words after a complement. */
const AFTER = /^(?:is|are|was|were|failed|and)$/;

/** The texts that have lost one thing of a sentence, by the kind of the loss. */
function lossesOf(sentence: string): Record<"negation" | "number" | "unit" | "complement", string[]> {
  const words = sentence.replace(/\.$/, "").split(" ");
  const text = (words: string[]) => words.filter((word) => word !== "").join(" ") + ".";
  const isNumber = (word: string | undefined) => /^-?\d/.test(word ?? "");
  const each = (change: (word: string, at: number) => string | undefined) =>
    words.flatMap((word, at) => {
      const changed = change(word, at);
      return changed === undefined ? [] : [text(words.with(at, changed))];
    });
  return {
    negation: each((word) => NEGATIONS[word.toLowerCase()]),
    number: [
      ...each((word) => isNumber(word) ? `${word}7` : /^(?:one|two|three)$/.test(word) ? "nine" : undefined),
      ...each((word) => /^-\d/.test(word) ? word.slice(1) : undefined),
    ],
    unit: each((_, at) => isNumber(words[at - 1]) && !AFTER.test(words[at]) ? "units" : undefined),
    complement: words.flatMap((word, at) => {
      if (at === 0 || !COMPLEMENT.test(word)) return [];
      const length = words.slice(at + 1).findIndex((next) => COMPLEMENT.test(next) || AFTER.test(next));
      return [text(words.toSpliced(at, length < 0 ? words.length : length + 1))];
    }),
  };
}

/** Whether a score of facts is perfect; undefined for another score, or one without a value. */
function isPerfect(id: string, score: Value): boolean | undefined {
  if (!/_fact_|assertion|\.fact_/.test(id) || /kb_|knowledge_/.test(id) || !isNumber(score)) return undefined;
  return toNumber(score) === (/_rate/.test(id) ? 0 : 1);
}

const WHOLE = Object.fromEntries(sentences.map((text, index) => [`s${index}`, text]));
const LOSSES = sentences.flatMap((sentence, index) =>
  Object.entries(lossesOf(sentence)).flatMap(([kind, texts]) =>
    texts.map((text, at) => ({ id: `s${index} ${kind} ${at}`, kind, sentence, text }))
  )
);

Deno.test("each sentence has something to lose, and each kind of loss is common", () => {
  for (const sentence of sentences) assert.ok(Object.values(lossesOf(sentence)).flat().length > 0, sentence);
  const count = (kind: string) => LOSSES.filter((loss) => loss.kind === kind).length;
  assert.deepEqual(["negation", "number", "unit", "complement"].map(count), [25, 53, 46, 52]);
});

for (const file of RECIPES) {
  Deno.test(`${file}: a text that keeps all is perfect, and one that lost a part has no perfect score of facts`, async () => {
    const recipe = await Deno.readTextFile(`${ROOT_PATH}/recipes/${file}`);
    const { steps } = readRecipeText(recipe, { file }).value as unknown as { steps: Step[] };
    for (const includeText of [undefined, false]) {
      const kept = await scored(steps, WHOLE, { includeText });
      assert.deepEqual(kept.texts.map(({ text }) => text), sentences);
      for (const { id, metrics } of kept.items) {
        const scores = Object.entries(metrics).filter(([id, score]) => isPerfect(id, score) === false);
        assert.deepEqual(scores, [], WHOLE[id]);
        assert.ok(isPerfect("faithfulness.fact_f1", metrics["faithfulness.fact_f1"]), WHOLE[id]);
      }
    }
    const sent = Object.fromEntries(LOSSES.map(({ id, sentence }) => [id, sentence]));
    const written = Object.fromEntries(LOSSES.map(({ id, text }) => [id, text]));
    const { items } = await scored(steps, sent, { written });
    assert.equal(items.length, LOSSES.length);
    for (const { id, metrics } of items) {
      const perfect = Object.entries(metrics).filter(([id, score]) => isPerfect(id, score)).map(([id]) => id);
      assert.deepEqual(perfect, [], `${sent[id]} was written as ${written[id]}`);
      assert.equal(isPerfect("faithfulness.fact_f1", metrics["faithfulness.fact_f1"]), false, sent[id]);
    }
  });
}

Deno.test("sign, unit and negation of a sentence are in its state", async () => {
  const texts = textsInput({
    a: "The sensor measured -40 dB.",
    b: "The sensor measured 40 dB.",
    c: "The wind did not exceed 90 km/h.",
  });
  const { outputs: { state } } = await runOperation(operationOf("foundation.text_semantic_state_encode"), {
    inputs: { texts },
  });
  const facts = statesOf(state).map(({ facts }) => facts.map(({ predicate, object }) => [predicate, object]));
  assert.deepEqual(facts, [[["measured", "-40 dB"]], [["measured", "40 dB"]], [["did not exceed", "90 km/h"]]]);
});
