import assert from "node:assert/strict";
import similarity from "../../../ops/metrics/text_semantic_similarity.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { textsArtifact } from "../../../lib/artifact/values.ts";
import { refuses, runOperation } from "../harness.ts";

const batch = (...texts: string[]) => textsArtifact(texts.map((text, i) => ({ id: `t${i}`, text })));

Deno.test("scores are means over the pairs", async () => {
  const { metrics, outputs } = await runOperation(similarity, {
    inputs: { reference: batch("the cat sat", "one two", ""), candidate: batch("the cat sat", "one", "") },
  });
  // Second pair: F1 2/3; precision 1 with penalty exp(1 - 2); 4 deletions of 7 characters.
  const expected = {
    "semantic.lexical_similarity": (1 + 2 / 3 + 1) / 3,
    "text.unigram_bleu_proxy": (1 + Math.exp(-1) + 1) / 3,
    "text.edit_similarity": (1 + 3 / 7 + 1) / 3,
    "text.exact_match": 2 / 3,
  };
  assert.deepEqual(Object.keys(metrics), Object.keys(expected));
  for (const [metric, value] of Object.entries(expected)) assert.ok(Math.abs(Number(metrics[metric]) - value) < 1e-12);
  assert.equal((outputs.report.json().items as unknown[]).length, 3);
  const { metric_metadata: counts } = outputs.report.json() as { metric_metadata: Record<string, JsonObject> };
  const { events, trials, unit, complement } = counts["text.exact_match"];
  assert.deepEqual([Number(events), Number(trials), unit, complement], [1, 3, "source_item", true]);
});

Deno.test("texts are paired by id", async () => {
  const reference = batch("a", "b");
  await refuses("pair_ids_mismatch", () => runOperation(similarity, { inputs: { reference, candidate: batch("a") } }));
  const swapped = textsArtifact([{ id: "t1", text: "b" }, { id: "t0", text: "a" }]);
  await refuses("pair_ids_mismatch", () => runOperation(similarity, { inputs: { reference, candidate: swapped } }));
  await refuses(
    "boundary_empty",
    () => runOperation(similarity, { inputs: { reference: batch(), candidate: batch() } }),
  );
});
