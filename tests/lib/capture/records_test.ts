import assert from "node:assert/strict";
import { ndarray } from "../../../lib/numeric/ndarray.ts";
import { RecordBuffer, recordSha256, recordsOf, sliceRecords } from "../../../lib/capture/records.ts";

const vector = ndarray("float32", Float32Array.from({ length: 12 }, (_, index) => index));

Deno.test("rows of an array are records; a vector is one record unless its metadata says otherwise", () => {
  const shapeOf = (metadata: Record<string, number | number[]>, array = vector) => {
    const { count, shape } = recordsOf(array, metadata, "a.b");
    return [count, ...shape];
  };
  assert.deepEqual(shapeOf({}), [1, 12]);
  assert.deepEqual(shapeOf({}, ndarray("float32", vector.data, [3, 2, 2])), [3, 2, 2]);
  assert.deepEqual(shapeOf({}, ndarray("float32", new Float32Array(1), [])), [1]);
  for (const key of ["record_axis", "sample_axis", "capture_record_axis"]) {
    assert.deepEqual(shapeOf({ [key]: 0 }), [12]);
  }
  assert.deepEqual(shapeOf({ capture_record_count: 4 }), [4, 3]);
  assert.deepEqual(shapeOf({ capture_record_shape: [2, 3] }), [2, 2, 3]);
  assert.throws(() => shapeOf({ record_axis: 1 }), { code: "dataset_capture_invalid" });
  assert.throws(() => shapeOf({ capture_record_count: 5 }), { code: "dataset_capture_invalid" });
});

Deno.test("a buffer joins what was added, complex values too", () => {
  const complex = recordsOf(ndarray("complex64", Float32Array.from({ length: 12 }, (_, i) => i), [3, 2]), {}, "a.b");
  const buffer = new RecordBuffer("complex64", [2]);
  buffer.add(sliceRecords(complex, 2, 3), 1);
  buffer.add(sliceRecords(complex, 0, 1), 1);
  const { shape, data } = buffer.take();
  assert.deepEqual([shape, [...data as Float32Array]], [[2, 2], [8, 9, 10, 11, 0, 1, 2, 3]]);
  assert.equal(buffer.count, 0);
});

Deno.test("a record's digest is of its content, under its tap's name and shape", () => {
  const records = recordsOf(ndarray("uint8", Uint8Array.of(1, 2, 1, 2, 3, 4), [3, 2]), {}, "a.b");
  const digest = (index: number, id = "x") => recordSha256([[id, records]], index);
  assert.equal(digest(0), digest(1));
  assert.notEqual(digest(0), digest(2));
  assert.notEqual(digest(0), digest(0, "y"));
  const flat = recordsOf(ndarray("uint8", Uint8Array.of(1, 2), [1, 2, 1]), {}, "a.b");
  assert.notEqual(digest(0), recordSha256([["x", flat]], 0));
});
