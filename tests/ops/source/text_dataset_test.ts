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
  assert.deepEqual(places({ ...pinned, draw_count: 1, draw_seed: 3 }), []);
  assert.deepEqual(places({ ...pinned, draw_seed: 3 }), ["draw_seed"]);
  assert.deepEqual(places({ draw_count: 1 }), ["draw_count"]);
  assert.deepEqual(places({ dataset: "svc_reports", draw_seed: 3 }), ["draw_seed"]);
});

const LINES = 1000;
/** Two files of translations, of which line 500 is empty, with their manifests. */
const corpus = (
  language: string,
  content = Array.from({ length: LINES }, (_, at) => at === 499 ? "" : `${language} ${at + 1}`),
) => {
  const text = content.join("\n") + "\n",
    manifest = canonicalJson({
      schema_version: 1,
      kind: "svc.text_lines_manifest",
      id: language,
      version: "1",
      path: `ep.${language}`,
      sha256: sha256Hex(text),
      size_bytes: text.length,
      line_count: LINES,
      splits: { train: [[1, 499], [501, 800]], test: [[801, LINES]] },
    });
  return { text, manifest };
};
const drawn = (language: string, params: JsonObject = {}, file?: string) => {
  const { text, manifest } = corpus(language);
  return runOperation(textDataset, {
    params: { dataset: language, manifest_path: "c/m.json", manifest_sha256: sha256Hex(manifest), ...params },
    files: { "c/m.json": manifest, [`c/ep.${language}`]: file ?? text },
  });
};

Deno.test("lines of a pinned file are taken by split, by ids, or drawn, the same of two files with one seed", async () => {
  const of = async (...given: Parameters<typeof drawn>) => textsOf((await drawn(...given)).outputs.texts);
  const test = await of("en", { split: "test" });
  assert.deepEqual([test.length, test[0], test[199].id], [200, { id: "line_801", text: "en 801" }, "line_1000"]);
  assert.equal((await of("en")).length, LINES - 1);
  assert.deepEqual((await of("en", { text_ids: "line_7,line_3" })).map(({ text }) => text), ["en 7", "en 3"]);
  const ids = async (...given: Parameters<typeof drawn>) => (await of(...given)).map(({ id }) => id).join();
  const one = await of("en", { split: "train", draw_count: 50 });
  const numbers = one.map(({ id }) => Number(id.slice(5)));
  assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
  assert.ok(numbers.length === 50 && numbers.at(-1)! <= 800 && !numbers.includes(500));
  const draw = { split: "train", draw_count: 50 };
  assert.equal(await ids("en", draw), await ids("en", { ...draw, draw_seed: 0 }));
  assert.equal(await ids("en", { ...draw, draw_seed: 7 }), await ids("de", { ...draw, draw_seed: 7 }));
  assert.notEqual(await ids("en", { ...draw, draw_seed: 7 }), await ids("en", draw));
  // Uniform sampling without repetition: 400 draws of 10 of 200 lines give each line 20 times on average.
  const times = new Map<string, number>();
  for (let draw_seed = 0; draw_seed < 400; draw_seed++) {
    for (const { id } of await of("en", { split: "test", draw_count: 10, draw_seed })) {
      times.set(id, (times.get(id) ?? 0) + 1);
    }
  }
  const chiSquared = [...times.values()].reduce((sum, n) => sum + (n - 20) ** 2 / 20, 0) + 20 * (200 - times.size);
  // The count of a line has the variance 400 · 0.05 · 0.95 = 19: the mean is 200 · 19 / 20 = 190, six standard deviations are 114.
  assert.ok(chiSquared > 76 && chiSquared < 304, `chi-squared ${chiSquared}`);
});

Deno.test("texts of a manifest are drawn as lines are, and a draw of more than there are is refused", async () => {
  const { texts } = (await own({ draw_count: 1, draw_seed: 7 })).outputs;
  assert.equal(textsOf(texts).length, 1);
  await refuses("params_conflict", () => own({ draw_count: 3 }));
  await refuses("params_conflict", () => drawn("en", { split: "test", draw_count: 201 }));
  await refuses("boundary_hash_mismatch", () => drawn("en", { split: "test" }, "another\n"));
  await refuses("dataset_sample_unknown", () => drawn("en", { text_ids: "line_500" }));
  await refuses("dataset_split_unknown", () => drawn("en", { split: "dev" }));
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
