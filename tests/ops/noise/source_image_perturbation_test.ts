import assert from "node:assert/strict";
import perturb from "../../../ops/noise/source_image_perturbation.ts";
import { imagesArtifact, imagesOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { runOperation } from "../harness.ts";

const SMALL = imagesArtifact({
  count: 1,
  height: 4,
  width: 2,
  channels: 3,
  dtype: "uint8",
  data: Uint8Array.from({ length: 24 }, (_, i) => i * 10),
});

async function noisy(params: JsonObject, images = SMALL) {
  return imagesOf((await runOperation(perturb, { inputs: { images }, params })).outputs.images).data;
}

// NumPy: clip(rint(x + 0.2 * 255 * default_rng(11).standard_normal(24)), 0, 255).
Deno.test("Gaussian noise is NumPy's field, clipped and rounded", async () => {
  assert.deepEqual([...await noisy({ mode: "gaussian", sigma: 0.2, seed: 11 })], [
    2,
    79,
    82,
    4,
    25,
    23,
    89,
    67,
    118,
    0,
    180,
    105,
    155,
    123,
    121,
    174,
    202,
    160,
    172,
    225,
    156,
    133,
    240,
    196,
  ]);
});

// NumPy: rng = default_rng(11); m = rng.random(24) < 0.5; v = rng.random(24); x[m] = where(v < 0.5, 255, 0)[m].
Deno.test("salt and pepper fall where NumPy's stream says", async () => {
  assert.deepEqual([...await noisy({ mode: "salt_pepper", probability: 0.5, seed: 11 })], [
    255,
    0,
    20,
    0,
    0,
    50,
    255,
    255,
    80,
    90,
    255,
    110,
    120,
    255,
    0,
    150,
    160,
    170,
    180,
    190,
    200,
    0,
    220,
    255,
  ]);
});

// NumPy: u = default_rng(11).random(4); rows floor(12 u[0]) = 1 and floor(12 u[2]) = 7, columns floor(16 u) = 7 and 0.
Deno.test("each image gets one square patch", async () => {
  const images = imagesArtifact({
    count: 2,
    height: 16,
    width: 20,
    channels: 1,
    dtype: "float32",
    data: new Float32Array(640).fill(0.25),
  });
  const data = await noisy({ mode: "patch_mask", patch_size: 5, mask_value: 0.75, seed: 11 }, images);
  const inside = (row: number, column: number, top: number, left: number) =>
    row >= top && row < top + 5 && column >= left && column < left + 5;
  const expected = Float32Array.from({ length: 640 }, (_, i) => {
    const row = Math.floor(i / 20) % 16, column = i % 20;
    return (i < 320 ? inside(row, column, 1, 7) : inside(row, column, 7, 0)) ? 0.75 : 0.25;
  });
  assert.deepEqual(data, expected);
  // A patch larger than the image covers it.
  const covered = await noisy({ mode: "patch_mask", patch_size: 100 }, images);
  assert.ok(covered.every((value) => value === 0));
});

Deno.test("blurring keeps flat images and the mean, and draws nothing", async () => {
  const flat = imagesArtifact({
    count: 2,
    height: 9,
    width: 7,
    channels: 1,
    dtype: "uint8",
    data: Uint8Array.from({ length: 126 }, (_, i) => i < 63 ? 40 : 200),
  });
  // The second image must not leak into the first.
  assert.deepEqual(await noisy({ mode: "blur", blur_radius: 2 }, flat), flat.array!.data);
  const edge = Float32Array.from({ length: 64 }, (_, i) => i % 8 < 4 ? 0 : 1);
  const image = imagesArtifact({ count: 1, height: 8, width: 8, channels: 1, dtype: "float32", data: edge });
  const blurred = await noisy({ mode: "blur", blur_radius: 1 }, image) as Float32Array;
  assert.ok(Math.abs(blurred.reduce((a, b) => a + b) - 32) < 1e-4);
  assert.ok(blurred[3] > 0.2 && blurred[3] < 0.5 && blurred[4] > 0.5 && blurred[4] < 0.8);
  assert.deepEqual(await noisy({ mode: "blur", blur_radius: 1, seed: 5 }, image), blurred);
});

Deno.test("the noise power is sigma squared of the range, and no noise changes nothing", async () => {
  const size = 64 * 64 * 3;
  const grey = imagesArtifact({
    count: 1,
    height: 64,
    width: 64,
    channels: 3,
    dtype: "float32",
    data: new Float32Array(size).fill(0.5),
  });
  const data = await noisy({ mode: "gaussian", sigma: 0.05, seed: 3 }, grey) as Float32Array;
  const variance = data.reduce((sum, value) => sum + (value - 0.5) ** 2, 0) / size;
  // Four standard deviations of the sample variance of a Gaussian.
  assert.ok(Math.abs(variance - 0.0025) < 4 * 0.0025 * Math.sqrt(2 / size));
  assert.deepEqual(await noisy({}), SMALL.array!.data);
  assert.deepEqual(await noisy({ mode: "gaussian", sigma: 0 }), SMALL.array!.data);
  assert.deepEqual(await noisy({ mode: "blur", blur_radius: 0 }), SMALL.array!.data);
});
