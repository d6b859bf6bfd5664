/** Autoencoders from folders of ONNX files, and the indices of their codebooks, on one whose answers are known by hand. */
import assert from "node:assert/strict";
import diffusers from "../../../ops/codec/diffusers.ts";
import { imagesArtifact, imagesOf } from "../../../lib/artifact/values.ts";
import type { InputArtifact } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { scalingModel } from "../../support/onnx_writer.ts";
import { tinyAutoencoder } from "../../support/tiny_models.ts";
import { refuses, runOperation } from "../harness.ts";

const [klEncode, klDecode, vqEncode, vqDecode, vqIndices, vqLatents] = diffusers;

const models = { autoencoder: tinyAutoencoder() };
/** Blocks of 4 by 4 pixels in given colours, two rows of two. */
function blocks(colours: readonly (readonly number[])[], dtype: "uint8" | "float32" = "uint8") {
  const channels = colours[0].length;
  const data = Array.from({ length: 64 * channels }, (_, at) => {
    const pixel = Math.floor(at / channels), block = 2 * Math.floor(pixel / 32) + Math.floor(pixel % 8 / 4);
    return colours[block][at % channels];
  });
  const samples = dtype === "uint8" ? Uint8Array.from(data) : Float32Array.from(data, (value) => value / 255);
  return imagesArtifact({ count: 1, height: 8, width: 8, channels, dtype, data: samples }, { image_ids: ["a"] });
}

const COLOURS = [[255, 0, 51], [0, 255, 102], [10, 20, 30], [200, 210, 220]];
const encode = (params: JsonObject = {}, images = blocks(COLOURS), seed?: number) =>
  runOperation(klEncode, { inputs: { images }, params: { model_id: "models/vae", ...params }, models, seed });
const decode = async (latents: InputArtifact, params: JsonObject = {}) =>
  (await runOperation(klDecode, { inputs: { latents }, params: { model_id: "models/vae", ...params }, models })).outputs
    .images;
const shared = (name: string, body: () => Promise<void>) =>
  Deno.test(name, { sanitizeOps: false, sanitizeResources: false }, body);

shared("latents are scaled means, and images come back exactly", async () => {
  const { outputs: { latents }, metrics } = await encode();
  const { shape, data } = latents.array();
  assert.deepEqual(shape, [1, 3, 2, 2]);
  const wanted = [0, 1, 2].flatMap((c) => COLOURS.map((colour) => (colour[c] / 127.5 - 1) * 0.18215));
  wanted.forEach((value, i) => assert.ok(Math.abs(Number(data[i]) - value) < 1e-6, `${i}`));
  assert.equal(metrics["codec.latents_per_pixel"], 12 / 64);
  assert.deepEqual(
    imagesOf(await decode(latents)).data,
    blocks(COLOURS).array!.data,
  );
  assert.deepEqual(latents.metadata.image_ids, ["a"]);
});

shared("grey and float images come back in their form", async () => {
  for (const dtype of ["uint8", "float32"] as const) {
    const images = blocks([[0], [85], [170], [255]], dtype);
    const batch = imagesOf(await decode((await encode({}, images)).outputs.latents));
    assert.deepEqual([batch.channels, batch.dtype], [1, dtype]);
    const scale = dtype === "uint8" ? 1 : 255;
    [0, 85, 170, 255].forEach((value, block) => {
      const at = 32 * (block >> 1) + 4 * (block & 1);
      assert.ok(Math.abs(batch.data[at] * scale - value) < 1e-3, `${batch.data[at]}`);
    });
  }
});

shared("a draw is mean + exp(log variance / 2) times the standard normals of the seed", async () => {
  const { outputs: { latents } } = await encode({ sample_mode: "sample", scale_latents: false }, undefined, 7);
  const mean = (await encode({ scale_latents: false })).outputs.latents.array().data as Float32Array;
  const noise = Generator.seeded(7n).standardNormal(12), drawn = latents.array().data as Float32Array;
  drawn.forEach((value, i) => assert.ok(Math.abs(value - mean[i] - Math.exp(-1) * noise[i]) < 1e-6, `${i}`));
});

