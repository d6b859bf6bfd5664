import assert from "node:assert/strict";
import bertScore from "../../../ops/metrics/bert_score.ts";
import { captionsArtifact } from "../../../ops/_captions.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { tinyEmbedder } from "../../support/tiny_models.ts";
import { runOperation } from "../harness.ts";
import { textsInput } from "../inputs.ts";

/** Two words on the axes, and one between them: its cosine with each is 0.6 or 0.8. */
const models = { embedder: tinyEmbedder({ cat: [2, 0], dog: [0, 1], wolf: [0.6, 0.8] }) };

async function score(candidate: Record<string, string>, reference: Record<string, string>, more: JsonObject = {}) {
  const { metrics } = await runOperation(bertScore, {
    inputs: { candidate: textsInput(candidate), reference: textsInput(reference) },
    params: { model_id: "m", ...more },
    models,
  });
  return ["_precision", "_recall", ""].map((part) => Number(metrics[`semantic.bert_score${part}`]));
}
const near = (actual: number[], expected: number[]) =>
  actual.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-6, `${actual} is not ${expected}`));

Deno.test("each token counts by its nearest token on the other side", async () => {
  // Candidate: cat 1 (with cat), wolf 0.6 (with cat). Reference: cat 1, cat 1.
  near(await score({ a: "cat wolf" }, { a: "cat cat" }), [0.8, 1, 1.6 / 1.8]);
  // Reference: dog 0.8 (with wolf), cat 1.
  near(await score({ a: "cat wolf" }, { a: "dog cat" }), [0.9, 0.9, 0.9]);
  near(await score({ a: "Dog cat" }, { a: "dog cat" }), [1, 1, 1]);
});

Deno.test("inverse document frequencies weigh rare tokens of the references", async () => {
  const candidate = { a: "cat wolf", b: "cat" }, reference = { a: "cat dog", b: "cat" };
  // In two references of two: cat weighs log(3 / 3) = 0, dog log(3 / 2), wolf log(3 / 1). So b has no weight at all.
  // a: precision of wolf alone, 0.8 with dog; recall of dog alone, 0.8 with wolf.
  near(await score(candidate, reference, { weighting: "idf" }), [(0.8 + 1) / 2, (0.8 + 1) / 2, (0.8 + 1) / 2]);
});

Deno.test("scores are rescaled by a baseline, and texts without a token match only each other", async () => {
  near(await score({ a: "cat wolf" }, { a: "dog cat" }, { baseline: 0.5 }), [0.8, 0.8, 0.8]);
  near(await score({ a: "" }, { a: "cat" }), [0, 0, 0]);
  near(await score({ a: "" }, { a: "" }), [1, 1, 1]);
});

Deno.test("the reference with the highest F1 counts", async () => {
  const captions = (texts: string[]) => ({ kind: "text.caption.json", ...captionsArtifact([{ id: "a", texts }]) });
  const { metrics } = await runOperation(bertScore, {
    inputs: { candidate: captions(["wolf"]), reference: captions(["cat", "dog"]) },
    params: { model_id: "m" },
    models,
  });
  near([Number(metrics["semantic.bert_score"])], [0.8]);
});
