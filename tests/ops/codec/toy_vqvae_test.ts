import assert from "node:assert/strict";
import toyVqvae from "../../../ops/codec/toy_vqvae.ts";
import stored from "../../../ops/codec/_toy_codebook.json" with { type: "json" };
import { toyCodebook } from "../../../ops/codec/_toy_codebook.ts";
import { trainToyCodebook } from "../../../ops/codec/_train_toy_codebook.ts";
import { indexAssignment } from "../../../lib/numeric/coding/index_assignment.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { refuses, runOperation } from "../harness.ts";
import { testWhole } from "../../support/sample.ts";

const [encode, decode] = toyVqvae;

interface Picture {
  height: number;
  width: number;
  channels?: number;
  data: Uint8Array | Float32Array;
}

function batch({ height, width, channels = 1, data }: Picture, metadata: JsonObject = {}) {
  const dtype = data instanceof Uint8Array ? "uint8" : "float32";
  const count = data.length / (height * width * channels);
  return { images: { ...imagesArtifact({ count, height, width, channels, dtype, data }, metadata) } };
}

/** A picture of these codewords of a grey codebook, four in a row. */
function mosaic(size: number, patchSize: number, words: readonly number[]): Picture {
  const { dimension, data } = toyCodebook(1, size, patchSize);
  const rows = words.length / 4, width = 4 * patchSize, picture = new Uint8Array(rows * patchSize * width);
  words.forEach((word, at) => {
    for (let y = 0; y < patchSize; y++) {
      const to = (Math.floor(at / 4) * patchSize + y) * width + (at % 4) * patchSize;
      picture.set(data.subarray(word * dimension + y * patchSize, word * dimension + (y + 1) * patchSize), to);
    }
  });
  return { height: rows * patchSize, width, data: picture };
}

const indicesOf = async (inputs: ReturnType<typeof batch>, params: JsonObject = {}) =>
  (await runOperation(encode, { inputs, params })).outputs.indices;

Deno.test("a picture made of codewords comes back unchanged, for every size of codebook", async () => {
  for (const codebook_size of [16, 64, 256]) {
    const words = Array.from({ length: 12 }, (_, i) => (i * 37 + 5) % codebook_size);
    const picture = mosaic(codebook_size, 8, words);
    const indices = await indicesOf(batch(picture), { codebook_size });
    assert.deepEqual(indices.array().shape, [1, 3, 4]);
    assert.deepEqual([...indices.array().data], words);
    const { outputs } = await runOperation(decode, { inputs: { indices } });
    assert.deepEqual(outputs.images.array(), ndarray("uint8", picture.data, [1, 24, 32, 1]));
  }
});

Deno.test("patches of every size work, and equal codewords go to the first", async () => {
  for (const patch_size of [1, 3, 4, 8, 16, 64]) {
    const words = [0, 5, 9, 15, 3, 3, 12, 1];
    const { dimension, data } = toyCodebook(1, 16, patch_size);
    const codeword = (word: number) => data.subarray(word * dimension, (word + 1) * dimension).toHex();
    const firstEqual = words.map((word) => Array.from({ length: 16 }, (_, i) => codeword(i)).indexOf(codeword(word)));
    const indices = await indicesOf(batch(mosaic(16, patch_size, words)), { codebook_size: 16, patch_size });
    assert.deepEqual([...indices.array().data], firstEqual, `patch size ${patch_size}`);
  }
});

Deno.test("odd sizes are continued by their edges, recorded, and cut off again", async () => {
  const height = 13, width = 30, channels = 3;
  const pixel = (y: number, x: number, c: number) => (y * 19 + x * 7 + c * 40) % 256;
  const picture = (rows: number, columns: number) => ({
    height: rows,
    width: columns,
    channels,
    data: Uint8Array.from({ length: rows * columns * channels }, (_, i) => {
      const c = i % channels, x = Math.floor(i / channels) % columns, y = Math.floor(i / channels / columns);
      return pixel(Math.min(y, height - 1), Math.min(x, width - 1), c);
    }),
  });
  const odd = await indicesOf(batch(picture(height, width)));
  assert.deepEqual(odd.metadata.patch_padding, { right: 2, bottom: 3 });
  assert.deepEqual(odd.metadata.source_item_counts, [8]);
  // The same picture, continued by hand to whole patches.
  const whole = await indicesOf(batch(picture(16, 32)));
  assert.deepEqual(odd.array(), whole.array());
  assert.deepEqual(odd.array().shape, [1, 2, 4]);

  const decoded = async (indices: typeof odd) =>
    (await runOperation(decode, { inputs: { indices } })).outputs.images.array();
  const cut = await decoded(odd), full = await decoded(whole);
  assert.deepEqual(cut.shape, [1, height, width, channels]);
  for (let y = 0; y < height; y++) {
    const line = width * channels;
    const expected = full.data.slice(y * 32 * channels, y * 32 * channels + line);
    assert.deepEqual(cut.data.slice(y * line, (y + 1) * line), expected, `line ${y}`);
  }
});

