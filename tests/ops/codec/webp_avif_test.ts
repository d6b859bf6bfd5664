import assert from "node:assert/strict";
import webpAvif from "../../../ops/codec/webp_avif.ts";
import { bitsArtifact, bitsOf, imagesArtifact, type UniformImages } from "../../../lib/artifact/values.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { packBits } from "../../../lib/numeric/array/bit_packing.ts";
import { refuses, runOperation } from "../harness.ts";
import { uniformImagesOf } from "../inputs.ts";

const [webpEncode, webpDecode, avifEncode, avifDecode] = webpAvif;

function pictures(count: number, height: number, width: number, channels: number): UniformImages {
  const data = new Uint8Array(count * height * width * channels);
  for (let at = 0; at < data.length; at++) {
    const pixel = Math.floor(at / channels), x = pixel % width, y = Math.floor(pixel / width);
    data[at] = 128 + 80 * Math.sin(x / 5 + (at % channels)) * Math.cos(y / 7) + (x * y) % 13;
  }
  return { count, height, width, channels, dtype: "uint8", data };
}

const CODECS = { webp: [webpEncode, webpDecode], avif: [avifEncode, avifDecode] } as const;
const NAMES = ["webp", "avif"] as const;
const COMPACT = { wire_format: "compact_binary_v1" };
const BATCH = pictures(2, 37, 50, 3);

const encoded = (codec: keyof typeof CODECS, params: JsonObject = {}, batch = BATCH) =>
  runOperation(CODECS[codec][0], { inputs: { images: imagesArtifact(batch) }, params });
const decoded = async (codec: keyof typeof CODECS, bits: Uint8Array, metadata: JsonObject, params: JsonObject = {}) => {
  const input = { kind: "channel.payload_bits.numpy", ...bitsArtifact(bits, metadata, "payload.bits") };
  return (await runOperation(CODECS[codec][1], { inputs: { bits: input }, params })).outputs.images;
};

function psnrDb(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] - b[at]) ** 2;
  return 10 * Math.log10(255 ** 2 * a.length / sum);
}

