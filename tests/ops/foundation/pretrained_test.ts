import assert from "node:assert/strict";
import { sha256Hex } from "../../../lib/contract/hash.ts";
import { clipTokenizer, openTokenizer } from "../../../lib/artifact/tokenizer.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { textsOf } from "../../../lib/artifact/values.ts";
import clipFamily from "../../../ops/foundation/clip.ts";
import rank from "../../../ops/foundation/clip_retrieval_rank.ts";
import diffusion from "../../../ops/foundation/diffusion_state_to_image.ts";
import repair from "../../../ops/foundation/text_mask_repair.ts";
import answer from "../../../ops/foundation/vqa_transformers_answer.ts";
import similarity from "../../../ops/metrics/embedding_similarity.ts";
import { pictureTensor, readPreprocessor } from "../../../ops/foundation/_picture_tensor.ts";
import {
  preprocessor,
  tinyAnswerer,
  tinyClip,
  tinyDiffusion,
  tinyMaskedLm,
  wordTokenizer,
} from "../../support/tiny_models.ts";
import { describeScene, paintScene, type Scene } from "../../../lib/numeric/image/scenes.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { refuses, runOperation } from "../harness.ts";
import { arrayInput, textsInput } from "../inputs.ts";
import { statesInput, targetsInput, twoPictures } from "../_fixtures/meaning.ts";

const [imageEmbed, textEmbed] = clipFamily;

const itemsOf = (input: { json(): JsonObject }) => input.json().items as JsonObject[];

Deno.test("a tokenizer says special tokens apart, and cannot be read from anything", () => {
  const tokenizer = openTokenizer(wordTokenizer(["red", "disc"]));
  assert.deepEqual(tokenizer.encode("Red DISC [MASK] xyz"), { ids: [2, 5, 6, 4, 1, 3], types: [0, 0, 0, 0, 0, 0] });
  assert.equal(tokenizer.decode([2, 5, 6, 3]), "red disc");
  assert.equal(tokenizer.isSpecial(4), true);
  assert.equal(tokenizer.isSpecial(5), false);
  assert.throws(() => openTokenizer(new TextEncoder().encode("{")), { code: "model_unavailable" });
});

Deno.test("a CLIP tokenizer is read from vocab.json and merges.txt as well", async () => {
  const pieces = ["r", "e", "d", "d</w>", "'s</w>", "7</w>", "re", "red</w>", "<|startoftext|>", "<|endoftext|>"];
  const vocab = new TextEncoder().encode(JSON.stringify(Object.fromEntries(pieces.map((piece, id) => [piece, id]))));
  const merges = new TextEncoder().encode("#version: 0.2\nr e\nre d</w>\n");
  const tokenizer = openTokenizer(clipTokenizer(vocab, merges));
  assert.deepEqual(tokenizer.encode("  RED \n red 7").ids, [8, 7, 7, 5, 9]);
  assert.throws(() => clipTokenizer(new TextEncoder().encode("{}"), merges), { code: "model_unavailable" });
  const { "tokenizer/tokenizer.json": _whole, ...model } = tinyDiffusion();
  const files = { ...model, "tokenizer/vocab.json": vocab, "tokenizer/merges.txt": merges };
  await refuses("model_unavailable", () => draw(model));
  const tokens = Object.fromEntries(["r</w>", "<|startoftext|>", "<|endoftext|>"].map((piece, id) => [piece, id]));
  const small = new TextEncoder().encode(JSON.stringify(tokens));
  await draw({ ...files, "tokenizer/vocab.json": small, "tokenizer/merges.txt": new Uint8Array() });
});

