import assert from "node:assert/strict";
import vqaPayload from "../../../ops/foundation/vqa_payload.ts";
import select from "../../../ops/foundation/vqa_semantic_select.ts";
import { answerByRules } from "../../../ops/foundation/_vqa_rules.ts";
import jpeg from "../../../ops/codec/jpeg.ts";
import detection from "../../../ops/metrics/detection.ts";
import vqa from "../../../ops/metrics/vqa.ts";
import { readVqaRecords } from "../../../ops/source/_vqa_records.ts";
import vqaFamily from "../../../ops/source/vqa.ts";
import scenes from "../../../ops/source/synthetic_scenes.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { recordedRate } from "../../../lib/contract/metric_metadata.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { readPlainScene } from "../../../lib/numeric/image/plain_scene.ts";
import { paintScene } from "../../../lib/numeric/image/scenes.ts";
import { answersInput, packetBits, packetInput, questionsInput, twoPictures } from "../_fixtures/meaning.ts";
import { type GivenInput, refuses, runOperation } from "../harness.ts";

const [encode, decode, answerFromPacket] = vqaPayload;

const [smoke, manifest, smallSample] = vqaFamily;

const [jpegEncode, jpegDecode] = jpeg;

const EXACT = "vqa.single_reference_exact_match";
const itemsOf = (input: { json(): JsonObject }) => input.json().items as JsonObject[];

async function score(images: GivenInput, questions: GivenInput, answers: GivenInput) {
  const { outputs } = await runOperation(select, { inputs: { images, questions } });
  const answered = await runOperation(answerFromPacket, { inputs: { packet: outputs.packet } });
  const { metrics } = await runOperation(vqa, { inputs: { candidate: answered.outputs.answers, reference: answers } });
  return { accuracy: metrics[EXACT], detections: outputs.detections };
}

Deno.test("all questions of synthetic scenes are answered, and the objects they are about lie in their boxes", async () => {
  const { outputs } = await runOperation(scenes, { params: { example_count: 40, object_count_max: 5 }, seed: 8 });
  const { accuracy, detections } = await score(outputs.images, outputs.questions, outputs.answers);
  assert.equal(accuracy, 1);
  const { metrics } = await runOperation(detection, {
    inputs: { candidate: detections, reference: outputs.detections },
  });
  assert.equal(metrics["detection.f1_at_iou_0p5_conf_0"], 1);
});

Deno.test("JPEG at quality 95 leaves the answers, at quality 5 it does not; a packet says the same in a fraction of the bits", async () => {
  const { outputs } = await runOperation(scenes, { params: { example_count: 16 }, seed: 23 });
  const compressed = async (quality: number) => {
    const encoded = await runOperation(jpegEncode, { inputs: { images: outputs.images }, params: { quality } });
    const { images } = (await runOperation(jpegDecode, { inputs: { bits: encoded.outputs.bits } })).outputs;
    const { accuracy } = await score(images, outputs.questions, outputs.answers);
    return { accuracy, bits: Number(encoded.metrics["codec.bit_count"]) };
  };
  const [good, poor] = [await compressed(95), await compressed(5)];
  assert.equal(good.accuracy, 1);
  assert.ok(Number(poor.accuracy) < 0.8, `${poor.accuracy}`);
  const inputs = { images: outputs.images, questions: outputs.questions };
  const { packet } = (await runOperation(select, { inputs })).outputs;
  const { metrics } = await runOperation(encode, { inputs: { packet } });
  const bits = Number(metrics["codec.bit_count"]);
  assert.ok(good.bits > 40 * bits && poor.bits > 20 * bits, `${good.bits / bits} and ${poor.bits / bits}`);
});

Deno.test("the built-in questions are answered, in both spellings", async () => {
  const { outputs } = await runOperation(smoke);
  assert.equal((await score(outputs.images, outputs.questions, outputs.answers)).accuracy, 1);
});

