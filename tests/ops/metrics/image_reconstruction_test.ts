import assert from "node:assert/strict";
import reconstruction from "../../../ops/metrics/image_reconstruction.ts";
import { decodeImage } from "../../../lib/artifact/image_file.ts";
import { imagesArtifact } from "../../../lib/artifact/values.ts";
import { isObject, type JsonObject, type Value } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

function batch(count: number, side: number, sample: (i: number) => number, metadata: JsonObject = {}, channels = 3) {
  const data = Uint8Array.from({ length: count * side * side * channels }, (_, i) => sample(i));
  return imagesArtifact({ count, height: side, width: side, channels, dtype: "uint8", data }, metadata);
}

const texture = (i: number) => (i * 7 + Math.floor(i / 97) * 13) % 250;

Deno.test("a constant error of 5 has an MSE of 25 and its PSNR", async () => {
  const { metrics, outputs } = await runOperation(reconstruction, {
    inputs: { reference: batch(2, 16, texture), reconstruction: batch(2, 16, (i) => texture(i) + 5) },
  });
  assert.equal(metrics["quality.mse"], 25);
  assert.equal(metrics["quality.mae"], 5);
  assert.ok(Math.abs(Number(metrics["quality.psnr_db"]) - 10 * Math.log10(255 ** 2 / 25)) < 1e-12);
  assert.equal(metrics["quality.perfect_reconstruction_fraction"], 0);
  assert.ok(Number(metrics["quality.ssim"]) > 0.99 && Number(metrics["quality.ssim"]) < 1);
  // Too small for five scales: left out and counted.
  assert.equal("quality.ms_ssim" in metrics, false);
  assert.equal(metrics["quality.ms_ssim_item_count"], 0n);
  assert.equal(metrics["quality.ms_ssim_skipped_count"], 2n);
  assert.equal((outputs.report.json().items as Value[]).length, 2);
});

Deno.test("an exact image scores above the best inexact one, or the cap where that is higher", async () => {
  const images = batch(1, 200, texture), almost = batch(1, 200, (i) => texture(i) + Number(i === 0));
  const score = async (candidate: typeof images, params: JsonObject = {}) =>
    (await runOperation(reconstruction, { inputs: { reference: images, reconstruction: candidate }, params })).metrics;
  const exact = await score(images), inexact = await score(almost);
  assert.ok(Math.abs(Number(exact["quality.psnr_db"]) - Number(inexact["quality.psnr_db"]) - 1) < 1e-9);
  assert.equal((await score(images, { psnr_cap_db: 140 }))["quality.psnr_db"], 140);
  assert.equal(exact["quality.ssim"], 1);
  assert.equal(exact["quality.ms_ssim"], 1);
  assert.equal(exact["quality.ms_ssim_db"], 99, "the value of equal images");
  const coarse = await score(batch(1, 200, (i) => texture(i) - texture(i) % 32));
  const similarity = Number(coarse["quality.ms_ssim"]), inDb = Number(coarse["quality.ms_ssim_db"]);
  assert.ok(similarity < 0.9999 && Math.abs(10 ** (-inDb / 10) - (1 - similarity)) < 1e-12, `${inDb} dB`);
  assert.equal(exact["quality.ms_ssim_item_count"], 1n);
  assert.equal(exact["quality.perfect_reconstruction_fraction"], 1);
});

Deno.test("scores are means over the images, with a row for each", async () => {
  const half = 16 * 16 * 3;
  const { metrics, outputs } = await runOperation(reconstruction, {
    inputs: {
      reference: batch(2, 16, texture, { image_ids: ["x", "y"] }),
      reconstruction: batch(2, 16, (i) => texture(i) + (i < half ? 0 : 4), { image_ids: ["x", "y"] }),
    },
  });
  assert.equal(metrics["quality.mse"], 8);
  assert.equal(metrics["quality.perfect_reconstruction_fraction"], 0.5);
  assert.equal(metrics["quality.exact_items"], 1n);
  const items = outputs.report.json().items as JsonObject[];
  assert.deepEqual(items.map(({ id, exact }) => [id, exact]), [["x", true], ["y", false]]);
});