Deno.test("CLIP puts texts and pictures into one space that says which model it is", async () => {
  const params = { backend: "transformers_clip", model_id: "models/clip" }, models = { clip: tinyClip() };
  const texts = textsInput({ q: "Blue", p: "RED", long: `${"red ".repeat(90)}blue` });
  const embedded = await runOperation(textEmbed, { inputs: { texts }, params, models });
  const pictures = await runOperation(imageEmbed, { inputs: { images: twoPictures() }, params, models });
  const rows = embedded.outputs.embeddings.array();
  assert.deepEqual(rows.shape, [3, 3]);
  // Two special tokens beside the word: the direction alone counts.
  assert.deepEqual([...rows.data as Float32Array].slice(0, 6), [0, 0, 1, 1, 0, 0]);
  // Cut to 77 tokens, the last word of a long text is gone.
  assert.deepEqual([...rows.data as Float32Array].slice(6), [1, 0, 0]);
  const space = embedded.outputs.embeddings.metadata.embedding_space as JsonObject;
  assert.deepEqual(pictures.outputs.embeddings.metadata.embedding_space, space);
  assert.equal(space.revision_status, "local");
  const { outputs } = await runOperation(rank, {
    inputs: {
      image_embeddings: pictures.outputs.embeddings,
      text_embeddings: embedded.outputs.embeddings,
      targets: targetsInput({ p: ["p"], q: ["q"] }),
    },
  });
  // The mean of a red disc on white is nearer to red than that of a blue square on black.
  for (const item of itemsOf(outputs.rankings)) assert.equal((item.ranked_ids as string[])[0], item.id);
  const scored = await runOperation(similarity, {
    inputs: { candidate: pictures.outputs.embeddings, reference: pictures.outputs.embeddings },
    params: { label: "generation.image_image_clip" },
  });
  assert.ok(Math.abs(Number(scored.metrics["generation.image_image_clip.cosine_min"]) - 1) < 1e-6);
});

Deno.test("the bundled towers find each scene by its sentence, and scenes that differ in one thing only", async () => {
  const folder = fromFileUrl(new URL("../../../recipes/models/svc-tiny-two-tower-v1", import.meta.url));
  const at = (x: number, y: number) => ({ x, y, side: 22 });
  const scenes: Scene[] = [
    { size: 96, ground: "grey", objects: [{ shape: "circle", colour: "red", ...at(6, 66) }] },
    { size: 96, ground: "grey", objects: [{ shape: "square", colour: "red", ...at(6, 66) }] },
    { size: 96, ground: "grey", objects: [{ shape: "circle", colour: "blue", ...at(6, 66) }] },
    { size: 96, ground: "grey", objects: [{ shape: "circle", colour: "red", ...at(40, 66) }] },
    { size: 96, ground: "white", objects: [{ shape: "circle", colour: "red", ...at(6, 66) }] },
  ];
  const ids = scenes.map((_, index) => `s${index}`),
    params = {
      backend: "transformers_clip",
      model_id: "svc-tiny-two-tower-v1",
    };
  const pixels = new Uint8Array(scenes.flatMap((scene) => [...paintScene(scene).pixels]));
  const images = arrayInput("image.batch.numpy", "uint8", pixels, [scenes.length, 96, 96, 3], { image_ids: ids });
  const texts = textsInput(Object.fromEntries(scenes.map((scene, index) => [ids[index], describeScene(scene)])));
  const models = { clip: folder };
  const [pictured, worded] = [
    await runOperation(imageEmbed, { inputs: { images }, params, models }),
    await runOperation(textEmbed, { inputs: { texts }, params, models }),
  ];
  const { outputs } = await runOperation(rank, {
    inputs: {
      image_embeddings: pictured.outputs.embeddings,
      text_embeddings: worded.outputs.embeddings,
      targets: targetsInput(Object.fromEntries(ids.map((id) => [id, [id]]))),
    },
  });
  for (const item of itemsOf(outputs.rankings)) assert.equal((item.ranked_ids as string[])[0], item.id);
});

