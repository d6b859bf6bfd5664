import assert from "node:assert/strict";
import indicesNoise from "../../../ops/noise/representation_indices.ts";
import latentsNoise from "../../../ops/noise/representation_latents.ts";
import { float, type JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { refuses, runOperation } from "../harness.ts";

const counting = (size: number) => ({
  indices: {
    array: ndarray("int32", Int32Array.from({ length: size }, (_, i) => i % 16)),
    metadata: { codebook_size: 16 },
  },
});

async function noisyIndices(size: number, params: JsonObject) {
  const { outputs } = await runOperation(indicesNoise, { inputs: counting(size), params });
  assert.equal(outputs.indices.metadata.codebook_size, 16);
  return [...outputs.indices.array().data as Int32Array];
}

// NumPy: rng = default_rng(7); mask = rng.random(12) < 0.4; replacements = rng.integers(0, 16, 12, dtype=np.int64).
Deno.test("indices are replaced as NumPy's stream says", async () => {
  const random = await noisyIndices(12, { mode: "random_replace", probability: 0.4, seed: 7 });
  assert.deepEqual(random, [0, 1, 2, 7, 7, 5, 9, 7, 8, 9, 12, 12]);
  const dropout = await noisyIndices(12, { mode: "dropout", probability: 0.4, replacement: 15, seed: 7 });
  assert.deepEqual(dropout, [0, 1, 2, 15, 15, 5, 15, 7, 8, 9, 15, 15]);
});

// NumPy: default_rng(3).random(40) < 0.1 starts bursts at 0, 4, 20, 28, 31.
Deno.test("bursts run from their starts, overlap, and end with the array", async () => {
  const params = { mode: "burst", probability: 0.1, burst_length: 10, replacement: 0, seed: 3 };
  const hit = (await noisyIndices(40, params)).map((index, i) => index !== i % 16);
  const expected = Array.from(
    { length: 40 },
    (_, i) => [0, 4, 20, 28, 31].some((start) => i >= start && i < start + 10),
  );
  // An index that was 0 before cannot show that it was hit.
  assert.deepEqual(hit, expected.map((inside, i) => inside && i % 16 !== 0));
});

Deno.test("one bit of the hit indices is inverted, counted from the most significant one", async () => {
  const flipped = (bit: number, probability = 1) =>
    noisyIndices(16, { mode: "bit_flip", bit, probability: float(probability), seed: 7 });
  assert.deepEqual(await flipped(0), [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await flipped(3), [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14]);
  // The hits of the seed are those of dropout above: 3, 4, 6, 10 and 11 of the first 12.
  assert.deepEqual((await flipped(1, 0.4)).slice(0, 12), [0, 1, 2, 7, 0, 5, 2, 7, 8, 9, 14, 15]);
  await refuses("params_conflict", () => flipped(4));
  const odd = { indices: { array: ndarray("int32", Int32Array.of(1, 5)), metadata: { codebook_size: 12 } } };
  const wrapped = await runOperation(indicesNoise, { inputs: odd, params: { mode: "bit_flip", probability: 1 } });
  assert.deepEqual([...wrapped.outputs.indices.array().data as Int32Array], [9, 13 % 12]);
});

Deno.test("indices of 64 bits keep their type; mode none keeps everything", async () => {
  const array = ndarray("int64", BigInt64Array.from([3n, 9n, 15n, 0n]), [2, 2]);
  const inputs = { indices: { array, metadata: { codebook_size: 16 } } };
  const all = await runOperation(indicesNoise, { inputs, params: { mode: "dropout", probability: 1, replacement: 5 } });
  assert.deepEqual(all.outputs.indices.array(), { ...array, data: BigInt64Array.of(5n, 5n, 5n, 5n) });
  const none = await runOperation(indicesNoise, { inputs });
  assert.deepEqual(none.outputs.indices.array(), array);
});

Deno.test("replacements outside the codebook, or without one, are refused", async () => {
  const params = { mode: "dropout", probability: 0.5, replacement: 16 };
  await refuses("params_invalid", () => runOperation(indicesNoise, { inputs: counting(4), params }));
  const bare = { indices: { array: ndarray("int32", Int32Array.of(1, 2)) } };
  await refuses(
    "boundary_value_invalid",
    () => runOperation(indicesNoise, { inputs: bare, params: { mode: "random_replace", probability: 1 } }),
  );
  const small = { indices: { array: ndarray("uint8", Uint8Array.of(1, 2)) } };
  await refuses(
    "params_invalid",
    () => runOperation(indicesNoise, { inputs: small, params: { mode: "dropout", probability: 1, replacement: 300 } }),
  );
});

// NumPy: (linspace(-1, 1, 8, dtype=float32).astype(float64) + 0.5 * default_rng(7).standard_normal(8)).astype(float32)
Deno.test("Gaussian latents are NumPy's, rounded once", async () => {
  const latents = Float32Array.from({ length: 8 }, (_, i) => -1 + (2 * i) / 7);
  const { outputs } = await runOperation(latentsNoise, {
    inputs: { latents: { array: ndarray("float32", latents, [2, 4]) } },
    params: { mode: "gaussian", sigma: 0.5, seed: 7 },
  });
  const expected = [
    -0.9993849396705627,
    -0.5649129748344421,
    -0.565640389919281,
    -0.588153064250946,
    -0.08447824418544769,
    -0.06725184619426727,
    0.7443575263023376,
    1.6701076030731201,
  ];
  assert.deepEqual([...outputs.latents.array().data as Float32Array], expected);
  assert.deepEqual(outputs.latents.array().shape, [2, 4]);
});

Deno.test("dropped latents are 0, and their share is the probability", async () => {
  const size = 20_000, probability = 0.3;
  const { outputs } = await runOperation(latentsNoise, {
    inputs: { latents: { array: ndarray("float32", new Float32Array(size).fill(1)) } },
    params: { mode: "dropout", probability, seed: 1 },
  });
  const zeros = (outputs.latents.array().data as Float32Array).filter((value) => value === 0).length;
  // Four standard deviations of the binomial count.
  assert.ok(Math.abs(zeros - size * probability) < 4 * Math.sqrt(size * probability * (1 - probability)));
});

Deno.test("latents of another type are refused", async () => {
  const inputs = { latents: { array: ndarray("int32", Int32Array.of(1, 2)) } };
  await refuses("boundary_dtype_invalid", () => runOperation(latentsNoise, { inputs }));
});
