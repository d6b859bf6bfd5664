import assert from "node:assert/strict";
import clipFamily from "../../../ops/foundation/clip.ts";
import rank from "../../../ops/foundation/clip_retrieval_rank.ts";
import similarity from "../../../ops/metrics/embedding_similarity.ts";
import retrieval from "../../../ops/metrics/retrieval.ts";
import retrievalFamily from "../../../ops/source/retrieval.ts";
import scenes from "../../../ops/source/synthetic_scenes.ts";
import { textsOf } from "../../../lib/artifact/values.ts";
import { checkValue } from "../../../lib/contract/schema.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { textsInput } from "../inputs.ts";
import { embeddingsInput, flickrFolder, SPACE, targetsInput, twoPictures } from "../_fixtures/meaning.ts";
import { refuses, runOperation } from "../harness.ts";

const [imageEmbed, textEmbed] = clipFamily;

const [smoke, flickr] = retrievalFamily;

const embedTexts = async (texts: Record<string, string>, params: JsonObject = {}) =>
  (await runOperation(textEmbed, { inputs: { texts: textsInput(texts) }, params })).outputs.embeddings;
const embedImages = async (params: JsonObject = {}, ids?: string[]) =>
  (await runOperation(imageEmbed, { inputs: { images: twoPictures(ids) }, params })).outputs.embeddings;
const rankings = async (ranked: Record<string, [string[], string[]]>, gallery?: number, params: JsonObject = {}) => {
  const items = Object.entries(ranked).map(([id, [ranked_ids, relevant_ids]]) => ({ id, ranked_ids, relevant_ids }));
  const json = { kind: "retrieval.rankings", schema_version: 1, items };
  const metadata: JsonObject = gallery === undefined ? {} : { gallery_size: gallery };
  return (await runOperation(retrieval, { inputs: { rankings: { json, metadata } }, params })).metrics;
};

Deno.test("a caption is nearest to the picture that it describes, with words of its own as well", async () => {
  const params = { dimensions: 512 };
  const images = await embedImages(params);
  const texts = await embedTexts({
    p: "a red disc in the upper left of a white background",
    q: "Blue square in the center. Black ground.",
  }, params);
  const targets = targetsInput({ p: ["p"], q: ["q"] });
  const inputs = { image_embeddings: images, text_embeddings: texts, targets };
  const { outputs } = await runOperation(rank, { inputs });
  for (const item of outputs.rankings.json().items as JsonObject[]) {
    assert.equal((item.ranked_ids as string[])[0], item.id);
    const [first, second] = (item.scores as unknown[]).map(Number);
    assert.ok(first > 0.9 && second < 0.35, `${first} and ${second}`);
  }
});

Deno.test("what belongs together tells scenes of equal parts apart", async () => {
  const { outputs } = await runOperation(smoke, {
    params: { sample_ids: "red_square_blue_disc,blue_square_red_disc" },
  });
  const params = { dimensions: 1024 };
  const images = (await runOperation(imageEmbed, { inputs: { images: outputs.images }, params })).outputs.embeddings;
  const texts = (await runOperation(textEmbed, { inputs: { texts: outputs.texts }, params })).outputs.embeddings;
  const inputs = { image_embeddings: images, text_embeddings: texts, targets: outputs.targets };
  const ranked = await runOperation(rank, { inputs });
  assert.equal(
    (await runOperation(retrieval, { inputs: ranked.outputs, params: { k_values: "1" } }))
      .metrics["retrieval.hit_at_1"],
    1,
  );
});

Deno.test("a ranking that repeats an id is refused: its recall would be above 1", async () => {
  await refuses(
    "boundary_value_invalid",
    () => rankings({ q0: [["A", "A", "C"], ["A"]] }, undefined, { k_values: "1,2" }),
  );
  // An id that is relevant twice counts once.
  assert.equal(
    (await rankings({ q0: [["A", "B"], ["A", "A"]] }, undefined, { k_values: "1,2" }))[
      "retrieval.relevant_recall_at_2"
    ],
    1,
  );
});

Deno.test("sentences of synthetic scenes find their pictures", async () => {
  const { outputs } = await runOperation(scenes, { params: { example_count: 24 }, seed: 3 });
  const params = { dimensions: 1024 };
  const images = (await runOperation(imageEmbed, { inputs: { images: outputs.images }, params })).outputs.embeddings;
  const texts = (await runOperation(textEmbed, { inputs: { texts: outputs.texts }, params })).outputs.embeddings;
  const ranked = await runOperation(rank, {
    inputs: { image_embeddings: images, text_embeddings: texts, targets: outputs.targets },
  });
  const { metrics } = await runOperation(retrieval, { inputs: ranked.outputs });
  assert.equal(metrics["retrieval.hit_at_1"], 1);
});