Deno.test("a text side without projection is refused with what it gives", async () => {
  const { "onnx/vision_model.onnx": vision, ...others } = tinyClip();
  const params = { backend: "transformers_clip", model_id: "m" };
  const wrong = { ...others, "onnx/text_model.onnx": tinyDiffusion()["text_encoder/model.onnx"] };
  const texts = textsInput({ a: "red" });
  await refuses(
    "model_unavailable",
    () => runOperation(textEmbed, { inputs: { texts }, params, models: { clip: wrong } }),
  );
  const images = twoPictures();
  const files = { "onnx/vision_model.onnx": vision, "preprocessor_config.json": preprocessor(8, { resample: 9 }) };
  await refuses(
    "model_unavailable",
    () => runOperation(imageEmbed, { inputs: { images }, params, models: { clip: files } }),
  );
});

Deno.test("preprocessing is that of the published processors: CLIP's sizes and crop, ViLT's bounds", () => {
  const picture = (width: number, height: number) => ({
    width,
    height,
    data: new Uint8Array(3 * width * height).fill(51),
  });
  const shape = (width: number, height: number, config: Uint8Array) =>
    pictureTensor(picture(width, height), readPreprocessor(config)).shape;
  assert.deepEqual(shape(100, 37, preprocessor(24)), [1, 3, 24, 24]);
  const vilt = (size: number) =>
    preprocessor(size, { do_center_crop: false, size_divisor: 32, size: { shortest_edge: size } });
  // 640 x 480 to 512 x 384; a wide picture is held to 1333/800 of the shorter side, and cut to multiples of 32.
  assert.deepEqual(shape(640, 480, vilt(384)), [1, 3, 384, 512]);
  assert.deepEqual(shape(1000, 100, vilt(384)), [1, 3, 64, 608]);
  const { data } = pictureTensor(
    picture(9, 9),
    readPreprocessor(preprocessor(8, { image_mean: [0.1, 0.2, 0.3], image_std: [0.5, 1, 2] })),
  );
  const values = data as Float32Array;
  for (const [channel, value] of [[0, 0.2], [1, 0], [2, -0.05]]) {
    assert.ok(Math.abs(values[64 * channel] - value) < 1e-6);
  }
});

Deno.test("masks are filled from the left, with words, and everything else stays as it came", async () => {
  const models = { masked_lm: tinyMaskedLm() };
  const fill = async (text: string, top_k: number) => {
    const { outputs, metrics } = await runOperation(repair, {
      inputs: { texts: textsInput({ a: text }) },
      params: { generator: "masked_lm", model_id: "m", top_k },
      models,
    });
    assert.equal(metrics["text.remaining_mask_count"], 0n);
    return textsOf(outputs.texts)[0].text;
  };
  // The likeliest after "rain" is a piece of a word, then a full stop: with three candidates the word wins.
  assert.equal(await fill("  Rain is [MASK]!", 1), "  Rain is ing!");
  assert.equal(await fill("  Rain is [MASK]!", 3), "  Rain is wet!");
  // A special token is never a word; the second mask sees what the first became.
  assert.equal(await fill("SUN: [MASK]", 1), "SUN: dry");
  assert.equal(await fill("wet [MASK], [MASK]", 3), "wet rain, rain");
  const untouched = await fill("no mask [mask]", 1);
  assert.equal(untouched, "no mask [mask]");
});

Deno.test("the bundled language model fills words of short reports by their neighbours", async () => {
  const folder = fromFileUrl(new URL("../../../recipes/models/svc-tiny-masked-lm-v1", import.meta.url));
  const { outputs } = await runOperation(repair, {
    inputs: {
      texts: textsInput({
        a: "[MASK] snow will reach Oslo before dawn with winds of 60 kilometres per [MASK].",
        b: "A stalled bus blocks two [MASK] of the A7 and delays traffic [MASK] 15 minutes.",
      }),
    },
    params: { model_id: "svc-tiny-masked-lm-v1" },
    models: { masked_lm: folder },
  });
  assert.deepEqual(textsOf(outputs.texts).map(({ text }) => text), [
    "heavy snow will reach Oslo before dawn with winds of 60 kilometres per hour.",
    "A stalled bus blocks two lanes of the A7 and delays traffic by 15 minutes.",
  ]);
});