Deno.test("float pictures take the indices of 8-bit ones and come back as floats", async () => {
  const bytes = mosaic(64, 8, [1, 20, 40, 63]);
  const picture = { ...bytes, data: Float32Array.from(bytes.data as Uint8Array, (value) => value / 255) };
  const indices = await indicesOf(batch(picture));
  assert.deepEqual([...indices.array().data], [1, 20, 40, 63]);
  const { outputs } = await runOperation(decode, { inputs: { indices } });
  assert.deepEqual(outputs.images.array(), ndarray("float32", picture.data as Float32Array, [1, 8, 32, 1]));
});

Deno.test("labels of another assignment give the same picture, and are those of the patches", async () => {
  const words = [0, 9, 22, 63, 40, 41, 17, 5], picture = mosaic(64, 8, words);
  for (const index_assignment of ["gray", "random", "by_distance"] as const) {
    const indices = await indicesOf(batch(picture), { index_assignment });
    const labels = indexAssignment(index_assignment, toyCodebook(1, 64, 8));
    assert.deepEqual([...indices.array().data], words.map((word) => labels[word]));
    const { outputs } = await runOperation(decode, { inputs: { indices } });
    assert.deepEqual(outputs.images.array().data, picture.data, index_assignment);
    assert.equal(outputs.images.metadata.index_assignment, undefined);
    const unknown = { ...indices, metadata: { ...indices.metadata, index_assignment: "another" } };
    await refuses("boundary_value_invalid", () => runOperation(decode, { inputs: { indices: unknown } }));
  }
});

Deno.test("the rate is that of the indices, and the use of the codebook is measured", async () => {
  const inputs = batch(mosaic(64, 8, [7, 7, 7, 7, 9, 9, 9, 9]));
  const { metrics } = await runOperation(encode, { inputs });
  assert.equal(metrics["codec.native_bit_count"], 48n);
  assert.equal(metrics["rate.native_codec_bpp"], 48 / 512);
  assert.equal(metrics["codec.codebook_used_entries"], 2);
  assert.equal(metrics["codec.codebook_perplexity"], 2);
});

Deno.test("no other patch of the codebook is nearer than the chosen one", async () => {
  const data = Uint8Array.from({ length: 8 * 8 * 3 * 20 }, (_, i) => (i * 7919 + (i >> 4) * 31) % 256);
  const indices = await indicesOf(batch({ height: 8, width: 160, channels: 3, data }), { codebook_size: 64 });
  const { dimension, data: words } = toyCodebook(3, 64, 8);
  const distance = (word: number, column: number) => {
    let sum = 0;
    for (let i = 0; i < dimension; i++) {
      const y = Math.floor(i / 24), from = y * 480 + column * 24 + i % 24;
      sum += (data[from] - words[word * dimension + i]) ** 2;
    }
    return sum;
  };
  indices.array().data.forEach((chosen, column) => {
    const all = Array.from({ length: 64 }, (_, word) => distance(word, column));
    assert.equal(Number(chosen), all.indexOf(Math.min(...all)));
  });
});

Deno.test("alpha channels, foreign indices and indices beyond the codebook are refused", async () => {
  const rgba = { height: 8, width: 8, channels: 4, data: new Uint8Array(256) };
  await refuses("boundary_shape_invalid", () => indicesOf(batch(rgba)));
  const indices = await indicesOf(batch(mosaic(16, 8, [1, 2, 3, 4])), { codebook_size: 16 });
  const decoded = (array: Int32Array, metadata: JsonObject) =>
    runOperation(decode, { inputs: { indices: { array: ndarray("int32", array), metadata } } });
  const words = indices.array().data as Int32Array;
  await refuses("boundary_value_invalid", () => decoded(words.map(() => 16), indices.metadata));
  await refuses("boundary_shape_invalid", () => decoded(words.slice(1), indices.metadata));
  await refuses("boundary_value_invalid", () => decoded(words, { ...indices.metadata, codebook_size: 17 }));
  await refuses("boundary_value_invalid", () => decoded(words, { ...indices.metadata, codebook_id: "another" }));
});

testWhole("the bundled codebook is what the training script makes", async () => {
  assert.equal(await trainToyCodebook(1, 16), stored.grey["16"]);
});

Deno.test("the bundled codebook is ordered from dark to bright", () => {
  for (const [channels, size] of [[1, 256], [3, 64]]) {
    const { dimension, data } = toyCodebook(channels, size, 8);
    const brightness = Array.from(
      { length: size },
      (_, word) => data.slice(word * dimension, (word + 1) * dimension).reduce((sum, sample) => sum + sample, 0),
    );
    assert.deepEqual(brightness, brightness.toSorted((a, b) => a - b));
  }
});