Deno.test("embeddings have length 1, and one without a known concept is zero", async () => {
  const { array, metadata } = await embedTexts({ a: "red rain", b: "xylophone" }, { dimensions: 32 });
  const { shape, data } = array();
  assert.deepEqual(shape, [2, 32]);
  const length = (from: number) => Math.hypot(...(data as Float32Array).subarray(from, from + 32));
  assert.ok(Math.abs(length(0) - 1) < 1e-6);
  assert.equal(length(32), 0);
  assert.deepEqual(metadata.embedding_ids, ["a", "b"]);
  // Equal words in another order are one point for local_hash.
  const hashed = await embedTexts({ a: "one two two", b: "two one two" }, { backend: "local_hash" });
  const rows = hashed.array().data as Float32Array;
  assert.deepEqual(rows.subarray(0, 128), rows.subarray(128));
});

Deno.test("a histogram holds the shares of each channel", async () => {
  const { array } = await embedImages({ backend: "local_color_histogram", bins: 2 });
  const { shape, data } = array();
  assert.deepEqual(shape, [2, 6]);
  // The first picture: red (220, 40, 40) on white (245, 245, 245): red is bright in every pixel.
  const [dark, bright, darkGreen, brightGreen] = data as Float32Array;
  assert.equal(dark, 0);
  assert.ok(Math.abs(darkGreen / bright + brightGreen / bright - 1) < 1e-6 && darkGreen > 0);
});

Deno.test("embeddings of two spaces, and of unequal dimensions, are refused", async () => {
  const targets = targetsInput({ a: ["p"] });
  const texts = await embedTexts({ a: "a red circle" });
  await refuses(
    "embedding_space_mismatch",
    async () =>
      runOperation(rank, { inputs: { image_embeddings: await embedImages(), text_embeddings: texts, targets } }),
  );
  const histogram = await embedImages({ backend: "local_color_histogram", bins: 16 });
  const hashed = await embedTexts({ a: "a red circle" }, { backend: "local_hash", dimensions: 48 });
  await refuses(
    "embedding_space_mismatch",
    () => runOperation(rank, { inputs: { image_embeddings: histogram, text_embeddings: hashed, targets } }),
  );
  const one = embeddingsInput({ a: [1, 0] });
  for (const key of Object.keys(SPACE)) {
    const other = embeddingsInput({ a: [1, 0] }, { ...SPACE, [key]: "other" });
    await refuses(
      "embedding_space_mismatch",
      () => runOperation(similarity, { inputs: { candidate: other, reference: one } }),
    );
  }
  const nameless = { ...one, metadata: { embedding_ids: ["a"] } };
  const claims = { ...one, metadata: { ...one.metadata, embedding_space: { ...SPACE, dimensions: 3 } } };
  for (const candidate of [nameless, claims]) {
    await refuses(
      "embedding_space_mismatch",
      () => runOperation(similarity, { inputs: { candidate, reference: one } }),
    );
  }
});

Deno.test("similarity pairs by id; generation labels are for CLIP", async () => {
  const reference = embeddingsInput({ a: [1, 0], b: [0, 2] });
  const candidate = embeddingsInput({ a: [1, 1], b: [0, -1] });
  const { metrics } = await runOperation(similarity, { inputs: { candidate, reference } });
  assert.ok(Math.abs(Number(metrics["embedding.cosine_max"]) - Math.SQRT1_2) < 1e-12);
  assert.equal(metrics["embedding.cosine_min"], -1);
  assert.ok(Math.abs(Number(metrics["embedding.cosine_mean"]) - (Math.SQRT1_2 - 1) / 2) < 1e-12);
  const products = await runOperation(similarity, { inputs: { candidate, reference }, params: { normalize: false } });
  assert.equal(products.metrics["embedding.cosine_min"], -2);
  const swapped = embeddingsInput({ b: [1, 1], a: [0, -1] });
  await refuses("pair_ids_mismatch", () => runOperation(similarity, { inputs: { candidate: swapped, reference } }));
  const params = { label: "generation.image_image_clip" };
  await refuses(
    "embedding_space_mismatch",
    () => runOperation(similarity, { inputs: { candidate, reference }, params }),
  );
  const space = { ...SPACE, backend: "transformers_clip" };
  const clip = embeddingsInput({ a: [1, 0] }, space);
  const scored = await runOperation(similarity, { inputs: { candidate: clip, reference: clip }, params });
  assert.equal(scored.metrics["generation.image_image_clip.cosine_mean"], 1);
});