Deno.test("a language model without a graph, or a tokenizer without a mask, is refused", async () => {
  const { "model.onnx": graph, ...rest } = tinyMaskedLm();
  const run = (files: Record<string, Uint8Array>) =>
    runOperation(repair, {
      inputs: { texts: textsInput({ a: "[MASK]" }) },
      params: { model_id: "m" },
      models: { masked_lm: files },
    });
  await refuses("model_unavailable", () => run(rest));
  const vocab = new TextDecoder().decode(rest["tokenizer.json"]).replaceAll("[MASK]", "[HOLE]");
  await refuses(
    "model_unavailable",
    () => run({ "model.onnx": graph, "tokenizer.json": new TextEncoder().encode(vocab) }),
  );
});

Deno.test("a pretrained answerer answers from picture and question, with the likeliest first", async () => {
  const questions = {
    json: {
      kind: "vqa.questions",
      schema_version: 1,
      items: [
        { id: "a", image_id: "p", question: "What colour?" },
        { id: "b", image_id: "q", question: "What colour?" },
        { id: "c", image_id: "p", question: "Is it?" },
      ],
    },
  };
  const inputs = { images: twoPictures(), questions };
  const { outputs } = await runOperation(answer, {
    inputs,
    params: { model_id: "m", top_k: 2 },
    models: { answerer: tinyAnswerer() },
  });
  const items = itemsOf(outputs.answers);
  assert.deepEqual(items.map((item) => item.answer), ["red", "blue", "yes"]);
  const [first] = items.map(({ candidates }) => candidates as JsonObject[]);
  assert.equal(first.length, 2);
  assert.ok(Number(first[0].confidence) >= Number(first[1].confidence) && Number(first[0].confidence) < 1);
  const { "config.json": _config, ...nameless } = tinyAnswerer();
  const models = { answerer: { ...nameless, "config.json": new TextEncoder().encode("{}") } };
  await refuses("model_unavailable", () => runOperation(answer, { inputs, params: { model_id: "m" }, models }));
});

Deno.test("the bundled answerer answers questions about number, colour, shape, place and existence, at any size", async () => {
  const folder = fromFileUrl(new URL("../../../recipes/models/svc-tiny-scene-answerer-v1", import.meta.url));
  const told = {
    "How many objects are there?": "3",
    "How many circles are there?": "2",
    "What colour is the square?": "yellow",
    "What shape is the yellow object?": "square",
    "Where is the red circle?": "bottom left",
    "Is there a blue circle?": "yes",
    "Is there a green triangle?": "no",
    "What colour is the background?": "grey",
  };
  for (const scale of [1, 2]) {
    const at = (x: number, y: number, side: number) => ({ x: x * scale, y: y * scale, side: side * scale });
    const { pixels } = paintScene({
      size: 96 * scale,
      ground: "grey",
      objects: [
        { shape: "circle", colour: "red", ...at(6, 66, 22) },
        { shape: "square", colour: "yellow", ...at(60, 10, 24) },
        { shape: "circle", colour: "blue", ...at(40, 40, 16) },
      ],
    });
    const shape = [1, 96 * scale, 96 * scale, 3];
    const images = arrayInput("image.batch.numpy", "uint8", pixels, shape, { image_ids: ["p"] });
    const asked = Object.keys(told).map((question, index) => ({ id: `q${index}`, image_id: "p", question }));
    const { outputs } = await runOperation(answer, {
      inputs: { images, questions: { json: { kind: "vqa.questions", schema_version: 1, items: asked } } },
      params: { model_id: "svc-tiny-scene-answerer-v1" },
      models: { answerer: folder },
    });
    const items = itemsOf(outputs.answers);
    assert.deepEqual(Object.fromEntries(items.map((item, i) => [asked[i].question, item.answer])), told);
    assert.ok(items.every(({ confidence }) => Number(confidence) > 0.5 && Number(confidence) <= 1));
  }
});

