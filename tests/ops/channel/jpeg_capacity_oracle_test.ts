import assert from "node:assert/strict";
import oracle from "../../../ops/channel/jpeg_capacity_oracle.ts";
import { decodeJpeg } from "../../../lib/artifact/jpeg/decoder.ts";
import { encodeJpeg, type JpegImage } from "../../../lib/artifact/jpeg/encoder.ts";
import { type ImageBatch, imagesArtifact, imagesOf } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { Generator } from "../../../lib/numeric/random/random.ts";
import { smallPictures } from "../../lib/artifact/jpeg/vectors.ts";
import { refuses, runOperation } from "../harness.ts";

const HEIGHT = 40, WIDTH = 56;

function pictures(count: number): ImageBatch {
  const data = new Uint8Array(count * HEIGHT * WIDTH * 3);
  for (let at = 0; at < data.length; at++) {
    const pixel = Math.floor(at / 3), x = pixel % WIDTH, y = Math.floor(pixel / WIDTH) % HEIGHT;
    const image = Math.floor(pixel / (HEIGHT * WIDTH));
    data[at] = 128 + 90 * Math.sin(x * (image + 1) / 9) * Math.cos(y / 6 + (at % 3)) +
      (x * 7 + y * 5) % (3 + image * 9);
  }
  return { count, height: HEIGHT, width: WIDTH, channels: 3, dtype: "uint8", data };
}

const BATCH = pictures(4);
const SIZE = HEIGHT * WIDTH * 3;
const imageOf = (batch: ImageBatch, index: number): JpegImage => ({
  width: WIDTH,
  height: HEIGHT,
  channels: 3,
  data: (batch.data as Uint8Array).slice(index * SIZE, (index + 1) * SIZE),
});

const run = (params: JsonObject = {}, batch: ImageBatch = BATCH, metadata: JsonObject = {}) =>
  runOperation(oracle, { inputs: { images: imagesArtifact(batch, metadata) }, params });

/** All qualities of an image whose files fit, by trying them one by one. */
function fitting(image: JpegImage, budget: number, from: number, to: number): number[] {
  const qualities = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return qualities.filter((quality) => encodeJpeg(image, { quality, subsampling: "420" }).length * 8 <= budget);
}

Deno.test("the largest quality that fits the budget is delivered", async () => {
  const uses = Math.floor(1.5 * HEIGHT * WIDTH), snr = 10 ** 0.9, budget = uses * Math.log2(1 + snr);
  const { outputs: { images }, metrics } = await run({ snr_db: 9, channel_uses_per_pixel: 1.5, maximum_quality: 99 });
  const qualities = [0, 1, 2, 3].map((index) => Math.max(...fitting(imageOf(BATCH, index), budget, 1, 99)));
  assert.deepEqual(images.metadata.selected_qualities, qualities);
  assert.ok(new Set(qualities).size > 1, "the pictures must need different qualities");
  let bytes = 0;
  qualities.forEach((quality, index) => {
    const file = encodeJpeg(imageOf(BATCH, index), { quality, subsampling: "420" });
    assert.deepEqual(imageOf(imagesOf(images), index), decodeJpeg(file));
    bytes += file.length;
  });
  assert.deepEqual(metrics, {
    "codec.jpeg.selected_quality_mean": qualities.reduce((sum, quality) => sum + quality) / 4,
    "codec.jpeg.selected_quality_min": Math.min(...qualities),
    "codec.jpeg.selected_quality_max": Math.max(...qualities),
    "codec.bit_count": BigInt(bytes * 8),
    "codec.native_bit_count": BigInt(bytes * 8),
    "codec.bytes": BigInt(bytes),
    "rate.native_codec_bpp": bytes * 8 / (4 * HEIGHT * WIDTH),
    "channel.outage_rate": 0,
    "channel.uses_per_pixel": uses / (HEIGHT * WIDTH),
    "channel.channel_use_count": BigInt(4 * uses),
    "channel.snr_db": 9,
    "channel.awgn.capacity_bpp": budget / (HEIGHT * WIDTH),
  });
  assert.deepEqual(images.metadata.delivered, [true, true, true, true]);
});

