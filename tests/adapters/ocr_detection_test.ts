/** Lines of text in scenes: boxes of hand-made maps, their order, and the published detector on the composited signs. */
import assert from "node:assert/strict";
import { boxes, inReadingOrder } from "../../adapters/ocr_reader/detect.ts";
import { read } from "../../adapters/ocr_reader/read.ts";
import { type Box, scaled, wholeImage } from "../../adapters/ocr_reader/sample.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { parseTextManifest } from "../../lib/artifact/text_manifest.ts";
import { wordsRead } from "../../lib/numeric/scores/corpus_scores.ts";
import { contextOf } from "./_context.ts";

const SCENES = new URL("../../adapters/ocr_reader/scenes/", import.meta.url);
const near = (got: readonly number[], wanted: readonly number[], tolerance = 1e-9) =>
  got.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < tolerance, `${got} against ${wanted}`));

/** A map with probability p inside a shape. */
function map(rows: number, columns: number, inside: (x: number, y: number) => number): Float32Array {
  return Float32Array.from({ length: rows * columns }, (_, at) => inside(at % columns, Math.floor(at / columns)));
}

Deno.test("a region becomes its rectangle, grown by 2 area / perimeter", () => {
  const [box, ...others] = boxes(map(40, 64, (x, y) => x >= 10 && x < 40 && y >= 12 && y < 22 ? 0.9 : 0.1), 40, 64);
  assert.equal(others.length, 0);
  // 30 by 10 pixels: 2 · 300 / 80 = 7.5 on each side.
  near([...box.origin, ...box.across, ...box.down], [2.5, 4.5, 45, 0, 0, 25]);
});

Deno.test("a turned region has a turned rectangle, whose first side goes to the right", () => {
  const angle = 0.3, [ux, uy] = [Math.cos(angle), Math.sin(angle)];
  const turned = (x: number, y: number) => {
    const u = (x - 60) * ux + (y - 50) * uy, v = (y - 50) * ux - (x - 60) * uy;
    return Math.abs(u) < 40 && Math.abs(v) < 8 ? 1 : 0;
  };
  const [box] = boxes(map(100, 120, turned), 100, 120);
  assert.ok(Math.abs(Math.atan2(box.across[1], box.across[0]) - angle) < 0.02);
  near([Math.hypot(...box.across), Math.hypot(...box.down)], [80 + 2 * 13.3, 16 + 2 * 13.3], 4);
  near(
    [
      box.origin[0] + (box.across[0] + box.down[0]) / 2,
      box.origin[1] + (box.across[1] + box.down[1]) / 2,
    ],
    [60.5, 50.5],
    1,
  );
});

Deno.test("faint, small and separate regions", () => {
  const faint = (x: number, y: number) => x > 5 && x < 40 && y > 5 && y < 15 ? 0.5 : 0;
  assert.deepEqual(boxes(map(32, 64, faint), 32, 64), []);
  assert.deepEqual(boxes(map(32, 64, (x, y) => x > 5 && x < 40 && (y === 7 || y === 8) ? 1 : 0), 32, 64), []);
  assert.equal(
    boxes(map(32, 64, (x, y) => x % 32 > 4 && x % 32 < 28 && y % 16 > 4 && y % 16 < 12 ? 1 : 0), 32, 64).length,
    4,
  );
});

Deno.test("lines are read from top to bottom, and a tilted row from left to right", () => {
  const box = (x: number, y: number): Box => ({ origin: [x, y], across: [40, -8], down: [2, 10] });
  const order = inReadingOrder([box(60, 20), box(10, 40), box(10, 30), box(60, 50)].map((each) => each));
  assert.deepEqual(order.map(({ origin }) => origin), [[10, 30], [60, 20], [10, 40], [60, 50]]);
});

Deno.test("a turned box is sampled along its sides", () => {
  const size = 32, data = Float32Array.from({ length: size * size * 3 }, (_, at) => Math.floor(at / 3) % size / 64);
  const image = { dtype: "float32" as const, shape: [1, size, size, 3], data };
  // Down the image along the first side: columns run over y, rows over 24 - x.
  const box: Box = { origin: [24, 4], across: [0, 16], down: [-16, 0] };
  const { data: part } = scaled(image, 0, box, { rows: 4, columns: 8 });
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 8; column++) {
      near([Number(part[row * 8 + column])], [(24 - 4 * (row + 0.5) - 0.5) / 64], 1e-6);
    }
  }
  near([Number(scaled(image, 0, wholeImage(image), { rows: size, columns: size }).data[5])], [5 / 64], 1e-6);
});

Deno.test("nearly every word of the undistorted scenes is read, and none without a sign", async () => {
  const { samples } = parseTextManifest(await Deno.readFile(new URL("texts.json", SCENES)));
  assert.equal(samples.length, 24);
  const chosen = samples.slice(0, 8), size = 192 * 256 * 3, data = new Uint8Array((chosen.length + 1) * size).fill(128);
  for (const [index, { sample_id }] of chosen.entries()) {
    data.set(decodeImage(await Deno.readFile(new URL(`${sample_id}.jpg`, SCENES))).data, index * size);
  }
  const images = { dtype: "uint8" as const, shape: [chosen.length + 1, 192, 256, 3], data };
  const { texts } = await read(images, { layout: "scene" }, contextOf("ocr_reader"));
  assert.equal(texts.pop(), "");
  const words = chosen.map(({ text }) => String(text).split(" "));
  const found = words.map((each, index) => wordsRead(texts[index], each));
  assert.ok(found.reduce((a, b) => a + b) >= words.flat().length - 1, texts.join(" | "));
});
