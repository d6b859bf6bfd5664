import assert from "node:assert/strict";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { open } from "../../../mod.ts";
import { parseImageManifest } from "../../../lib/artifact/dataset_manifest.ts";
import { archiveBytes, holdsImages, labelsFile, makeArchiveManifest } from "../../../lib/artifact/image_archive.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { prettyJson } from "../../../lib/contract/json.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { temporaryFolder } from "../../support/temporary.ts";

/** An IDX file of bytes. */
function idx(sizes: number[], data: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(4 + 4 * sizes.length + data.length), view = new DataView(bytes.buffer);
  view.setUint32(0, 0x800 + sizes.length);
  sizes.forEach((size, at) => view.setUint32(4 + 4 * at, size));
  bytes.set(data, 4 + 4 * sizes.length);
  return bytes;
}

const PIXELS = Uint8Array.from({ length: 2 * 3 * 4 }, (_, at) => 10 * at);
const refuses = (bytes: Uint8Array, path: string, labels?: Uint8Array) =>
  assert.throws(() => makeArchiveManifest([{ path, bytes, labels }], {}), { code: "dataset_manifest_invalid" });

Deno.test("images of an IDX file become PNG files by label, with a valid manifest", () => {
  const labels = idx([2], [7, 3]), path = "data/t10k-images-idx3-ubyte";
  assert.equal(labelsFile(path), "data/t10k-labels-idx1-ubyte");
  const { manifest, files } = makeArchiveManifest([{ path, bytes: idx([2, 3, 4], PIXELS), labels }], { id: "mnist" });
  parseImageManifest(prettyJson(manifest));
  assert.deepEqual([...files.keys()], ["t10k-images/7/t10k-images_00000.png", "t10k-images/3/t10k-images_00001.png"]);
  const second = decodeImage(files.get("t10k-images/3/t10k-images_00001.png")!);
  assert.deepEqual([second.width, second.height, second.channels], [4, 3, 1]);
  assert.deepEqual(second.data, PIXELS.slice(12));
  const [, plain] = makeArchiveManifest([{ path, bytes: idx([2, 3, 4], PIXELS) }], {}).files.keys();
  assert.equal(plain, "t10k-images/t10k-images_00001.png");
});

Deno.test("planes of CIFAR-10 become interleaved RGB", () => {
  const bytes = new Uint8Array(2 * 3073);
  bytes[3073] = 9;
  // Red, green and blue of the pixel in row 1, column 2 of the second image.
  for (const [plane, value] of [11, 22, 33].entries()) bytes[3073 + 1 + plane * 1024 + 34] = value;
  const { files } = makeArchiveManifest([{ path: "test_batch.bin", bytes }], {});
  const { width, height, data } = decodeImage(files.get("test_batch/9/test_batch_00001.png")!);
  assert.deepEqual([width, height, [...data.subarray(3 * 34, 3 * 35)]], [32, 32, [11, 22, 33]]);
  assert.equal(data.reduce((sum, value) => sum + value, 0), 66);
});

Deno.test("sizes that do not fit, and giants, are refused before any image is made", () => {
  const path = "x-images-idx3-ubyte", whole = idx([2, 3, 4], PIXELS);
  for (let length = 0; length < whole.length; length++) refuses(whole.subarray(0, length), path);
  refuses(idx([0xffffffff, 0xffffffff, 0xffffffff], []), path);
  refuses(idx([0, 3, 4], []), path);
  refuses(idx([200_000, 1, 1], new Uint8Array(200_000)), path);
  refuses(whole, path, idx([3], [1, 2, 3]));
  refuses(idx([24], PIXELS), path);
  refuses(new Uint8Array(3072), "data_batch_1.bin");
  refuses(new Uint8Array(3073).fill(10), "data_batch_1.bin");
  refuses(new Uint8Array(), "data_batch_1.bin");
});

Deno.test("one command writes the images and the manifest, which a source reads", async () => {
  const projectRoot = temporaryFolder();
  Deno.writeFileSync(join(projectRoot, "t10k-images-idx3-ubyte"), idx([2, 3, 4], PIXELS));
  await using svc = await open({ projectRoot });
  const path = join(projectRoot, "t10k-images-idx3-ubyte"), made = await svc.data.makeManifest(path, { id: "mnist" });
  const { status, summary } = await svc.recipes.run({
    name: "digits",
    metadata: { seed: 1 },
    steps: [{
      id: "images",
      op: "source.image_dataset",
      params: {
        dataset: "mnist",
        image_ids: "",
        manifest_path: "t10k-images-idx3-ubyte.manifest.json",
        manifest_sha256: made.sha256,
      },
    }],
  });
  assert.equal(status, "completed", String(summary.error));
  assert.deepEqual([holdsImages(path), holdsImages("data_batch_2.bin"), holdsImages("payload.bin")], [
    true,
    true,
    false,
  ]);
});

Deno.test("files of a folder, packed or not, are one dataset with its training and test images", async () => {
  const folder = temporaryFolder();
  const write = (name: string, bytes: Uint8Array) => Deno.writeFileSync(join(folder, name), bytes);
  write("train-images-idx3-ubyte.gz", gzipSync(idx([2, 3, 4], PIXELS)));
  write("train-labels-idx1-ubyte.gz", gzipSync(idx([2], [7, 3])));
  write("t10k-images-idx3-ubyte", idx([1, 3, 4], PIXELS.slice(12)));
  // Packed a second time, it is not read twice.
  write("t10k-images-idx3-ubyte.gz", new Uint8Array());
  write("readme.txt", new TextEncoder().encode("Digits"));
  await using svc = await open({ projectRoot: folder });
  const { manifest, path } = await svc.data.makeManifest(folder, { id: "mnist" });
  assert.equal(path, join(folder, "manifest.json"));
  const { splits, samples } = parseImageManifest(prettyJson(manifest as JsonObject));
  assert.deepEqual(splits, {
    test: ["t10k-images_00000"],
    train: ["train-images_00000", "train-images_00001"],
  });
  assert.deepEqual(samples.map((sample) => sample.path), [
    "t10k-images/t10k-images_00000.png",
    "train-images/7/train-images_00000.png",
    "train-images/3/train-images_00001.png",
  ]);
  assert.deepEqual((await svc.data.checkManifest(path)).warnings, []);
});

Deno.test("a packed file that is cut, no gzip file, or unpacks to a giant is refused", () => {
  const path = "x-images-idx3-ubyte.gz", packed = gzipSync(idx([2, 3, 4], PIXELS));
  assert.deepEqual(archiveBytes(packed, path), idx([2, 3, 4], PIXELS));
  for (const bytes of [packed.subarray(0, 20), new Uint8Array(), PIXELS, gzipSync(new Uint8Array(2 ** 28 + 1))]) {
    assert.throws(() => archiveBytes(bytes, path), { code: "dataset_manifest_invalid", message: /does not unpack/ });
  }
});