for (const codec of NAMES) {
  Deno.test(`${codec}: a larger quality gives larger files and smaller errors`, async () => {
    const results = [];
    for (const quality of [10, 50, 90]) {
      const { outputs: { bits }, metrics } = await encoded(codec, { quality, ...COMPACT });
      const images = await decoded(codec, bitsOf(bits), bits.metadata);
      results.push([Number(metrics["codec.native_bytes"]), psnrDb(uniformImagesOf(images).data, BATCH.data)]);
    }
    for (let at = 1; at < 3; at++) {
      assert.ok(results[at][0] > results[at - 1][0], String(results));
      assert.ok(results[at][1] > results[at - 1][1] + 2, String(results));
    }
    assert.ok(results[2][1] > 28, String(results));
  });

  Deno.test(`${codec}: an abbreviated stream gives the image of its file`, async () => {
    for (const [height, width, channels] of [[37, 50, 3], [16, 9, 1], [1, 1, 3]]) {
      const batch = pictures(1, height, width, channels);
      const [file, short] = await Promise.all(
        ["file", "abbreviated"].map((stream) => encoded(codec, { stream, ...COMPACT }, batch)),
      );
      const saved = Number(file.metrics["codec.native_bytes"]) - Number(short.metrics["codec.native_bytes"]);
      assert.ok(codec === "avif" ? saved > 250 : saved === 27 || saved === 28, `${saved}`);
      const images = await Promise.all(
        [file, short].map(async ({ outputs: { bits } }) =>
          uniformImagesOf(await decoded(codec, bitsOf(bits), bits.metadata)).data
        ),
      );
      assert.deepEqual(images[1], images[0]);
      assert.ok(psnrDb(images[0], batch.data) > 18, `${psnrDb(images[0], batch.data)}`);
    }
  });

  Deno.test(`${codec}: the largest quality within a budget, filled to its last byte`, async () => {
    const budget = { ...COMPACT, target_bpp: 2, stream: "abbreviated", half_size: true };
    const plain = await encoded(codec, budget), filled = await encoded(codec, { ...budget, fill_budget: true });
    const limit = Math.floor(Math.floor(2 * 37 * 50) / 8) * 8;
    const { bits } = filled.outputs;
    assert.deepEqual(bits.metadata.source_item_counts, [limit, limit]);
    assert.deepEqual(bits.metadata.selected_qualities, plain.outputs.bits.metadata.selected_qualities);
    const images = await decoded(codec, bitsOf(bits), bits.metadata);
    assert.deepEqual(
      uniformImagesOf(images).data,
      uniformImagesOf(await decoded(codec, bitsOf(plain.outputs.bits), plain.outputs.bits.metadata)).data,
    );
    assert.deepEqual(images.metadata.delivered, [true, true]);
    const [quality] = bits.metadata.selected_qualities as number[];
    const single = pictures(2, 37, 50, 3);
    const next = await encoded(codec, { ...COMPACT, quality: quality + 1, stream: "abbreviated" }, single);
    assert.ok((next.outputs.bits.metadata.source_item_counts as number[])[0] > limit);
  });

  Deno.test(`${codec}: half the width and height where this is better, and a loss where nothing fits`, async () => {
    const smooth = pictures(1, 64, 64, 3);
    smooth.data.forEach((_, at) =>
      smooth.data[at] = 128 + 60 * Math.sin(at / 3 / 64 / 9) + 40 * Math.sin(at / 3 % 64 / 11)
    );
    const found = await encoded(codec, { ...COMPACT, target_bpp: 0.2, stream: "abbreviated", half_size: true }, smooth);
    const { bits } = found.outputs, images = uniformImagesOf(await decoded(codec, bitsOf(bits), bits.metadata));
    assert.equal(images.width, 64);
    assert.ok(psnrDb(images.data, smooth.data) > 22, `${psnrDb(images.data, smooth.data)}`);

    const none = await encoded(codec, { ...COMPACT, target_bpp: 0.05, fill_budget: true }, BATCH);
    assert.equal(none.metrics[`codec.${codec}.unfit_count`], 2n);
    const lost = none.outputs.bits;
    const grey = await decoded(codec, bitsOf(lost), lost.metadata, { on_error: "gray_image" });
    assert.deepEqual(grey.metadata.delivered, [false, false]);
    assert.ok(uniformImagesOf(grey).data.every((sample) => sample === 128));
  });

  Deno.test(`${codec}: damaged bytes give an image or a loss, never another error`, async () => {
    for (const stream of ["file", "abbreviated"]) {
      const { outputs: { bits } } = await encoded(codec, { ...COMPACT, stream });
      const intact = bitsOf(bits);
      let lost = 0;
      for (let trial = 0; trial < 60; trial++) {
        const damaged = intact.slice();
        // Early bits first: headers of containers and frames.
        for (const at of [136 + 5 * trial, (trial * 7919) % damaged.length]) damaged[at] ^= 1;
        const images = await decoded(codec, damaged, bits.metadata, { on_error: "zeros" });
        lost += (images.metadata.failed_item_indices as number[]).length;
      }
      assert.ok(lost > 0 && lost < 120, `${lost}`);
      const again = await decoded(codec, intact, bits.metadata);
      assert.deepEqual(again.metadata.delivered, [true, true]);
    }
  });

  Deno.test(`${codec}: equal bytes whatever was coded before`, async () => {
    const first = packBits(bitsOf((await encoded(codec, COMPACT)).outputs.bits));
    await encoded(codec, { ...COMPACT, quality: 3 }, pictures(1, 90, 70, 1));
    assert.deepEqual(packBits(bitsOf((await encoded(codec, COMPACT)).outputs.bits)), first);
  });
}

Deno.test("payloads of one codec are refused by the other", async () => {
  const { outputs: { bits } } = await encoded("webp", COMPACT);
  await refuses("image_payload_invalid", () => decoded("avif", bitsOf(bits), bits.metadata));
});
