import assert from "node:assert/strict";
import imageDataset from "../../../ops/source/image_dataset.ts";
import { readBundledFile } from "../../../lib/artifact/bundled.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { writePng } from "../../../lib/artifact/png_encode.ts";
import { imageAt, imagesOf } from "../../../lib/artifact/values.ts";
import { sha256Hex, sha256Json } from "../../../lib/contract/hash.ts";
import type { FileAccess } from "../../../lib/contract/operation.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const BUNDLED: FileAccess = {
  read: (path) => Promise.reject(new Error(`unexpected read of ${path}`)),
  blocks: (path) => assert.fail(`unexpected read of ${path}`),
  list: (path) => Promise.reject(new Error(`unexpected listing of ${path}`)),
  bundled: (dataset, path) => readBundledFile(dataset, path, { stateDir: "/nonexistent" }),
};

async function sampleImages(params: JsonObject) {
  const { outputs } = await runOperation(imageDataset, {
    params: { dataset: "svc_sample_images", image_ids: "", ...params },
    files: BUNDLED,
  });
  return outputs.images;
}

Deno.test("the sample photographs come cropped from the middle, in the order asked for", async () => {
  const images = await sampleImages({ image_ids: "rocket, coffee", crop_size: 64 });
  assert.deepEqual(images.array().shape, [2, 64, 64, 3]);
  assert.deepEqual(images.metadata.image_ids, ["rocket", "coffee"]);
  assert.deepEqual(images.metadata.dataset, { id: "svc_sample_images", version: "svc_sample_images-v1" });
  // rocket.jpg has full chroma resolution; coffee.png is no JPEG.
  assert.deepEqual(images.metadata.jpeg_subsampling, ["444", null]);
  const whole = decodeImage(await BUNDLED.bundled("svc_sample_images", "coffee.png"));
  const top = Math.floor((400 - 64) / 2), left = Math.floor((600 - 64) / 2);
  const cropped = Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => {
    const row = Math.floor(i / 192), column = Math.floor(i / 3) % 64;
    return whole.data[((top + row) * 600 + left + column) * 3 + i % 3];
  });
  assert.deepEqual(imageAt(imagesOf(images), 1), cropped);
});

Deno.test("grey becomes RGB beside colour, and stays grey alone", async () => {
  const mixed = imagesOf(await sampleImages({ image_ids: "camera,chelsea", crop_size: 32 }));
  assert.equal(mixed.channels, 3);
  const pixels = imageAt(mixed, 0);
  for (let i = 0; i < pixels.length; i += 3) assert.ok(pixels[i] === pixels[i + 1] && pixels[i] === pixels[i + 2]);
  const alone = imagesOf(await sampleImages({ image_ids: "camera", crop_size: 32 }));
  assert.equal(alone.channels, 1);
  assert.deepEqual(imageAt(alone, 0), pixels.filter((_, i) => i % 3 === 0));
});

Deno.test("a split replaces an empty list, resizing comes before cropping, repetition renames", async () => {
  const train = await sampleImages({ split: "train", resize_shorter_side: 48, crop_size: 48, repeat_count: 2 });
  assert.deepEqual(train.array().shape, [4, 48, 48, 3]);
  assert.deepEqual(train.metadata.image_ids, ["coffee", "rocket", "coffee#2", "rocket#2"]);
  assert.deepEqual(imageAt(imagesOf(train), 0), imageAt(imagesOf(train), 2));
});

Deno.test("images of unequal size are one batch, each with its own size", async () => {
  const images = imagesOf(await sampleImages({ image_ids: "coffee,camera,chelsea", resize_shorter_side: 30 }));
  assert.deepEqual(images.sizes, [{ height: 30, width: 45 }, { height: 30, width: 30 }, { height: 30, width: 45 }]);
  assert.equal(images.channels, 3);
  const alone = imagesOf(await sampleImages({ image_ids: "chelsea", resize_shorter_side: 30 }));
  assert.deepEqual(imageAt(images, 2), imageAt(alone, 0));
  await refuses("boundary_shape_invalid", () => sampleImages({ image_ids: "chelsea", crop_size: 301 }));
});

Deno.test("what cannot be found is refused before anything runs, with the nearest name", () => {
  const check = (params: JsonObject) =>
    imageDataset.definition.check!({
      dataset: "kodak",
      image_ids: "",
      split: "",
      manifest_path: "",
      manifest_sha256: "",
      dataset_dir: "",
      ...params,
    }, new Set());
  const messages = (params: JsonObject) => check(params).map(({ message, hint }) => `${message}. ${hint}`).join("\n");
  assert.match(messages({ dataset: "svc_sample_images", image_ids: "cofee" }), /coffee\?/);
  assert.match(messages({ dataset: "svc_sample_images", image_ids: "coffee,coffee" }), /coffee twice/);
  assert.match(messages({ dataset: "svc_sample_images", split: "dev" }), /train, validation, test/);
  assert.match(messages({ dataset: "my_photos" }), /my_photos without a manifest/);
  assert.match(messages({ dataset: "my_photos", manifest_path: "m.json" }), /without manifest_sha256/);
  assert.match(messages({ dataset: "kodak" }), /List image_ids/);
  assert.match(messages({ image_ids: "kodim25" }), /kodim2/);
  assert.deepEqual(check({ image_ids: "kodim01,kodim24" }), []);
});

