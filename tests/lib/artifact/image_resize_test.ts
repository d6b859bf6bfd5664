import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import {
  centreCrop,
  gaussianBlur,
  resizeShorterSide,
  resizeTriangle,
  roundSamples,
} from "../../../lib/artifact/image_resize.ts";
import type { Image } from "../../../lib/artifact/image.ts";
import vectors from "../../data/pictures/vectors.json" with { type: "json" };
import { bytesFrom } from "./_fuzz.ts";

const source: Image = { width: 45, height: 31, channels: 3, data: bytesFrom(vectors.source.samples) };

Deno.test("resizing agrees with Pillow's bilinear filter to one level", () => {
  for (const { width, height, samples } of vectors.resized_by_pillow) {
    const ours = roundSamples(resizeTriangle(source, width, height)), theirs = bytesFrom(samples);
    assert.equal(ours.length, theirs.length);
    const differences = ours.map((value, i) => Math.abs(value - theirs[i]));
    assert.ok(Math.max(...differences) <= 1, `${width} x ${height}`);
    // Pillow rounds between its passes, so most samples must agree exactly.
    assert.ok(differences.filter((d) => d > 0).length < 0.2 * ours.length, `${width} x ${height}`);
  }
});

Deno.test("resizing known pictures", () => {
  const line = (data: number[]) => ({ width: data.length, height: 1, channels: 1, data: Float64Array.from(data) });
  // Halving: the window of 4 source pixels around each centre has the weights 1, 3, 3, 1; pixels beyond the edge are left out.
  assert.deepEqual([...resizeTriangle(line([0, 7, 14, 21]), 2, 1)], [
    (0 * 3 + 7 * 3 + 14) / 7,
    (7 + 14 * 3 + 21 * 3) / 7,
  ]);
  // Doubling interpolates at quarters.
  assert.deepEqual([...resizeTriangle(line([0, 8]), 4, 1)], [0, 2, 6, 8]);
  assert.deepEqual([...resizeTriangle(source, 45, 31)], [...source.data], "the same size");
  const flat = { width: 37, height: 23, channels: 3, data: new Uint8Array(37 * 23 * 3).fill(201) };
  assert.ok(resizeTriangle(flat, 5, 50).every((value) => Math.abs(value - 201) < 1e-10), "a flat picture stays flat");
});

Deno.test("the shorter side is set and the longer one follows, rounded down", () => {
  const sizes = (side: number) => {
    const { width, height, data } = resizeShorterSide(source, side);
    assert.equal(data.length, width * height * 3);
    return [width, height];
  };
  assert.deepEqual(sizes(10), [14, 10]);
  assert.deepEqual(sizes(31), [45, 31]);
  assert.deepEqual(sizes(62), [90, 62]);
  assert.throws(() => resizeShorterSide(source, 0), RangeError);
});

Deno.test("the crop lies in the middle, at floor offsets", () => {
  const data = Uint8Array.from({ length: 5 * 4 }, (_, i) => i);
  const crop = centreCrop({ width: 5, height: 4, channels: 1, data }, 2);
  assert.deepEqual([...crop.data], [6, 7, 11, 12]);
  assert.throws(
    () => centreCrop(source, 32),
    (error) => error instanceof SvcError && error.code === "boundary_shape_invalid" && error.hint!.includes("31"),
  );
});

Deno.test("blurring agrees with SciPy's Gaussian filter to rounding errors", () => {
  for (const { sigma, values } of vectors.blurred_by_scipy_green) {
    const theirs = new Float64Array(bytesFrom(values).buffer);
    const ours = gaussianBlur(source, sigma).filter((_, i) => i % 3 === 1);
    assert.equal(ours.length, theirs.length);
    ours.forEach((value, i) => assert.ok(Math.abs(value - theirs[i]) < 1e-9, `sigma ${sigma}, sample ${i}`));
  }
  assert.deepEqual([...gaussianBlur(source, 0)], [...source.data]);
});

Deno.test("samples are rounded once, halves to even, and kept in range", () => {
  assert.deepEqual([...roundSamples(Float64Array.from([0.5, 1.5, 2.5, -3, 255.4, 300]))], [0, 2, 2, 0, 255, 255]);
});

Deno.test("the channels of a colour image are resized as grey images are, to the bit", () => {
  const width = 37, height = 23, data = Uint8Array.from({ length: width * height * 3 }, (_, i) => i * i % 251);
  const colour = resizeTriangle({ width, height, channels: 3, data }, 11, 40);
  for (let k = 0; k < 3; k++) {
    const one = data.filter((_, i) => i % 3 === k);
    const grey = resizeTriangle({ width, height, channels: 1, data: one }, 11, 40);
    assert.deepEqual(colour.filter((_, i) => i % 3 === k), grey);
  }
});
