import assert from "node:assert/strict";
import {
  exactPsnrDb,
  gradientDeviation,
  isMsSsimDefined,
  isSsimDefined,
  psnrDb,
  sampleErrors,
  type StructuralScores,
  structuralSimilarity,
} from "../../../lib/numeric/scores/image_quality.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import kernel from "../../data/numeric/structural_similarity.json" with { type: "json" };
import vectors from "./image_quality_vectors.json" with { type: "json" };

interface Shape {
  height: number;
  width: number;
  channels: number;
}

/** Two unlike pictures in integer arithmetic, so that any language makes the same samples. */
function patternPair({ height, width, channels }: Shape): [Uint8Array, Uint8Array] {
  const pattern = (columnStep: number) =>
    Uint8Array.from({ length: height * width * channels }, (_, i) => {
      const row = Math.floor(i / (width * channels)), column = Math.floor(i / channels) % width, k = i % channels;
      return row * 3 + column * columnStep + k * 37 + Math.floor(row * column / 11) +
        Math.floor(row / 7) * Math.floor(column / 5);
    });
  const x = pattern(5), other = pattern(4);
  return [x, x.map((value, i) => Math.floor((value * 3 + other[i]) / 4))];
}

for (const item of vectors.cases) {
  Deno.test(`scores of ${item.height}x${item.width}x${item.channels}, range ${item.range}, agree with SciPy`, () => {
    const pair = patternPair(item);
    const [x, y] = item.range === 1 ? pair.map((samples) => Float32Array.from(samples, (v) => v / 255)) : pair;
    const near = (actual: number, expected: number) =>
      assert.ok(Math.abs(actual - expected) < 1e-9 * Math.max(1, expected), `${actual} is not ${expected}`);
    near(sampleErrors(x, y).mse, item.mse);
    near(sampleErrors(x, y).mae, item.mae);
    const scores = structuralSimilarity(x, y, item, item.range);
    near(scores.ssim!, item.ssim);
    assert.equal(scores.msSsim === null, item.ms_ssim === null);
    if (item.ms_ssim !== null) near(scores.msSsim!, item.ms_ssim);
  });
}

Deno.test("the errors of bytes are those of the same samples as numbers, at the largest differences too", () => {
  for (const length of [1, 32_768, 100_003]) {
    const drawn = Uint8Array.from({ length }, (_, i) => 97 * i + (i >> 7));
    for (const [x, y] of [[drawn, drawn.toReversed()], [new Uint8Array(length), new Uint8Array(length).fill(255)]]) {
      assert.deepEqual(sampleErrors(x, y), sampleErrors(Float32Array.from(x), Float32Array.from(y)), `${length}`);
    }
  }
});

Deno.test("the kernel gives the bits of the reference, for odd sizes, all types of samples and unaligned views", () => {
  const generator = Generator.seeded(17),
    sizes = [[11, 11], [12, 13], [17, 40], [64, 14], [177, 178], [176, 191]] as const,
    stored = kernel.scores.values();
  const same = ({ ssim, msSsim }: StructuralScores, label: string) =>
    assert.deepEqual([ssim, msSsim], stored.next().value, label);
  for (const [height, width] of sizes) {
    for (const channels of [1, 2, 3, 4]) {
      const shape = { height, width, channels }, count = height * width * channels;
      const draw = () => (generator.integers(0, 256, count + 1, "uint8") as Uint8Array).subarray(1);
      const x = draw(), noise = draw(), y = x.map((value, at) => (3 * value + noise[at]) >> 2);
      const types: [number, (samples: Uint8Array) => ArrayLike<number>][] = [
        [255, (samples) => samples],
        [1, (samples) => Float32Array.from([0, ...samples], (value) => value / 255).subarray(1)],
        [1, (samples) => Float64Array.from(samples, (value) => value / 255)],
        [65535, (samples) => Uint16Array.from(samples, (value) => 257 * value)],
      ];
      for (const [range, of] of types) {
        same(structuralSimilarity(of(x), of(y), shape, range), `${height}x${width}x${channels}`);
      }
      same(structuralSimilarity(x, Float32Array.from(y), shape, 255), "unlike types");
    }
  }
});

Deno.test("a picture equals itself exactly, and the order of the two does not matter", () => {
  const shape = { height: 180, width: 191, channels: 3 };
  const [x, y] = patternPair(shape);
  assert.deepEqual(structuralSimilarity(x, x, shape, 255), { ssim: 1, msSsim: 1 });
  const there = structuralSimilarity(x, y, shape, 255), back = structuralSimilarity(y, x, shape, 255);
  assert.ok(Math.abs(there.ssim! - back.ssim!) < 1e-12);
  assert.ok(Math.abs(there.msSsim! - back.msSsim!) < 1e-12);
});

Deno.test("images beyond the memory of the kernel are refused", () => {
  const shape = { height: 40_000, width: 40_000, channels: 1 };
  assert.throws(() => structuralSimilarity([], [], shape, 255), { name: "RangeError", message: /no memory/ });
});

Deno.test("a negative picture has a negative SSIM and an MS-SSIM of 0, not NaN", () => {
  const shape = { height: 176, width: 176, channels: 1 };
  const [x] = patternPair(shape);
  const negative = x.map((value) => 255 - value);
  const scores = structuralSimilarity(x, negative, shape, 255);
  assert.ok(scores.ssim! < -0.2);
  assert.equal(scores.msSsim, 0);
});

