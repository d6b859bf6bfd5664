/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { decode, encode } from "./autoencoder.ts";
import { type ArrayValue, type Context, decoderMetadata } from "../svc_types.ts";

const context = { report_progress() {} } as Partial<Context> as Context;

function latentsOf(images: ArrayValue, block_size: number) {
  return encode(images, { block_size }, context) as { array: ArrayValue; metadata: Record<string, unknown> };
}

const ramp: ArrayValue = {
  dtype: "uint8",
  shape: [1, 5, 6, 1],
  data: Uint8Array.from({ length: 30 }, (_, i) => i * 8),
};

Deno.test("single pixels are lossless", () => {
  const { array, metadata } = latentsOf(ramp, 1);
  assert.deepEqual(decode({ array, metadata: decoderMetadata(ramp, metadata), params: {} }, context), ramp);
});

Deno.test("black is -1, white is 1, and values beyond are clipped", () => {
  const ends: ArrayValue = { dtype: "float32", shape: [1, 1, 2, 1], data: Float32Array.of(0, 1) };
  const { array, metadata } = latentsOf(ends, 1);
  assert.deepEqual([...array.data], [-1, 1]);
  const noisy: ArrayValue = { dtype: "float32", shape: array.shape, data: Float32Array.of(-1.5, 1.5) };
  assert.deepEqual(decode({ array: noisy, metadata: decoderMetadata(ends, metadata), params: {} }, context), ends);
});