Deno.test("plans ask for kodak, the bundled set, or the manifest", () => {
  const requires = (params: JsonObject) =>
    imageDataset.definition.requires!({ dataset_dir: ".svc/datasets/kodak", manifest_path: "", ...params });
  assert.deepEqual(requires({ dataset: "kodak" }), [{ kind: "dataset", id: "kodak" }]);
  assert.deepEqual(requires({ dataset: "svc_sample_images" }), [{ kind: "dataset", id: "svc_sample_images" }]);
  assert.deepEqual(requires({ dataset: "kodak", dataset_dir: "my/kodak" }), []);
  assert.deepEqual(requires({ dataset: "mine", manifest_path: "mine/manifest.json" }), [
    { kind: "file", id: "mine/manifest.json" },
  ]);
});

/** A data set of one's own: two small pictures under a manifest. */
function ownDataset() {
  const picture = (value: number) =>
    writePng({ width: 4, height: 3, channels: 1, data: new Uint8Array(12).fill(value) });
  const transform = { name: "identity" };
  const pictures: Record<string, Uint8Array> = { a: picture(10), b: picture(20) };
  const samples = Object.entries(pictures).map(([id, bytes]) => ({
    sample_id: id,
    path: `${id}.png`,
    sha256: sha256Hex(bytes),
    source_id: id,
    group_id: id,
    source_sha256: sha256Hex(bytes),
    ancestry_ids: [id],
    transform,
    transform_fingerprint_sha256: sha256Json(transform),
  }));
  const manifest = new TextEncoder().encode(JSON.stringify({
    schema_version: 1,
    kind: "svc.image_dataset_manifest",
    id: "mine",
    version: 3,
    root: "pictures",
    splits: { test: ["b", "a"] },
    samples,
  }));
  const files = {
    "data/manifest.json": manifest,
    "data/pictures/a.png": pictures.a,
    "data/pictures/b.png": pictures.b,
  };
  const params = {
    dataset: "mine",
    image_ids: "",
    split: "test",
    manifest_path: "data/manifest.json",
    manifest_sha256: sha256Hex(manifest),
  };
  return { files, params };
}

Deno.test("a data set of one's own is read through its pinned manifest", async () => {
  const { files, params } = ownDataset();
  const { outputs } = await runOperation(imageDataset, { params, files });
  assert.deepEqual(outputs.images.array().shape, [2, 3, 4, 1]);
  assert.deepEqual(outputs.images.metadata.image_ids, ["b", "a"]);
  assert.deepEqual(outputs.images.metadata.dataset, { id: "mine", version: "3" });
  assert.deepEqual([...outputs.images.array().data as Uint8Array].slice(10, 14), [20, 20, 10, 10]);
});

Deno.test("without ids and split all samples of the manifest are used, in its order", async () => {
  const { files, params } = ownDataset();
  const all = { ...params, split: "" };
  assert.deepEqual(imageDataset.definition.check!({ ...all, dataset_dir: "" }, new Set()), []);
  const { outputs } = await runOperation(imageDataset, { params: all, files });
  assert.deepEqual(outputs.images.metadata.image_ids, ["a", "b"]);
});

Deno.test("another manifest, another picture, or another id is refused", async () => {
  const { files, params } = ownDataset();
  const run = (more: JsonObject, changed: Record<string, Uint8Array> = {}) =>
    runOperation(imageDataset, { params: { ...params, ...more }, files: { ...files, ...changed } });
  await refuses("boundary_hash_mismatch", () => run({ manifest_sha256: "0".repeat(64) }));
  await refuses("boundary_hash_mismatch", () => run({}, { "data/pictures/a.png": files["data/pictures/b.png"] }));
  await refuses("dataset_manifest_invalid", () => run({ dataset: "yours" }));
  await refuses("dataset_sample_unknown", () => run({ image_ids: "c" }));
  await refuses("dataset_split_unknown", () => run({ split: "train" }));
});

Deno.test("kodak is read from its folder", async () => {
  const file = writePng({ width: 2, height: 2, channels: 3, data: new Uint8Array(12).fill(7) });
  const { outputs } = await runOperation(imageDataset, {
    params: { image_ids: "kodim07", dataset_dir: "pictures/" },
    files: { "pictures/kodim07.png": file },
  });
  assert.deepEqual(outputs.images.metadata.dataset, { id: "kodak", version: "kodak-24" });
  assert.deepEqual(outputs.images.metadata.source_files, [{ sha256: sha256Hex(file) }]);
});
