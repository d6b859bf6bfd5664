import assert from "node:assert/strict";
import { ndarray } from "../../../lib/numeric/array/ndarray.ts";
import {
  cutCompanion,
  cutTaps,
  RecordBuffer,
  recordSha256,
  recordsOf,
  sliceRecords,
} from "../../../lib/capture/records.ts";

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

Deno.test("a vector with a value for each record of the others is told by them, and a run can be one record", () => {
  const grid = ndarray("float32", vector.data, [4, 3]), labels = ndarray("uint8", Uint8Array.of(0, 1, 2, 3));
  const tap = (array: typeof grid, metadata = {}, perRun = false) => ({ array, metadata, from: "a.b", perRun });
  const shapes = (...taps: ReturnType<typeof tap>[]) => cutTaps(taps).map(({ count, shape }) => [count, ...shape]);
  assert.deepEqual(shapes(tap(grid), tap(labels)), [[4, 3], [4]]);
  assert.deepEqual(shapes(tap(labels)), [[1, 4]]);
  assert.deepEqual(shapes(tap(grid), tap(vector)), [[4, 3], [1, 12]]);
  assert.deepEqual(shapes(tap(grid, {}, true), tap(vector)), [[1, 4, 3], [1, 12]]);
  // What an operation says of its array goes before what the others tell.
  assert.deepEqual(shapes(tap(grid), tap(labels, { capture_record_count: 2 })), [[4, 3], [2, 2]]);
});

Deno.test("further arrays come along: a row for each record, or whole in every record", () => {
  const [main] = cutTaps([{
    array: ndarray("float32", vector.data, [4, 3]),
    metadata: {},
    from: "a.b",
    perRun: false,
  }]);
  const rows = cutCompanion(ndarray("uint8", Uint8Array.of(0, 1, 2, 3)), main);
  assert.deepEqual([rows.shape, rows.whole], [[], undefined]);
  const pilots = cutCompanion(ndarray("complex64", Float32Array.of(1, 2, 3, 4), [1, 2]), main);
  assert.deepEqual([pilots.shape, pilots.whole], [[1, 2], true]);
  assert.deepEqual([...sliceRecords(pilots, 1, 3) as Float32Array], [1, 2, 3, 4, 1, 2, 3, 4]);
  assert.equal(recordSha256([["p", pilots]], 0), recordSha256([["p", pilots]], 3));
});

Deno.test("streams of as many equal source items give a record for each item, with the values of their elements", () => {
  const bits = ndarray("uint8", Uint8Array.from({ length: 12 }, (_, index) => index & 1));
  const symbols = ndarray("complex64", Float32Array.from({ length: 12 }, (_, index) => index), [6]);
  const tap = (array: typeof bits, metadata = {}, perRun = false) => ({ array, metadata, from: "a.b", perRun });
  const items = { source_item_counts: [4, 4, 4] }, modulated = { modulated_item_bit_counts: [4, 4, 4] };
  const shapes = (...taps: ReturnType<typeof tap>[]) => cutTaps(taps).map(({ count, shape }) => [count, ...shape]);
  assert.deepEqual(shapes(tap(bits, items), tap(symbols, modulated)), [[3, 4], [3, 2]]);
  // Items of unequal size or number, and an array that is one record in any case, leave the run whole.
  assert.deepEqual(shapes(tap(bits, { source_item_counts: [2, 4, 6] })), [[1, 12]]);
  assert.deepEqual(shapes(tap(bits, items), tap(symbols, { source_item_counts: [3, 3] })), [[1, 12], [1, 6]]);
  assert.deepEqual(shapes(tap(bits, items), tap(symbols, modulated, true)), [[1, 12], [1, 6]]);
  assert.deepEqual(shapes(tap(bits, { ...items, capture_record_count: 2 })), [[2, 6]]);

  const [, main] = cutTaps([tap(bits, items), tap(symbols, modulated)]);
  assert.deepEqual([...sliceRecords(main, 1, 2) as Float32Array], [4, 5, 6, 7]);
  const variances = cutCompanion(ndarray("float32", Float32Array.of(0, 1, 2, 3, 4, 5)), main);
  assert.deepEqual([variances.count, variances.shape, variances.whole], [3, [2], undefined]);
  assert.deepEqual([...sliceRecords(variances, 2, 3) as Float32Array], [4, 5]);
  const one = cutCompanion(ndarray("float32", Float32Array.of(7)), main);
  assert.deepEqual([one.shape, one.whole], [[1], true]);
});
