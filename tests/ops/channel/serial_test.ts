import assert from "node:assert/strict";
import serial from "../../../ops/channel/serial.ts";
import { type Dtype, ndarray, type TypedData } from "../../../lib/numeric/array/ndarray.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { arrayInput, payloadInput, someBits } from "../inputs.ts";
import { refuses, runOperation } from "../harness.ts";

const [indicesToBits, bitsToIndices, latentsToBits, bitsToLatents] = serial;

const indices = (data: TypedData, dtype: Dtype, codebook_size: number, shape = [data.length], more: JsonObject = {}) =>
  arrayInput("semantic.indices.numpy", dtype, data, shape, { codebook_size, ...more });
const latents = (data: TypedData, dtype: Dtype, shape = [data.length]) =>
  arrayInput("semantic.latents.numpy", dtype, data, shape);

Deno.test("indices are written most significant bit first in ceil(log2(max(size, 2))) bits", async () => {
  const write = async (values: number[], size: number) => {
    const { outputs } = await runOperation(indicesToBits, {
      inputs: { indices: indices(Int32Array.from(values), "int32", size) },
    });
    return (outputs.bits.array().data as Uint8Array).join("");
  };
  assert.equal(await write([5, 1, 4], 6), "101001100");
  assert.equal(await write([0, 0], 1), "00");
  assert.equal(await write([1, 0], 2), "10");
  assert.equal(await write([4], 5), "100");
  assert.equal(await write([255, 256], 257), "011111111" + "100000000");
  assert.equal(await write([2 ** 31 - 1], 2 ** 31), "1".repeat(31));
});

Deno.test("indices come back with shape and items, from every integer type", async () => {
  const values = [0, 63, 17, 5, 42, 1];
  for (
    const [dtype, data] of [
      ["int64", BigInt64Array.from(values, BigInt)],
      ["uint8", Uint8Array.from(values)],
      ["int16", Int16Array.from(values)],
    ] as [Dtype, TypedData][]
  ) {
    const sent = await runOperation(indicesToBits, {
      inputs: { indices: indices(data, dtype, 64, [2, 3], { source_item_counts: [3, 3] }) },
    });
    assert.deepEqual(sent.outputs.bits.metadata.source_item_counts, [18, 18]);
    const { outputs } = await runOperation(bitsToIndices, { inputs: { bits: sent.outputs.bits } });
    assert.deepEqual(outputs.indices.array(), ndarray("int32", Int32Array.from(values), [2, 3]));
    assert.deepEqual(outputs.indices.metadata.source_item_counts, [3, 3]);
    assert.equal(outputs.indices.metadata.codebook_size, 64);
  }
});

Deno.test("an index beyond the codebook is wrapped or clamped", async () => {
  const bits = payloadInput([1, 1, 1, 1, 0, 1, 0, 0, 1], { codebook_size: 5, index_shape: [3] });
  for (const [invalid_policy, expected] of [["mod", [2, 0, 1]], ["clamp", [4, 4, 1]]] as const) {
    const { outputs } = await runOperation(bitsToIndices, { inputs: { bits }, params: { invalid_policy } });
    assert.deepEqual([...outputs.indices.array().data as Int32Array], expected);
    assert.equal(outputs.indices.metadata.invalid_index_count, 2);
  }
});

Deno.test("indices outside the codebook, floats and other bit counts are refused", async () => {
  const write = (input: ReturnType<typeof indices>) => runOperation(indicesToBits, { inputs: { indices: input } });
  await refuses("boundary_value_invalid", () => write(indices(Int32Array.of(4), "int32", 4)));
  await refuses("boundary_value_invalid", () => write(indices(Int32Array.of(-1), "int32", 4)));
  await refuses("boundary_value_invalid", () => write(indices(Int32Array.of(0), "int32", 0)));
  await refuses("boundary_dtype_invalid", () => write(indices(Float32Array.of(1), "float32", 4)));
  await refuses(
    "boundary_count_mismatch",
    () =>
      runOperation(bitsToIndices, {
        inputs: { bits: payloadInput(someBits(7), { codebook_size: 4, index_shape: [4] }) },
      }),
  );
});

Deno.test("a latent is its little-endian bytes, each most significant bit first", async () => {
  const write = async (value: number, dtype: string) => {
    const { outputs } = await runOperation(latentsToBits, {
      inputs: { latents: latents(Float32Array.of(value), "float32") },
      params: { dtype },
    });
    return (outputs.bits.array().data as Uint8Array).join("");
  };
  // 1.0 is 0x3f800000 in binary32 and 0x3c00 in binary16.
  assert.equal(await write(1, "float32"), "00000000" + "00000000" + "10000000" + "00111111");
  assert.equal(await write(1, "float16"), "00000000" + "00111100");
  assert.equal(await write(-2, "float16"), "00000000" + "11000000");
});

Deno.test("latents come back exactly in float32 and rounded in float16", async () => {
  const values = Float32Array.of(0.1, -3.25, 1e-20, 65504, 0, 7);
  for (
    const [dtype, expected] of [["float32", values], ["float16", Float32Array.from(Float16Array.from(values))]] as const
  ) {
    const sent = await runOperation(latentsToBits, {
      inputs: { latents: latents(values, "float32", [3, 2]) },
      params: { dtype },
    });
    const { outputs } = await runOperation(bitsToLatents, { inputs: { bits: sent.outputs.bits } });
    assert.deepEqual(outputs.latents.array(), ndarray("float32", expected, [3, 2]));
  }
});

Deno.test("values that bit errors made infinite become 0 unless they are asked for", async () => {
  const infinite = "00000000" + "00000000" + "10000000" + "01111111";
  const bits = payloadInput([...infinite, ...infinite].map(Number), { latent_dtype: "float32", latent_shape: [2] });
  const clean = await runOperation(bitsToLatents, { inputs: { bits } });
  assert.deepEqual(clean.outputs.latents.array().data, Float32Array.of(0, 0));
  assert.equal(clean.outputs.latents.metadata.sanitized_value_count, 2);
  const raw = await runOperation(bitsToLatents, { inputs: { bits }, params: { sanitize: false } });
  assert.deepEqual(raw.outputs.latents.array().data, Float32Array.of(Infinity, Infinity));
});

Deno.test("latents that do not fit, integers and other bit counts are refused", async () => {
  const write = (input: ReturnType<typeof latents>, dtype: string) =>
    runOperation(latentsToBits, { inputs: { latents: input }, params: { dtype } });
  await refuses("boundary_non_finite", () => write(latents(Float32Array.of(1e5), "float32"), "float16"));
  await refuses("boundary_non_finite", () => write(latents(Float64Array.of(1e300), "float64"), "float32"));
  await refuses("boundary_dtype_invalid", () => write(latents(Int32Array.of(1), "int32"), "float32"));
  await refuses("boundary_count_mismatch", () =>
    runOperation(bitsToLatents, {
      inputs: { bits: payloadInput(someBits(33), { latent_dtype: "float32", latent_shape: [1] }) },
    }));
});
