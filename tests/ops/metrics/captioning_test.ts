import assert from "node:assert/strict";
import captioning from "../../../ops/metrics/captioning.ts";
import { captionsArtifact } from "../../../ops/_captions.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { textsArtifact } from "../../../lib/artifact/values.ts";
import { rougeL } from "../../../lib/numeric/scores/text_similarity.ts";
import { refuses, runOperation } from "../harness.ts";

const captions = (...items: string[][]) => ({
  kind: "text.caption.json",
  ...captionsArtifact(items.map((texts, i) => ({ id: `c${i}`, texts }))),
});
const near = (actual: unknown, expected: number) => assert.ok(Math.abs(Number(actual) - expected) < 1e-12, `${actual}`);

Deno.test("ROUGE-L counts the longest common subsequence of tokens", () => {
  // The example of Lin (2004), section 3.1: "police the gunman" keeps less of the order than "police kill the gunman".
  near(rougeL("police kill the gunman", "police killed the gunman"), 3 / 4);
  near(rougeL("the gunman kill police", "police killed the gunman"), 2 / 4);
  near(rougeL("", ""), 1);
  near(rougeL("", "a"), 0);
});

Deno.test("each score is that of the reference that fits best", async () => {
  const { metrics, outputs } = await runOperation(captioning, {
    inputs: {
      reference: captions(["a dog runs", "one dog is running"], ["rain"]),
      candidate: captions(["a dog runs"], ["snow"]),
    },
  });
  assert.equal(metrics["caption.exact_match"], 0.5);
  const { metric_metadata: counts } = outputs.report.json() as { metric_metadata: Record<string, JsonObject> };
  const { events, trials, unit, complement } = counts["caption.exact_match"];
  assert.deepEqual([Number(events), Number(trials), unit, complement], [1, 2, "source_item", true]);
  near(metrics["caption.token_f1"], 0.5);
  near(metrics["caption.rouge_l"], 0.5);
  near(metrics["caption.edit_similarity"], 0.5);
  assert.deepEqual((outputs.report.json().items as { reference_count: number }[]).map((i) => i.reference_count), [
    2,
    1,
  ]);
});

Deno.test("plain texts are captions, and a candidate has one", async () => {
  const texts = textsArtifact([{ id: "c0", text: "a dog" }]);
  const { metrics } = await runOperation(captioning, { inputs: { reference: captions(["a dog"]), candidate: texts } });
  assert.equal(metrics["caption.exact_match"], 1);
  const several = captions(["a dog", "a cat"]);
  await refuses(
    "boundary_value_invalid",
    () => runOperation(captioning, { inputs: { reference: texts, candidate: several } }),
  );
  await refuses(
    "boundary_empty",
    () => runOperation(captioning, { inputs: { reference: captions(), candidate: captions() } }),
  );
  await refuses(
    "boundary_value_invalid",
    () => runOperation(captioning, { inputs: { reference: captions([]), candidate: texts } }),
  );
});
