/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { decode, encode } from "./tokenizer.ts";
import { type ArrayValue, type Context, decoderMetadata } from "../svc_types.ts";

const context = { report_progress() {} } as Partial<Context> as Context;

function tokens(images: ArrayValue, block_size: number, level_count: number) {
  const result = encode(images, { block_size, level_count }, context);
  return result as { array: ArrayValue; metadata: Record<string, unknown> };
}

const ramp: ArrayValue = {
  dtype: "uint8",
  shape: [1, 5, 6, 1],
  data: Uint8Array.from({ length: 30 }, (_, i) => i * 8),
};

Deno.test("single pixels with 256 levels are lossless", () => {
  const { array, metadata } = tokens(ramp, 1, 256);
  assert.deepEqual(decode({ array, metadata: decoderMetadata(ramp, metadata), params: {} }, context), ramp);
});

Deno.test("blocks at the edge are averaged over their existing pixels", () => {
  const { array, metadata } = tokens(ramp, 4, 256);
  assert.deepEqual(array.shape, [1, 2, 2, 1]);
  // Rows 0 … 3 and columns 0 … 3 of values 8·(6y + x); only the last row below.
  assert.deepEqual([...array.data].map(Number), [84, 108, 204, 228]);
  assert.equal(metadata.codebook_size, 256);
  assert.deepEqual(
    (decode({ array, metadata: decoderMetadata(ramp, metadata), params: {} }, context) as ArrayValue).shape,
    ramp.shape,
  );
});
