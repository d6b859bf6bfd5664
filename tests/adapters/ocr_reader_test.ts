/** The text reader: input and decoding by hand, and every sign read without an error before any codec or channel. */
import assert from "node:assert/strict";
import { decoded, line, read } from "../../adapters/ocr_reader/read.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { parseTextManifest } from "../../lib/artifact/text_manifest.ts";
import { characterErrors } from "../../lib/numeric/scores/corpus_scores.ts";
import { contextOf } from "./_context.ts";

const SIGNS = new URL("../../adapters/ocr_reader/signs/", import.meta.url);

Deno.test("the network gets 48 rows, blue first, interpolated between pixel centres", () => {
  const ramp = Float32Array.from({ length: 96 * 96 * 3 }, (_, i) => (i % 3 + 1) * Math.floor(i / (3 * 96)) / 400);
  const { shape, data } = line({ dtype: "float32", shape: [1, 96, 96, 3], data: ramp }, 0);
  assert.deepEqual(shape, [1, 3, 48, 48]);
  for (let plane = 0; plane < 3; plane++) {
    for (let y = 0; y < 48; y++) {
      // Halved, the centre of row y lies between rows 2y and 2y + 1.
      const expected = 2 * (3 - plane) * (2 * y + 0.5) / 400 - 1;
      assert.ok(Math.abs(Number(data[(plane * 48 + y) * 48 + 7]) - expected) < 1e-6, `plane ${plane}, row ${y}`);
    }
  }
  const grey = { dtype: "uint8" as const, shape: [2, 48, 8, 1], data: new Uint8Array(2 * 48 * 8).fill(255, 48 * 8) };
  assert.ok((line(grey, 0).data as Float32Array).every((value) => value === -1));
  assert.ok((line(grey, 1).data as Float32Array).every((value) => value === 1));
});

Deno.test("greedy decoding joins repetitions and separates them at blanks", () => {
  const path = [0, 1, 1, 0, 1, 2, 2, 0], data = new Float32Array(3 * path.length).fill(0.1);
  path.forEach((best, column) => data[3 * column + best] = 0.8);
  const { text, confidence } = decoded({ dtype: "float32", shape: [1, path.length, 3], data }, ["a", "b"]);
  assert.equal(text, "aab");
  assert.ok(Math.abs(confidence - 0.8) < 1e-6);
  const blank = new Float32Array([1, 0, 0]);
  assert.deepEqual(decoded({ dtype: "float32", shape: [1, 1, 3], data: blank }, ["a", "b"]), {
    text: "",
    confidence: 0,
  });
});

Deno.test("every sign is read without an error, and a grey image has no text", async () => {
  const { samples } = parseTextManifest(await Deno.readFile(new URL("texts.json", SIGNS)));
  assert.equal(samples.length, 24);
  const size = 256 * 64 * 3, data = new Uint8Array((samples.length + 1) * size).fill(128);
  for (const [index, { sample_id }] of samples.entries()) {
    const image = decodeImage(await Deno.readFile(new URL(`${sample_id}.png`, SIGNS)));
    assert.deepEqual([image.width, image.height, image.channels], [256, 64, 3]);
    data.set(image.data, index * size);
  }
  const images = { dtype: "uint8" as const, shape: [samples.length + 1, 64, 256, 3], data };
  const { texts } = await read(images, {}, contextOf("ocr_reader"));
  assert.equal(texts.pop(), "");
  const errors = texts.map((text, index) => characterErrors(text, String(samples[index].text)).errors);
  assert.deepEqual(errors, samples.map(() => 0), texts.join(", "));
});
