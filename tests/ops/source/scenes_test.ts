import assert from "node:assert/strict";
import { itemsOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { toNumber } from "../../../lib/contract/value.ts";
import scenes from "../../../ops/source/synthetic_scenes.ts";
import { refuses, runOperation } from "../harness.ts";

const draw = (params: JsonObject = {}, seed?: number) => runOperation(scenes, { params, seed });

Deno.test("boxes are the tight boxes of the raster, of its classes and of the picture's shapes", async () => {
  const { outputs } = await draw({ example_count: 6, object_count_max: 8 });
  const raster = outputs.segmentation.array(), images = outputs.images.array();
  const [count, size] = raster.shape;
  assert.deepEqual(outputs.segmentation.metadata.class_names, ["background", "circle", "square", "triangle"]);
  itemsOf(outputs.detections).forEach(({ id, detections }, scene) => {
    assert.equal(id, (outputs.images.metadata.image_ids as string[])[scene]);
    const offset = scene * size * size;
    let covered = 0;
    for (const { label_id, box, confidence } of detections as JsonObject[]) {
      assert.equal(toNumber(confidence as number), 1);
      const [left, top, right, bottom] = (box as number[]).map(toNumber);
      const seen = { left: Infinity, top: Infinity, right: -1, bottom: -1 };
      for (let y = top; y < bottom; y++) {
        for (let x = left; x < right; x++) {
          const value = Number(raster.data[offset + y * size + x]);
          if (value === 0) continue;
          assert.equal(value, 1 + (label_id as number));
          covered++;
          seen.left = Math.min(seen.left, x);
          seen.right = Math.max(seen.right, x + 1);
          seen.top = Math.min(seen.top, y);
          seen.bottom = Math.max(seen.bottom, y + 1);
        }
      }
      assert.deepEqual(seen, { left, top, right, bottom });
    }
    const classes = raster.data.subarray(offset, offset + size * size) as Uint8Array;
    assert.equal(classes.filter((value) => value > 0).length, covered, "a class lies outside every box");
    // The upper left corner is ground; every other pixel has its colour exactly where the raster is 0.
    const pixel = (at: number) => [...images.data.subarray(3 * (offset + at), 3 * (offset + at) + 3)].join();
    for (let at = 0; at < size * size; at++) assert.equal(classes[at] === 0, pixel(at) === pixel(0));
  });
  assert.equal(count, 6);
});

Deno.test("answers are true of the boxes and colours, and questions of a kind without a unique subject are not asked", async () => {
  const { outputs } = await draw({ example_count: 64 });
  const answers = new Map(itemsOf(outputs.answers).map(({ id, answer }) => [id, answer]));
  const boxes = new Map(itemsOf(outputs.detections).map(({ id, detections }) => [id, detections as JsonObject[]]));
  const texts = new Map(itemsOf(outputs.texts).map(({ id, text }) => [id, (text as string).toLowerCase()]));
  const kinds = new Map<string, number>();
  for (const { id, image_id, question } of itemsOf(outputs.questions)) {
    const answer = answers.get(id) as string, found = boxes.get(image_id)!, text = texts.get(image_id)!;
    const kind = (id as string).replace(/^scene_\d+_/, "");
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const word = (question as string).match(/(circle|square|triangle)/)?.[1];
    const alike = found.filter(({ label }) => label === word).length;
    if (kind === "count") assert.equal(answer, String(found.length));
    if (kind === "count_shape") assert.equal(answer, String(alike));
    if (kind === "colour") {
      assert.equal(alike, 1);
      assert.ok(text.includes(`a ${answer} ${word} at`), `${question} ${answer} | ${text}`);
    }
    if (kind === "shape") {
      const colour = (question as string).match(/the (\w+) object/)![1];
      assert.equal(text.split(` ${colour} `).length, 2, "the colour stands there once");
      assert.ok(text.includes(`a ${colour} ${answer} at`));
    }
    if (kind === "position") {
      const [, colour, shape] = (question as string).match(/the (\w+) (\w+)\?/)!;
      assert.match(text, new RegExp(`a ${colour} ${shape} at the ${answer}( and|,| on)`));
    }
  }
  assert.equal(answers.size, [...kinds.values()].reduce((sum, number) => sum + number));
  assert.equal(kinds.get("count"), 64);
  assert.equal(kinds.get("count_shape"), 64);
  for (const kind of ["colour", "shape", "position"]) {
    assert.ok(kinds.get(kind)! > 32 && kinds.get(kind)! < 64, `${kind}: ${kinds.get(kind)}`);
  }
});

Deno.test("a text's targets are the scenes of the same words, its own among them", async () => {
  // One object and few grounds: some sentences come twice.
  const { outputs } = await draw({ example_count: 300, image_size: 64, object_count_max: 1 });
  const texts = new Map(itemsOf(outputs.texts).map(({ id, text }) => [id, text]));
  const targets = itemsOf(outputs.targets);
  assert.ok(targets.some(({ relevant_ids }) => (relevant_ids as string[]).length > 1));
  for (const { id, relevant_ids } of targets) {
    assert.ok((relevant_ids as string[]).includes(id as string));
    for (const other of relevant_ids as string[]) assert.equal(texts.get(other), texts.get(id));
  }
});

Deno.test("the label is the shape of the largest object", async () => {
  const { outputs } = await draw({ example_count: 32 });
  const labels = itemsOf(outputs.labels);
  itemsOf(outputs.detections).forEach(({ detections }, index) => {
    const side = ({ box }: JsonObject) => toNumber((box as number[])[2]) - toNumber((box as number[])[0]);
    const largest = Math.max(...(detections as JsonObject[]).map(side));
    const first = (detections as JsonObject[]).find((detection) => side(detection) === largest)!;
    assert.equal(labels[index].label, first.label);
  });
});

Deno.test("more objects at least than at most are refused", async () => {
  await refuses("params_conflict", () => draw({ object_count_min: 4 }));
});
