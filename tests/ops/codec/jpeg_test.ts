import assert from "node:assert/strict";
import jpegFamily from "../../../ops/codec/jpeg.ts";
import { decodeJpeg } from "../../../lib/artifact/jpeg/decoder.ts";
import { encodeJpeg, type JpegImage } from "../../../lib/artifact/jpeg/encoder.ts";
import { bitsArtifact, bitsOf, imagesArtifact, type UniformImages } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { packBits } from "../../../lib/numeric/array/bit_packing.ts";
import { refuses, runOperation } from "../harness.ts";
import { uniformImagesOf } from "../inputs.ts";

const [encode, decode] = jpegFamily;

/** Smooth pictures with a texture that differs from image to image. */
function pictures(count: number, height: number, width: number, channels: number): UniformImages {
  const data = new Uint8Array(count * height * width * channels);
  for (let at = 0; at < data.length; at++) {
    const pixel = Math.floor(at / channels), x = pixel % width, y = Math.floor(pixel / width);
    data[at] = 128 + 80 * Math.sin(x / 5 + (at % channels)) * Math.cos(y / 7) + (x * y) % 13;
  }
  return { count, height, width, channels, dtype: "uint8", data };
}

type Settings = Parameters<typeof encodeJpeg>[1];

const BATCH = pictures(3, 19, 23, 3);
const imageOf = (batch: UniformImages, index: number): JpegImage => {
  const size = batch.height * batch.width * batch.channels;
  const data = (batch.data as Uint8Array).slice(index * size, (index + 1) * size);
  return { width: batch.width, height: batch.height, channels: batch.channels as 1 | 3, data };
};

function encoded(batch = BATCH, params: JsonObject = {}, metadata: JsonObject = { image_ids: ["a", "b", "c"] }) {
  return runOperation(encode, { inputs: { images: imagesArtifact(batch, metadata) }, params });
}

function decoded(bits: Uint8Array, metadata: JsonObject, params: JsonObject = {}) {
  return runOperation(decode, {
    inputs: { bits: { kind: "channel.payload_bits.numpy", ...bitsArtifact(bits, metadata, "payload.bits") } },
    params,
  });
}

Deno.test("compact payloads hold the very files, one source item an image", async () => {
  const { outputs: { bits }, metrics } = await encoded(BATCH, { quality: 60, wire_format: "compact_binary_v1" });
  const files = [0, 1, 2].map((index) => encodeJpeg(imageOf(BATCH, index), { quality: 60, subsampling: "420" }));
  const bytes = packBits(bitsOf(bits));
  assert.deepEqual(bytes.subarray(17, 17 + files[0].length), files[0]);
  assert.deepEqual(bytes.subarray(bytes.length - files[2].length), files[2]);
  assert.deepEqual(
    bits.metadata.source_item_counts,
    files.map((file, index) => (file.length + 9 + (index === 0 ? 8 : 0)) * 8),
  );
  const nativeBits = files.reduce((sum, file) => sum + file.length * 8, 0), pixels = 3 * 19 * 23;
  assert.deepEqual(metrics, {
    "codec.bit_count": BigInt(nativeBits + 35 * 8),
    "codec.native_bit_count": BigInt(nativeBits),
    "codec.native_bytes": BigInt(nativeBits / 8),
    "codec.bytes": BigInt(nativeBits / 8 + 35),
    "rate.native_codec_bpp": nativeBits / pixels,
    "rate.serialized_payload_bpp": (nativeBits + 35 * 8) / pixels,
    "rate.payload_bpp": (nativeBits + 35 * 8) / pixels,
  });
  assert.deepEqual(bits.metadata.image_ids, ["a", "b", "c"]);
  assert.equal(bits.metadata.boundary_contract, "payload.bits");
});