Deno.test("PSNR follows its definition and an exact copy scores above every finite value", () => {
  assert.ok(Math.abs(psnrDb(65.025, 255) - 30) < 1e-12);
  // One sample of 256 x 256 x 3 off by one is the best an inexact copy of 8-bit samples can do.
  const sampleCount = 256 * 256 * 3;
  const best = psnrDb(1 / sampleCount, 255);
  assert.ok(Math.abs(exactPsnrDb(99, { range: 255, sampleCount, step: 1 }) - (best + 1)) < 1e-9);
  assert.equal(exactPsnrDb(150, { range: 255, sampleCount, step: 1 }), 150);
  // The smallest step of binary32: its square underflows, the score must not.
  assert.ok(Number.isFinite(exactPsnrDb(99, { range: 1, sampleCount, step: 2 ** -149 })));
});

Deno.test("the window and the five scales must fit", () => {
  const square = (side: number) => ({ height: side, width: side + 40, channels: 1 });
  assert.equal(isSsimDefined(square(10)), false);
  assert.equal(isSsimDefined(square(11)), true);
  assert.equal(isMsSsimDefined(square(160)), false);
  assert.equal(isMsSsimDefined(square(175)), false);
  assert.equal(isMsSsimDefined(square(176)), true);
  const small = new Uint8Array(square(10).height * square(10).width);
  assert.deepEqual(structuralSimilarity(small, small, square(10), 255), { ssim: null, msSsim: null });
});

Deno.test("GMSD equals a SciPy computation, is 0 for equal images and takes the range", () => {
  const shape = { height: 10, width: 12, channels: 1 };
  const pixel = (at: number) => ({ y: Math.floor(at / 12), x: at % 12 });
  const reference = Array.from({ length: 120 }, (_, at) => {
    const { x, y } = pixel(at);
    return (7 * x + 13 * y + x * y) % 256;
  });
  const distorted = reference.map((value, at) => {
    const { x, y } = pixel(at);
    return Math.min(255, Math.max(0, value + (5 * x * y) % 17 - 8));
  });
  const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}`);
  near(gradientDeviation(distorted, reference, shape, 255), 0.003404415285773908);
  near(gradientDeviation(distorted.map((v) => v / 255), reference.map((v) => v / 255), shape, 1), 0.003404415285773908);
  assert.equal(gradientDeviation(reference, reference, shape, 255), 0);
});

/** GMSD as its formula stands, one function a step. */
function plainGmsd(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  { height, width, channels }: Shape,
  range: number,
): number {
  const rows = height >> 1, columns = width >> 1, c = 170 * (range / 255) ** 2;
  const weights = channels === 3 ? [0.299, 0.587, 0.114] : new Array<number>(channels).fill(1 / channels);
  const magnitudes = (samples: ArrayLike<number>) => {
    const luma = (row: number, column: number) =>
      weights.reduce((sum, weight, k) => sum + weight * samples[(row * width + column) * channels + k], 0);
    const halved = (row: number, column: number) =>
      row < 0 || row >= rows || column < 0 || column >= columns ? 0 : [0, 1, 2, 3].reduce(
        (sum, part) => sum + luma(2 * row + (part >> 1), 2 * column + (part & 1)) / 4,
        0,
      );
    return Array.from({ length: rows * columns }, (_, i) => {
      const row = Math.floor(i / columns), column = i % columns;
      const sum = (one: (step: number) => number) => [-1, 0, 1].reduce((total, step) => total + one(step), 0);
      const across = sum((step) => halved(row + step, column + 1) - halved(row + step, column - 1));
      const down = sum((step) => halved(row + 1, column + step) - halved(row - 1, column + step));
      return Math.hypot(across, down) / 3;
    });
  };
  const g = magnitudes(x), h = magnitudes(y);
  const similarity = g.map((value, i) => (2 * value * h[i] + c) / (value ** 2 + h[i] ** 2 + c));
  const mean = similarity.reduce((sum, value) => sum + value, 0) / similarity.length;
  return Math.sqrt(similarity.reduce((sum, value) => sum + (value - mean) ** 2, 0) / similarity.length);
}

Deno.test("GMSD has the bits of its formula, for odd sizes, flat regions and all types of samples", () => {
  const generator = Generator.seeded(29);
  for (const [height, width, channels] of [[4, 4, 1], [5, 9, 3], [16, 7, 4], [33, 22, 3]]) {
    const bytes = () => generator.integers(0, 256, height * width * channels, "uint8").map((v, i) => i % 5 < 2 ? 0 : v);
    const [x, y] = [bytes(), bytes()], shape = { height, width, channels };
    assert.equal(gradientDeviation(x, y, shape, 255), plainGmsd(x, y, shape, 255));
    const scaled = (samples: Uint8Array) => Float32Array.from(samples, (value) => value / 255);
    const doubled = (samples: Uint8Array) => Float64Array.from(samples, (value) => value / 255);
    assert.equal(gradientDeviation(scaled(x), scaled(y), shape, 1), plainGmsd(scaled(x), scaled(y), shape, 1));
    assert.equal(gradientDeviation(doubled(x), doubled(y), shape, 1), plainGmsd(doubled(x), doubled(y), shape, 1));
  }
});
