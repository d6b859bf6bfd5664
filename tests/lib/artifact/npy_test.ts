import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { SvcError } from "../../../lib/contract/error.ts";
import { npyHeader } from "../../../lib/artifact/npy_header.ts";
import { readNpy, readNpyText, viewNpy, writeNpyText } from "../../../lib/artifact/npy.ts";
import { bytesOf, type NdArray, ndarray } from "../../../lib/numeric/array/ndarray.ts";
import vectors from "../../data/npy/vectors.json" with { type: "json" };
import { bytesFrom, damage, seeded } from "./_fuzz.ts";

/** An array as the members of an NPZ file hold it. */
const writeNpy = (array: NdArray) =>
  new Uint8Array(Buffer.concat([npyHeader(array.dtype, array.shape), bytesOf(array)]));

const code = (expected: string) => (error: unknown) => error instanceof SvcError && error.code === expected;

Deno.test("arrays that NumPy wrote are read, whatever their type, order and version", () => {
  assert.ok(vectors.arrays.length > 70);
  for (const { name, file, dtype, shape, values } of vectors.arrays) {
    const array = readNpy(bytesFrom(file), name);
    assert.equal(array.dtype, dtype, name);
    assert.deepEqual(array.shape, shape, name);
    assert.deepEqual(bytesOf(array), bytesFrom(values), name);
    // A view exists for data in the layout of memory only.
    const view = viewNpy(bytesFrom(file), name);
    if (view !== null) assert.deepEqual(bytesOf(view), bytesFrom(values), name);
  }
});

Deno.test("native arrays are written byte for byte as np.save does", () => {
  for (const { name, file, native } of vectors.arrays) {
    if (native) assert.deepEqual(writeNpy(readNpy(bytesFrom(file))), bytesFrom(file), name);
  }
});

Deno.test("an array has memory of its own, aligned for its type", () => {
  const file = writeNpy(ndarray("float64", new Float64Array([1, 2, 3])));
  const unaligned = new Uint8Array(file.length + 3);
  unaligned.set(file, 3);
  const array = readNpy(unaligned.subarray(3));
  (array.data as Float64Array)[0] = 7;
  assert.deepEqual(unaligned.subarray(3), file);
});

Deno.test("texts are 0-d Unicode arrays as NumPy writes them", () => {
  for (const { text, file } of vectors.texts) {
    assert.equal(readNpyText(bytesFrom(file)), text);
    assert.deepEqual(writeNpyText(text), bytesFrom(file));
  }
  for (const { text, file } of vectors.texts_big_endian) assert.equal(readNpyText(bytesFrom(file)), text);
});

Deno.test("pickled objects, records, dates, byte strings and long doubles are refused", () => {
  for (const [name, file] of Object.entries(vectors.refused)) {
    assert.throws(() => readNpy(bytesFrom(file), name), code("artifact_npy_unsupported"), name);
  }
  assert.throws(() => readNpy(writeNpyText("text")), code("artifact_npy_unsupported"));
  assert.throws(() => readNpyText(writeNpy(ndarray("uint8", new Uint8Array(1)))), code("artifact_npy_unsupported"));
});

/** An NPY 1.0 file with a header text of our choice. */
function withHeader(text: string, data = new Uint8Array(0), version = 1): Uint8Array {
  const length = text.length + 1;
  const sizes = version === 1 ? [length & 255, length >> 8] : [length & 255, length >> 8, 0, 0];
  const header = [
    0x93,
    ...new TextEncoder().encode("NUMPY"),
    version,
    0,
    ...sizes,
    ...new TextEncoder().encode(text + "\n"),
  ];
  return Uint8Array.from([...header, ...data]);
}

Deno.test("a shape that the file cannot hold is refused before memory is asked for", () => {
  for (const shape of ["(2,)", "(1000000000, 1000)", "(9007199254740991,)"]) {
    const file = withHeader(`{'descr': '|u1', 'fortran_order': False, 'shape': ${shape}, }`, new Uint8Array(1));
    assert.throws(() => readNpy(file), code("artifact_npy_truncated"), shape);
  }
  for (
    const shape of ["(9007199254740991, 9007199254740991)", "(99999999999999999999,)", "(-1,)", "3", "(3)", "(1.5,)"]
  ) {
    const file = withHeader(`{'descr': '<f8', 'fortran_order': False, 'shape': ${shape}, }`);
    assert.throws(() => readNpy(file), code("artifact_npy_invalid"), shape);
  }
  const overflowing = withHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9007199254740991, 3), }");
  assert.throws(() => readNpy(overflowing), code("artifact_npy_invalid"));
});

Deno.test("damaged headers are refused", () => {
  const good = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", data = new Uint8Array(1);
  assert.deepEqual(readNpy(withHeader(good, data)).shape, [1]);
  assert.deepEqual(readNpy(withHeader(good, data, 2)).shape, [1]);
  const reordered = `{"shape": (1,), "descr": "|u1", "fortran_order": True}`;
  assert.deepEqual(readNpy(withHeader(reordered, data)).shape, [1]);
  for (
    const text of [
      "",
      "{}",
      good.slice(0, -1),
      good + " 1",
      good.replace("False", "0"),
      good.replace("'shape'", "'sha'"),
      good.replace("}", "'shape': (1,), }"),
      good.replace("'|u1',", "'|u1'"),
      good.replace("|u1", "|f8"),
      good.replace("|u1", "=u1"),
      good.replace("'|u1'", "__import__('os')"),
    ]
  ) {
    assert.throws(() => readNpy(withHeader(text, data)), code("artifact_npy_invalid"), text);
  }
  assert.throws(() => readNpy(withHeader(good, data, 4)), code("artifact_npy_invalid"));
  assert.throws(() => readNpy(withHeader(good, new Uint8Array(2))), code("artifact_npy_invalid"), "data left over");
  assert.throws(() => readNpy(new Uint8Array(0)), code("artifact_npy_truncated"));
  const file = withHeader(good, data);
  for (let length = 0; length < file.length; length++) {
    assert.throws(() => readNpy(file.subarray(0, length)), code("artifact_npy_truncated"), String(length));
  }
});

Deno.test("damaged files are read or refused with a code, never otherwise", () => {
  const random = seeded(1);
  let refused = 0;
  const files = [...vectors.arrays.map(({ file }) => file), ...Object.values(vectors.refused)].map(bytesFrom);
  for (let round = 0; round < 6000; round++) {
    const file = damage(files[random(files.length)], random);
    for (const read of [readNpy, readNpyText]) {
      try {
        read(file);
      } catch (error) {
        assert.ok(error instanceof SvcError && /^artifact_npy_/.test(error.code), String((error as Error).stack));
        refused++;
      }
    }
  }
  assert.ok(refused > 6000);
});