Deno.test("images come back as the codec alone gives them, in every setting", async () => {
  for (const wire_format of ["safe_json_base64", "compact_binary_v1"]) {
    const settings: Partial<Settings>[] = [
      {},
      { optimize: true },
      { progressive: true, quality: 20 },
      { subsampling: "444" },
    ];
    for (const options of settings) {
      const { outputs: { bits } } = await encoded(BATCH, { wire_format, ...options as JsonObject });
      const { outputs: { images } } = await decoded(bitsOf(bits), bits.metadata);
      const batch = uniformImagesOf(images);
      for (let index = 0; index < 3; index++) {
        const file = encodeJpeg(imageOf(BATCH, index), { quality: 75, subsampling: "420", ...options });
        assert.deepEqual(imageOf(batch, index), decodeJpeg(file));
      }
      assert.deepEqual(images.metadata.delivered, [true, true, true]);
      assert.deepEqual(images.metadata.failed_item_indices, []);
      assert.deepEqual(images.metadata.image_ids, ["a", "b", "c"]);
      for (const key of ["source_item_counts", "wire_format", "image_height", "bit_count", "image_dtype"]) {
        assert.ok(!(key in images.metadata), key);
      }
    }
  }
});

Deno.test("grey images stay grey and float images come back as floats", async () => {
  const grey = pictures(2, 8, 9, 1);
  const { outputs: { bits } } = await encoded(grey, {}, {});
  const { outputs: { images } } = await decoded(bitsOf(bits), bits.metadata);
  assert.equal(uniformImagesOf(images).channels, 1);

  const floats: UniformImages = { ...grey, dtype: "float32", data: Float32Array.from(grey.data, (v) => v / 255) };
  const float = await encoded(floats, {}, {});
  assert.deepEqual(bitsOf(float.outputs.bits), bitsOf(bits));
  const back = uniformImagesOf((await decoded(bitsOf(float.outputs.bits), float.outputs.bits.metadata)).outputs.images);
  assert.equal(back.dtype, "float32");
  assert.deepEqual(back.data, Float32Array.from(uniformImagesOf(images).data, (v) => v / 255));
});

Deno.test("keep takes the subsampling of the source file, 444 without one", async () => {
  const used = async (metadata: JsonObject) =>
    (await encoded(BATCH, { subsampling: "keep" }, metadata)).outputs.bits.metadata.jpeg_subsampling;
  assert.equal(await used({}), "444");
  assert.equal(await used({ jpeg_subsampling: "422" }), "422");
  assert.deepEqual(await used({ jpeg_subsampling: ["420", null, "other"] }), ["420", "444", "444"]);
});

Deno.test("an alpha channel is refused", async () => {
  await refuses("jpeg_unsupported", () => encoded(pictures(1, 4, 4, 4), {}, {}));
  for (const quality of [0, 101]) await refuses("params_invalid", () => encoded(BATCH, { quality }));
});

Deno.test("an earlier delivery says nothing about a new payload", async () => {
  const { outputs: { bits } } = await encoded(BATCH, {}, { failed_item_indices: [0], delivered: [false, true, true] });
  assert.deepEqual((await decoded(bitsOf(bits), bits.metadata)).outputs.images.metadata.delivered, [true, true, true]);
});

Deno.test("on_error decides what becomes of a lost image", async () => {
  const { outputs: { bits } } = await encoded(BATCH, { wire_format: "compact_binary_v1" });
  const lost = { ...bits.metadata, failed_item_indices: [1] };
  const intact = uniformImagesOf((await decoded(bitsOf(bits), bits.metadata)).outputs.images);
  await refuses("image_payload_invalid", () => decoded(bitsOf(bits), lost));
  for (
    const [on_error, value] of [["zeros", 0], ["erasure", 0], ["gray_image", 128], ["report_outage", 128]] as const
  ) {
    const { outputs: { images } } = await decoded(bitsOf(bits), lost, { on_error });
    const batch = uniformImagesOf(images);
    assert.ok(imageOf(batch, 1).data.every((sample) => sample === value), on_error);
    assert.deepEqual(imageOf(batch, 0), imageOf(intact, 0));
    assert.deepEqual(imageOf(batch, 2), imageOf(intact, 2));
    assert.deepEqual(images.metadata.delivered, [true, false, true]);
    assert.deepEqual(images.metadata.failed_item_indices, [1]);
  }
});