const SMALL = { model_id: "m", width: 16, height: 8, num_inference_steps: 4, prompt_template: "{prompt}" };
const draw = (model: Record<string, Uint8Array>, params: JsonObject = {}, seed = 1) =>
  runOperation(diffusion, {
    inputs: { state: statesInput({ a: "red", b: "blue" }) },
    params: { ...SMALL, ...params },
    models: { diffusion: model },
    seed,
  });

for (const _class_name of ["DDIMScheduler", "PNDMScheduler", "EulerDiscreteScheduler", "DPMSolverMultistepScheduler"]) {
  Deno.test(`diffusion by ${_class_name} draws what the prompt says`, async () => {
    const model = tinyDiffusion({ _class_name, skip_prk_steps: true });
    const { outputs } = await draw(model, { guidance_scale: 1 });
    assert.deepEqual(outputs.images.metadata.image_ids, ["a", "b"]);
    const { shape, data } = outputs.images.array(), samples = data as Uint8Array;
    assert.deepEqual(shape, [2, 8, 16, 3]);
    // PNDM extrapolates the noise of earlier steps, which this model makes inconsistent.
    const slack = _class_name === "PNDMScheduler" ? 60 : 1;
    const near = (at: number, rgb: number[]) =>
      rgb.forEach((value, channel) =>
        assert.ok(Math.abs(samples[at + channel] - value) <= slack, `${samples[at + channel]}`)
      );
    near(0, [255, 0, 0]);
    near(3 * 127, [255, 0, 0]);
    near(3 * 128, [0, 0, 255]);
  });
}

Deno.test("guidance leads away from the negative prompt, and the seed alone draws the noise", async () => {
  const red = (guidance_scale: number, negative_prompt: string) =>
    draw(tinyDiffusion({ prediction_type: "sample" }), { guidance_scale, negative_prompt }).then(({ outputs }) =>
      (outputs.images.array().data as Uint8Array)[0]
    );
  // The result is negative + scale (positive - negative): from grey, 0.25 of the way beyond 1 is clipped.
  assert.equal(await red(7.5, "grey"), 255);
  // Towards red from red: nothing to lead away from.
  assert.equal(await red(3, "red"), 255);
  const noise = { prediction_type: "epsilon", clip_sample: false };
  const hash = async (seed: number) =>
    sha256Hex((await draw(tinyDiffusion(noise), { prompt_template: "grey" }, seed)).bytes.images);
  assert.equal(await hash(7), await hash(7));
  assert.notEqual(await hash(7), await hash(8));
});

Deno.test("the safety checker runs where it is, and is asked for unless it is disabled", async () => {
  const flagged = await draw(tinyDiffusion({}, 0.01));
  assert.deepEqual(flagged.outputs.images.metadata.flagged, [true, true]);
  assert.ok((flagged.outputs.images.array().data as Uint8Array).every((sample) => sample === 0));
  const { "safety_checker/model.onnx": _checker, ...without } = tinyDiffusion();
  // The planner refuses a folder without the files that are asked for.
  const asked = (disable_safety_checker: boolean) =>
    diffusion.definition.models!({ model_id: "tiny", disable_safety_checker } as never)[0].files;
  assert.ok(asked(false).includes("safety_checker/model.onnx"));
  assert.deepEqual(asked(true).filter((file) => file.includes("safety")), []);
  const drawn = await draw(without, { disable_safety_checker: true });
  assert.deepEqual(drawn.outputs.images.metadata.flagged, [false, false]);
});

Deno.test("unknown samplers and settings, and sizes between latents, are refused by name", async () => {
  for (
    const setting of [{ _class_name: "KarrasVeScheduler" }, { beta_schedule: "sigmoid" }, { use_karras_sigmas: true }]
  ) {
    await refuses("model_unavailable", () => draw(tinyDiffusion(setting)));
  }
  await refuses("params_conflict", () => draw(tinyDiffusion(), { width: 20 }));
  await refuses("runtime_unavailable", () => draw(tinyDiffusion(), { device: "cuda" }));
});
