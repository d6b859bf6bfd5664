import assert from "node:assert/strict";
import localImages from "../../../ops/source/local_npz_images.ts";
import { writeNpz } from "../../../lib/artifact/npz.ts";
import { type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import type { JsonObject } from "../../../lib/contract/value.ts";
import { refuses, runOperation } from "../harness.ts";

const read = (array: NdArray, params: JsonObject = {}) =>
  runOperation(localImages, { params: { path: "a.npz", ...params }, files: { "a.npz": writeNpz({ images: array }) } });

Deno.test("8-bit images are read as they are", async () => {
  const images = ndarray("uint8", Uint8Array.from({ length: 24 }, (_, i) => i * 10), [2, 2, 2, 3]);
  const { outputs } = await read(images);
  assert.deepEqual(outputs.images.array(), images);
  assert.deepEqual(outputs.images.metadata.image_ids, ["images_0", "images_1"]);
});

Deno.test("other types are refused unless rounding was asked for, and then on record", async () => {
  const values = ndarray("float64", Float64Array.of(-3, 0.5, 1.5, 2.5, 254.6, 300, 7, 255), [1, 2, 4, 1]);
  await refuses("boundary_dtype_invalid", () => read(values));
  const { outputs } = await read(values, { dtype_policy: "clip_round_uint8" });
  assert.deepEqual([...outputs.images.array().data as Uint8Array], [0, 0, 2, 2, 255, 255, 7, 255]);
  assert.deepEqual(outputs.images.metadata.dtype_conversion, {
    policy: "clip_round_uint8",
    source_dtype: "float64",
    altered_sample_count: 6,
  });
  const wide = ndarray("int64", BigInt64Array.of(-5n, 99n, 256n, 0n), [1, 2, 2, 1]);
  const rounded = await read(wide, { dtype_policy: "clip_round_uint8" });
  assert.deepEqual([...rounded.outputs.images.array().data as Uint8Array], [0, 99, 255, 0]);
  const broken = ndarray("float32", Float32Array.of(NaN, 1, 2, 3), [1, 2, 2, 1]);
  await refuses("boundary_non_finite", () => read(broken, { dtype_policy: "clip_round_uint8" }));
});

Deno.test("arrays that are no batch, missing arrays and missing files are refused", async () => {
  await refuses("boundary_rank_invalid", () => read(ndarray("uint8", new Uint8Array(12), [2, 2, 3])));
  await refuses(
    "artifact_array_missing",
    () => read(ndarray("uint8", new Uint8Array(12), [1, 2, 2, 3]), { array: "x" }),
  );
  await refuses("boundary_file_missing", () => runOperation(localImages, { params: { path: "b.npz" } }));
  await refuses("params_invalid", () => runOperation(localImages, {}));
});