Deno.test("a lost JSON payload loses all images, and float images turn to 0.5", async () => {
  const floats: UniformImages = { ...BATCH, dtype: "float32", data: Float32Array.from(BATCH.data, (v) => v / 255) };
  const { outputs: { bits } } = await encoded(floats);
  const payload = bitsOf(bits).slice();
  payload[3] ^= 1;
  const { outputs: { images } } = await decoded(payload, bits.metadata, { on_error: "gray_image" });
  assert.deepEqual(images.metadata.delivered, [false, false, false]);
  assert.ok(uniformImagesOf(images).data.every((sample) => sample === 0.5));
});

Deno.test("damaged files and files of another size are failed images", async () => {
  const { outputs: { bits } } = await encoded(BATCH, { wire_format: "compact_binary_v1" });
  const payload = bitsOf(bits).slice();
  const counts = bits.metadata.source_item_counts as number[];
  payload.fill(0, counts[0] + 72, counts[0] + 72 + 16); // the first two bytes of the second file
  await refuses("jpeg_invalid", () => decoded(payload, bits.metadata));
  const gaps = await decoded(payload, bits.metadata, { on_error: "zeros" });
  assert.deepEqual(gaps.outputs.images.metadata.delivered, [true, false, true]);

  const other = { ...bits.metadata, image_height: 23, image_width: 19 };
  await refuses("image_payload_invalid", () => decoded(bitsOf(bits), other));
});

Deno.test("without metadata a payload explains itself, but nothing can stand for a damaged image", async () => {
  for (const wire_format of ["safe_json_base64", "compact_binary_v1"]) {
    const { outputs: { bits } } = await encoded(BATCH, { wire_format });
    const { outputs: { images } } = await decoded(bitsOf(bits), {});
    const intact = await decoded(bitsOf(bits), bits.metadata);
    assert.deepEqual(uniformImagesOf(images), uniformImagesOf(intact.outputs.images));
    await refuses("image_payload_invalid", () => decoded(bitsOf(bits).subarray(0, -8), {}, { on_error: "zeros" }));
  }
});

const COMPACT = { wire_format: "compact_binary_v1" };
const STRONG = { ...COMPACT, stream: "abbreviated", half_size: true };

Deno.test("target_bpp takes the largest quality whose item fits, and reports what does not fit", async () => {
  const pixels = 19 * 23, budget = Math.floor(Math.floor(14.4 * pixels) / 8);
  const { outputs: { bits }, metrics } = await encoded(BATCH, { ...COMPACT, target_bpp: 14.4 });
  const expected = [0, 1, 2].map((index) => {
    const overhead = index === 0 ? 17 : 9;
    const qualities = Array.from({ length: 100 }, (_, at) => 100 - at);
    return qualities.find((quality) =>
      encodeJpeg(imageOf(BATCH, index), { quality, subsampling: "420" }).length + overhead <= budget
    )!;
  });
  assert.deepEqual(bits.metadata.selected_qualities, expected);
  assert.ok(expected.every((quality) => quality > 1 && quality < 100));
  assert.equal(metrics["codec.jpeg.unfit_count"], 0n);
  for (const count of bits.metadata.source_item_counts as number[]) assert.ok(count <= 8 * budget);

  const none = await encoded(BATCH, { ...COMPACT, target_bpp: 2 });
  assert.deepEqual(none.outputs.bits.metadata.selected_qualities, [null, null, null]);
  assert.equal(none.metrics["codec.jpeg.unfit_count"], 3n);
  assert.equal(none.metrics["codec.native_bytes"], 0n);
  const bitsOfNone = none.outputs.bits;
  const { outputs: { images } } = await decoded(bitsOf(bitsOfNone), bitsOfNone.metadata, { on_error: "gray_image" });
  assert.deepEqual(images.metadata.delivered, [false, false, false]);
});

