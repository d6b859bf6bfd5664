import assert from "node:assert/strict";
import corpusScores from "../../../ops/metrics/text_corpus_scores.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { captionsArtifact } from "../../../ops/_captions.ts";
import { textsArtifact } from "../../../lib/artifact/values.ts";
import { refuses, runOperation } from "../harness.ts";
import { bitsInput, symbolsInput } from "../inputs.ts";

const captions = (...items: string[][]) => ({
  kind: "text.caption.json",
  ...captionsArtifact(items.map((texts, i) => ({ id: `c${i}`, texts }))),
});
const score = async (candidate: string[], reference: string[][], params = {}) =>
  (await runOperation(corpusScores, {
    inputs: { candidate: captions(...candidate.map((text) => [text])), reference: captions(...reference) },
    params,
  })).metrics;

Deno.test("equal texts have the best score of every kind", async () => {
  const texts = ["the quick brown fox jumps", "over the lazy sleeping dog"];
  const { "text.cider_d": cider, "text.meteor": meteor, ...metrics } = await score(texts, texts.map((text) => [text]));
  // METEOR's penalty of one chunk of 5 matches; CIDEr-D falls short of 10 by nothing.
  assert.ok(Math.abs(Number(meteor) - (1 - 0.5 / 125)) < 1e-12);
  assert.ok(Math.abs(Number(cider) - 10) < 1e-12);
  for (const [id, value] of Object.entries(metrics)) {
    assert.ok(Math.abs(Number(value) - (id.startsWith("task.") ? 0 : 1)) < 1e-12, `${id} ${value}`);
  }
});

Deno.test("texts without a common word score 0, and wrong texts never score as right ones", async () => {
  const wrong = await score(["dog", "a b c d"], [["cat"], ["a b c d"]]);
  assert.equal(wrong["text.rouge_2"], 0.5);
  const disjoint = await score(["dog", "c d"], [["cat"], ["a b"]]);
  for (const id of ["text.bleu_1", "text.bleu_2", "text.bleu_4", "text.rouge_1", "text.rouge_2", "text.meteor"]) {
    assert.equal(disjoint[id], 0, id);
  }
  for (const [candidate, reference] of [["दान", "दिन"], ["!", "."]]) {
    const metrics = await score([candidate], [[reference]]);
    assert.deepEqual([metrics["task.wer"], metrics["text.rouge_1"], metrics["text.meteor"]], [1, 0, 0], candidate);
  }
  assert.equal((await score(["40 dB"], [["-40 dB"]]))["task.wer"], 0.5);
});

Deno.test("error rates are pooled and take the nearest reference", async () => {
  const metrics = await score(["a b", "c"], [["a x b y", "a b c"], ["c d"]]);
  // One deletion of 3 words, one of 2.
  assert.equal(metrics["task.wer"], 2 / 5);
  assert.equal(metrics["task.cer"], (2 + 2) / (5 + 3));
});

Deno.test("channel uses are counted per word of the source", async () => {
  const inputs = {
    candidate: captions(["a"]),
    reference: captions(["a b", "c"]),
    symbols: symbolsInput([1, 0, 0, 1, 1, 1]),
  };
  const { metrics } = await runOperation(corpusScores, { inputs });
  assert.equal(metrics["text.channel_uses_per_word"], 3 / 2);
});

Deno.test("a word is read where its characters follow the word before, and costs are shared among words read", async () => {
  const inputs = {
    candidate: captions(["onleash Keep"], ["500m"], [""]),
    reference: captions(["Keep on leash"], ["500 m"], ["Exit"]),
    symbols: symbolsInput(new Array(2 * 12).fill(1)),
    bits: bitsInput(new Array(40).fill(1)),
  };
  const { metrics, outputs } = await runOperation(corpusScores, { inputs });
  // Of "Keep", "on", "leash" two in their order, "500" and "m", nothing of "Exit".
  assert.equal(metrics["text.words_read"], 4 / 6);
  assert.equal(metrics["text.channel_uses_per_word_read"], 12 / 4);
  assert.equal(metrics["text.bits_per_word_read"], 40 / 4);
  const items = outputs.report.json().items as { metrics: JsonObject }[];
  assert.deepEqual(items.map(({ metrics }) => Number(metrics["text.words_read"])), [2 / 3, 1, 0]);
  const nothing = { ...inputs, candidate: captions(["?"], [""], [""]) };
  const unread = (await runOperation(corpusScores, { inputs: nothing })).metrics;
  assert.equal(unread["text.words_read"], 0);
  assert.equal(unread["text.channel_uses_per_word_read"], undefined);
});

Deno.test("white-space tokens keep case and punctuation", async () => {
  assert.equal((await score(["The end."], [["the end"]]))["text.bleu_1"], 1);
  assert.equal((await score(["The end."], [["the end"]], { tokenization: "whitespace" }))["task.wer"], 1);
  assert.equal((await score(["The end."], [["The end ."]], { tokenization: "13a" }))["task.wer"], 0);
});

Deno.test("scores without a definition are omitted, wrong batches refused", async () => {
  const metrics = await score(["a"], [[""]]);
  for (const id of ["text.cider_d", "task.wer", "task.cer"]) assert.equal(metrics[id], undefined);
  const texts = textsArtifact([{ id: "c0", text: "a" }]);
  const refused = (candidate: ReturnType<typeof captions>, reference: ReturnType<typeof captions>) => () =>
    runOperation(corpusScores, { inputs: { candidate, reference } });
  await refuses("boundary_value_invalid", refused(captions(["a", "b"]), captions(["a"])));
  await refuses("boundary_empty", refused(captions(), captions()));
  await refuses(
    "pair_ids_mismatch",
    () => runOperation(corpusScores, { inputs: { candidate: texts, reference: captions(["a"], ["b"]) } }),
  );
});
