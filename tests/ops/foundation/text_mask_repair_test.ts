import assert from "node:assert/strict";
import repair from "../../../ops/foundation/text_mask_repair.ts";
import { textsOf } from "../../../lib/artifact/values.ts";
import { MASK } from "../../../ops/_words.ts";
import { textsInput } from "../inputs.ts";
import { runOperation } from "../harness.ts";

async function repaired(texts: Record<string, string>) {
  const { outputs, metrics } = await runOperation(repair, {
    inputs: { texts: textsInput(texts) },
    params: { generator: "local_template" },
  });
  return { texts: textsOf(outputs.texts).map(({ text }) => text), metrics, metadata: outputs.texts.metadata };
}

Deno.test("a word that the batch has between the same neighbours is taken, whatever the template says", async () => {
  const { texts } = await repaired({
    a: `the storm ${MASK} the harbour`,
    b: "yesterday the storm hit the harbour",
  });
  assert.equal(texts[0], "the storm hit the harbour");
});

Deno.test("the template fills every mask and leaves the other words and all punctuation alone", async () => {
  const { texts, metrics, metadata } = await repaired({
    a: `${MASK} rain, "${MASK}" falls; 7 ${MASK} of ${MASK}`,
    b: "no mask [here], none.",
    c: MASK,
  });
  assert.deepEqual(texts, ['The rain, "the" falls; 7 units of it', "no mask [here], none.", "it"]);
  assert.equal(metrics["text.remaining_mask_count"], 0n);
  assert.deepEqual(metadata.mask_repair, { generator: "local_template", mask_count: 5 });
});

Deno.test("a language model is asked for as a model", () => {
  const { models } = repair.definition;
  const params = repair.definition.params.parse({});
  assert.equal(models!(params)[0].id, "distilbert/distilbert-base-uncased");
  assert.deepEqual(models!({ ...params, generator: "local_template" }), []);
});