Deno.test("channel uses, modulation and code rate give the budget, and fill bytes use all of it", async () => {
  const pixels = 19 * 23, uses = Math.floor(1.5 * pixels), bytes = Math.floor(Math.floor(uses * 4 * 0.75) / 8);
  const params = { ...STRONG, channel_uses_per_pixel: 1.5, modulation: "qam16", code_rate: 0.75 };
  const open = await encoded(BATCH, params), full = await encoded(BATCH, { ...params, fill_budget: true });
  assert.deepEqual(full.outputs.bits.metadata.source_item_counts, [bytes * 8, bytes * 8, bytes * 8]);
  assert.deepEqual(full.metrics["codec.native_bytes"], open.metrics["codec.native_bytes"]);
  assert.ok(Number(full.metrics["codec.native_bytes"]) < 3 * bytes - 35, "there must be something to fill");
  const images = await Promise.all([open, full].map(async ({ outputs: { bits } }) => {
    return uniformImagesOf((await decoded(bitsOf(bits), bits.metadata)).outputs.images);
  }));
  assert.deepEqual(images[0], images[1]);

  // Files, too: the fill bytes stand before the end marker, so that the whole item is a file.
  const files = await encoded(BATCH, { ...COMPACT, target_bpp: 16, fill_budget: true });
  const payload = packBits(bitsOf(files.outputs.bits)), item = Math.floor(16 * pixels / 8);
  assert.equal(payload.length, 3 * item);
  const quality = (files.outputs.bits.metadata.selected_qualities as number[])[1];
  const file = encodeJpeg(imageOf(BATCH, 1), { quality, subsampling: "420" });
  assert.deepEqual(decodeJpeg(payload.subarray(item + 9, 2 * item)), decodeJpeg(file));
  const none = await encoded(BATCH, { ...COMPACT, target_bpp: 2, fill_budget: true });
  const { outputs } = await decoded(bitsOf(none.outputs.bits), none.outputs.bits.metadata, { on_error: "zeros" });
  assert.deepEqual(outputs.images.metadata.delivered, [false, false, false]);
});

Deno.test("the strong setting sends half the size where that is nearer to the image, and the receiver enlarges it", async () => {
  const batch = pictures(2, 96, 120, 3);
  const error = async (params: JsonObject) => {
    const { outputs: { bits }, metrics } = await encoded(batch, params, {});
    const { outputs: { images } } = await decoded(bitsOf(bits), bits.metadata, { on_error: "gray_image" });
    const received = uniformImagesOf(images).data, { selected_qualities } = bits.metadata;
    assert.deepEqual([uniformImagesOf(images).height, uniformImagesOf(images).width], [96, 120]);
    assert.equal(metrics["codec.jpeg.unfit_count"], 0n);
    const squared = (batch.data as Uint8Array).reduce((sum, sample, at) => sum + (sample - received[at]) ** 2, 0);
    return { squared, qualities: selected_qualities as number[] };
  };
  const low = { ...COMPACT, stream: "abbreviated", target_bpp: 0.35 };
  const [full, strong] = [await error(low), await error({ ...low, half_size: true })];
  assert.ok(strong.squared < full.squared, `${strong.squared} against ${full.squared}`);
  assert.ok(strong.qualities[0] > full.qualities[0]);
  const high = { ...COMPACT, stream: "abbreviated", target_bpp: 3 };
  assert.deepEqual(await error({ ...high, half_size: true }), await error(high));
});

Deno.test("conflicting settings of the budget are refused", async () => {
  const cases: JsonObject[] = [
    { ...COMPACT, target_bpp: 1, channel_uses_per_pixel: 1 },
    { target_bpp: 1 },
    { half_size: true },
    { fill_budget: true },
  ];
  for (const params of cases) await refuses("params_conflict", () => encoded(BATCH, params));
});

Deno.test("abbreviated streams of a given quality come back as the file of that quality", async () => {
  for (const batch of [BATCH, pictures(2, 8, 9, 1)]) {
    const [file, stream] = await Promise.all(["jfif", "abbreviated"].map((stream) => encoded(batch, { stream }, {})));
    assert.ok(Number(stream.metrics["codec.native_bytes"]) < Number(file.metrics["codec.native_bytes"]) / 2);
    const [first, second] = await Promise.all([file, stream].map(async ({ outputs: { bits } }) => {
      return uniformImagesOf((await decoded(bitsOf(bits), bits.metadata)).outputs.images);
    }));
    assert.deepEqual(first, second);
  }
});
