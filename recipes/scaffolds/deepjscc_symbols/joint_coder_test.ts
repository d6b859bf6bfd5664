/** Run in this folder with `deno test`. */
import assert from "node:assert/strict";
import { decode, encode } from "./joint_coder.ts";
import { type ArrayValue, type Context, decoderMetadata } from "../svc_types.ts";

const context = { report_progress() {} } as Partial<Context> as Context;

function symbolsOf(images: ArrayValue, block_size: number) {
  return encode(images, { block_size }, context) as { array: ArrayValue; metadata: Record<string, number> };
}

/** Symbols after a link with power normalisation. */
function normalised({ array, metadata }: ReturnType<typeof symbolsOf>): ArrayValue {
  const data = (array.data as Float32Array).map((part) => part / Math.sqrt(metadata.symbol_power));
  return { dtype: "complex64", shape: array.shape, data };
}

const ramp: ArrayValue = {
  dtype: "uint8",
  shape: [2, 3, 5, 1],
  data: Uint8Array.from({ length: 30 }, (_, i) => i * 8),
};

Deno.test("without noise single pixels are lossless, and images have separate symbols", () => {
  const sent = symbolsOf(ramp, 1);
  assert.deepEqual(sent.array.shape, [2 * 8]);
  assert.deepEqual(sent.metadata.source_item_counts, [8, 8]);
  assert.deepEqual(
    decode({ array: normalised(sent), metadata: decoderMetadata(ramp, sent.metadata), params: {} }, context),
    ramp,
  );
});

Deno.test("the declared power is that of the symbols", () => {
  const { array, metadata } = symbolsOf(ramp, 2);
  const parts = array.data as Float32Array;
  const power = parts.reduce((sum, part) => sum + part * part, 0) / (parts.length / 2);
  assert.ok(Math.abs(power - metadata.symbol_power) < 1e-6);
});
