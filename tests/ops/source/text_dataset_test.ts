import assert from "node:assert/strict";
import textDataset from "../../../ops/source/text_dataset.ts";
import { textsOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const texts = async (params: JsonObject = {}) => textsOf((await runOperation(textDataset, { params })).outputs.texts);

Deno.test("each of the five sentences has 8 to 20 words, a name and a number", async () => {
  const items = await texts();
  assert.equal(items.length, 5);
  for (const { id, text } of items) {
    const words = text.split(" ").length;
    assert.ok(words >= 8 && words <= 20, `${id} has ${words} words`);
    assert.match(text, /\d/, id);
    assert.match(text, /^\S+.* ?\b[A-Z][a-z]+/, id);
  }
});

Deno.test("samples come in the order asked for, repeated as a whole with numbered ids", async () => {
  const items = await texts({ sample_ids: " traffic_alert, weather_report", repeat_count: 3 });
  assert.deepEqual(items.map(({ id }) => id), [
    "traffic_alert",
    "weather_report",
    "traffic_alert#2",
    "weather_report#2",
    "traffic_alert#3",
    "weather_report#3",
  ]);
  assert.equal(items[0].text, items[4].text);
  assert.equal((await texts({ sample_ids: "" })).length, 5);
});

Deno.test("an unknown sample is refused before anything runs", async () => {
  await refuses("params_invalid", () => texts({ sample_ids: "weather_repot" }));
  const [problem] = textDataset.definition.check!({ sample_ids: "weather_repot" }, new Set());
  assert.match(problem.hint!, /weather_report/);
});
