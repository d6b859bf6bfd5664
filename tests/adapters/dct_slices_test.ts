/** The sliced transform codec: lossless parts are lossless, its pictures are as good as those of JPEG, and losses stay where they happen. */
import assert from "node:assert/strict";
import { decode, encode } from "../../adapters/dct_slices/codec.ts";
import { crc16 } from "../../adapters/dct_slices/crc16.ts";
import { contexts, RangeDecoder, RangeEncoder } from "../../adapters/dct_slices/range_coder.ts";
import { codeSlice } from "../../adapters/dct_slices/slice.ts";
import type { ArrayValue, Context, Metadata } from "../../adapters/dct_slices/svc_types.ts";
import { forward, inverse, ZIGZAG } from "../../adapters/dct_slices/transform.ts";
import { readBundledFile } from "../../lib/artifact/bundled.ts";
import { decodeImage } from "../../lib/artifact/image_file.ts";
import { centreCrop } from "../../lib/artifact/image_resize.ts";
import { encodeJpeg } from "../../lib/artifact/jpeg/encoder.ts";
import { decodeJpeg } from "../../lib/artifact/jpeg/decoder.ts";
import { toNumber, type Value } from "../../lib/contract/value.ts";
import { Generator } from "../../lib/numeric/random/random.ts";
import { formatRecipeText } from "../../lib/recipe/format.ts";
import { run } from "../../mod.ts";
import { openWorkspace } from "../../lib/run/workspace.ts";
import { verifyRun } from "../../lib/run/verify.ts";
import { fromFileUrl } from "../support/paths.ts";

const context = { report_progress() {} } as Partial<Context> as Context;
/** Bytes with the metadata that a decoder gets. */
function encoded(images: ArrayValue, bits_per_pixel = 1) {
  const { array, metadata } = encode(images, { bits_per_pixel }, context) as {
    array: ArrayValue & { data: Uint8Array };
    metadata: Metadata;
  };
  const [image_count, image_height, image_width, image_channels] = images.shape;
  const about = { image_count, image_height, image_width, image_channels, image_dtype: images.dtype };
  return { array, metadata: { ...metadata, ...about, adapter_metadata: metadata } as Metadata };
}
const decoded = (array: ArrayValue, metadata: Metadata) =>
  decode({ array, metadata, params: {} }, context) as ArrayValue & { data: Uint8Array };

async function photograph(name: string, size: number): Promise<ArrayValue & { data: Uint8Array }> {
  const bytes = await readBundledFile("svc_sample_images", name, { stateDir: "/nonexistent" });
  const { data, channels } = centreCrop(decodeImage(bytes), size);
  return { dtype: "uint8", shape: [1, size, size, channels], data };
}

function psnr(a: Uint8Array, b: Uint8Array): number {
  const error = a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0) / a.length;
  return 10 * Math.log10(255 ** 2 / error);
}

Deno.test("decisions come back, in close to as many bits as they are worth", () => {
  const draws = Generator.seeded(7n).random(40_000);
  // Three contexts of chances 0.02, 0.5 and 0.99 for a one, and some plain bits.
  const chance = [0.02, 0.5, 0.99], bits = Array.from(draws, (draw, i) => (draw < chance[i % 3] ? 1 : 0));
  const encoder = new RangeEncoder(), learned = contexts(3);
  bits.forEach((bit, i) => i % 7 === 0 ? encoder.plain(bit) : encoder.decide(learned, i % 3, bit));
  const bytes = encoder.finish(), decoder = new RangeDecoder(bytes), again = contexts(3);
  const back = bits.map((_, i) => i % 7 === 0 ? decoder.plain(0) : decoder.decide(again, i % 3, 0));
  assert.deepEqual(back, bits);
  const entropy = (p: number) => -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);
  const worth = bits.length / 7 + bits.length * 6 / 7 * chance.reduce((sum, p) => sum + entropy(p) / 3, 0);
  assert.ok(8 * bytes.length > 0.98 * worth && 8 * bytes.length < 1.06 * worth, `${8 * bytes.length} for ${worth}`);
});