Deno.test("equal scores rank in gallery order; images may ask for texts", async () => {
  const gallery = embeddingsInput({ p: [0, 1], q: [1, 0], r: [1, 0], s: [2, 0] });
  const inputs = {
    image_embeddings: gallery,
    text_embeddings: embeddingsInput({ a: [1, 0] }),
    targets: targetsInput({ a: ["p"] }),
  };
  const ranked = async (params: JsonObject = {}) => {
    const [item] = (await runOperation(rank, { inputs, params })).outputs.rankings.json().items as JsonObject[];
    return item.ranked_ids;
  };
  assert.deepEqual(await ranked(), ["q", "r", "s", "p"]);
  assert.deepEqual(await ranked({ normalize: false, top_k: 2 }), ["s", "q"]);
  const asked = await runOperation(rank, { inputs: { ...inputs, targets: targetsInput({ q: ["a"] }) } });
  assert.equal(asked.outputs.rankings.metadata.query_modality, "image");
  assert.deepEqual((asked.outputs.rankings.json().items as JsonObject[])[0].ranked_ids, ["a"]);
  const broken: Record<string, string[]>[] = [{ a: ["nowhere"] }, { a: [] }, { z: ["p"] }];
  for (const relevant of broken) {
    const targets = targetsInput(relevant);
    await refuses("pair_ids_mismatch", () => runOperation(rank, { inputs: { ...inputs, targets } }));
  }
});

Deno.test("a ranking that repeats an id is refused, and queries without a relevant id are left out and counted", async () => {
  await refuses("boundary_value_invalid", () => rankings({ q: [["a", "a", "c"], ["a"]] }, 3, { k_values: "1,2" }));
  const items = [["q", ["a", "b"], ["a"]], ["r", ["a", "b"], []]].map(([id, ranked_ids, relevant_ids]) => ({
    id,
    ranked_ids,
    relevant_ids,
  }));
  const json = { kind: "retrieval.rankings", schema_version: 1, items };
  const { metrics, outputs } = await runOperation(retrieval, {
    inputs: { rankings: { json, metadata: { gallery_size: 2 } } },
    params: { k_values: "1" },
  });
  assert.deepEqual([metrics["retrieval.hit_at_1"], metrics["retrieval.map"]], [1, 1]);
  const { query_count, unscored_query_count } = outputs.report.json();
  assert.deepEqual([query_count, unscored_query_count].map(Number), [1, 1]);
  await refuses("boundary_empty", () => rankings({ q: [["a"], []] }, 1, { k_values: "1" }));
});

Deno.test("hits count any relevant id; reciprocal ranks stop at 10", async () => {
  const letters = [..."abcdefghijklm"];
  const metrics = await rankings({
    first: [letters, ["a", "m"]],
    third: [letters, ["d", "c"]],
    eleventh: [letters, ["k"]],
  }, 13);
  assert.deepEqual(
    Object.keys(metrics).sort(),
    [
      ...["hit", "ndcg", "relevant_recall"].flatMap((score) => [1, 10, 5].map((k) => `retrieval.${score}_at_${k}`)),
      "retrieval.map",
      "retrieval.mrr_at_10",
    ].sort(),
  );
  assert.ok(Math.abs(Number(metrics["retrieval.hit_at_1"]) - 1 / 3) < 1e-12);
  assert.ok(Math.abs(Number(metrics["retrieval.hit_at_5"]) - 2 / 3) < 1e-12);
  assert.ok(Math.abs(Number(metrics["retrieval.hit_at_10"]) - 2 / 3) < 1e-12);
  assert.ok(Math.abs(Number(metrics["retrieval.mrr_at_10"]) - (1 + 1 / 3) / 3) < 1e-12);
});

