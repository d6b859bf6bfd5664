/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { decode, encode } from "./codec.ts";
import { type ArrayValue, type Context, decoderMetadata } from "../svc_types.ts";

const context = { report_progress() {} } as Partial<Context> as Context;

function roundTrip(images: ArrayValue, bits_per_sample: number): ArrayValue {
  const { array, metadata = {} } = encode(images, { bits_per_sample }, context) as {
    array: ArrayValue;
    metadata?: Record<string, unknown>;
  };
  return decode({ array, metadata: decoderMetadata(images, metadata), params: {} }, context) as ArrayValue;
}

const every: ArrayValue = { dtype: "uint8", shape: [2, 8, 16, 1], data: Uint8Array.from({ length: 256 }, (_, i) => i) };

Deno.test("eight bits are lossless, fewer lose at most half a step", () => {
  assert.deepEqual(roundTrip(every, 8), every);
  for (const depth of [1, 4, 7]) {
    const { data } = roundTrip(every, depth);
    for (let i = 0; i < 256; i++) {
      assert.ok(Math.abs(Number(data[i]) - i) <= 128 >> (depth - 1), `${i} at ${depth} bits`);
    }
  }
});

Deno.test("the rate is as declared, and floats are decoded as floats", () => {
  const { array } = encode(every, { bits_per_sample: 3 }, context) as { array: ArrayValue };
  assert.deepEqual(array.shape, [256 * 3]);
  const floats: ArrayValue = { dtype: "float32", shape: [1, 1, 2, 1], data: Float32Array.of(0, 1) };
  assert.deepEqual(roundTrip(floats, 8), floats);
});