Deno.test("carries reach back over many bytes", () => {
  // Whatever the last bits are, the same decisions must come back; unlikely ones push low towards its end.
  for (let seed = 0n; seed < 40n; seed++) {
    const bits = Array.from(Generator.seeded(seed).random(300), (draw) => (draw < 0.97 ? 1 : 0));
    const encoder = new RangeEncoder(), learned = contexts(1);
    for (const bit of bits) encoder.decide(learned, 0, bit);
    const decoder = new RangeDecoder(encoder.finish()), again = contexts(1);
    assert.deepEqual(bits.map(() => decoder.decide(again, 0, 0)), bits);
  }
});

Deno.test("levels of every size come back from a slice", () => {
  const draws = Generator.seeded(3n).random(64 * 12);
  const planes = [0, 1, 2].map((plane) =>
    Int32Array.from({ length: 64 * 4 }, (_, i) => {
      const draw = draws[plane * 256 + i];
      return draw < 0.7 ? 0 : draw < 0.9 ? Math.round(40 * (draw - 0.8)) : Math.round(80_000 * (draw - 0.95));
    })
  );
  planes[0].fill(0, 64, 128);
  planes[1][127] = 4095;
  const encoder = new RangeEncoder();
  codeSlice(encoder, planes.map((levels) => levels.slice()));
  const back = planes.map(({ length }) => new Int32Array(length));
  codeSlice(new RangeDecoder(encoder.finish()), back);
  assert.deepEqual(back, planes);
});

Deno.test("the transform is orthonormal, and the zigzag that of JPEG", () => {
  const block = Float64Array.from(Generator.seeded(1n).random(64)), before = block.slice();
  forward(block);
  const energy = (values: Float64Array) => values.reduce((sum, value) => sum + value * value, 0);
  assert.ok(Math.abs(energy(block) - energy(before)) < 1e-10);
  assert.ok(Math.abs(block[0] - before.reduce((sum, value) => sum + value, 0) / 8) < 1e-12);
  inverse(block);
  block.forEach((value, i) => assert.ok(Math.abs(value - before[i]) < 1e-12));
  assert.deepEqual(ZIGZAG.slice(0, 10), [0, 1, 8, 16, 9, 2, 3, 10, 17, 24]);
  assert.deepEqual(ZIGZAG.slice(-3), [55, 62, 63]);
});

Deno.test("the checksum is the one that its name says", () => {
  assert.equal(crc16(new TextEncoder().encode("123456789")), 0x29b1);
  assert.equal(crc16(new TextEncoder().encode("23456789"), "1".charCodeAt(0)), 0x29b1);
});

Deno.test("odd sizes, grey and floats keep their shape; with bits enough nearly nothing is lost", () => {
  const draws = Generator.seeded(5n).random(2 * 19 * 21);
  const smooth = Float32Array.from(draws, (draw, i) => 0.4 + 0.3 * Math.sin(i / 30) + 0.01 * draw);
  const grey: ArrayValue = { dtype: "float32", shape: [2, 19, 21, 1], data: smooth };
  const { array, metadata } = encoded(grey, 8);
  assert.deepEqual(array.shape, [2 * 2 * 8 * 21 * 16 / 8]);
  assert.deepEqual(metadata.source_item_counts, [2 * 8 * 21 * 16, 2 * 8 * 21 * 16]);
  const back = decoded(array, metadata);
  assert.deepEqual([back.dtype, back.shape], ["float32", grey.shape]);
  assert.ok(smooth.every((value, i) => Math.abs(value - Number(back.data[i])) < 0.015));
});

Deno.test("the rate is what was asked for, and more of it never looks worse", async () => {
  const image = await photograph("coffee.png", 64);
  let last = 0;
  for (const rate of [0.25, 0.5, 1, 2, 4]) {
    const { array, metadata } = encoded(image, rate);
    assert.equal(8 * array.data.length, rate * 64 * 64);
    const quality = psnr(image.data, decoded(array, metadata).data);
    assert.ok(quality > last, `${rate} bits per pixel: ${quality}`);
    last = quality;
  }
  // Three bytes a slice leave no room for data: everything is lost, and nothing breaks.
  const { array, metadata } = encoded(image, 0.05);
  assert.ok(decoded(array, metadata).data.every((sample) => sample === 128));
});

