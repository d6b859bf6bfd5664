/** The text classifier: the features of its training, and an accuracy on held-out wordings within what was recorded. */
import assert from "node:assert/strict";
import { hashed, LABELS, reports, tokens } from "../../adapters/text_classifier/classify.ts";
import { parseJson } from "../../lib/contract/json.ts";
import type { JsonObject } from "../../lib/contract/value.ts";
import { wilsonInterval } from "../../lib/numeric/scores/statistics.ts";
import { arrays } from "../support/stored_reference.ts";
import { contextOf } from "./_context.ts";

const FOLDER = new URL("../../adapters/text_classifier/", import.meta.url);
const document = (path: string) => parseJson(Deno.readTextFileSync(new URL(path, FOLDER)));

Deno.test("a report has the features that the classifier was trained on", () => {
  const texts = (document("reports.json") as JsonObject[]).map(({ text }) => String(text));
  const { inputs } = document("training/reference.json") as { inputs: JsonObject };
  const stored = Array.from(arrays(inputs).features.data, Number);
  for (let i = 0; i < 3; i++) {
    hashed(tokens(texts[i])).forEach((value, bin) =>
      assert.ok(Math.abs(value - stored[1024 * i + bin]) < 1e-6, `report ${i}, bin ${bin}`)
    );
  }
  assert.deepEqual(tokens("Ärger, am 3. Mai: A7!"), ["ärger", "am", "3", "mai", "a7"]);
  assert.ok(hashed([]).every((value) => value === 0));
});

Deno.test("held-out reports are told apart, fewer of them as words are lost", async () => {
  const correct = async (lost_words: number, seed: number) => {
    const { examples } = await reports({ lost_words }, contextOf("text_classifier", seed));
    assert.equal(examples.length, 200);
    assert.ok(examples.every(({ prediction }) => LABELS.includes(prediction)));
    return examples.filter(({ label, prediction }) => label === prediction).length;
  };
  const none = await correct(0, 1);
  const { low } = wilsonInterval(none, 200);
  assert.ok(low > 0.8, `${none} of 200 right`);
  const most = await correct(0.6, 1);
  assert.ok(wilsonInterval(most, 200).high < low, `${most} of 200 right without 60 % of the words`);
  assert.ok(wilsonInterval(most, 200).low > 0.5, "one in five by chance");
  assert.equal(await correct(0.6, 1), most, "the same seed loses the same words");
});