shared("latents of other files or another scaling are refused", async () => {
  const { outputs: { latents } } = await encode();
  await refuses("artifact_hash_mismatch", () => decode(latents, { scaling_factor: 0.5 }));
  await refuses("artifact_hash_mismatch", () => decode(latents, { scale_latents: false }));
  const unknown = Object.assign(Object.create(latents), { metadata: {} });
  await refuses("artifact_hash_mismatch", () => decode(unknown));
});

shared("lost images are grey and reported", async () => {
  const { outputs: { latents } } = await encode();
  const lost = Object.assign(Object.create(latents), { metadata: { ...latents.metadata, failed_item_indices: [0] } });
  const images = await decode(lost);
  assert.deepEqual(images.metadata.delivered, [false]);
  assert.ok(imagesOf(images).data.every((value) => value === 128));
});

shared("vectors go to the nearest entry, at both ends", async () => {
  const params = { model_id: "models/vq" };
  const { outputs: { latents }, metrics } = await runOperation(vqEncode, {
    inputs: { images: blocks(COLOURS) },
    params,
    models,
  });
  const data = latents.array().data as Float32Array;
  // The second colour is nearest to green, the dark one to black, the bright one to white.
  assert.deepEqual([0, 1, 2].map((c) => data[4 * c]), [1, -1, -1]);
  assert.deepEqual([0, 1, 2].map((c) => data[4 * c + 1]), [-1, 1, -1]);
  assert.deepEqual([0, 1, 2].map((c) => data[4 * c + 2]), [-1, -1, -1]);
  assert.deepEqual([0, 1, 2].map((c) => data[4 * c + 3]), [1, 1, 1]);
  // Nine entries need four bits for 16 pixels.
  assert.equal(metrics["rate.native_codec_bpp"], 0.25);
  const images = (await runOperation(vqDecode, { inputs: { latents }, params, models })).outputs.images;
  assert.deepEqual([...imagesOf(images).data.subarray(0, 3)], [255, 0, 0]);
  await refuses("artifact_hash_mismatch", () => decode(latents));
});

shared("entries become their indices and come back", async () => {
  const params = { model_id: "models/vq" }, images = blocks(COLOURS);
  const { latents } = (await runOperation(vqEncode, { inputs: { images }, params, models })).outputs;
  const { indices } = (await runOperation(vqIndices, { inputs: { latents }, params, models })).outputs;
  const found = indices.array();
  assert.deepEqual(found.shape, [1, 2, 2]);
  assert.equal(indices.metadata.codebook_size, 9);
  const back = async (data: Int32Array, metadata: JsonObject = {}) => {
    const given = { array: ndarray("int32", data, found.shape), metadata: { ...indices.metadata, ...metadata } };
    return (await runOperation(vqLatents, { inputs: { indices: given }, params, models })).outputs.latents;
  };
  const rebuilt = await back(found.data as Int32Array);
  assert.deepEqual(rebuilt.array(), latents.array());
  const image = (await runOperation(vqDecode, { inputs: { latents: rebuilt }, params, models })).outputs.images;
  assert.deepEqual([...imagesOf(image).data.subarray(0, 3)], [255, 0, 0]);
  await refuses("boundary_value_invalid", () => back(Int32Array.of(0, 1, 2, 9)));
  await refuses("boundary_count_mismatch", () => back(found.data as Int32Array, { source_item_counts: [1] }));
});

shared("unusable graphs and codebooks are refused", async () => {
  const images = blocks(COLOURS), params = { model_id: "m" };
  const flat = {
    ...models.autoencoder,
    "vae_encoder/model.onnx": scalingModel([1, 3, "y", "x"], 2, { input: "sample", output: "latent_sample" }),
  };
  const drawn = { ...params, sample_mode: "sample" };
  await refuses(
    "model_unavailable",
    () => runOperation(klEncode, { inputs: { images }, params: drawn, models: { autoencoder: flat } }),
  );
  const wrong = { ...models.autoencoder, "codebook.npy": new Uint8Array([1, 2, 3]) };
  const quantised = { inputs: { images }, params, models: { autoencoder: wrong } };
  await refuses("artifact_npy_invalid", () => runOperation(vqEncode, quantised));
});