Deno.test("at the rate of JPEG the photographs look as with JPEG, though every slice takes the same bytes", async () => {
  for (const name of ["coffee.png", "camera.png"]) {
    const image = await photograph(name, 256), channels = image.shape[3] as 1 | 3;
    const options = { subsampling: "420", optimize: true, progressive: false } as const;
    const jpeg = encodeJpeg({ width: 256, height: 256, channels, data: image.data }, { quality: 75, ...options });
    const rate = 8 * jpeg.length / 256 ** 2;
    const { array, metadata } = encoded(image, rate);
    assert.ok(array.data.length <= jpeg.length);
    const gain = psnr(image.data, decoded(array, metadata).data) - psnr(image.data, decodeJpeg(jpeg).data);
    assert.ok(gain > -0.1, `${name}: ${gain.toFixed(2)} dB at ${rate.toFixed(2)} bits per pixel`);
  }
});

Deno.test("a damaged slice costs its sixteen rows, which repeat their neighbours; without any the picture is grey", async () => {
  const image = await photograph("camera.png", 64);
  const { array, metadata } = encoded(image), whole = decoded(array, metadata).data;
  const length = metadata.slice_bytes as number;
  const damagedIn = (...slices: number[]) => {
    const data = array.data.slice();
    for (const slice of slices) data[slice * length + 20] ^= 4;
    return decoded({ dtype: "uint8", shape: array.shape, data }, metadata).data;
  };
  const damaged = damagedIn(1);
  for (let y = 0; y < 64; y++) {
    const source = y < 16 || y >= 32 ? y : y < 24 ? 15 : 32;
    assert.deepEqual(damaged.slice(y * 64, y * 64 + 64), whole.slice(source * 64, source * 64 + 64), `row ${y}`);
  }
  assert.ok(damagedIn(0, 1, 2, 3).every((sample) => sample === 128));
});

Deno.test("whatever arrives is decoded to a picture of the right size", async () => {
  const image = await photograph("coffee.png", 48);
  const { array, metadata } = encoded(image);
  for (let seed = 0n; seed < 20n; seed++) {
    const noise = Uint8Array.from(Generator.seeded(seed).random(array.data.length), (draw) => Math.floor(256 * draw));
    // With checksums that agree, so that the noise is decoded indeed.
    for (let at = 0; at < noise.length; at += metadata.slice_bytes) {
      noise[at] %= 90;
      const check = crc16(noise.subarray(at + 3, at + metadata.slice_bytes), noise[at]);
      noise[at + 1] = check >> 8;
      noise[at + 2] = check & 255;
    }
    assert.deepEqual(decoded({ dtype: "uint8", shape: [noise.length], data: noise }, metadata).shape, image.shape);
  }
});

Deno.test("over a link: a clean one costs nothing, a noisy one slices, and the bundle verifies", async () => {
  const root = await Deno.makeTempDir();
  try {
    const folder = fromFileUrl(new URL("../../adapters/dct_slices/", import.meta.url));
    const recipe = await Deno.readTextFile(`${folder}/recipe.yaml`);
    assert.equal(formatRecipeText(recipe, { file: "recipe.yaml" }), recipe);
    const quality: number[] = [];
    for (const snr of ["20.0", "11.0", "4.0"]) {
      const point = recipe.replace(/\n {2}matrix:\n[^]*?(?=\nsteps:)/, "").replace(
        "channel: awgn",
        `channel: awgn, snr_db: ${snr}`,
      )
        .replace("coffee,chelsea,camera,rocket", "camera");
      const { status, summary, run_id } = await run(point, { projectRoot: root, adapters: [{ folder }] });
      assert.equal(status, "completed", JSON.stringify(summary.error));
      const steps = summary.steps as { id: string; metrics: Record<string, Value> }[];
      const metric = (id: string, name: string) =>
        toNumber(steps.find((step) => step.id === id)!.metrics[name] as number);
      assert.equal(metric("sender", "rate.payload_bpp"), 1);
      quality.push(metric("evaluation", "quality.psnr_db"));
      assert.equal((await verifyRun(openWorkspace({ projectRoot: root }), run_id)).status, "valid");
    }
    const [clean, some, none] = quality;
    assert.ok(clean > 33 && some < clean - 5 && some > none + 2, quality.join(", "));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