Deno.test("a larger quality can give a smaller file, and it is found", async () => {
  const image = smallPictures().get("grey_edges")!;
  const size = (quality: number) => encodeJpeg(image, { quality, subsampling: "420" }).length;
  assert.ok(size(47) > size(48) && size(48) > size(46), "the sizes of this picture fall between 47 and 48");
  const bytes = size(48), pixels = image.width * image.height;
  const { outputs: { images } } = await run({
    // Just above eight bits a channel use, so that uses are bytes.
    snr_db: 10 * Math.log10(255 + 1e-9),
    channel_uses_per_pixel: (bytes + 0.5) / pixels,
    maximum_quality: 100,
  }, { count: 1, dtype: "uint8", ...image });
  assert.deepEqual(images.metadata.selected_qualities, [48]);
});

Deno.test("without a quality that fits the image is lost", async () => {
  const means = [0, 1, 2, 3].map((index) => {
    const { data } = imageOf(BATCH, index);
    return [0, 1, 2].map((channel) => {
      const samples = data.filter((_, at) => at % 3 === channel);
      return Math.round(samples.reduce((sum, value) => sum + value, 0) / samples.length);
    });
  });
  const expected = { gray_image: () => 128, zeros: () => 0, image_channel_mean: (i: number, c: number) => means[i][c] };
  for (const [on_outage, value] of Object.entries(expected)) {
    const { outputs: { images }, metrics } = await run({ channel_uses_per_pixel: 0.01, on_outage });
    const { data } = imagesOf(images);
    assert.ok((data as Uint8Array).every((sample, at) => sample === value(Math.floor(at / SIZE), at % 3)), on_outage);
    assert.equal(metrics["channel.outage_rate"], 1);
    assert.equal(metrics["codec.bit_count"], 0n);
    assert.ok(!("codec.jpeg.selected_quality_mean" in metrics));
    assert.deepEqual(images.metadata.failed_item_indices, [0, 1, 2, 3]);
    assert.deepEqual(images.metadata.selected_qualities, [null, null, null, null]);
  }
});

Deno.test("quality limits hold", async () => {
  const { outputs: { images } } = await run({ snr_db: 40, channel_uses_per_pixel: 4, maximum_quality: 33 });
  assert.deepEqual(images.metadata.selected_qualities, [33, 33, 33, 33]);
  const low = await run({ snr_db: 9, channel_uses_per_pixel: 0.6, minimum_quality: 95 });
  assert.equal(low.metrics["channel.outage_rate"], 1);
  await refuses("params_conflict", () => run({ minimum_quality: 60, maximum_quality: 59 }));
});

Deno.test("slow Rayleigh fading tests each file against its own gain", async () => {
  const batch = pictures(1), count = 40;
  const many: ImageBatch = { ...batch, count, data: new Uint8Array(count * SIZE) };
  for (let index = 0; index < count; index++) many.data.set(batch.data, index * SIZE);
  const params = { channel_model: "slow_rayleigh", snr_db: 10, channel_uses_per_pixel: 2, seed: 5 };
  const { outputs: { images }, metrics } = await run(params, many);
  const uses = 2 * HEIGHT * WIDTH, gains = Generator.seeded(5n).complexNormal64(count, 1);
  const quality = (images.metadata.selected_qualities as number[])[0];
  const file = encodeJpeg(imageOf(many, 0), { quality, subsampling: "420" });
  const delivered = Array.from({ length: count }, (_, index) => {
    const power = gains[2 * index] ** 2 + gains[2 * index + 1] ** 2;
    return uses * Math.log2(1 + power * 10) >= file.length * 8;
  });
  assert.deepEqual(images.metadata.delivered, delivered);
  const lost = delivered.filter((arrived) => !arrived).length;
  assert.ok(lost > 0 && lost < count);
  assert.equal(metrics["channel.outage_rate"], lost / count);
  delivered.forEach((arrived, index) => {
    assert.deepEqual(
      imageOf(imagesOf(images), index).data,
      arrived ? decodeJpeg(file).data : new Uint8Array(SIZE).fill(128),
    );
  });
  assert.deepEqual((await run(params, many)).bytes, (await run(params, many)).bytes);
});

Deno.test("float images come back as floats", async () => {
  const floats: ImageBatch = { ...BATCH, dtype: "float32", data: Float32Array.from(BATCH.data, (v) => v / 255) };
  const params = { channel_uses_per_pixel: 2 };
  const whole = imagesOf((await run(params)).outputs.images);
  const batch = imagesOf((await run(params, floats)).outputs.images);
  assert.equal(batch.dtype, "float32");
  assert.ok(batch.data.every((sample, at) => sample === Math.fround(whole.data[at] / 255)));
  const lost = imagesOf((await run({ channel_uses_per_pixel: 0.01 }, floats)).outputs.images);
  assert.ok(lost.data.every((sample) => sample === 0.5));
});