Deno.test("rules pick by colour and shape words, and say when they know nothing", () => {
  const scene = (objects: Parameters<typeof paintScene>[0]["objects"]) => {
    const data = paintScene({ size: 96, ground: "white", objects }).pixels;
    return readPlainScene({ width: 96, height: 96, data });
  };
  const size = { width: 96, height: 96 };
  const two = scene([
    { colour: "red", shape: "circle", x: 4, y: 4, side: 20 },
    { colour: "green", shape: "circle", x: 48, y: 48, side: 40 },
  ]);
  const answers = {
    "What colour is the circle?": "green",
    "What shape is the red object?": "circle",
    "Where is the green circle?": "bottom right",
    "How many green circles are there?": "1",
    "Is there a blue square?": "no",
    "Is there a red circle?": "yes",
    "What colour is the background?": "white",
    "Where is the blue square?": "unknown",
    "Who painted this?": "unknown",
  };
  for (const [question, answer] of Object.entries(answers)) {
    assert.equal(answerByRules(question, two, size).answer, answer, question);
  }
  assert.deepEqual(answerByRules("What colour is it?", scene([]), size), { answer: "unknown", about: [] });
});

Deno.test("detections hold what the questions are about, and nothing else", async () => {
  const { outputs } = await runOperation(select, { inputs: { images: twoPictures(), questions: questionsInput() } });
  assert.deepEqual(itemsOf(outputs.packet), [{ id: "p1", selected_label: "red" }, { id: "q1", selected_label: "0" }]);
  const [p, q] = itemsOf(outputs.detections);
  assert.deepEqual((p.detections as JsonObject[]).map(({ label }) => label), ["circle"]);
  assert.deepEqual(q.detections, []);
  await refuses(
    "pair_ids_mismatch",
    () => runOperation(select, { inputs: { images: twoPictures(["p", "other"]), questions: questionsInput() } }),
  );
});

Deno.test("labels travel one line a question, and come back", async () => {
  const labels = { p1: "top left", q1: 'grün\n"0"' };
  const { outputs, metrics } = await runOperation(encode, { inputs: { packet: packetInput(labels) } });
  const text = '"top left"\n"grün\\n\\"0\\""\n';
  assert.equal(metrics["codec.bytes"], BigInt(new TextEncoder().encode(text).length));
  assert.deepEqual(outputs.bits.metadata.question_ids, ["p1", "q1"]);
  const decoded = await runOperation(decode, { inputs: { bits: outputs.bits } });
  assert.deepEqual(itemsOf(decoded.outputs.packet), packetInput(labels).json.items);
});

Deno.test("a damaged line fails, or costs its own question alone", async () => {
  const lost: [string[], JsonObject][] = [
    [['"red"\n', "{]\n"], {}],
    [['"red"\n', "17\n"], {}],
    [['"red"\n', '"0"\n'], { failed_item_indices: [1] }],
    [['"red"\n', '"0"\n'], { source_item_counts: [48, 40] }],
  ];
  for (const [lines, metadata] of lost) {
    const bits = packetBits(lines, metadata);
    await refuses("boundary_utf8_invalid", () => runOperation(decode, { inputs: { bits } }));
    const { outputs } = await runOperation(decode, { inputs: { bits }, params: { on_error: "replace" } });
    assert.deepEqual(itemsOf(outputs.packet).map((item) => item.selected_label), ["red", ""]);
    assert.deepEqual(outputs.packet.metadata.failed_item_indices, [1]);
    assert.deepEqual(outputs.packet.metadata.delivered, [true, false]);
  }
  const nameless = packetBits(undefined, { question_ids: null });
  await refuses("boundary_value_invalid", () => runOperation(decode, { inputs: { bits: nameless } }));
  const short = packetBits(undefined, { source_item_counts: [80] });
  await refuses("boundary_count_mismatch", () => runOperation(decode, { inputs: { bits: short } }));
});

Deno.test("answers are compared after trimming, case folding and collapsing white space", async () => {
  const reference = answersInput({ a: "Top  left", b: "Straße", c: "red", d: "2" });
  const candidate = answersInput({ a: " top left ", b: "STRASSE", c: "reddish", d: "" });
  const { metrics, outputs } = await runOperation(vqa, { inputs: { candidate, reference } });
  assert.equal(metrics[EXACT], 0.5);
  assert.deepEqual((outputs.report.json().items as JsonObject[]).map(({ correct }) => correct), [
    true,
    true,
    false,
    false,
  ]);
  await refuses(
    "pair_ids_mismatch",
    () => runOperation(vqa, { inputs: { candidate: answersInput({ a: "" }), reference } }),
  );
  await refuses(
    "boundary_empty",
    () => runOperation(vqa, { inputs: { candidate: answersInput({}), reference: answersInput({}) } }),
  );
});

