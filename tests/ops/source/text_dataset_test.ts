import assert from "node:assert/strict";
import textDataset from "../../../ops/source/text_dataset.ts";
import { textsOf } from "../../../lib/artifact/values.ts";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { canonicalJson } from "../../../lib/contract/json.ts";
import { SEMANTIC_TEXT_SMOKE } from "../../../ops/source/_semantic_text_smoke.ts";
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
  const [problem] = textDataset.definition.check!({
    dataset: "semantic_text_smoke",
    sample_ids: "weather_repot",
    text_ids: "",
    split: "",
    manifest_path: "",
    manifest_sha256: "",
    sample_count: 1,
    repeat_count: 1,
  }, new Set());
  assert.match(problem.hint!, /weather_report/);
});

const MANIFEST = canonicalJson({
  schema_version: 1,
  kind: "svc.text_dataset_manifest",
  id: "mine",
  version: "2",
  splits: { test: ["b"] },
  samples: [
    { sample_id: "a", text: "eins", sha256: sha256Hex("eins") },
    { sample_id: "b", path: "sub/b.txt", sha256: sha256Hex("zwei ü") },
  ],
});

const own = (params: JsonObject = {}, file = "zwei ü", sha256: string = sha256Hex(MANIFEST)) =>
  runOperation(textDataset, {
    params: { dataset: "mine", manifest_path: "texts/manifest.json", manifest_sha256: sha256, ...params },
    files: { "texts/manifest.json": MANIFEST, "texts/sub/b.txt": file },
  });

Deno.test("texts of one's own come by a pinned manifest, chosen by ids or by split", async () => {
  const { texts } = (await own()).outputs;
  assert.deepEqual(textsOf(texts), [{ id: "a", text: "eins" }, { id: "b", text: "zwei ü" }]);
  assert.deepEqual(texts.metadata.dataset, { id: "mine", version: "2" });
  const chosen = async (params: JsonObject) => textsOf((await own(params)).outputs.texts).map(({ id }) => id);
  assert.deepEqual(await chosen({ text_ids: "b,a" }), ["b", "a"]);
  assert.deepEqual(await chosen({ split: "test", repeat_count: 2 }), ["b", "b#2"]);
});

Deno.test("a manifest or a text that changed, and a selection that contradicts itself, are refused", async () => {
  await refuses("boundary_hash_mismatch", () => own({}, "zwei u"));
  await refuses("boundary_hash_mismatch", () => own({}, "zwei ü", "0".repeat(64)));
  await refuses("text_manifest_invalid", () => own({ dataset: "other" }));
  await refuses("dataset_sample_unknown", () => own({ text_ids: "c" }));
  await refuses("dataset_split_unknown", () => own({ split: "train" }));
  const places = (params: JsonObject) =>
    textDataset.definition.check!({
      dataset: "semantic_text_smoke",
      sample_ids: Object.keys(SEMANTIC_TEXT_SMOKE).join(","),
      text_ids: "",
      split: "",
      manifest_path: "",
      manifest_sha256: "",
      repeat_count: 1,
      ...params,
    }, new Set()).map(({ place }) => place?.[0]);
  const pinned = { dataset: "mine", manifest_path: "m.json", manifest_sha256: "0".repeat(64) };
  assert.deepEqual(places({}), []);
  assert.deepEqual(places(pinned), []);
  assert.deepEqual(places({ dataset: "mine" }), ["manifest_path"]);
  assert.deepEqual(places({ split: "test" }), ["split"]);
  assert.deepEqual(places({ ...pinned, manifest_sha256: "" }), ["manifest_sha256"]);
  assert.deepEqual(places({ ...pinned, sample_ids: "a" }), ["sample_ids"]);
  assert.deepEqual(places({ ...pinned, text_ids: "a", split: "test" }), ["split"]);
});

Deno.test("svc_reports has different sentences of at most 20 lower-case words, and no sentence in two splits", async () => {
  const splits = await Promise.all(["train", "validation", "test", "other"].map(async (split) => {
    const items = await texts({ dataset: "svc_reports", split, sample_count: 400 });
    assert.equal(items[399].id, `${split}_400`);
    return items.map(({ text }) => text);
  }));
  const all = splits.flat();
  assert.equal(new Set(all).size, 1600);
  for (const text of all) {
    assert.match(text, /^[a-z]+( [a-z]+){3,19}\.$/);
    assert.doesNotMatch(text, /\ba [aeiou]/);
  }
  // A longer list starts with the shorter one; no split means test.
  const short = await texts({ dataset: "svc_reports", sample_count: 5 });
  assert.deepEqual(short.map(({ text }) => text), splits[2].slice(0, 5));
  // The patterns of the split other are its own: their first words never start a sentence of another split.
  assert.ok(!splits.slice(0, 3).flat().some((text) => /^(in|after the) /.test(text)));
  assert.ok(splits[3].some((text) => /^(in|after the) /.test(text)));
});

Deno.test("choices that svc_reports does not have are refused before anything runs", async () => {
  const choices = { split: "dev", text_ids: "test_1", sample_ids: "weather_report", manifest_sha256: "0".repeat(64) };
  for (const [name, value] of Object.entries(choices)) {
    await refuses("params_conflict", () => texts({ dataset: "svc_reports", [name]: value }));
  }
});