Deno.test("nDCG and mean average precision equal scikit-learn's; recall counts every relevant id", async () => {
  const letters = [..."abcdef"];
  const near = (actual: unknown, expected: number) =>
    assert.ok(Math.abs(Number(actual) - expected) < 1e-12, `${actual}`);
  const two = await rankings({ q: [letters, ["b", "d"]] }, 6, { k_values: "1,5" });
  near(two["retrieval.map"], 0.5);
  near(two["retrieval.ndcg_at_1"], 0);
  near(two["retrieval.ndcg_at_5"], 0.6509209298071323);
  near(two["retrieval.relevant_recall_at_5"], 1);
  const three = await rankings({ q: [letters, ["a", "e", "f"]] }, 6, { k_values: "1,5" });
  near(three["retrieval.map"], 0.6333333333333333);
  near(three["retrieval.ndcg_at_5"], 0.6508205185601091);
  near(three["retrieval.relevant_recall_at_5"], 2 / 3);
});

Deno.test("a cut-off beyond what a ranking kept is refused, and its mean reciprocal rank left out", async () => {
  await refuses("params_conflict", () => rankings({ a: [["p", "q"], ["p"]] }, 3));
  assert.deepEqual(await rankings({ a: [["p", "q"], ["q"]] }, 3, { k_values: "2" }), {
    "retrieval.hit_at_2": 1,
    "retrieval.ndcg_at_2": 1 / Math.log2(3),
    "retrieval.relevant_recall_at_2": 1,
  });
  // The whole gallery was kept: nothing lies behind.
  assert.equal((await rankings({ a: [["p", "q"], ["q"]] }, 2))["retrieval.mrr_at_10"], 0.5);
  for (const k_values of ["", "0", "1,x", "1.5", "-1"]) {
    await refuses("params_invalid", () => rankings({}, 1, { k_values }));
  }
});

Deno.test("Flickr8k is read as published and in the form of Karpathy, in the order of its split", async () => {
  const params = { dataset_dir: "f", image_size: 8, caption_index: 3 };
  const published = await runOperation(flickr, { params, files: flickrFolder() });
  assert.deepEqual(published.outputs.images.metadata.image_ids, ["2.jpg", "1.jpg"]);
  assert.deepEqual(textsOf(published.outputs.texts)[0], { id: "2.jpg#3", text: "caption 3 of 2.jpg ." });
  assert.deepEqual((published.outputs.targets.json().items as JsonObject[])[1], {
    id: "1.jpg#3",
    relevant_ids: ["1.jpg"],
  });
  assert.deepEqual([...published.outputs.images.array().data as Uint8Array].slice(0, 3), [200, 200, 200]);
  const test = await runOperation(flickr, { params: { ...params, split: "test" }, files: flickrFolder() });
  assert.deepEqual(test.outputs.images.metadata.image_ids, ["3.jpg"]);

  const { "f/Flickr8k.token.txt": _captions, ...rest } = flickrFolder();
  await refuses("dataset_unavailable", () => runOperation(flickr, { params, files: rest }));
  const images = ["3.jpg", "1.jpg"].map((filename, i) => ({
    filename,
    split: i === 0 ? "test" : "val",
    sentences: [{ raw: " A grey square . " }],
  }));
  const files = { ...rest, "f/dataset_flickr8k.json": JSON.stringify({ images }) };
  const ofKarpathy = await runOperation(flickr, { params: { ...params, caption_index: 0 }, files });
  assert.deepEqual(textsOf(ofKarpathy.outputs.texts), [{ id: "1.jpg#0", text: "A grey square ." }]);
  await refuses("boundary_value_invalid", () => runOperation(flickr, { params, files }));
});

Deno.test("built-in pictures are the same at every size, and unknown samples are refused", async () => {
  const batch = async (image_size: number) =>
    (await runOperation(smoke, { params: { image_size, sample_ids: "roof,red_disc" } })).outputs;
  const [small, large] = [await batch(32), await batch(96)];
  assert.deepEqual(small.images.metadata.image_ids, ["roof", "red_disc"]);
  const embedded = async (
    images: typeof small.images,
  ) => [...(await runOperation(imageEmbed, { inputs: { images } })).bytes.embeddings];
  assert.deepEqual(await embedded(small.images), await embedded(large.images));
  await refuses("params_invalid", () => runOperation(smoke, { params: { sample_ids: "rof" } }));
});

Deno.test("a model runs on the processor alone, and other backends take no model", () => {
  const schema = textEmbed.contract.params_schema;
  const [problem] = textEmbed.definition.check!({ backend: "transformers_clip", device: "cuda:0" }, new Set());
  assert.equal(problem.code, "runtime_unavailable");
  assert.deepEqual(checkValue(schema, { model_revision: "0".repeat(40) }, []), []);
  assert.equal(checkValue(schema, { model_revision: "main" }, []).length, 1);
});