Deno.test("local records are read as a list or line by line; a picture is loaded once", async () => {
  const picture = writePng({ width: 12, height: 10, channels: 1, data: new Uint8Array(120).fill(33) }).slice();
  const records = [
    { id: "one", image: "i/a.png", question: "Q?", answer: "A" },
    { image: "i/a.png", question: "R?", answer: "B" },
    { image: "i/b.png", question: "S?", answer: "C" },
  ];
  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  const files = { "d/m": lines, "d/list.json": JSON.stringify(records), "d/i/a.png": picture, "e/i/a.png": picture };
  const read = (params: JsonObject) =>
    runOperation(manifest, { params: { limit: 2, image_size: 6, ...params }, files });
  const either: JsonObject[] = [{ manifest_path: "d/m" }, { manifest_path: "d/list.json", image_root: "e" }];
  for (const params of either) {
    const { outputs } = await read(params);
    assert.deepEqual(outputs.images.array().shape, [1, 6, 6, 3]);
    assert.deepEqual(itemsOf(outputs.questions), [
      { id: "one", image_id: "i/a.png", question: "Q?" },
      { id: "1", image_id: "i/a.png", question: "R?" },
    ]);
    assert.deepEqual(itemsOf(outputs.answers).map(({ answer }) => answer), ["A", "B"]);
  }
  await refuses("boundary_file_missing", () => read({ manifest_path: "d/m", limit: 3 }));
  const small = await runOperation(smallSample, {
    params: { dataset_dir: "d", split: "train", limit: 1, image_size: 6 },
    files: { ...files, "d/train.jsonl": lines },
  });
  assert.equal(itemsOf(small.outputs.answers).length, 1);
  const again = `${lines}\n{"id": "one", "image": "a", "question": "q", "answer": "a"}`;
  const damaged = {
    boundary_value_invalid: ["[1]", "{", '{"image": "a", "question": "q"}'],
    pair_ids_mismatch: [again],
  };
  for (const [code, texts] of Object.entries(damaged)) {
    for (const m of texts) {
      await refuses(code, () => runOperation(manifest, { params: { manifest_path: "m" }, files: { m } }));
    }
  }
});

Deno.test("annotators who agree count: three others who say the same make an answer right", async () => {
  const accuracy = async (answer: string, answers: string[]) => {
    const batch = (item: JsonObject) => ({
      kind: "vqa.answers.json",
      json: { kind: "vqa.answers", schema_version: 1, items: [{ id: "q0", ...item }] },
    });
    const inputs = { candidate: batch({ answer }), reference: batch({ answer: answers[0], answers }) };
    const { metrics, metadata } = await runOperation(vqa, { inputs });
    const rate = recordedRate(metadata, "vqa.accuracy"), value = metrics["vqa.accuracy"];
    if (rate === null) assert.equal(value, undefined);
    else assert.ok(Math.abs(1 - rate.events / rate.trials - Number(value)) < 1e-12);
    return value;
  };
  const answers = ["2", "two", "Two.", "3", "3", "3", "3", "3", "the 3", "4"];
  // Three of ten say 2: the three have two others, the seven have three; (3·2/3 + 7)/10.
  assert.ok(Math.abs(Number(await accuracy("two", answers)) - 0.9) < 1e-12);
  // One says 4: itself has no other, the nine others have one.
  assert.ok(Math.abs(Number(await accuracy("4", answers)) - 0.3) < 1e-12);
  assert.equal(await accuracy("a 3", answers), 1);
  assert.equal(await accuracy("five", answers), 0);
  assert.equal(await accuracy("5", ["5"]), undefined);
});

Deno.test("a record with several answers and none of its own takes the most frequent one", () => {
  const record = { image: "a.png", question: "how many?" };
  const [read] = readVqaRecords(JSON.stringify([{ ...record, answers: ["3", "2", "2"] }]), "m.json");
  assert.deepEqual(read, { id: "0", ...record, answer: "2", answers: ["3", "2", "2"] });
  assert.throws(() => readVqaRecords(JSON.stringify([{ ...record, answer: "2", answers: [2] }]), "m.json"));
});