Deno.test("the range may be given, and float images have the range 1", async () => {
  const data = new Float32Array(16 * 16).fill(0.5);
  const images = (shift: number) =>
    imagesArtifact({
      count: 1,
      height: 16,
      width: 16,
      channels: 1,
      dtype: "float32",
      data: data.map((value) => value + shift),
    });
  const run = (params: JsonObject) =>
    runOperation(reconstruction, { inputs: { reference: images(0), reconstruction: images(0.125) }, params });
  assert.ok(Math.abs(Number((await run({})).metrics["quality.psnr_db"]) - 10 * Math.log10(64)) < 1e-12);
  assert.ok(Math.abs(Number((await run({ data_range: 2 })).metrics["quality.psnr_db"]) - 10 * Math.log10(256)) < 1e-12);
});

Deno.test("a range that is not that of the samples is a warning with its effect on PSNR", async () => {
  const bytes = batch(1, 16, texture);
  const floats = imagesArtifact({
    count: 1,
    height: 16,
    width: 16,
    channels: 1,
    dtype: "float32",
    data: new Float32Array(256).map((_, i) => i / 255),
  });
  const warned = async (images: typeof bytes, data_range: number) => {
    const { metadata } = await runOperation(reconstruction, {
      inputs: { reference: images, reconstruction: images },
      params: { data_range },
    });
    return ((metadata.warnings ?? []) as JsonObject[]).map(({ code, message }) => `${code}: ${message}`);
  };
  assert.deepEqual(await warned(floats, 255), [
    "data_range_mismatch: The data range 255 does not fit float32 samples up to 1: PSNR is off by 48.1 dB",
  ]);
  assert.match((await warned(bytes, 1))[0], /does not fit uint8 samples.*-48\.1 dB/);
  assert.deepEqual(await warned(floats, 1), []);
  assert.deepEqual(await warned(bytes, 255), []);
  assert.deepEqual(await warned(bytes, 0), []);
});

Deno.test("previews are PNG thumbnails of both sides, within the size asked for", async () => {
  const { outputs } = await runOperation(reconstruction, {
    inputs: { reference: batch(3, 40, texture), reconstruction: batch(3, 40, () => 128) },
    params: { preview_count: 2, preview_size: 16 },
  });
  const items = outputs.report.json().items as JsonObject[];
  assert.deepEqual(items.map((item) => isObject(item.preview)), [true, true, false]);
  const { reference, reconstruction: grey } = items[0].preview as { reference: string; reconstruction: string };
  const png = (url: string) => decodeImage(Uint8Array.fromBase64(url.replace("data:image/png;base64,", "")));
  assert.deepEqual([png(reference).width, png(reference).height], [16, 16]);
  assert.ok(png(grey).data.every((value) => value === 128));
});

Deno.test("images that cannot be compared are refused", async () => {
  const reference = batch(1, 16, texture);
  const against = (candidate: typeof reference) =>
    runOperation(reconstruction, { inputs: { reference, reconstruction: candidate } });
  await refuses("boundary_shape_invalid", () => against(batch(1, 17, texture)));
  await refuses("boundary_shape_invalid", () => against(batch(2, 16, texture)));
  const floats = imagesArtifact({
    count: 1,
    height: 16,
    width: 16,
    channels: 3,
    dtype: "float32",
    data: new Float32Array(768),
  });
  await refuses("boundary_dtype_invalid", () => against(floats));
  await refuses("pair_ids_mismatch", () =>
    runOperation(reconstruction, {
      inputs: {
        reference: batch(1, 16, texture, { image_ids: ["x"] }),
        reconstruction: batch(1, 16, texture, { image_ids: ["y"] }),
      },
    }));
});
