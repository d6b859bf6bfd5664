/** The learned bit codec: form of what it gives, odd sizes, and the quality that was recorded, with and without bit errors. */
import assert from "node:assert/strict";
import { decode, encode } from "../../adapters/learned_bit_codec/codec.ts";
import type { ArrayValue, Metadata } from "../../adapters/learned_bit_codec/svc_types.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { centreCrop } from "../../lib/artifact/image_resize.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { contextOf } from "./_context.ts";

const ADAPTER = "learned_bit_codec";

function picture(name: string, size: number): ArrayValue {
  const file = new URL(`../../recipes/samples/${name}`, import.meta.url);
  const { height, width, channels, data } = centreCrop(decodeImage(Deno.readFileSync(file)), size);
  return { dtype: "uint8", shape: [1, height, width, channels], data };
}

/** Bits with the metadata that a decoder gets. */
async function encoded(images: ArrayValue): Promise<{ array: ArrayValue; metadata: Metadata }> {
  const { array, metadata } = await encode(images, {}, contextOf(ADAPTER)) as { array: ArrayValue; metadata: Metadata };
  const [image_count, image_height, image_width, image_channels] = images.shape;
  return { array, metadata: { ...metadata, image_count, image_height, image_width, image_channels } };
}

async function decoded(array: ArrayValue, metadata: Metadata): Promise<ArrayValue> {
  return (await decode({ array, metadata, params: {} }, contextOf(ADAPTER)) as { array: ArrayValue }).array;
}

function psnr(a: ArrayValue, b: ArrayValue): number {
  const [x, y] = [a.data as Uint8Array, b.data as Uint8Array];
  return 10 * Math.log10(255 ** 2 / (x.reduce((sum, value, i) => sum + (value - y[i]) ** 2, 0) / x.length));
}

Deno.test("half a bit per pixel, and the recorded quality with and without bit errors", async () => {
  const image = picture("chelsea.png", 256), { array, metadata } = await encoded(image);
  const bits = array.data as Uint8Array;
  assert.deepEqual(array.shape, [256 * 256 / 2]);
  assert.ok(bits.every((bit) => bit === 0 || bit === 1));
  assert.deepEqual(metadata.source_item_counts, [bits.length]);
  const clean = psnr(image, await decoded(array, metadata));
  assert.ok(Math.abs(clean - 24.81) < 0.02, `${clean} dB`);

  const draws = Generator.seeded(5n).random(bits.length);
  const wrong = bits.map((bit, i) => draws[i] < 0.06 ? 1 - bit : bit);
  const noisy = psnr(image, await decoded({ ...array, data: wrong } as ArrayValue, metadata));
  assert.ok(Math.abs(noisy - 23.43) < 0.5 && noisy < clean, `${noisy} dB with 6 % of the bits wrong`);
});

Deno.test("odd sizes and grey pictures come back as they were", async () => {
  const image = picture("camera.png", 61), { array, metadata } = await encoded(image);
  assert.deepEqual(image.shape, [1, 61, 61, 1]);
  assert.deepEqual(array.shape, [32 * 8 * 8]);
  const back = await decoded(array, metadata);
  assert.deepEqual(back.shape, image.shape);
  assert.ok(psnr(image, back) > 15);
  await assert.rejects(
    decoded({ ...array, data: (array.data as Uint8Array).slice(1) } as ArrayValue, metadata),
    /2047/,
  );
});
